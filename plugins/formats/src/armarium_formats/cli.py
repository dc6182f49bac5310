"""Commands of formats: which there are, what a file is, and pages written to files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from armarium_cli.api import (
    BY_ID,
    BY_PATH,
    ID,
    Commands,
    Refused,
    Topic,
    answer,
    full_path,
    id_of,
    plural,
    project_session,
)
from armarium_documents.commandline import Scope, pages_of, say_makers, write_exports

commands = Commands(Topic.files)

NAMED = 10
"""How many pages or files that were left out are named."""


def _word(format_name: str) -> str:
    """*format_name* when it can be one, for use in a path."""
    if ID.fullmatch(format_name) is None:
        raise Refused(f"There is no format {format_name!r}; armarium formats lists the known ones.")
    return format_name


def _span(versions: list[str]) -> str:
    return versions[0] if len(versions) == 1 else f"{versions[0]} to {versions[-1]}" if versions else ""


@commands.asks(
    "formats",
    "GET /api/formats",
    of="engine",
    columns=(
        "name",
        "format=label",
        ("endings", lambda row: " ".join(row["extensions"])),
        ("read", lambda row: row["reads"] and "yes"),
        ("written", lambda row: row["writes"] and "yes"),
        ("checked", lambda row: row["validated"] and "yes"),
        ("versions", lambda row: _span(row["versions"])),
    ),
)
def formats() -> None:
    """The formats that are read and written."""


@commands.asks(
    "check-file 0001.xml", "POST /api/formats/check", of="engine", says=lambda report: _print_check(report)
)
def check_file(
    path: Annotated[str, "FILE: A layout file on this machine.", BY_PATH],
    format: Annotated[str | None, "--format, -f: Read it as this format; default: it is recognised."] = None,
) -> None:
    """Say what a layout file is, whether it obeys its schema, and what would be lost of it. Nothing is kept."""


def _print_check(report: dict[str, Any]) -> None:
    version = f" {report['version']}" if report["version"] else ""
    typer.echo(f"{report['filename']} is {report['label']}{version}, {plural(len(report['pages']), 'page')}.")
    if report["valid"] is None:
        typer.echo(
            f"  schema: not checked. {report['problems'][0]}" if report["problems"] else "  schema: none."
        )
    else:
        typer.echo("  schema: valid." if report["valid"] else "  schema: NOT valid.")
        for problem in report["problems"] if not report["valid"] else ():
            typer.echo(f"    {problem}")
    for page in report["pages"]:
        counts = page["counts"]
        size = f"{page['width']} x {page['height']} pixels" if page["width"] else "no size"
        typer.echo(
            f"  page {page['number']}: {plural(counts['region'], 'region')}, {plural(counts['line'], 'line')}, "
            f"{plural(counts['word'], 'word')}, {plural(counts['readings'], 'text')}; {size}"
            + (f"; of {page['image']}" if page["image"] else "")
        )
        if page["refused"]:
            typer.echo(f"    an import would refuse it: {page['refused']}")
        for note in page["notes"]:
            typer.echo(f"    noted: {note}")
        for part in page["kept"]:
            typer.echo(f"    kept for writing the format again: {part['what']} ({part['count']})")
        for word in page["unknown_classes"]:
            typer.echo(f"    unknown class: {word}")
    for loss in report["losses"]:
        lost = ", ".join(f"{loss['what']} ({loss['count']})" for loss in loss["losses"])
        typer.echo(f"  written as {loss['format']}: {f'loses {lost}' if lost else 'loses nothing'}.")


@commands.asks(
    "verify export/0001.xml", "POST /api/formats/verify", says=lambda report: _print_verified(report)
)
def verify(
    path: Annotated[str, "FILE: An exported file, or a ZIP of several.", BY_PATH],
    document_id: Annotated[
        str | None, "--page: The page, where the file does not name it (plain text).", BY_ID
    ] = None,
    as_of: Annotated[str | None, "--as-of: The step or time, where the file does not name it."] = None,
) -> None:
    """Say whether an exported file is what the project said at the step it names, and if not, where it differs."""


def _print_verified(report: dict[str, Any]) -> None:
    for item in report["items"]:
        typer.echo(f"{item['name']}: {item['verdict']}. {item['sentence']}")
        if item["step"]:
            typer.echo(f"  page {item['document_id']}, step {item['step']}, {item['format']}")
        for difference in item["differences"]:
            place = f"page {difference['page']}" + (
                f", line {difference['line']}" if difference["line"] else ""
            )
            typer.echo(
                f"  {place}: {difference['what']}: {difference['then']!r} then, {difference['in_file']!r} in the file"
            )
    if report["log_fault"]:
        typer.echo(f"The log of steps was changed: {report['log_fault']}", err=True)
    if not report["is_same"]:
        raise typer.Exit(1)


@commands.example("export --format plain-text --out export")
def export(
    ids: Scope = None,
    format_name: Annotated[
        str, "--format, -f: A format that is written; armarium formats lists them."
    ] = "pagexml",
    out: Annotated[str, "--out, -o: The folder to write to."] = ".",
    overwrite: Annotated[bool, "--overwrite/--no-overwrite: Overwrite existing files."] = False,
    pass_id: Annotated[
        str | None, "--pass: For a single page: the pass to write; default: the working pass."
    ] = None,
    order_id: Annotated[
        str | None, "--order: For a single page: the reading order; default: as written."
    ] = None,
    kind: Annotated[str | None, "The kind of readings; default: transcription."] = None,
    as_of: Annotated[
        str | None, "--as-of: As they were after a step (its id), or at a time (2026-11-27T21:30:00Z)."
    ] = None,
) -> None:
    """Write pages to files, one a page, and say what the format could not carry. Of several pages those without a pass are
    left out and named."""
    folder = Path(full_path(out))
    if folder.exists() and not folder.is_dir():
        raise Refused(f"{folder} is a file; --out must name a folder.")
    choices = {
        name: id_of(value)
        for name, value in (("pass_id", pass_id), ("order_id", order_id))
        if value is not None
    }
    if kind is not None:
        choices["reading_kind"] = kind
    if as_of is not None:
        choices["as_of"] = as_of
    lost: list[dict[str, Any]] = []
    left_out: list[dict[str, Any]] = []

    def note_losses(given: dict[str, Any]) -> None:
        lost.append(
            {
                "filename": given["filename"],
                "document_id": given["choices"]["document_id"],
                "pass_id": given["choices"]["pass_id"],
                "losses": given["losses"],
                "made": given["choices"]["made"],
                "notes": given["choices"]["notes"],
            }
        )

    def leaves_out(page: dict[str, Any], refused: Refused) -> bool:
        if refused.body.get("code") != "no_pass" or len(pages) == 1:
            return False
        left_out.append({"document_id": page["id"], "name": page["name"]})
        return True

    with project_session() as session:
        pages = pages_of(session, ids or [])
        if not pages:
            raise Refused("There is no page to export; import some with armarium import FOLDER.")
        if len(pages) > 1 and (pass_id is not None or order_id is not None):
            raise Refused("A pass and a reading order belong to one page; name that page.")
        try:
            exported = write_exports(
                session,
                pages,
                _word(format_name),
                folder,
                overwrite=overwrite,
                choices=choices,
                told=note_losses,
                leaves_out=leaves_out,
            )
        except Refused as refused:
            if refused.body.get("code") == "unknown_format":
                other = "Word and Markdown are written by armarium keep-export, searchable PDF by armarium export-pdf."
                raise Refused({**refused.body, "detail": f"{refused} {other}"}, status=404) from refused
            raise
    if not exported:
        raise Refused("None of these pages has a pass yet: find their lines or import layout files first.")

    def words() -> None:
        typer.echo(f"Wrote {plural(len(exported), 'file')} to {folder}.")
        say_makers(maker for export in lost for maker in export["made"])
        for lost_thing, why, count, files in _sum_losses(lost):
            files_words = f"{files[0]} does" if len(files) == 1 else f"{len(files)} files do"
            typer.echo(f"  {files_words} not contain {lost_thing} ({count}): {why}.")
        for export in lost:
            for note in export["notes"]:
                typer.echo(f"  {export['filename']}: {note}", err=True)
        for page in left_out[:NAMED]:
            typer.echo(f"  left out: {page['name']} has no pass yet.")
        if len(left_out) > NAMED:
            typer.echo(f"  left out: {plural(len(left_out) - NAMED, 'more page')} without a pass.")

    answer({"files": exported, "count": len(exported), "exports": lost, "left_out": left_out}, words)


@commands.asks(
    "file-order 0001.jpg",
    "act format.take_order",
    says="Created the order {name!r} ({order_id}) with {entries:entry|entries}. "
    "To read in this order: armarium text PAGE --order {order_id}",
)
def file_order(
    pass_id: Annotated[str, "PASS: Id of an imported pass (armarium passes shows them).", BY_ID],
    name: Annotated[str | None, "Its name; default: that of the file."] = None,
) -> None:
    """Make the order that an imported file has its lines in a reading order, as written: to read by, to look at, to mend."""


@commands.asks("import-items box/items.json", "act ingest.items", says=lambda report: _print_items(report))
def import_items(
    path: Annotated[
        str, "FILE: What Tropy, Zotero or Omeka S (CSV) exported, with its files beside it.", BY_PATH
    ],
    parent_id: Annotated[str | None, "--in FOLDER: The folder for it; default: Sources.", BY_ID] = None,
) -> None:
    """Import items of Tropy, Zotero or Omeka S; a second time what changed there is updated, except where it was changed here."""


def _print_items(report: dict[str, Any]) -> None:
    typer.echo(
        f"Imported {plural(report['items'], 'item')}: {report['new']} new, {report['changed']} changed, {report['equal']} as "
        f"they were; {plural(report['pages'], 'page')}, {plural(report['notes'], 'note')}, "
        f"{plural(report['passes'], 'transcription')}."
    )
    for loss in report["losses"]:
        typer.echo(f"  {loss['what']} ({loss['count']}): {loss['why']}.")
    for file in report["refused"][:NAMED]:
        typer.echo(f"  not taken: {file['file']}: {file['why']}", err=True)
    if (more := len(report["refused"]) - NAMED) > 0:
        typer.echo(f"  not taken: {plural(more, 'more file')}; --json lists all of them.", err=True)


def _sum_losses(exports: list[dict[str, Any]]) -> list[tuple[str, str, int, list[str]]]:
    """Each loss once: what, why, how many in all, and the files it is of."""
    by_loss: dict[tuple[str, str], tuple[int, list[str]]] = {}
    for file in exports:
        for loss in file["losses"]:
            count, files = by_loss.get((loss["what"], loss["why"]), (0, []))
            by_loss[loss["what"], loss["why"]] = (count + loss["count"], [*files, file["filename"]])
    return [(lost_thing, why, count, files) for (lost_thing, why), (count, files) in by_loss.items()]
