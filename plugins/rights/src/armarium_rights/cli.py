"""The command of rights: what applies to a document."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from armarium.commandline import Topic, answer, project_session
from armarium_documents.commandline import document_id


def commands() -> typer.Typer:
    """Return the command."""
    program = typer.Typer()
    program.command(rich_help_panel=Topic.pages, epilog="Example: armarium rights Letters")(rights)
    # Without this, Typer would make the only command the whole program.
    program.callback()(lambda: None)
    return program


def rights(
    document: Annotated[
        str | None, typer.Argument(help="A document: its name, path or id; default: the project.")
    ] = None,
) -> None:
    """Show the rights that apply: who may see it, which models may receive it, under which conditions."""
    with project_session() as session:
        kind, identity = (
            ("library", "library") if document is None else ("document", document_id(session, document))
        )
        found = session.get("/api/rights/effective", target_kind=kind, target_id=identity)
    answer(found, in_words(found))


def in_words(found: dict[str, Any]) -> str:
    """Print the answer for people."""
    readers = found["readers"]
    who = "everybody" if readers is None else ", ".join(["the owner", *readers])
    models = {"none": "none", "local": "those on this machine", "cloud": "any", None: "not limited"}
    lines = [f"Seen by: {who}", f"Models: {models[found['model_use']]}"]
    for title, name in (("Holders", "holders"), ("Labels", "labels"), ("Conditions", "conditions")):
        if found[name]:
            lines.append(f"{title}: {'; '.join(found[name])}")
    return "\n".join(lines)
