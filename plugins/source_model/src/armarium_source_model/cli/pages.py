"""Commands about a page: its text, passes and segments, pictures of segments, comparison of two readings."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated, Any

import typer

from armarium_cli.api import (
    Commands,
    Refused,
    Session,
    Topic,
    answer,
    full_path,
    id_of,
    in_words,
    place_for,
    plural,
    project_session,
    table,
    write_file,
)
from armarium_documents.commandline import DOCUMENT, Scope, document_id, pages_of, save_drawing

commands = Commands(Topic.lines)

Page = Annotated[str, "The page by name, path or id (armarium ls shows them).", DOCUMENT]
AsOf = Annotated[str | None, "--as-of: As it was after a step (its id), or at a time (2026-11-27T21:30:00Z)."]
_BASES = {
    "chosen": "chosen", "human-touched": "a person worked on it", "text-layer": "the file's own text",
    "newest-machine-unchosen": "the newest", "newest": "the newest", "imported-only": "read, not worked on",
    None: "",
}  # fmt: skip
"""Why a page is worked on, or only read, by a pass."""
LONG = 60
"""Characters of a text that a table shows."""


@commands.example("text 0001.jpg")
def text(
    ids: Scope = None,
    furniture: Annotated[
        bool, "--furniture/--no-furniture: Include running heads and folio numbers."
    ] = False,
    with_ids: Annotated[bool, "--ids: Show each line's id, for armarium correct."] = False,
    confidence: Annotated[bool, "Show the confidence of each line, in per cent."] = False,
    of_pass: Annotated[
        str | None, "--pass ID: Of this pass instead of the working pass; one page only."
    ] = None,
    order: Annotated[
        str | None, "--order ID: In this reading order instead of that of the boxes; one page only."
    ] = None,
    as_of: AsOf = None,
) -> None:
    """Print the text of pages and recordings, derived from the counting readings."""
    with project_session() as session:
        pages = pages_of(session, ids or [], recordings=True)
        if (of_pass or order) and len(pages) != 1:
            raise Refused(
                f"--pass and --order are for one page, but {plural(len(pages), 'page')} were given."
            )
        query = {
            "include_furniture": furniture or None,
            "pass_id": of_pass,
            "order": order,
            "confidence": confidence or None,
            "as_of": as_of,
        }
        texts = [
            {
                "name": page["name"],
                **session.get(f"/api/segments/document/{page['id']}/text", **query),
            }
            for page in pages
        ]

    def words() -> None:
        for node, page in zip(pages, texts, strict=True):
            if len(texts) > 1:
                typer.echo(f"── {page['name']}")
            if page["order_basis"] == "positions-in-doubt":
                advice = (
                    f"It is not clear in how many columns the lines of {page['name']} stand. Say so with:"
                )
                typer.echo(f"{advice} armarium order columns {node['id']} COLUMNS", err=True)
            if page["notice"]:
                typer.echo(page["notice"], err=True)
            elif not page["spans"]:
                typer.echo(_explain_unread(node, page), err=True)
            if page["text"] and not with_ids and not confidence:
                typer.echo(page["text"])
            for span in page["spans"] if with_ids or confidence else ():
                before = [span["segment_id"]] if with_ids else []
                before += [_sureness(span["confidence"])] if confidence else []
                typer.echo("  ".join([*before, page["text"][span["char_start"] : span["char_end"]]]))
            if order is None:
                continue
            for gap in page["omitted"]:
                why = gap["reason"].replace("_", " ") + (f" {gap['pass_id']}" if gap.get("pass_id") else "")
                typer.echo(f"left out: {gap['segment_id']} ({why})", err=True)

    answer({"items": texts, "count": len(texts)}, words)


def _explain_unread(node: dict[str, Any], page: dict[str, Any]) -> str:
    """Return why a page has no text, and what to do about it."""
    if node.get("file_type") == "audio":
        return f"{page['name']} was never written down: armarium transcribe does it."
    if page["pass_id"] is None:
        return f"{page['name']} was never read: armarium lines finds its lines, armarium read reads them."
    return (
        f"{page['name']} has a pass with no line that was read; armarium read reads its lines "
        "(armarium segments shows which there are)."
    )


def _sureness(confidence: float | None) -> str:
    """Return the confidence of a line's reading, four characters wide; a dash for a person's reading."""
    return "   –" if confidence is None else f"{round(confidence * 100):3d}%"


@commands.example("passes 0001.jpg")
def passes(
    page: Page,
    use: Annotated[str | None, "--use ID: Make this pass the working pass."] = None,
    release: Annotated[str | None, "--release ID: Withdraw that choice; the engine chooses again."] = None,
    truth: Annotated[str | None, "--truth ID: Mark this pass as ground truth."] = None,
    no_truth: Annotated[str | None, "--no-truth ID: Remove that mark."] = None,
    withdraw: Annotated[str | None, "--withdraw ID: Withdraw this pass."] = None,
    restore: Annotated[str | None, "--restore ID: Restore a withdrawn pass."] = None,
) -> None:
    """List the passes of a page; with an option, change one first."""
    wishes: tuple[tuple[str | None, str, str, dict[str, bool] | None], ...] = (
        (use, "PUT", "/working", {"working": True}),
        (release, "PUT", "/working", {"working": False}),
        (truth, "PUT", "/ground-truth", {"ground_truth": True}),
        (no_truth, "PUT", "/ground-truth", {"ground_truth": False}),
        (withdraw, "DELETE", "", None),
        (restore, "POST", "/restore", None),
    )
    chosen = [wish for wish in wishes if wish[0] is not None]
    if len(chosen) > 1:
        raise Refused("Give one change at a time: each is a step of its own that can be undone.")
    with project_session() as session:
        changed = [
            session.ask(method, f"/api/segments/passes/{id_of(identity or '')}{what}", body=body)
            for identity, method, what, body in chosen
        ]
        listed = _page_list(session, page)
    items, notice = listed["passes"], listed["notice"]
    audit_id = changed[0]["audit_id"] if changed else None

    def words() -> None:
        rows = [
            (
                row["id"],
                row["name"],
                row["model"] or row["provider"] or row["import_format"] or row["provenance_kind"],
                row["segment_count"],
                _BASES.get(row["working_basis"], row["working_basis"]),
                "ground truth" if row["ground_truth"] else "provisional" if row["provisional"] else "",
            )
            for row in items
        ]
        table("", ("id", "name", "by", "segments", "worked on", ""), rows)
        if notice:
            typer.echo(notice, err=True)
        if audit_id:
            typer.echo(f"Take it back with: armarium undo {audit_id}")

    answer({"items": items, "count": len(items), "audit_id": audit_id}, words)


def _say_segments(listing: dict[str, Any]) -> str:
    if listing["notice"]:
        typer.echo(listing["notice"], err=True)
    return plural(len(listing["segments"]), "segment") + "."


@commands.asks(
    "segments 0001.jpg --kind line",
    "GET /api/segments/document/{page}",
    rows="segments",
    columns=(
        "id",
        ("kind", lambda row: row["kind"] + (" (furniture)" if row["is_furniture"] else "")),
        ("x, y, width, height", lambda row: ", ".join(f"{part:.3f}" for part in row["anchor"]["rect"])),
        ("text", lambda row: short(row["text"])),
    ),
    says=_say_segments,
)
def segments(
    page: Page,
    pass_id: Annotated[str | None, "--pass ID: Of this pass only."] = None,
    kind: Annotated[str | None, "region, line or word."] = None,
    area: Annotated[
        str | None, "--area X,Y,W,H: Only what touches this area, in fractions of the picture."
    ] = None,
    as_of: AsOf = None,
) -> None:
    """List the regions, lines and words of a page."""


@commands.example("picture ID --out line.png")
def picture(
    segment: Annotated[str, "Id of the segment (armarium segments shows them)."],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The PNG file to write [ID.png].", dir_okay=False)
    ] = None,
    mask: Annotated[bool, "--mask/--no-mask: White outside its outline."] = False,
    straighten: Annotated[bool, "--straighten/--no-straighten: Turned level along its baseline."] = False,
    size: Annotated[int, "Pixels of the longer side, at most (32 to 4096)."] = 1024,
    overwrite: Annotated[bool, "--overwrite/--no-overwrite: Overwrite an existing file."] = False,
) -> None:
    """Save the picture of a segment, cut out of its page."""
    place = Path(full_path(str(out or f"{id_of(segment).replace(':', '-')}.png")))
    place_for(place, overwrite=overwrite)
    _check_folder(place)
    query = {"mask": str(mask).lower(), "straighten": str(straighten).lower(), "size": size}
    with project_session() as session:
        data = session.raw("GET", f"/api/segments/{id_of(segment)}/picture", query=query)
    write_file(place, data, overwrite=overwrite)
    file_facts = {"path": str(place), "bytes": len(data), "checksum": hashlib.sha256(data).hexdigest()}
    answer(file_facts, f"Wrote {place}.")


def _check_folder(place: Path) -> None:
    if not place.parent.is_dir():
        raise Refused(f"There is no folder {place.parent} to write into.")


@commands.example("draw 0001.jpg --out page.png")
def draw(
    page: Page,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The PNG file to write [NAME-lines.png].", dir_okay=False),
    ] = None,
    of_pass: Annotated[str | None, "--pass ID: Of this pass instead of the working pass."] = None,
    size: Annotated[int, "Pixels of the longer side, at most (256 to 4096)."] = 1600,
    words: Annotated[bool, "Also outline words, where it is known where they stand."] = False,
    overwrite: Annotated[bool, "Overwrite an existing file."] = False,
) -> None:
    """Draw a page with its lines in reading order and their texts."""
    if out is not None:
        _check_folder(out)
    query = {"max_size": size, "pass_id": of_pass and id_of(of_pass), **({"words": "true"} if words else {})}
    route = "/api/segments/document/{id}/picture"
    saved = save_drawing(page, route, "-lines.png", out, overwrite=overwrite, query=query)
    answer({**saved, "bytes": saved["size_bytes"]}, in_words("Wrote {path}.", saved))


@commands.example("compare 0001.jpg REFERENCE MEASURED")
def compare(
    page: Page,
    reference: Annotated[str, "Id of the pass or artifact to measure against."],
    hypothesis: Annotated[str, "Id of the pass or artifact to measure."],
    policy: Annotated[
        list[str] | None,
        "diplomatic, layout-insensitive (the usual one), lenient or accent-blind; may be repeated.",
    ] = None,
    expand: Annotated[list[str] | None, "--expand SHORT=FULL: An abbreviation; may be repeated."] = None,
    checked_by: Annotated[str | None, "Who checked the reference: then the measure is a CER."] = None,
) -> None:
    """Compare two readings of a page, character by character."""
    expansions: dict[str, str] = {}
    for expansion in expand or []:
        short_form, equals, full = expansion.partition("=")
        if not equals or not short_form:
            raise Refused(f"{expansion!r} is not an expansion; write SHORT=FULL, as in --expand dho=dicho.")
        expansions[short_form] = full
    with project_session() as session:
        pass_ids = {row["id"] for row in _page_list(session, page)["passes"]}
        body: dict[str, Any] = {
            "reference": _side(reference, pass_ids),
            "hypothesis": _side(hypothesis, pass_ids),
            "expansions": expansions,
            "reference_checked_by": checked_by,
            **({"policies": policy} if policy else {}),
        }
        comparison = session.post(f"/api/documents/{document_id(session, page)}/readings/compare", body)

    def words() -> None:
        rows = [
            (
                score["policy"],
                f"{100 * score['rate']:.2f} %",
                score["distance"],
                score["reference_chars"],
                score["hypothesis_chars"],
            )
            for score in comparison["scores"]
        ]
        measure = (
            "CER"
            if comparison["measure"] == "cer"
            else "Difference (nobody is named who checked the reference)"
        )
        typer.echo(f"{measure} of {comparison['hypothesis_label']} against {comparison['reference_label']}")
        table("", ("policy", "rate", "edits", "reference", "compared"), rows)

    answer(comparison, words)


def _side(identity: str, passes_of_page: set[str]) -> dict[str, str]:
    """Return a pass of the page, else an artifact."""
    return {"pass_id" if identity in passes_of_page else "artifact_id": id_of(identity)}


def _page_list(session: Session, page: str, **query: Any) -> dict[str, Any]:
    listing: dict[str, Any] = session.get(f"/api/segments/document/{document_id(session, page)}", **query)
    return listing


def short(words: str | None) -> str:
    """Shorten *words* to one line of a table."""
    line = " ".join((words or "").split())
    return line if len(line) <= LONG else line[: LONG - 1] + "…"
