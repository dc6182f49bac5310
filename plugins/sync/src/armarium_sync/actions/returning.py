"""What comes back from a folder: a changed file as a pass, a moved picture as a moved document; and files
moved there.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from pydantic import PrivateAttr
from sqlalchemy import Connection, Row, select

from armarium.api import ActionContext, Example, MaterialPath, UndoContext, action, new_id
from armarium_documents.api import clean_name, find_node, place_on_disk
from armarium_sync.actions.folders import kept_example, require_reach
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
    folders,
)
from armarium_sync.rows import (
    change_file,
    disk_of,
    documents_in,
    file_at,
    file_by_id,
    forget_at,
    is_known,
    know,
    put_file,
)
from armarium_sync.writing import mark_of

if TYPE_CHECKING:
    from armarium.api import Engine, Library


class TakeParams(FileParams):
    """A file of the project that was changed in the folder."""

    _read: tuple[bytes, str | None] | None = PrivateAttr(default=None)


def _read_ahead(engine: Engine, library: Library | None, p: TakeParams) -> None:
    assert library is not None
    with library.db.read_all() as conn:
        row, folder = _file(conn, p.file_id)
    engine.paths.check_for_caller(MaterialPath(folder.path))
    p._read = _read(engine, library, folder, row)


def _read(engine: Engine, library: Library, folder: Row[Any], row: Row[Any]) -> tuple[bytes, str | None]:
    """Return the file's bytes, and what identifies the present state of the page in the project."""
    disk = disk_of(library, folder)
    if not disk.is_there():
        raise folder_gone(folder.path)
    try:
        data = disk.read(row.path)
    except (Unusable, FileNotFoundError) as error:
        why = str(error) if isinstance(error, Unusable) else "It no longer exists."
        raise not_to_take_in(row.path, why) from None
    return data, mark_of(engine, library, row.document_id, row.format)


def _file(conn: Connection, file_id: str) -> tuple[Row[Any], Row[Any]]:
    row = file_by_id(conn, file_id)
    if row is None:
        raise unknown_file(file_id)
    return row, Folder.rows.row(conn, row.folder_id)


def _take_example(ex: Example) -> dict[str, Any]:
    assert ex.library is not None
    folder_id = kept_example(ex)["folder_id"]
    with ex.library.db.write() as conn:
        (folder,) = conn.execute(select(folders).where(folders.c.id == folder_id)).all()
        (held,) = documents_in(conn, folder.path)
        place = ex.folder / "scans" / "0001.xml"
        data = place.read_bytes()
        digest = hashlib.sha256(data).hexdigest()
        about = {"role": "layout", "document_id": held.document_id, "format": "pagexml"}
        put_file(conn, folder_id, "0001.xml", **about, digest=digest, seen=digest)
        file_id = file_at(conn, folder_id, "0001.xml").id
    place.write_bytes(data.replace(b"Dear Sir", b"Dear Madam"))
    return {"file_id": file_id}


