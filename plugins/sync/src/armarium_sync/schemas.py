"""Requests and answers of synced folders."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, WithJsonSchema

from armarium.api import MaterialPath, Message, Params, ShownPath, answer_of
from armarium_sync.models import folders

Format = Annotated[
    str,
    Field(min_length=1, max_length=100),
    WithJsonSchema({"enum": ["pagexml", "alto", "tei"], "type": "string"}),
]
"""The interface names those that state ids in their content; any format that a driver writes can be kept, its files known by
the ids in their names."""
Mode = Literal["index", "keep-arranged"]
Id = Annotated[str, Field(min_length=1, max_length=200)]


class TieParams(Params):
    """A folder on the engine's disk in which the project's pages are kept as files."""

    path: MaterialPath
    formats: Annotated[list[Format], Field(max_length=3)]
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


@answer_of(folders)
class Folder(Message):
    """A synced folder, and the state of its files."""

    formats: list[Format]
    mode: Mode
    there: bool
    watched: str | None
    last_written: str | None
    pending: int
    files: list[WrittenFile]
    in_the_way: list[str]
    conflicts: list[Conflicting]
    changed_outside: list[str]
    deleted_outside: list[str]
    taken_in: list[TakenIn]
    not_read_back: list[Unread]
    left_behind: list[LeftBehind]


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
