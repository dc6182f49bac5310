"""Commands of the main job: import pages, find their lines, read them, correct a line, export."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from armarium.cli.output import answer, progress, table
from armarium.cli.program import documents_under, full_path, pages_of, plural, project_session
from armarium.cli.refusals import STOPPED, Refused
from armarium.cli.session import ID, Session, id_of

Scope = Annotated[
    list[str] | None, typer.Argument(help="Ids of pages, files or folders; none: the whole project.")
]


def register(program: typer.Typer) -> None:
    """Add the commands."""
    program.command("import")(import_)
    program.command("ls")(ls)
    program.command()(lines)
    program.command()(read)
    program.command()(text)
    program.command()(correct)
    program.command()(export)


def finished(session: Session, job_id: str, title: str) -> dict[str, Any]:
    """Follow a job with a progress bar to its end; Refused with its reason when it does not end well."""
    try:
        with progress(title) as show:
            node = session.follow(job_id, show)
    except KeyboardInterrupt as stopped:
        goes_on = (
            "Stopped watching; the work goes on in the engine: armarium jobs --watch shows it, "
            f"armarium jobs cancel {job_id} ends it."
            if session.running
            else "Stopped. What was done stays, and the next command on this project goes on with the rest: "
            f"armarium jobs --watch waits for it, armarium jobs cancel {job_id} ends it."
        )
        raise Refused(goes_on, ends_with=STOPPED) from stopped
    if node["state"] != "done":
        raise Refused(
            {
                "detail": node.get("reason") or f"{title}: the job is {node['state']}.",
                "job_id": job_id,
                "state": node["state"],
            }
        )
    return node


def scope_of(session: Session, ids: list[str] | None) -> list[str]:
    """*ids*, or the project's top nodes when none are named."""
    if ids:
        return [id_of(identity) for identity in ids]
    found = [node["id"] for node in session.get("/api/documents", limit=1000)["items"]]
    if not found:
        raise Refused("The project has no pages yet; bring some in with armarium import FOLDER.")
    return found


def result_of(session: Session, job_id: str) -> dict[str, Any]:
    """What a finished job answered."""
    node = session.get(f"/api/activity/jobs/{job_id}")
    return dict(node.get("result") or {})


def import_(
    paths: Annotated[list[str], typer.Argument(help="One folder, or files: JPEG, PNG, TIFF, PDF.")],
    into: Annotated[
        str | None, typer.Option(help="Id of the folder to put them in; left out: Sources.")
    ] = None,
    recursive: Annotated[bool, typer.Option(help="Go into the folder's own folders.")] = True,
) -> None:
    """Copy pages into the project."""
    for path in paths:
        if not path.strip():
            raise Refused("An empty path names no file; give a folder, or files.")
    places = [full_path(path) for path in paths]
    body: dict[str, Any] = {"recursive": recursive, **({"parent_id": into} if into else {})}
    if len(places) == 1 and Path(places[0]).is_dir():
        body["folder"] = places[0]
    else:
        body["paths"] = places
    with project_session() as session:
        started = session.post("/api/documents/import", body)
        finished(session, started["job_id"], "Import")
        outcome = result_of(session, started["job_id"])

    def words() -> None:
        typer.echo(f"Imported {plural(outcome.get('files', 0), 'file')}.")
        _name_each("not imported", outcome, "refused", lambda one: f"{one['file']}: {one['why']}")
        _name_each("left alone", outcome, "left", str)

    answer({"job_id": started["job_id"], "set_id": started.get("set_id"), **outcome}, words)


def ls(
    parent: Annotated[str | None, typer.Argument(help="Id of a folder; left out: everything.")] = None,
) -> None:
    """List what the project holds."""
    with project_session() as session:
        nodes = list(documents_under(session, parent and id_of(parent)))
    rows = [(n["id"], n["doc_type"], n["name"], n["child_count"] or "") for n in nodes]
    answer({"items": nodes, "count": len(nodes)}, lambda: table("", ("id", "type", "name", "inside"), rows))


def lines(
    ids: Scope = None,
    reader: Annotated[
        str, typer.Option(help="Which reader finds them (armarium plugins lists them).")
    ] = "rapidocr",
) -> None:
    """Find the lines of pages; each page gets a new pass."""
    with project_session() as session:
        started = session.act("reading.find_lines", {"scope_ids": scope_of(session, ids), "reader": reader})
        job_id = started["result"]["job_id"]
        finished(session, job_id, "Find lines")
        outcome = result_of(session, job_id)
    answer({"job_id": job_id, **outcome}, lambda: _read_words("Found lines on", outcome))


def read(
    ids: Scope = None,
    reader: Annotated[str, typer.Option(help="Which reader reads.")] = "rapidocr",
    language: Annotated[str | None, typer.Option(help="BCP 47, where the reader can use it.")] = None,
    model: Annotated[str | None, typer.Option(help="A model file, for readers that need one.")] = None,
) -> None:
    """Read the lines of pages."""
    with project_session() as session:
        params: dict[str, Any] = {"scope_ids": scope_of(session, ids), "reader": reader}
        params |= {k: v for k, v in (("language", language), ("model", model)) if v}
        started = session.act("reading.read_lines", params)
        job_id = started["result"]["job_id"]
        finished(session, job_id, "Read")
        outcome = result_of(session, job_id)
    answer({"job_id": job_id, **outcome}, lambda: _read_words("Read", outcome))


