"""What comes back from a folder: a changed file as a pass, a moved picture as a moved document; and files
moved there.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import PrivateAttr
from sqlalchemy import Connection, Row

from armarium.api import ActionContext, MaterialPath, UndoContext, action, new_id
from armarium_documents.api import clean_name, find_node, place_on_disk
from armarium_sync.actions.folders import require_reach
from armarium_sync.arranging import PlannedMove, begin, carry_out, journal_of, plan_of
from armarium_sync.disk import Unusable
from armarium_sync.errors import (
    folder_gone,
    not_arranged,
    not_moved,
    not_to_take_in,
    stale_arrangement,
    unknown_file,
)
from armarium_sync.placing import folder_for
from armarium_sync.records import (
    Arranged,
    ArrangeParams,
    FileParams,
    Folder,
    Followed,
    TookIn,
    conflicts,
)
from armarium_sync.rows import (
    change_file,
    disk_of,
    documents_in,
    file_by_id,
    folder_by_id,
    forget_at,
    have_same_words,
    is_known,
    know,
    says_the_same,
)
from armarium_sync.writing import state_of

if TYPE_CHECKING:
    from armarium.api import Engine, Library


class _FileAndPage(NamedTuple):
    """A file that is to be taken in, and the page as it is now: what distinguishes its state, and its pass."""

    data: bytes
    mark: str | None
    pass_id: str | None


class TakeParams(FileParams):
    """A file of the project that was changed in the folder."""

    _read: _FileAndPage | None = PrivateAttr(default=None)


def _read_ahead(engine: Engine, library: Library | None, p: TakeParams) -> None:
    assert library is not None
    with library.db.read_all() as conn:
        row, folder = _file(conn, p.file_id)
    engine.paths.check_for_caller(MaterialPath(folder.path))
    p._read = _read(engine, library, folder, row)


def _read(engine: Engine, library: Library, folder: Row[Any], row: Row[Any]) -> _FileAndPage:
    disk = disk_of(library, folder)
    if not disk.is_there():
        raise folder_gone(folder.path)
    try:
        data = disk.read(row.path)
    except (Unusable, FileNotFoundError) as error:
        why = str(error) if isinstance(error, Unusable) else "It no longer exists."
        raise not_to_take_in(row.path, why) from None
    return _FileAndPage(data, *state_of(engine, library, row.document_id, row.format))


def _file(conn: Connection, file_id: str) -> tuple[Row[Any], Row[Any]]:
    row = file_by_id(conn, file_id)
    if row is None:
        raise unknown_file(file_id)
    return row, Folder.rows.row(conn, row.folder_id)


@action(
    "sync.take_in",
    result=TookIn,
    summary="Import a file that was changed in a synced folder as a new pass of its page.",
    words="Imported an outside edit",
    prepare=_read_ahead,
)
def take_in(ctx: ActionContext, p: TakeParams) -> dict[str, Any]:
    """Import it; the pass never becomes the working pass automatically. If the page changed in the project as
    well, there is a conflict: both versions are kept, and the file is no longer written.

    Raises NotFound, Conflict for anything but a changed file of the project, and what `format.import`
    refuses.
    """
    row, folder = _file(ctx.conn, p.file_id)
    require_reach(ctx, folder.path)
    if row.role != "layout" or row.digest is None or row.document_id is None:
        raise not_to_take_in(row.path, "The project does not keep this file.")
    page = p._read or _read(ctx.engine, ctx.project, folder, row)
    digest = hashlib.sha256(page.data).hexdigest()
    if digest == row.digest or is_known(ctx.conn, folder.id, digest):
        raise not_to_take_in(row.path, "The project already has this version.")
    name = PurePosixPath(row.path).name
    about = {"document_id": row.document_id, "file": page.data, "filename": name, "format": row.format}
    imported = ctx.run("format.import", {**about, "name": f"Outside edit: {name}"})
    # A file in conflict stays in conflict: another change does not settle it.
    both = row.state == "conflict" or _changed_here(ctx.conn, row, page, imported["pass_id"])
    if both:
        ctx.conn.execute(
            conflicts.insert().values(
                id=new_id(),
                folder_id=folder.id,
                document_id=row.document_id,
                file_id=row.id,
                pass_id=imported["pass_id"],
                created_at=ctx.now,
            )
        )
    state = "conflict" if both else "taken-in"
    change_file(ctx.conn, row.id, digest=digest, seen=digest, state=state, why=None)
    know(ctx.conn, folder.id, [digest], "taken-in")
    ctx.target(row.document_id, imported["pass_id"])
    return {"pass_id": imported["pass_id"], "document_id": row.document_id, "conflict": both}


def _changed_here(conn: Connection, row: Row[Any], page: _FileAndPage, imported_pass: str) -> bool:
    """Return whether the page, too, changed since its file was written or last taken in, and says something else."""
    if page.pass_id is None or row.mark is None or page.mark == row.mark:
        return False
    return not says_the_same(conn, row, page.pass_id) and not have_same_words(
        conn, row.document_id, page.pass_id, imported_pass
    )


@action(
    "sync.follow",
    result=Followed,
    summary="Move a document to where its file was moved by hand: its record, its project folder and its name.",
    words="Followed a file that was moved by hand",
)
def follow(ctx: ActionContext, p: FileParams) -> dict[str, Any]:
    """Move it; it is marked as placed by hand. Raises NotFound, Conflict for anything but the moved file of
    one document.
    """
    row, folder = _file(ctx.conn, p.file_id)
    require_reach(ctx, folder.path)
    disk = disk_of(ctx.project, folder)
    if not disk.is_there():
        raise folder_gone(folder.path)
    try:
        digest = disk.digest(row.path)
        moved = [
            document
            for document in documents_in(ctx.conn, folder.path)
            if document.live and document.checksum == digest and disk.stamp(document.path) is None
        ]
    except Unusable as error:
        raise not_to_take_in(row.path, str(error)) from None
    if digest is None or len(moved) != 1:
        raise not_moved(row.path)
    (moved_row,) = moved
    parts = PurePosixPath(row.path).parts
    parent = folder_for(ctx.conn, folder, parts[:-1], ctx.run)
    node = find_node(ctx.conn, moved_row.document_id)
    assert node is not None
    if node.parent_id != parent:
        ctx.run("document.move", {"ids": [node.id], "parent_id": parent})
    if parts[-1] != PurePosixPath(moved_row.path).name:
        ctx.run("document.update", {"document_id": node.id, "name": clean_name(parts[-1])})
    place_on_disk(ctx, node.id, os.path.join(folder.path, *parts))
    forget_at(ctx.conn, folder.id, row.path)
    ctx.target(node.id)
    ctx.note_changes(document_ids=[node.id])
    return {"document_id": node.id, "path": row.path}


def _carry_out_then(ctx: ActionContext, folder_id: str) -> None:
    """Move the files once the step is on disk; those that fail are moved when the folder is next scanned."""
    library = ctx.project

    def move() -> None:
        carry_out(library, folder_id)

    ctx.on_commit(move)


def _move_back(undo: UndoContext) -> None:
    """Move every file back, or again, by the journal, so that a kill in between loses none."""
    ctx = undo.step
    planned, folder_id = journal_of(ctx.conn, undo.audit_id)
    if folder_id is not None:
        folder = folder_by_id(ctx.conn, folder_id)
        if folder is not None:
            require_reach(ctx, folder.path)
        begin(ctx.conn, ctx.audit_id, folder_id, planned, back=True)
        _carry_out_then(ctx, folder_id)


@action(
    "sync.arrange",
    result=Arranged,
    summary="Move files inside a synced folder so that it matches its project folder.",
    words="Arranged a folder",
    after_undo=_move_back,
)
def arrange(ctx: ActionContext, p: ArrangeParams) -> dict[str, Any]:
    """Do the moves that the arrangement lists, or some of them; none overwrites a file. An undo moves every
    file back.

    Raises NotFound, Conflict for a move that the arrangement does not list (any more), a folder that is not arranged or
    not there now.
    """
    folder = Folder.rows.row(ctx.conn, p.folder_id)
    require_reach(ctx, folder.path)
    if folder.mode != "keep-arranged":
        raise not_arranged(folder.path)
    disk = disk_of(ctx.project, folder)
    if not disk.is_there():
        raise folder_gone(folder.path)
    plan = {
        (move.document_id, move.from_path, move.to_path): move
        for move in plan_of(ctx.conn, folder, disk).moves
    }
    planned: list[PlannedMove] = []
    for request in p.moves:
        planned_move = plan.get((request.document_id, request.from_path, request.to_path))
        if planned_move is None:
            raise stale_arrangement(request.from_path)
        planned.append(planned_move)
    for move in planned:
        if move.file_id is None:
            place_on_disk(ctx, move.document_id, os.path.join(folder.path, *move.to_path.split("/")))
    begin(ctx.conn, ctx.audit_id, folder.id, planned)
    ids = list(dict.fromkeys(planned_move.document_id for planned_move in planned))
    ctx.target(folder.id, *ids)
    ctx.note_changes(document_ids=ids)
    _carry_out_then(ctx, folder.id)
    return {"moves": [move.model_dump(mode="json") for move in p.moves]}
