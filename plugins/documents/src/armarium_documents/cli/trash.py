"""Commands about the Trash: move documents to it, list it, restore, empty."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from armarium_cli.api import (
    Commands,
    Refused,
    Session,
    Topic,
    answer,
    is_id,
    plural,
    project_session,
    table,
    wants_json,
)
from armarium_documents.cli.naming import document_id

commands = Commands(Topic.pages)


@commands.example("trash 0001.jpg")
def trash(
    documents: Annotated[
        list[str] | None,
        "DOCUMENTS: Documents, each by name, path or id; default: list what is in the Trash.",
    ] = None,
) -> None:
    """Send documents to the Trash with everything in them, or list what is in the Trash."""
    with project_session() as session:
        if documents:
            result = session.post(
                "/api/documents/delete", {"ids": [document_id(session, document) for document in documents]}
            )
            words = f"{plural(result['item_count'], 'document')} went to the Trash."
            answer(result, f"{words} Take it back with: armarium undo {result['audit_id']}")
            return
        trashed = session.every("/api/documents/trash")
    rows = [
        (entry["document_id"], entry["name"], entry["item_count"], entry["from_where"], entry["why"])
        for entry in trashed["items"]
    ]
    answer(
        trashed,
        (lambda: table("", ("id", "name", "inside", "from", "why"), rows)) if rows else "The Trash is empty.",
    )


@commands.example("restore 0001.jpg")
def restore(
    documents: Annotated[list[str], "Documents by name or id (armarium trash shows them)."],
) -> None:
    """Restore documents from the Trash to where they were."""
    steps: list[dict[str, Any]] = []
    with project_session() as session:
        ids = _in_the_trash(session, documents)
        try:
            for identity in ids:
                steps.append(session.post(f"/api/documents/{identity}/restore"))
        except Refused as refused:
            if not steps:
                raise
            before = f" {plural(len(steps), 'document')} named before it came back."
            raise Refused({**refused.body, "detail": f"{refused}{before}", "restored": steps}) from refused

    def words() -> None:
        for result in steps:
            typer.echo(f"{result['message']} Take it back with: armarium undo {result['audit_id']}")

    answer({"items": steps, "count": len(steps)}, words)


def _in_the_trash(session: Session, names: list[str]) -> list[str]:
    """Return the ids of these documents; a name must match exactly one item in the Trash, else Refused."""
    entries: list[dict[str, Any]] | None = None
    ids: list[str] = []
    for text in names:
        if is_id(text):
            ids.append(text)
            continue
        entries = session.every("/api/documents/trash")["items"] if entries is None else entries
        called = [entry["document_id"] for entry in entries if entry["name"] == text]
        if not called:
            raise Refused(
                f"Nothing in the Trash has the id or the name {text!r}; armarium trash shows what is there."
            )
        if len(called) > 1:
            raise Refused(
                f"{len(called)} documents in the Trash are called {text!r}: {', '.join(called[:5])}. "
                "Give the id of the one you mean."
            )
        ids += called
    return ids


@commands.example("empty-trash --dry-run")
def empty_trash(
    yes: Annotated[bool, "--yes, -y: Do not ask."] = False,
    dry_run: Annotated[bool, "Only show what would be removed."] = False,
) -> None:
    """Remove everything in the Trash permanently, after a snapshot; this cannot be undone."""
    with project_session() as session:
        plan = session.get("/api/documents/trash/empty")
        if dry_run or not plan["documents"]:
            answer(plan, (lambda: _tell(plan)) if plan["documents"] else "The Trash is empty.")
            return
        if not yes:
            if wants_json() or not sys.stdin.isatty():
                raise Refused(
                    "Emptying the Trash cannot be undone; pass --yes to do it, --dry-run to see what would be removed."
                )
            _tell(plan)
            if not typer.confirm("Remove it permanently?"):
                raise Refused("Nothing was removed.")
        emptied = session.post("/api/documents/trash/empty")
    removed = emptied["removed"]
    answer(
        emptied,
        f"Removed {plural(removed['documents'], 'document')} and {plural(removed['files'], 'file')}, "
        f"{_size(emptied['bytes_freed'])}. Snapshot before it: {emptied['snapshot_id']}.",
    )


def _tell(plan: dict[str, Any]) -> None:
    typer.echo(plan["question"])
    for item in plan["moved"]:
        typer.echo(f"  {item['sentence']}")


def _size(number: float) -> str:
    for unit in ("bytes", "KB", "MB"):
        if number < 1000:
            return f"{number:.0f} {unit}"
        number /= 1000
    return f"{number:.1f} GB"
