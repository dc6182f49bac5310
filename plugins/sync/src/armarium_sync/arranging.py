"""Where the files of an arranged folder should be according to its project folder, and the moves to get there.

The rows first record where a file should be, in one audited step; the disk follows through a journal. After a
kill between two moves, the journal continues when the folder is next scanned.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from sqlalchemy import Connection, Row, select

from armarium.api import Library, new_id, raw_of
from armarium_documents.api import documents
from armarium_sync.disk import Disk, Unusable
from armarium_sync.identifiers import lasting_id
from armarium_sync.names import REPORT, fold_path, lawful, number_name
from armarium_sync.records import files, moves
from armarium_sync.rows import OURS, DocumentFile, disk_of, documents_in, files_of, folder_by_id, move_row

BATCH = 50
"""How many moves are made between two commits."""

MOST_ASKED = 1_000
"""How many documents are examined to find the project folder of a folder."""


@dataclass(frozen=True, slots=True)
class PlannedMove:
    """A move: of a document's own file, or (`file_id`) of a layout file next to it."""

    document_id: str
    from_path: str
    to_path: str
    digest: str | None
    file_id: str | None = None

    def as_answered(self) -> dict[str, str]:
        """Return the move as an arrangement lists it."""
        return {"document_id": self.document_id, "from_path": self.from_path, "to_path": self.to_path}


@dataclass(slots=True)
class Plan:
    moves: list[PlannedMove] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)


def root_of(conn: Connection, folder: str) -> str | None:
    """Return the project folder that came from *folder*: the one with most of its documents at the same depth
    below it as on disk.
    """
    counted: Counter[str] = Counter()
    parents = _tree(conn)
    for file in [document for document in documents_in(conn, folder) if document.live][:MOST_ASKED]:
        node = parents.get(file.document_id)
        for _ in range(file.path.count("/") + 1):
            node = parents.get(node.parent_id) if node is not None and node.parent_id else None
        if node is not None and node.doc_type == "folder" and node.system_key is None:
            counted[node.id] += 1
    return counted.most_common(1)[0][0] if counted else None


def plan_of(conn: Connection, folder: Row[Any], disk: Disk) -> Plan:
    """Return the moves after which the folder matches its project folder."""
    return _Planner(conn, folder, disk).plan()


class _Planner:
    def __init__(self, conn: Connection, folder: Row[Any], disk: Disk) -> None:
        self.conn, self.folder, self.disk = conn, folder, disk
        self.tree = _tree(conn)
        self.listed: dict[str, set[str]] = {}
        self.found = Plan()

    def plan(self) -> Plan:
        beside: dict[str, list[Row[Any]]] = {}
        for row in files_of(self.conn, self.folder.id, ("layout", "loss")):
            of = PurePosixPath(row.path.removesuffix(REPORT))
            beside.setdefault(str(of.with_suffix("")), []).append(row)
        for document in documents_in(self.conn, self.folder.path):
            if document.live:
                self._place(document, beside.get(str(PurePosixPath(document.path).with_suffix("")), []))
        return self.found

    def _place(self, file: DocumentFile, beside: list[Row[Any]]) -> None:
        above = self._folders_above(file.document_id)
        if above is None:
            why = "Its document is outside the project folder that came from this folder; the file is not moved."
            self.found.refused.append((file.path, why))
            return
        here = PurePosixPath(file.path)
        name = self.tree[file.document_id].name
        if PurePosixPath(name).suffix.casefold() != here.suffix.casefold():
            name += here.suffix
        path = "/".join((*above, lawful(name)))
        if path == file.path:
            return
        try:
            if self.disk.stamp(file.path) is None:
                raise Unusable("It no longer exists.")
            target = self._free(path, file.path)
        except Unusable as error:
            self.found.refused.append((file.path, str(error)))
            return
        if target == file.path:
            return
        self.found.moves.append(PlannedMove(file.document_id, file.path, target, file.checksum))
        for row in beside:
            suffix = PurePosixPath(row.path).name[len(here.stem) :]
            place = self._free(f"{PurePosixPath(target).with_suffix('')!s}{suffix}", row.path)
            if place != row.path:
                self.found.moves.append(
                    PlannedMove(row.document_id or file.document_id, row.path, place, row.seen, row.id)
                )

    def _folders_above(self, document_id: str) -> list[str] | None:
        """Return the names of the folders between the project folder and a document; None if it is elsewhere."""
        names: list[str] = []
        node = self.tree.get(document_id)
        while node is not None and node.parent_id is not None:
            if node.parent_id == self.folder.root_id:
                return names[::-1]
            node = self.tree.get(node.parent_id)
            if node is not None and node.doc_type == "folder":
                names.append(lawful(node.name))
        return None

    def _free(self, path: str, own: str) -> str:
        """Return *path*, numbered if another file has that name on a disk of any system."""
        folder, _, name = path.rpartition("/")
        folded = self._names(folder)
        at, number = path, 1
        while fold_path(at) != fold_path(own) and fold_path(at) in folded:
            number += 1
            at = f"{folder}/{number_name(name, number)}".lstrip("/")
        folded.add(fold_path(at))
        return at

    def _names(self, folder: str) -> set[str]:
        if folder not in self.listed:
            try:
                place = self.disk.place(f"{folder}/x" if folder else "x").parent
                entries = os.listdir(place)
            except FileNotFoundError:
                entries = []
            except OSError as error:
                raise Unusable(f"{folder} cannot be examined: {error.strerror or error}.") from None
            self.listed[folder] = {fold_path(f"{folder}/{name}".lstrip("/")) for name in entries}
        return self.listed[folder]


