"""The command of the reading room: it asks the engine over HTTP, like any client."""

from __future__ import annotations

from typing import Annotated

import typer

from armarium.commandline import Topic, answer, plural, project_session, table
from armarium_documents.commandline import document_id, document_names

Document = Annotated[
    str, typer.Argument(help="The document by name, path or id.", autocompletion=document_names)
]


def commands() -> typer.Typer:
    """Return the commands."""
    program = typer.Typer()
    program.command(rich_help_panel=Topic.pages, epilog="Example: armarium visits 0001.jpg")(visits)
    return program


def visits(document: Document) -> None:
    """List who looked at the original, the newest visit first."""
    with project_session() as session:
        found = session.get(f"/api/documents/{document_id(session, document)}/visits")

    def words() -> None:
        table(
            "",
            ("day", "visitor", "remark"),
            [(v["day"], v["visitor"], v["remark"] or "") for v in found["items"]],
        )
        typer.echo(f"{plural(found['count'], 'visit')}.")

    answer(found, words)