def _read_words(verb: str, outcome: dict[str, Any]) -> None:
    pages, found = plural(int(outcome.get("pages", 0)), "page"), plural(int(outcome.get("lines", 0)), "line")
    typer.echo(f"{verb} {pages}, {found}.")
    skipped = int(outcome.get("skipped", 0))
    if skipped:
        typer.echo(f"  {plural(skipped, 'page')} skipped: no lines there; armarium lines finds them.")
    _name_each(
        "not done", outcome, "failed", lambda one: f"{one.get('name') or one['document_id']}: {one['why']}"
    )


def _name_each(what: str, outcome: dict[str, Any], key: str, words: Callable[[Any], str]) -> None:
    """A line for each of what a job names; jobs name so many and count the rest."""
    named = outcome.get(key) or []
    for one in named:
        typer.echo(f"  {what}: {words(one)}")
    more = int(outcome.get(f"{key}_count", len(named))) - len(named)
    if more > 0:
        typer.echo(f"  {what}: {more} more; armarium jobs log JOB names them all.")


def text(
    ids: Scope = None,
    furniture: Annotated[bool, typer.Option(help="Running heads and folio numbers too.")] = False,
    with_ids: Annotated[
        bool, typer.Option("--ids", help="Each line after its id, as correct takes it.")
    ] = False,
) -> None:
    """Print the text of pages, worked out from the readings that count."""
    with project_session() as session:
        pages = pages_of(session, ids or [])
        found = [
            {
                "name": page["name"],
                **session.get(
                    f"/api/segments/document/{page['id']}/text", include_furniture=furniture or None
                ),
            }
            for page in pages
        ]

    def words() -> None:
        for page in found:
            if len(found) > 1:
                typer.echo(f"── {page['name']}")
            if not with_ids:
                typer.echo(page["text"])
                continue
            for span in page["spans"]:
                typer.echo(f"{span['segment_id']}  {page['text'][span['char_start'] : span['char_end']]}")

    answer({"items": found, "count": len(found)}, words)


def correct(
    segment: Annotated[str, typer.Argument(help="Id of the line (armarium text --ids shows them).")],
    words: Annotated[str, typer.Argument(help="What the line says.")],
    expect: Annotated[
        str | None, typer.Option(help="Id of the reading you saw; refused when another counts now.")
    ] = None,
) -> None:
    """Correct a line as a person; the earlier reading stays beside it."""
    body = {"text": words, **({"expected_counting_id": expect} if expect else {})}
    with project_session() as session:
        written = session.post(f"/api/segments/{id_of(segment)}/correct", body)
    answer(written, f"Corrected. Take it back with: armarium undo {written['audit_id']}")


def export(
    ids: Scope = None,
    format_name: Annotated[str, typer.Option("--format", "-f", help="pagexml or plain-text.")] = "pagexml",
    out: Annotated[str, typer.Option("--out", "-o", help="The folder to write to.")] = ".",
    overwrite: Annotated[bool, typer.Option(help="Write over files that are there.")] = False,
) -> None:
    """Write pages to files, one a page."""
    folder = Path(full_path(out))
    if folder.exists() and not folder.is_dir():
        raise Refused(f"{folder} is a file; --out names a folder.")
    if ID.fullmatch(format_name) is None:
        raise Refused(f"There is no format {format_name!r}; armarium plugins lists those there are.")
    with project_session() as session:
        pages = pages_of(session, ids or [])
        if not pages:
            raise Refused("There is no page to export; bring some in with armarium import FOLDER.")
        written = write_exports(session, pages, format_name, folder, overwrite=overwrite)
    answer({"files": written, "count": len(written)}, f"Wrote {plural(len(written), 'file')} to {folder}.")


def write_exports(
    session: Session, pages: list[dict[str, Any]], format_name: str, folder: Path, *, overwrite: bool
) -> list[str]:
    """Export *pages* into *folder*, one file each under the name the engine gives; the paths written.

    All or nothing: the files get their names only when every page is exported and no name is taken.
    """
    made: list[tuple[Path, Path]] = []
    taken: set[str] = set()
    try:
        for page in pages:
            given = session.get(f"/api/documents/{page['id']}/export/{format_name}")
            name = _free(re.sub(r'[/\\:*?"<>|\0]', "_", given["filename"]), taken)
            place = folder / name
            if place.exists() and not overwrite:
                raise Refused(f"{place} is there already; pass --overwrite to write over it.")
            folder.mkdir(parents=True, exist_ok=True)
            fresh = place.with_name(f".{name}.new")
            made.append((fresh, place))
            # Bytes, so that line ends are the format's on every system.
            fresh.write_bytes(given["content"].encode("utf-8"))
        for fresh, place in made:
            fresh.replace(place)
    finally:
        for fresh, _ in made:
            fresh.unlink(missing_ok=True)
    return [str(place) for _, place in made]


def _free(name: str, taken: set[str]) -> str:
    """*name*, or the first `name-2`, `name-3` that no page of this export has (case does not tell names apart)."""
    stem, dot, suffix = name.rpartition(".")
    candidate, number = name, 1
    while candidate.casefold() in taken:
        number += 1
        candidate = f"{stem}-{number}{dot}{suffix}"
    taken.add(candidate.casefold())
    return candidate
