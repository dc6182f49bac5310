"""The Trash: its contents, and the answers of restoring and emptying."""

from __future__ import annotations

from typing import Literal

from armarium.api import Message, Params


class TrashEntry(Message):
    """One deletion, with everything that went with it."""

    id: str
    document_id: str
    name: str
    doc_type: str
    prototype_key: str | None
    item_count: int
    deleted_at: str
    deleted_by: str | None
    from_folder_id: str | None
    from_folder_path: str | None
    from_folder_state: Literal["top", "live", "in-trash", "gone"]
    from_where: str
    reason: Literal["deleted", "moved"]
    moved_to_project: str | None
    moved_on: str | None
    transfer_id: str | None
    why: str


class RestoreResult(Message):
    document_id: str
    folder_id: str | None
    folder_name: str | None
    into_sources: bool
    folder_in_trash_id: str | None
    message: str


class MovedAway(Message):
    target_path: str
    target_name: str
    count: int
    sentence: str


class EmptyPlan(Message):
    """What Empty Trash would remove; nothing is changed."""

    items: int
    documents: int
    statements: int
    entities: int
    bytes: int
    """Of pictures that nothing else needs: at least so much is freed, other files of the documents come on top."""
    moved: list[MovedAway]
    question: str


class EmptyParams(Params):
    """Empty Trash takes no parameters: it removes everything in the Trash."""


class Removed(Message):
    items: int
    documents: int
    statements: int
    entities: int
    files: int


class EmptyResult(Message):
    removed: Removed
    bytes_freed: int
    snapshot_id: str | None
    made_permanent: list[MovedAway]
