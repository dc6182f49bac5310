"""What synced folders lose when documents move to another project: the tie of a folder, the tie of a page to its files."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, func, select

from armarium.api import ActionContext, is_among
from armarium_documents.api import Carrier, Tie, documents
from armarium_sync.records import conflicts, files, folders


def _folders(conn: Connection, moved: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return the tie of each folder whose project folder moves."""
    statement = (
        select(folders.c.id, folders.c.path, documents.c.name)
        .join(documents, documents.c.id == folders.c.root_id)
        .where(folders.c.adopted, is_among(folders.c.root_id, moved))
        .order_by(folders.c.id)
    )
    return [
        (folder_id, name, f"“{name}” came from the synced folder {path}, which is untied; its files stay.")
        for folder_id, path, name in conn.execute(statement)
    ]


def _untie(ctx: ActionContext, ids: list[str], moved: Sequence[str]) -> None:
    for folder_id in ids:
        ctx.run("sync.untie", {"folder_id": folder_id})


def _pages(conn: Connection, moved: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return the tie of each page that moves out of a folder that stays tied."""
    folder_ids = [row[0] for row in _folders(conn, moved)]
    statement = (
        select(folders.c.id, folders.c.path, documents.c.name, func.count())
        .join(files, files.c.folder_id == folders.c.id)
        .join(documents, documents.c.id == files.c.document_id)
        .where(
            files.c.role == "layout",
            files.c.digest.is_not(None),
            is_among(files.c.document_id, moved),
            ~is_among(folders.c.id, folder_ids),
        )
        .group_by(folders.c.id, documents.c.id)
        .order_by(folders.c.id, documents.c.id)
    )
    return [
        (
            folder_id,
            name,
            f"“{name}” is kept as {count} {'file' if count == 1 else 'files'} in the synced folder {path}, "
            "which stays with this project: they stay and are no longer updated.",
        )
        for folder_id, path, name, count in conn.execute(statement)
    ]


def _forget_conflicts(ctx: ActionContext, ids: list[str], moved: Sequence[str]) -> None:
    # Files of single pages are no longer updated, because their pages are in the Trash.
    ctx.conn.execute(conflicts.delete().where(is_among(conflicts.c.document_id, moved)))


carrier = Carrier(ties=(Tie("sync_tie", _folders, _untie), Tie("sync_tie", _pages, _forget_conflicts)))
"""How synced folders take part in a transfer: nothing of them comes along, since their files stay where they are."""
