"""Synced folders, their files, conflicts and moves: what is sent, stored and answered."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, WithJsonSchema
from sqlalchemy import Column, Index, Integer, MetaData, Table, Text

from armarium.api import (
    HIDDEN,
    Computed,
    MaterialPath,
    Message,
    Params,
    Record,
    ShownPath,
    operational,
    record,
    reference,
    tracked,
)
from armarium_documents.api import documents
from armarium_source_model.api import passes
from armarium_sync.errors import no_folder

metadata = MetaData()

Format = Annotated[
    str,
    Field(min_length=1, max_length=100),
    WithJsonSchema({"enum": ["pagexml", "alto", "tei", "hocr"], "type": "string"}),
]
"""The interface names those that state ids in their content; any format that a driver writes can be kept, its files known by
the ids in their names."""
Mode = Literal["index", "keep-arranged"]
Id = Annotated[str, Field(min_length=1, max_length=200)]


class TieParams(Params):
    """A folder on the engine's disk in which the project's pages are kept as files."""

    path: MaterialPath
    formats: Annotated[list[Format], Field(max_length=20)]
    mode: Mode = "index"


class Tied(Message):
    id: str


class FolderParams(Params):
    folder_id: Id


class Untied(Message):
    status: Literal["untied"]
    id: str


class IntakeParams(Params):
    folder_id: Id
    on: bool


class ModeParams(Params):
    folder_id: Id
    mode: Mode


class WrittenFile(Message):
    """A file that the engine keeps up to date."""

    path: str
    document_id: str
    format: str
    written_at: str | None


class Conflicting(Message):
    """A page that changed in the project and in the folder; the pass is the folder's version."""

    document_id: str
    path: str
    pass_id: str


class TakenIn(Message):
    path: str
    document_id: str | None


class Unread(Message):
    path: str
    why: str


class LeftBehind(Message):
    """A file of a page that may no longer be exported: it still exists but is not written any more."""

    path: str
    document_id: str
    why: str


@record(
    metadata,
    "sync_folder",
    tracked(label="synced folder", stays_here=True),
    last=(
        # The project folder that came from it; no foreign key: an emptied Trash must not untie the folder.
        Column("root_id", Text, info=HIDDEN),
        Column("created_at", Text, nullable=False),
    ),
    refusal=no_folder,
)
class Folder(Record):
    """A synced folder, and the state of its files."""

    # A full path on the engine's disk, with links resolved.
    path: str
    formats: list[Format]
    mode: Mode
    intake: bool
    adopted: bool
    there: Computed[bool]
    watched: Computed[str | None]
    last_written: Computed[str | None]
    pending: Computed[int]
    files: Computed[list[WrittenFile]]
    in_the_way: Computed[list[str]]
    conflicts: Computed[list[Conflicting]]
    changed_outside: Computed[list[str]]
    deleted_outside: Computed[list[str]]
    taken_in: Computed[list[TakenIn]]
    not_read_back: Computed[list[Unread]]
    left_behind: Computed[list[LeftBehind]]


folders = Folder.table
"""One tie of the project to a folder."""

conflicts = Table(
    "sync_conflict",
    metadata,
    Column("id", Text, primary_key=True),
    reference("folder_id", folders.c.id),
    reference("document_id", documents.c.id),
    # The file's row, since the file may be moved meanwhile. It is in an operational table, so this is not a
    # foreign key.
    Column("file_id", Text, nullable=False, info=HIDDEN),
    reference("pass_id", passes.c.id),
    Column("created_at", Text, nullable=False),
    info=tracked(label="conflict of a synced folder", document="document_id", stays_here=True),
)
"""A page that changed in the project and in the folder: the pass is the folder's version, and the file is no
longer written.
"""

