"""What steps of the project mean for its synced folders: changed pages are queued, moved documents are arranged."""

from __future__ import annotations

import time
from typing import Any

from sqlalchemy import Row, select

from armarium.api import ActionContext, Engine, Library, json_text, raw_of
from armarium_documents.api import documents, pages_under
from armarium_source_model.api import segments
from armarium_sync.actions.folders import ARRANGE, LOOK, WRITE, queue
from armarium_sync.queries import tied_folders
from armarium_sync.queueing import put_in_queue
from armarium_sync.records import folders
from armarium_sync.rows import wait_for
from armarium_sync.watching import tend

REPLACING = frozenset({"document.move", "document.update", "document.restore", "document.create"})
"""Actions after which a document may have moved or have a new name."""

OF_ALL = frozenset({"library.set", "source_setting.set", "source_setting.clear"})
"""Actions that may change the file of every page."""

OF_RIGHTS = frozenset({"rights.set", "rights.withdraw"})
"""Actions that name the documents they are about; none if they are about the whole project."""

TYING = frozenset({"sync.tie", "sync.untie"})
"""Actions by which, or by whose undo, a folder comes to be tied."""


def step_ends(ctx: ActionContext) -> None:
    """Called in the transaction of the step, also of an undo: what it changed is queued if and only if the
    step commits.
    """
    if ctx.library is None:
        return
    ours = any(name.startswith("sync.") for name in ctx.ran)
    if ours:
        engine, library = ctx.engine, ctx.library
        ctx.on_commit(lambda: tend(engine, library))
    ties = tied_folders(ctx.conn)
    if not ties:
        return
    if TYING & ctx.ran.keys():
        tied = ctx.values_touched(folders, "id")
        for folder in ties:
            if folder.id in tied:
                _begin(ctx, folder)
    changed = _list_changed(ctx)
    for folder in ties:
        if changed and folder.formats:
            wait_for(ctx.conn, folder.id, changed, int(time.time() * 1000))
            queue(ctx, WRITE, folder)
        if folder.mode == "keep-arranged" and not ours and REPLACING & ctx.ran.keys():
            queue(ctx, ARRANGE, folder)


def _begin(ctx: ActionContext, folder: Row[Any]) -> None:
    """Have a folder scanned and every page of it written: what changed while it was not tied was not queued."""
    if folder.formats:
        wait_for(ctx.conn, folder.id, pages_under(ctx.conn, _tops(ctx, folder)), 0)
    queue(ctx, LOOK, folder, thorough=True, arrange=folder.mode == "keep-arranged")


def _tops(ctx: ActionContext, folder: Row[Any]) -> list[str]:
    document = documents.c
    top = document.id == folder.root_id if folder.adopted else document.parent_id.is_(None)
    return list(ctx.conn.execute(select(document.id).where(top, document.deleted_at.is_(None))).scalars())


def _list_changed(ctx: ActionContext) -> list[str]:
    """Return the documents that the step changed; a folder stands for everything below it."""
    raw = raw_of(ctx.conn)
    about_all = OF_RIGHTS & ctx.ran.keys() and not ctx.changes.get("document_ids")
    if OF_ALL & ctx.ran.keys() or about_all:
        rows = raw.execute(f"SELECT id FROM {documents} WHERE parent_id IS NULL AND deleted_at IS NULL")
        return [row[0] for row in rows]
    changed = dict(ctx.changes.get("document_ids", {}))
    if not changed and (parts := ctx.changes.get("segment_ids")):
        rows = raw.execute(
            f"SELECT DISTINCT document_id FROM {segments} WHERE id IN (SELECT value FROM json_each(?))",
            (json_text(list(parts)),),
        )
        changed = dict.fromkeys(row[0] for row in rows)
    return list(changed)


def look_when_opened(engine: Engine, library: Library) -> None:
    """When a project is opened, scan every folder completely and watch those with intake."""
    with library.db.read_all() as conn:
        ties = tied_folders(conn)
    for folder in ties:
        put_in_queue(engine, library, LOOK, folder.id, thorough=True)
    if ties:
        tend(engine, library)
