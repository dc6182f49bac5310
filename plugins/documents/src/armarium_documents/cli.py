"""Commands of documents: bring pages in and list what the project holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from armarium.commandline import (
    Refused,
    answer,
    documents_under,
    finished,
    full_path,
    id_of,
    name_each,
    plural,
    project_session,
    result_of,
    table,
)


def commands() -> typer.Typer:
    """The commands."""
    program = typer.Typer()
    program.command("import")(import_)
    program.command()(ls)
    return program


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
        name_each("not imported", outcome, "refused", lambda one: f"{one['file']}: {one['why']}")
        name_each("left alone", outcome, "left", str)

    answer({"job_id": started["job_id"], "set_id": started.get("set_id"), **outcome}, words)


def ls(
    parent: Annotated[str | None, typer.Argument(help="Id of a folder; left out: everything.")] = None,
) -> None:
    """List what the project holds."""
    with project_session() as session:
        nodes = list(documents_under(session, parent and id_of(parent)))
    rows = [(n["id"], n["doc_type"], n["name"], n["child_count"] or "") for n in nodes]
    answer({"items": nodes, "count": len(nodes)}, lambda: table("", ("id", "type", "name", "inside"), rows))