@action(
    "sync.take_in",
    params=TakeParams,
    result=TookIn,
    summary="Import a file that was changed in a synced folder as a new pass of its page.",
    words="Imported an outside edit",
    example=_take_example,
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
    data, mark = p._read or _read(ctx.engine, ctx.project, folder, row)
    digest = hashlib.sha256(data).hexdigest()
    if digest == row.digest or is_known(ctx.conn, folder.id, digest):
        raise not_to_take_in(row.path, "The project already has this version.")
    name = PurePosixPath(row.path).name
    about = {"document_id": row.document_id, "file": data, "filename": name, "format": row.format}
    made = ctx.run("format.import", {**about, "name": f"Outside edit: {name}"})
    # A file in conflict stays in conflict: another change does not settle it.
    both = row.state == "conflict" or (row.mark is not None and mark is not None and mark != row.mark)
    if both:
        ctx.conn.execute(
            conflicts.insert().values(
                id=new_id(),
                folder_id=folder.id,
                document_id=row.document_id,
                file_id=row.id,
                pass_id=made["pass_id"],
                created_at=ctx.now,
            )
        )
    state = "conflict" if both else "taken-in"
    change_file(ctx.conn, row.id, digest=digest, seen=digest, state=state, why=None)
    know(ctx.conn, folder.id, [digest], "taken-in")
    ctx.target(row.document_id, made["pass_id"])
    return {"pass_id": made["pass_id"], "document_id": row.document_id, "conflict": both}


def _follow_example(ex: Example) -> dict[str, Any]:
    assert ex.library is not None
    folder_id = kept_example(ex)["folder_id"]
    ex.run("sync.mode", {"folder_id": folder_id, "mode": "keep-arranged"})
    scans = ex.folder / "scans"
    (scans / "letters").mkdir()
    digest = hashlib.sha256((scans / "0001.png").read_bytes()).hexdigest()
    (scans / "0001.png").rename(scans / "letters" / "first.png")
    with ex.library.db.write() as conn:
        about = {"role": "other", "format": "picture", "seen": digest}
        put_file(conn, folder_id, "letters/first.png", **about)
        return {"file_id": file_at(conn, folder_id, "letters/first.png").id}


@action(
    "sync.follow",
    params=FileParams,
    result=Followed,
    summary="Move a document to where its file was moved by hand: its record, its project folder and its name.",
    words="Followed a file that was moved by hand",
    example=_follow_example,
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
            one
            for one in documents_in(ctx.conn, folder.path)
            if one.live and one.checksum == digest and disk.stamp(one.path) is None
        ]
    except Unusable as error:
        raise not_to_take_in(row.path, str(error)) from None
    if digest is None or len(moved) != 1:
        raise not_moved(row.path)
    (held,) = moved
    parts = PurePosixPath(row.path).parts
    parent = folder_for(ctx.conn, folder, parts[:-1], ctx.run)
    node = find_node(ctx.conn, held.document_id)
    assert node is not None
    if node.parent_id != parent:
        ctx.run("document.move", {"ids": [node.id], "parent_id": parent})
    if parts[-1] != PurePosixPath(held.path).name:
        ctx.run("document.update", {"document_id": node.id, "name": clean_name(parts[-1])})
    place_on_disk(ctx, node.id, os.path.join(folder.path, *parts))
    forget_at(ctx.conn, folder.id, row.path)
    ctx.target(node.id)
    ctx.note_changes(document_ids=[node.id])
    return {"document_id": node.id, "path": row.path}


def _arrange_example(ex: Example) -> dict[str, Any]:
    assert ex.library is not None
    folder_id = kept_example(ex)["folder_id"]
    ex.run("sync.mode", {"folder_id": folder_id, "mode": "keep-arranged"})
    with ex.library.db.read() as conn:
        (folder,) = conn.execute(select(folders).where(folders.c.id == folder_id)).all()
        (held,) = documents_in(conn, folder.path)
    ex.run("document.update", {"document_id": held.document_id, "name": "Letter.png"})
    with ex.library.db.read() as conn:
        plan = plan_of(conn, folder, disk_of(ex.library, folder))
    return {
        "folder_id": folder_id,
        "moves": [
            {"document_id": one.document_id, "from_path": one.from_path, "to_path": one.to_path}
            for one in plan.moves
        ],
    }


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
        folder = ctx.conn.execute(select(folders).where(folders.c.id == folder_id)).first()
        if folder is not None:
            require_reach(ctx, folder.path)
        begin(ctx.conn, ctx.audit_id, folder_id, planned, back=True)
        _carry_out_then(ctx, folder_id)


@action(
    "sync.arrange",
    params=ArrangeParams,
    result=Arranged,
    summary="Move files inside a synced folder so that it matches its project folder.",
    words="Arranged a folder",
    example=_arrange_example,
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
        (one.document_id, one.from_path, one.to_path): one for one in plan_of(ctx.conn, folder, disk).moves
    }
    planned: list[PlannedMove] = []
    for one in p.moves:
        known = plan.get((one.document_id, one.from_path, one.to_path))
        if known is None:
            raise stale_arrangement(one.from_path)
        planned.append(known)
    for move in planned:
        if move.file_id is None:
            place_on_disk(ctx, move.document_id, os.path.join(folder.path, *move.to_path.split("/")))
    begin(ctx.conn, ctx.audit_id, folder.id, planned)
    ids = list(dict.fromkeys(one.document_id for one in planned))
    ctx.target(folder.id, *ids)
    ctx.note_changes(document_ids=ids)
    _carry_out_then(ctx, folder.id)
    return {"moves": [one.model_dump(mode="json") for one in p.moves]}
