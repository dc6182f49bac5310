"""The command that transfers documents from another project, as copies or as moves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from armarium_cli.api import Commands, Refused, Session, Topic, answer, plural, project_session
from armarium_documents.cli.naming import document_id

commands = Commands(Topic.files)

_MANY = 20


@commands.example("transfer 0001.jpg --from Wills")
def transfer(
    documents: Annotated[list[str], "Documents of the other project, each by name, path or id."],
    source: Annotated[str, "--from PROJECT: The other project, by path or name."],
    into: Annotated[str | None, "The folder here to put them in; default: Sources."] = None,
    move: Annotated[bool, "Send the originals to the other project's Trash."] = False,
    dry_run: Annotated[bool, "Only show what would be transferred."] = False,
) -> None:
    """Transfer documents from another project, with everything in them and attached to them."""
    body: dict[str, Any] = {"mode": "move" if move else "copy", "dry_run": dry_run}
    with project_session() as session:
        body["target_parent_id"] = into and document_id(session, into)
        body["source_library"], body["items"] = _open_project(session, source, documents)
        result = session.post("/api/documents/transfer", body)
    answer(result, lambda: _tell(result))


def _open_project(session: Session, words: str, documents: list[str]) -> tuple[str, list[str]]:
    """Open the project that *words* name; return its path and the ids of *documents* in it."""
    place = Path(words).expanduser()
    for candidate in (place, place.with_name(f"{place.name}.library")):
        if candidate.is_dir() and candidate.suffix == ".library":
            path = str(candidate.resolve())
            break
    else:
        if "/" in words:
            raise Refused(
                f"There is no project at {place}; armarium projects lists the ones this engine knows."
            )
        path = str(session.get("/api/registry/resolve", name=words)["path"])
    here, session.library = session.library, path
    try:
        session.get("/api/documents", limit=1)
        return path, [document_id(session, document) for document in documents]
    finally:
        session.library = here


def _tell(answer: dict[str, Any]) -> None:
    verb = "moved" if answer["mode"] == "move" else "copied"
    counts = answer["planned"] if answer["written"] is None else answer["written"]
    numbers = ", ".join(
        _count_words(number, kind.replace("_", " ")) for kind, number in counts.items() if number
    )
    if answer["dry_run"]:
        typer.echo(f"Would be {verb}: {numbers}.")
    else:
        typer.echo(f"{verb.capitalize()} {numbers}.")
    terms = answer["vocabulary"]["made"]
    if terms:
        typer.echo(
            f"{'Would be created' if answer['dry_run'] else 'Created'} here: {', '.join(term['key'] for term in terms)}."
        )
    for what, words in (
        ("left_behind", "left behind"),
        ("edges_cut", "cut"),
        ("cuts", "cut in the other project"),
    ):
        entries = answer[what]
        for entry in entries[:_MANY]:
            typer.echo(f"  {words}: {entry['why']}")
        if len(entries) > _MANY:
            typer.echo(f"  … and {len(entries) - _MANY} more {words}.")
    if answer["linked_originals"]:
        typer.echo(
            f"{plural(len(answer['linked_originals']), 'picture')} remain links to files outside both projects."
        )
    if not answer["dry_run"]:
        typer.echo(f"Take it back with: armarium undo {answer['audit_id']}")


def _count_words(number: int, kind: str) -> str:
    if number != 1:
        return f"{number} {kind}"
    return f"1 {({'entities': 'entity', 'passes': 'pass'}).get(kind, kind.removesuffix('s'))}"