def begin(
    conn: Connection, audit_id: str, folder_id: str, planned: list[PlannedMove], *, back: bool = False
) -> None:
    """Put moves into the journal. *back*: in the opposite direction."""
    for planned_move in reversed(planned) if back else planned:
        listed = planned_move.as_answered()
        if back:
            listed |= {"from_path": planned_move.to_path, "to_path": planned_move.from_path}
        where = {"id": new_id(), "audit_id": audit_id, "folder_id": folder_id}
        conn.execute(moves.insert().values(**where, **listed, digest=planned_move.digest, state="due"))


def journal_of(conn: Connection, audit_id: str) -> tuple[list[PlannedMove], str | None]:
    """Return what a step moved or still has to move, in order, and the folder; files that were left where
    they were are not included.
    """
    query = select(moves).where(moves.c.audit_id == audit_id, moves.c.state != "left").order_by(moves.c.id)
    rows = conn.execute(query).all()
    planned = [PlannedMove(row.document_id, row.from_path, row.to_path, row.digest) for row in rows]
    return planned, rows[0].folder_id if rows else None


def carry_out(library: Library, folder_id: str) -> int:
    """Do the moves that are due in the journal; return how many files were moved. Does nothing while the
    folder is missing.
    """
    with library.db.read_all() as conn:
        folder = folder_by_id(conn, folder_id)
        due = conn.execute(
            select(moves).where(moves.c.folder_id == folder_id, moves.c.state == "due").order_by(moves.c.id)
        ).all()
    if folder is None or not due:
        return 0
    disk = disk_of(library, folder)
    if not disk.is_there():
        return 0
    moved = 0
    for start in range(0, len(due), BATCH):
        results = [(row, _carry_out(disk, row)) for row in due[start : start + BATCH]]
        with library.db.write() as conn:
            for row, why in results:
                state = "done" if why is None else "left"
                conn.execute(moves.update().where(moves.c.id == row.id).values(state=state, why=why))
                if why is None:
                    moved += 1
                    _follow_rows(conn, row)
    return moved


def _carry_out(disk: Disk, row: Row[Any]) -> str | None:
    """Do one move; return why not, or None if it is done (perhaps by a run that was killed)."""
    try:
        stamp = disk.stamp(row.from_path)
        if stamp is None:
            if _is_meant(disk, row.to_path, row):
                return None
            return "It no longer exists."
        if not _is_meant(disk, row.from_path, row):
            return "There is another file there now."
        disk.move(row.from_path, row.to_path)
    except Unusable as error:
        return str(error)
    return None


def _is_meant(disk: Disk, path: str, row: Row[Any]) -> bool:
    digest = disk.digest(path)
    if digest is None:
        return False
    if row.digest is None or digest == row.digest:
        return True
    # A layout file may have been changed outside: the id in it identifies it.
    return path.endswith(".xml") and lasting_id(disk.read(path), path) == row.document_id


def _follow_rows(conn: Connection, row: Row[Any]) -> None:
    """Record the new place of a moved file of the project."""
    ours = (files.c.folder_id == row.folder_id, files.c.role.in_(OURS))
    file = conn.execute(select(files).where(*ours, files.c.path == row.from_path)).first()
    if file is not None:
        move_row(conn, file, row.to_path)


@dataclass(frozen=True, slots=True)
class _Node:
    id: str
    parent_id: str | None
    name: str
    doc_type: str
    system_key: str | None


def _tree(conn: Connection) -> dict[str, _Node]:
    rows = raw_of(conn).execute(f"SELECT id, parent_id, name, doc_type, system_key FROM {documents}")
    return {row[0]: _Node(*row) for row in rows}
