"""Commands about a page: its text, passes and segments, pictures of segments, comparison of two readings."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated, Any

import typer

from armarium.commandline import (
    Refused,
    Session,
    Topic,
    answer,
    file_name,
    full_path,
    id_of,
    place_for,
    plural,
    project_session,
    table,
    write_file,
)
from armarium_documents.commandline import Scope, document_id, pages_of

Page = Annotated[str, typer.Argument(help="The page by name, path or id (armarium ls shows them).")]
_BASES = {
    "chosen": "chosen",
    "human-touched": "a person worked on it",
    "text-layer": "the file's own text",
    "newest-machine-unchosen": "the newest",
    "newest": "the newest",
    "imported-only": "read, not worked on",
    None: "",
}
"""Why a page is worked on, or only read, by a pass."""
LONG = 60
"""Characters of a text that a table shows."""


def register(program: typer.Typer) -> None:
    """Add the commands."""
    program.command(rich_help_panel=Topic.lines, epilog="Example: armarium text 0001.jpg")(text)
    program.command(rich_help_panel=Topic.lines, epilog="Example: armarium passes 0001.jpg")(passes)
    program.command(rich_help_panel=Topic.lines, epilog="Example: armarium segments 0001.jpg --kind line")(
        segments
    )
    program.command(rich_help_panel=Topic.lines, epilog="Example: armarium picture ID --out line.png")(
        picture
    )
    program.command(rich_help_panel=Topic.lines, epilog="Example: armarium draw 0001.jpg --out page.png")(
        draw
    )
    program.command(
        rich_help_panel=Topic.lines, epilog="Example: armarium compare 0001.jpg REFERENCE MEASURED"
    )(compare)


def text(
    ids: Scope = None,
    furniture: Annotated[bool, typer.Option(help="Include running heads and folio numbers.")] = False,
    with_ids: Annotated[
        bool, typer.Option("--ids", help="Show each line's id, for armarium correct.")
    ] = False,
    confidence: Annotated[
        bool, typer.Option("--confidence", help="Show the confidence of each line, in per cent.")
    ] = False,
    of_pass: Annotated[
        str | None,
        typer.Option("--pass", metavar="ID", help="Of this pass instead of the working pass; one page only."),
    ] = None,
    order: Annotated[
        str | None,
        typer.Option(metavar="ID", help="In this reading order instead of that of the boxes; one page only."),
    ] = None,
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
        }
        found = [
            {
                "name": page["name"],
                **session.get(f"/api/segments/document/{page['id']}/text", **query),
            }
            for page in pages
        ]

    def words() -> None:
        for node, page in zip(pages, found, strict=True):
            if len(found) > 1:
                typer.echo(f"── {page['name']}")
            if page["order_basis"] == "positions-in-doubt":
                told = f"It is not clear in how many columns the lines of {page['name']} stand. Say so with:"
                typer.echo(f"{told} armarium order columns {node['id']} COLUMNS", err=True)
            if page["notice"]:
                typer.echo(page["notice"], err=True)
            elif not page["spans"]:
                typer.echo(_unread(node, page), err=True)
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

    answer({"items": found, "count": len(found)}, words)


def _unread(node: dict[str, Any], page: dict[str, Any]) -> str:
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


def passes(
    page: Page,
    use: Annotated[str | None, typer.Option(metavar="ID", help="Make this pass the working pass.")] = None,
    release: Annotated[
        str | None, typer.Option(metavar="ID", help="Withdraw that choice; the engine chooses again.")
    ] = None,
    truth: Annotated[str | None, typer.Option(metavar="ID", help="Mark this pass as ground truth.")] = None,
    no_truth: Annotated[str | None, typer.Option(metavar="ID", help="Remove that mark.")] = None,
    withdraw: Annotated[str | None, typer.Option(metavar="ID", help="Withdraw this pass.")] = None,
    restore: Annotated[str | None, typer.Option(metavar="ID", help="Restore a withdrawn pass.")] = None,
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
    found, notice = listed["passes"], listed["notice"]
    audit_id = changed[0]["audit_id"] if changed else None

    def words() -> None:
        rows = [
            (
                one["id"],
                one["name"],
                one["model"] or one["provider"] or one["import_format"] or one["provenance_kind"],
                one["segment_count"],
                _BASES.get(one["working_basis"], one["working_basis"]),
                "ground truth" if one["ground_truth"] else "provisional" if one["provisional"] else "",
            )
            for one in found
        ]
        table("", ("id", "name", "by", "segments", "worked on", ""), rows)
        if notice:
            typer.echo(notice, err=True)
        if audit_id:
            typer.echo(f"Take it back with: armarium undo {audit_id}")

    answer({"items": found, "count": len(found), "audit_id": audit_id}, words)


def segments(
    page: Page,
    of_pass: Annotated[str | None, typer.Option("--pass", metavar="ID", help="Of this pass only.")] = None,
    kind: Annotated[str | None, typer.Option(help="region, line or word.")] = None,
    area: Annotated[
        str | None,
        typer.Option(metavar="X,Y,W,H", help="Only what touches this area, in fractions of the picture."),
    ] = None,
) -> None:
    """List the regions, lines and words of a page."""
    with project_session() as session:
        found = _page_list(session, page, pass_id=of_pass, kind=kind, area=area)

    def words() -> None:
        rows = [
            (
                one["id"],
                one["kind"] + (" (furniture)" if one["is_furniture"] else ""),
                ", ".join(f"{number:.3f}" for number in one["anchor"]["rect"]),
                short(one["text"]),
            )
            for one in found["segments"]
        ]
        table("", ("id", "kind", "x, y, width, height", "text"), rows)
        typer.echo(plural(len(rows), "segment") + ".")
        if found["notice"]:
            typer.echo(found["notice"], err=True)

    answer(found, words)


def picture(
    segment: Annotated[str, typer.Argument(help="Id of the segment (armarium segments shows them).")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The PNG file to write [ID.png].", dir_okay=False)
    ] = None,
    mask: Annotated[bool, typer.Option(help="White outside its outline.")] = False,
    straighten: Annotated[bool, typer.Option(help="Turned level along its baseline.")] = False,
    size: Annotated[int, typer.Option(help="Pixels of the longer side, at most (32 to 4096).")] = 1024,
    overwrite: Annotated[bool, typer.Option(help="Overwrite an existing file.")] = False,
) -> None:
    """Save the picture of a segment, cut out of its page."""
    place = Path(full_path(str(out or f"{id_of(segment).replace(':', '-')}.png")))
    _check_place(place, overwrite=overwrite)
    query = {"mask": str(mask).lower(), "straighten": str(straighten).lower(), "size": size}
    with project_session() as session:
        data = session.raw("GET", f"/api/segments/{id_of(segment)}/picture", query=query)
    write_file(place, data, overwrite=overwrite)
    written = {"path": str(place), "bytes": len(data), "checksum": hashlib.sha256(data).hexdigest()}
    answer(written, f"Wrote {place}.")


def _check_place(place: Path, *, overwrite: bool) -> None:
    place_for(place, overwrite=overwrite)
    if not place.parent.is_dir():
        raise Refused(f"There is no folder {place.parent} to write into.")


def draw(
    page: Page,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The PNG file to write [NAME-lines.png].", dir_okay=False),
    ] = None,
    of_pass: Annotated[
        str | None, typer.Option("--pass", metavar="ID", help="Of this pass instead of the working pass.")
    ] = None,
    size: Annotated[int, typer.Option(help="Pixels of the longer side, at most (256 to 4096).")] = 1600,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Overwrite an existing file.")] = False,
) -> None:
    """Draw a page with its lines in reading order and their texts."""
    with project_session() as session:
        identity = document_id(session, page)
        name = session.get(f"/api/documents/{identity}")["name"]
        place = Path(full_path(str(out or f"{Path(file_name(name)).stem}-lines.png")))
        _check_place(place, overwrite=overwrite)
        query = {"max_size": size, "pass_id": of_pass and id_of(of_pass)}
        data = session.raw("GET", f"/api/segments/document/{identity}/picture", query=query)
        write_file(place, data, overwrite=overwrite)
    answer({"path": str(place), "bytes": len(data), "document_id": identity}, f"Wrote {place}.")


def compare(
    page: Page,
    reference: Annotated[str, typer.Argument(help="Id of the pass or artifact to measure against.")],
    hypothesis: Annotated[str, typer.Argument(help="Id of the pass or artifact to measure.")],
    policy: Annotated[
        list[str] | None,
        typer.Option(
            help="diplomatic, layout-insensitive (the usual one), lenient or accent-blind; may be repeated."
        ),
    ] = None,
    expand: Annotated[
        list[str] | None, typer.Option(metavar="SHORT=FULL", help="An abbreviation; may be repeated.")
    ] = None,
    checked_by: Annotated[
        str | None, typer.Option(help="Who checked the reference: then the measure is a CER.")
    ] = None,
) -> None:
    """Compare two readings of a page, character by character."""
    expansions: dict[str, str] = {}
    for one in expand or []:
        short_form, equals, full = one.partition("=")
        if not equals or not short_form:
            raise Refused(f"{one!r} is not an expansion; write SHORT=FULL, as in --expand dho=dicho.")
        expansions[short_form] = full
    with project_session() as session:
        known = {one["id"] for one in _page_list(session, page)["passes"]}
        body: dict[str, Any] = {
            "reference": _side(reference, known),
            "hypothesis": _side(hypothesis, known),
            "expansions": expansions,
            "reference_checked_by": checked_by,
            **({"policies": policy} if policy else {}),
        }
        found = session.post(f"/api/documents/{document_id(session, page)}/readings/compare", body)

    def words() -> None:
        rows = [
            (
                one["policy"],
                f"{100 * one['rate']:.2f} %",
                one["distance"],
                one["reference_chars"],
                one["hypothesis_chars"],
            )
            for one in found["scores"]
        ]
        measure = (
            "CER" if found["measure"] == "cer" else "Difference (nobody is named who checked the reference)"
        )
        typer.echo(f"{measure} of {found['hypothesis_label']} against {found['reference_label']}")
        table("", ("policy", "rate", "edits", "reference", "compared"), rows)

    answer(found, words)


def _side(identity: str, passes_of_page: set[str]) -> dict[str, str]:
    """Return a pass of the page, else an artifact."""
    return {"pass_id" if identity in passes_of_page else "artifact_id": id_of(identity)}


def _page_list(session: Session, page: str, **query: Any) -> dict[str, Any]:
    found: dict[str, Any] = session.get(f"/api/segments/document/{document_id(session, page)}", **query)
    return found


def short(words: str | None) -> str:
    """Shorten *words* to one line of a table."""
    line = " ".join((words or "").split())
    return line if len(line) <= LONG else line[: LONG - 1] + "…"
