"""Ties the project to a folder, unties it, and switches its intake and its arrangement."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlalchemy import Row, select

from armarium.api import (
    ActionContext,
    MaterialPath,
    Route,
    RowLaw,
    ServiceError,
    UndoContext,
    action,
    find_withheld,
    is_among,
    new_id,
    raw_of,
)
from armarium_formats.api import kept_driver
from armarium_sync.arranging import root_of
from armarium_sync.disk import Disk
from armarium_sync.errors import (
    came_from_nowhere,
    holds_the_project,
    no_formats,
    not_a_folder,
    not_writable,
    nothing_there,
    tied_already,
)
from armarium_sync.queries import entry_of, tied_folders
from armarium_sync.queueing import enqueue
from armarium_sync.records import (
    Folder,
    FolderParams,
    IntakeParams,
    ModeParams,
    Tied,
    TieParams,
    Untied,
    conflicts,
    files,
    folders,
    pending,
    tied,
)
from armarium_sync.rows import disk_of

WRITE, LOOK, ARRANGE = "write-to-folder", "sync-look", "arrange-folder"


def queue(ctx: ActionContext, kind: str, folder: Row[Any] | dict[str, Any], **args: Any) -> None:
    """Enqueue work on a folder in this step, unless the same work is already pending."""
    row = folder if isinstance(folder, dict) else folder._asdict()
    if enqueue(ctx.engine, ctx.conn, kind, row["id"], row["path"], **args):
        ctx.enqueued = True


def require_reach(ctx: ActionContext, path: str) -> None:
    """Refuse (403) a caller who may not read and write in a tied folder, as naming its path would be refused."""
    ctx.engine.paths.material(path, ctx.principal)


def require_reach_again(undo: UndoContext) -> None:
    """For `after_undo`: an undo and a redo that leave a folder tied need the rights and the place that tying it needs."""
    ctx = undo.step
    for row in ctx.conn.execute(select(folders).where(is_among(folders.c.id, undo.target_ids))):
        require_reach(ctx, row.path)
        _refuse_shared(ctx, Path(row.path), row.path)


def _shares_files(raw: sqlite3.Connection, after: Mapping[str, Any]) -> ServiceError | None:
    others = raw.execute(f"SELECT path FROM {folders} WHERE id <> ?", (after["id"],)).fetchall()
    shared = next((other for (other,) in others if _share(Path(after["path"]), Path(other))), None)
    return None if shared is None else tied_already(after["path"], shared)


APART = RowLaw(folders.name, _shares_files)
"""No two ties of a project share files, however they came to be."""


@action(
    "sync.tie",
    result=Tied,
    summary="Tie the project to a folder in which its pages are kept as up-to-date files.",
    route=Route("POST", "/api/sync-folders", refusals=(403, 404, 409)),
    words="Tied the project to a folder",
    laws=(APART,),
    after_undo=require_reach_again,
)
def tie(ctx: ActionContext, p: TieParams) -> dict[str, Any]:
    """Tie it; when the step ends, every page is queued to be written. If pages of the project came from the folder,
    its intake is switched on.

    Raises NotFound, Invalid for a file, a folder that is not writable or contains the project, no formats, or
    a folder to arrange that no project folder came from; Conflict with another tie.
    """
    place = _check_folder(ctx, p.path)
    root = root_of(ctx.conn, str(place))
    if p.mode == "keep-arranged" and root is None:
        raise came_from_nowhere(p.path)
    if not p.formats and p.mode != "keep-arranged":
        raise no_formats()
    for format_name in p.formats:
        kept_driver(ctx.engine, format_name)
    row: dict[str, Any] = {
        "id": _id_for(ctx, str(place)),
        "path": str(place),
        "formats": list(dict.fromkeys(p.formats)),
        "mode": p.mode,
        "intake": root is not None,
        "adopted": root is not None,
        "root_id": root,
        "created_at": ctx.now,
    }
    _prove_writable(Disk(str(place), row["id"][-12:]), p.path)
    Folder.rows.insert(ctx.conn, row)
    raw_of(ctx.conn).execute(
        f"INSERT OR REPLACE INTO {tied} (path, folder_id) VALUES (?, ?)", (str(place), row["id"])
    )
    ctx.target(row["id"])
    return {"id": row["id"]}


def _check_folder(ctx: ActionContext, path: MaterialPath) -> Path:
    """Return the folder, created if only it is missing; refuse a place that cannot be tied."""
    place = path.real
    try:
        exists = place.exists()
    except OSError as error:  # a name longer than the disk allows
        raise not_writable(path, error.strerror or str(error)) from None
    if not exists:
        if not place.parent.is_dir():
            raise nothing_there(path)
    elif not place.is_dir():
        raise not_a_folder(path)
    own = (ctx.project.path.resolve(), ctx.engine.settings.state_dir.resolve())
    if any(path.is_relative_to(place) for path in own):
        raise holds_the_project(path)
    for row in tied_folders(ctx.conn):
        if _share(place, Path(row.path)):
            raise tied_already(path, row.path)
    _refuse_shared(ctx, place, path)
    try:
        place.mkdir(exist_ok=True)
    except OSError as error:
        raise not_writable(path, error.strerror or str(error)) from None
    return place


def _refuse_shared(ctx: ActionContext, place: Path, path: str) -> None:
    """Refuse a folder that shares files with one of another open project."""
    for library in ctx.engine.libraries.open_now():
        if library is ctx.project:
            continue
        with library.db.read_all() as conn:
            for row in tied_folders(conn):
                if _share(place, Path(row.path)):
                    raise tied_already(path, row.path)


def _share(folder: Path, other: Path) -> bool:
    if folder.is_relative_to(other) or other.is_relative_to(folder):
        return True
    # Another spelling on a disk that does not distinguish them, or the same disk mounted twice.
    try:
        return folder.exists() and other.exists() and os.path.samefile(folder, other)
    except OSError:
        return False


def _prove_writable(disk: Disk, path: str) -> None:
    try:
        disk.mark()
    except OSError as error:
        raise not_writable(path, error.strerror or str(error)) from None


def _id_for(ctx: ActionContext, place: str) -> str:
    """Return the id of the folder: the previous one if it was tied before, so that its files are recognised."""
    raw = raw_of(ctx.conn)
    row = raw.execute(f"SELECT folder_id FROM {tied} WHERE path = ?", (place,)).fetchone()
    return row[0] if row is not None else new_id()


@action(
    "sync.untie",
    result=Untied,
    summary="Untie a folder; its files stay.",
    route=Route("DELETE", "/api/sync-folders/{folder_id}"),
    words="Untied a folder",
    laws=(APART,),
    after_undo=require_reach_again,
)
def untie(ctx: ActionContext, p: FolderParams) -> dict[str, Any]:
    """Raises NotFound."""
    Folder.rows.require(ctx.conn, p.folder_id)
    ctx.conn.execute(conflicts.delete().where(conflicts.c.folder_id == p.folder_id))
    Folder.rows.delete(ctx.conn, p.folder_id)
    ctx.conn.execute(pending.delete().where(pending.c.folder_id == p.folder_id))
    ctx.target(p.folder_id)
    return {"status": "untied", "id": p.folder_id}


@action(
    "sync.intake",
    result=Folder,
    summary="Switch the intake of files from a synced folder on or off.",
    route=Route("PUT", "/api/sync-folders/{folder_id}/intake", refusals=(403, 404, 409)),
    words="Switched the intake of a folder",
    after_undo=require_reach_again,
)
def intake(ctx: ActionContext, p: IntakeParams) -> dict[str, Any]:
    """Switch it. Files that can come in do so at once, in the background. Raises NotFound."""
    folder = Folder.rows.row(ctx.conn, p.folder_id)
    require_reach(ctx, folder.path)
    Folder.rows.change(ctx.conn, folder.id, {"intake": p.on})
    if p.on:
        queue(ctx, LOOK, folder, thorough=True)
    ctx.target(folder.id)
    return _entry(ctx, folder.id)


def _entry(ctx: ActionContext, folder_id: str) -> dict[str, Any]:
    tied_ids = ctx.conn.execute(select(files.c.document_id).where(files.c.folder_id == folder_id).distinct())
    hidden = find_withheld(ctx.project, ctx.principal, filter(None, tied_ids.scalars()), "show").keys()
    return entry_of(ctx.conn, ctx.project, Folder.rows.row(ctx.conn, folder_id), hidden)


@action(
    "sync.mode",
    result=Folder,
    summary="Set whether a folder is arranged like its project folder.",
    route=Route("PUT", "/api/sync-folders/{folder_id}/mode", refusals=(403, 404, 409)),
    words="Set how a folder is arranged",
    after_undo=require_reach_again,
)
def mode(ctx: ActionContext, p: ModeParams) -> dict[str, Any]:
    """Set it. Raises NotFound; Invalid for a folder that is not writable or that no project folder came from,
    and for a folder without formats that is no longer to be arranged.
    """
    folder = Folder.rows.row(ctx.conn, p.folder_id)
    require_reach(ctx, folder.path)
    root = folder.root_id
    if p.mode == "keep-arranged":
        root = root_of(ctx.conn, folder.path)
        if root is None:
            raise came_from_nowhere(folder.path)
        disk = disk_of(ctx.project, folder)
        if not os.access(folder.path, os.W_OK) or not disk.is_there():
            raise not_writable(folder.path, "it is missing at the moment, or read-only")
    elif not folder.formats:
        raise no_formats()
    Folder.rows.change(ctx.conn, folder.id, {"mode": p.mode, "root_id": root or folder.root_id})
    if p.mode == "keep-arranged":
        queue(ctx, ARRANGE, folder)
    ctx.target(folder.id)
    return _entry(ctx, folder.id)