files = Table(
    "sync_file",
    metadata,
    Column("id", Text, primary_key=True),
    Column("folder_id", Text, nullable=False),
    # Relative to the folder, with slashes, as the disk spells it.
    Column("path", Text, nullable=False),
    # layout, loss, picture: the project's; other: somebody else's.
    Column("role", Text, nullable=False),
    Column("document_id", Text, index=True),
    Column("format", Text),
    # SHA-256 of the version that the project knows: written, adopted or taken in.
    Column("digest", Text),
    # SHA-256 of the page as it was written, without its date: shows whether the page has changed since.
    Column("mark", Text),
    # The digest at the last scan, None if the file was gone; and how the disk described it.
    Column("seen", Text),
    Column("stamp", Text),
    # conflict, taken-in, refused, in-the-way, tried, withheld; none: as it was written.
    Column("state", Text),
    Column("why", Text),
    Column("written_at", Text),
    Index("ix_sync_file_path", "folder_id", "path", unique=True),
    Index("ix_sync_file_role", "folder_id", "role", "state"),
    info=operational(stays_here=True),
)
"""What is known of a file in a synced folder. Only files listed here are opened, never a path that a caller sent."""

versions_known = Table(
    "sync_version",
    metadata,
    Column("folder_id", Text, primary_key=True),
    Column("digest", Text, primary_key=True),
    # written, or taken-in.
    Column("kind", Text, nullable=False),
    info=operational(stays_here=True),
)
"""Every version of a file that was written to a folder or taken in from it: if it turns up again, it is not a
new edit.
"""

tied = Table(
    "sync_tied",
    metadata,
    Column("path", Text, primary_key=True),
    Column("folder_id", Text, nullable=False),
    info=operational(stays_here=True),
)
"""The id of each folder that was ever tied: when it is tied again, its files are recognised."""

pending = Table(
    "sync_pending",
    metadata,
    Column("folder_id", Text, primary_key=True),
    Column("document_id", Text, primary_key=True),
    # Milliseconds since 1970 at the page's last change; 0: at once.
    Column("changed_at", Integer, nullable=False),
    info=operational(stays_here=True),
)
"""Pages that changed since their files were written."""

moves = Table(
    "sync_move",
    metadata,
    Column("id", Text, primary_key=True),
    Column("audit_id", Text, nullable=False, index=True),
    Column("folder_id", Text, nullable=False),
    Column("document_id", Text),
    Column("from_path", Text, nullable=False),
    Column("to_path", Text, nullable=False),
    # due, done, or left with the reason. SHA-256 of the file that is meant: another one in its place is not
    # moved.
    Column("digest", Text),
    Column("state", Text, nullable=False),
    Column("why", Text),
    Index("ix_sync_move_due", "folder_id", "state"),
    info=operational(stays_here=True),
)
"""The journal of moved files: what an arrangement or its undo still has to do on disk, and what it has done."""


class Folders(Message):
    folders: list[Folder]


class Intake(Message):
    """Whether files come in from the folder, and what would come in now, by format; and new pictures."""

    on: bool
    would_bring_in: dict[str, int]
    images: int


class Move(Message):
    document_id: str
    from_path: str
    to_path: str


class Arrangement(Message):
    """Files that would be moved, with paths inside the folder, and those that cannot."""

    mode: Mode
    moves: list[Move]
    refused: list[Unread]


class Held(Message):
    """A document whose file another document has as well."""

    id: str
    name: str
    parent_id: str | None
    created_at: str
    passes: int


class DuplicateGroup(Message):
    path: str
    checksum: str | None
    keep: Held
    remove: list[Held]


class Duplicates(Message):
    groups: list[DuplicateGroup]
    count: int


class RemoveParams(Params):
    document_ids: Annotated[list[Id], Field(min_length=1, max_length=10_000)]


class Removed(Message):
    removed: list[str]


class FileParams(Params):
    """A file that the engine's scan of a folder listed."""

    file_id: Id


class TookIn(Message):
    """The new pass; `conflict` if the page changed in the project as well."""

    pass_id: str
    document_id: str
    conflict: bool


class Followed(Message):
    document_id: str
    path: str


class OneMove(Params):
    """A move as the arrangement lists it; only what the arrangement itself contains is opened for it."""

    document_id: Id
    from_path: ShownPath
    to_path: ShownPath


class ArrangeParams(Params):
    folder_id: Id
    moves: Annotated[list[OneMove], Field(max_length=100_000)]


class Arranged(Message):
    moves: list[Move]


class WorkArgs(Params):
    """The arguments of the jobs on a folder."""

    folder_id: str
    thorough: bool = False
    arrange: bool = False
