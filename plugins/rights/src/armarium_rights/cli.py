"""The command of rights: what applies to a document."""

from __future__ import annotations

from typing import Annotated, Any

from armarium_cli.api import Commands, Topic, answer, project_session
from armarium_documents.commandline import document_id

commands = Commands(Topic.pages)


def in_words(found: dict[str, Any]) -> str:
    """Print the answer for people."""
    readers = found["readers"]
    reader_names = "everybody" if readers is None else ", ".join(["the owner", *readers])
    models = {"none": "none", "local": "those on this machine", "cloud": "any", None: "not limited"}
    lines = [f"Seen by: {reader_names}", f"Models: {models[found['model_use']]}"]
    for title, name in (("Holders", "holders"), ("Labels", "labels"), ("Conditions", "conditions")):
        if found[name]:
            lines.append(f"{title}: {'; '.join(found[name])}")
    return "\n".join(lines)


@commands.example("rights Letters")
def rights(
    document: Annotated[
        str | None, "DOCUMENT: A document: its name, path or id; default: the project."
    ] = None,
) -> None:
    """Show the rights that apply: who may see it, which models may receive it, under which conditions."""
    with project_session() as session:
        kind, target_id = ("document", document_id(session, document)) if document else ("library", "library")
        effective = session.get("/api/rights/effective", target_kind=kind, target_id=target_id)
    answer(effective, in_words(effective))
