"""What synced folders lose when documents move to another project: the tie of a folder, the tie of a page to its files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, func, select

from armarium.api import ActionContext, is_among
from armarium_documents.api import Carrier, documents
from armarium_sync.records import conflicts, files, folders


def _folders(conn: Connection, moved: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return (tie, path, the project folder's name) of each tied folder whose project folder moves."""
    found = (
        select(folders.c.id, folders.c.path, documents.c.name)
        .join(documents, documents.c.id == folders.c.root_id)
        .where(folders.c.adopted, is_among(folders.c.root_id, moved))
        .order_by(folders.c.id)
    )
    return [(one, path, name) for one, path, name in conn.execute(found)]


def _pages(conn: Connection, moved: Sequence[str]) -> list[tuple[str, str, str, int]]:
    """Return (tie, path, the page's name, number of its files) of each page that moves out of a folder that stays tied."""
    gone = [row[0] for row in _folders(conn, moved)]
    found = (
        select(folders.c.id, folders.c.path, documents.c.name, func.count())
        .join(files, files.c.folder_id == folders.c.id)
        .join(documents, documents.c.id == files.c.document_id)
        .where(
            files.c.role == "layout",
            files.c.digest.is_not(None),
            is_among(files.c.document_id, moved),
            ~is_among(folders.c.id, gone),
        )
        .group_by(folders.c.id, documents.c.id)
        .order_by(folders.c.id, documents.c.id)
    )
    return [(one, path, name, count) for one, path, name, count in conn.execute(found)]


def cuts(conn: Connection, moved: Sequence[str]) -> list[dict[str, Any]]:
    """Return the ties that a move of the documents *moved* cuts."""
    found = [
        {
            "kind": "sync_tie",
            "id": identity,
            "name": name,
            "why": f"“{name}” came from the synced folder {path}, which is untied; its files stay.",
        }
        for identity, path, name in _folders(conn, moved)
    ]
    return found + [
        {
            "kind": "sync_tie",
            "id": identity,
            "name": name,
            "why": f"“{name}” is kept as {count} {'file' if count == 1 else 'files'} in the synced folder {path}, "
            "which stays with this project: they stay and are no longer updated.",
        }
        for identity, path, name, count in _pages(conn, moved)
    ]


def cut(ctx: ActionContext, moved: Sequence[str]) -> None:
    """Untie the folders whose project folder moves, and forget conflicts of pages that move; undoing the move restores
    both. Files of single pages are no longer updated because their pages are in the Trash.
    """
    for identity, _, _ in _folders(ctx.conn, moved):
        ctx.run("sync.untie", {"folder_id": identity})
    ctx.conn.execute(conflicts.delete().where(is_among(conflicts.c.document_id, moved)))


carrier = Carrier(cuts=cuts, cut=cut)
"""How synced folders take part in a transfer: nothing of them comes along, since their files stay where they are."""
