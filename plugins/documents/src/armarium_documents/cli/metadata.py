"""Commands that write descriptions of documents as a table, and take them in from one."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from armarium_cli.api import (
    Commands,
    Refused,
    Topic,
    answer,
    place_for,
    plural,
    project_session,
    table,
    write_file,
)
from armarium_documents.cli.naming import DOCUMENT, document_id

commands = Commands(Topic.pages)
metadata = commands.group("metadata", "Descriptions of documents as a table (CSV or Excel).")

_SHOWN = 20

Overwrite = Annotated[bool, "--overwrite/--no-overwrite: Replace a file that is there."]


@metadata.example("export Letters --out letters.xlsx")
def export(
    folder: Annotated[
        str | None, "FOLDER: A folder by name, path or id; left out: the whole project.", DOCUMENT
    ] = None,
    xlsx: Annotated[bool, "--xlsx/--csv: A workbook of Excel, or CSV."] = False,
    out: Annotated[
        Path | None, "--out, -o: The file; its ending decides too. Default: documents.csv here."
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Write a row for each document and page, with its attributes, labels, dates and prototype, to be edited and imported again."""
    format_name = "xlsx" if xlsx or (out is not None and out.suffix.lower() == ".xlsx") else "csv"
    place = out or Path(f"documents.{format_name}")
    place_for(place, overwrite=overwrite)
    with project_session() as session:
        query = {"format": format_name, "parent_id": None if folder is None else document_id(session, folder)}
        data = session.raw("GET", "/api/documents/metadata", query=query)
    write_file(place, data, overwrite=overwrite)
    answer({"path": str(place), "size_bytes": len(data)}, f"Wrote {place}.")


@metadata.example("import letters.csv --dry-run")
def import_(
    file: Annotated[
        Path, "A CSV file or a workbook (.xlsx), its first row the names of attributes and document.FIELD."
    ],
    folder: Annotated[
        str | None, "--in FOLDER: The folder in which the documents are; default: the project.", DOCUMENT
    ] = None,
    match: Annotated[
        str | None,
        "--match NAME: What names the document of a row: document.id, document.path, document.name or an attribute.",
    ] = None,
    column: Annotated[
        list[str] | None,
        "--column, -c HEADING=NAME: What a column is; with nothing after the sign, it is left out.",
    ] = None,
    many: Annotated[
        list[str] | None,
        "--many NAME: An attribute of several values, with |, ; or lines between; tags is one.",
    ] = None,
    clear_empty: Annotated[bool, "An empty cell clears the value; otherwise it leaves it."] = False,
    skip: Annotated[bool, "Leave out what cannot be taken, instead of refusing the table."] = False,
    dry_run: Annotated[bool, "Only say what would change."] = False,
) -> None:
    """Describe documents by a table, a row a document, in one step that can be undone."""
    try:
        data = file.read_bytes()
    except OSError as fault:
        raise Refused(f"{file} cannot be read: {fault.strerror or fault}.") from None
    body: dict[str, Any] = {
        "table": base64.b64encode(data).decode(),
        "clear_empty": clear_empty,
        "skip": skip,
    }
    parts = [text.partition("=") for text in column or []]
    if wrong := next((heading for heading, sign, _ in parts if not sign), None):
        raise Refused(
            f"{wrong!r} is not of the form HEADING=NAME; write Date=document.date_iso, or Date= to leave it out."
        )
    body["columns"] = {heading: name for heading, _, name in parts}
    if match is not None:
        body["match"] = match
    if many:
        body["many"] = ["tags", *many]
    with project_session() as session:
        if folder is not None:
            body["parent_id"] = document_id(session, folder)
        result = session.post(f"/api/documents/metadata{'/plan' if dry_run else ''}", body)
    answer(result, lambda: _show(result, dry_run=dry_run))


def _show(result: dict[str, Any], *, dry_run: bool) -> None:
    for line in _notes(result):
        typer.echo(line, err=True)
    if dry_run and result["rows"]:
        rows = [
            (row["line"], row["state"], row["name"] or row["key"], row["why"] or _changes(row))
            for row in result["rows"][:_SHOWN]
        ]
        table("", ("line", "", "document", "what"), rows)
    if result["refused"]:
        refused = [
            (cell["line"], cell["column"], cell["value"], cell["why"]) for cell in result["refused"][:_SHOWN]
        ]
        table("Not taken", ("line", "column", "value", "why"), refused)
    counts = result["counts"]
    states = ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in counts.items() if number)
    counted = plural(counts["new"] + counts["changed"], "document")
    after = "" if dry_run else f" Take it back with: armarium undo {result['audit_id']}"
    typer.echo(f"{'Would describe' if dry_run else 'Described'} {counted}; rows: {states or 'none'}.{after}")


def _notes(result: dict[str, Any]) -> Iterator[str]:
    if result["note"]:
        yield result["note"]
    for column in result["columns"]:
        if column["use"] == "refused":
            yield f"The column {column['heading']} is not taken: {column['why']}."


def _changes(row: dict[str, Any]) -> str:
    return "; ".join(
        f"{change['column']}: {change['before']!r} → {change['after']!r}" for change in row["values"]
    )[:200]
