"""Transfer between projects: the request, and what was or would be transferred."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import PrivateAttr

from armarium.api import Message, PackagePath, Params
from armarium_documents.hookspecs import Limits
from armarium_documents.schemas.fields import Id, Ids

Mode = Literal["copy", "move"]


@dataclass(frozen=True)
class Arrival:
    """A copy that is complete and verified in the target and waits to be made live."""

    transfer_id: str
    parent_id: str
    roots: list[str]
    source_name: str
    companions: dict[str, list[str]]
    limits: list[tuple[Limits, str, Mapping[str, Any]]]
    """What is to be stated on which copy."""
    result: dict[str, Any]


class TransferParams(Params):
    """Which items of which project to transfer, and where to; each with everything live below it."""

    source_library: PackagePath
    items: Ids
    target_parent_id: Id | None = None
    mode: Mode = "copy"
    _arrival: Arrival | None = PrivateAttr(default=None)


class TransferRequest(TransferParams):
    """Like `document.transfer`; with dry_run nothing is written and the plan is returned."""

    dry_run: bool = False


class LinkedOriginal(Message):
    """A picture whose bytes lie outside the project; the copy links to the same file."""

    document_id: str
    path: str


class Word(Message):
    kind: str
    key: str
    id: str


class VocabularyUsed(Message):
    """Vocabulary (prototypes, kinds of reading) that existed under its key, and that was created."""

    matched: list[Word]
    made: list[Word]


class EdgeCut(Message):
    kind: str
    from_id: str
    to_id: str
    why: str


class LeftBehind(Message):
    kind: str
    id: str
    why: str


class NewItem(Message):
    source_id: str
    id: str


class Cut(Message):
    kind: Literal["canvas_place", "canvas_link", "workspace_slot", "alias", "sync_tie"]
    id: str
    name: str
    why: str


class TransferResult(Message):
    """What a transfer did, or (dry_run) would do. Ids in edges_cut and left_behind are those of the source."""

    transfer_id: str | None
    mode: Mode
    dry_run: bool
    source_library: str
    target_library: str
    target_parent_id: str
    planned: dict[str, int]
    written: dict[str, int] | None
    files_copied: int
    bytes_copied: int
    linked_originals: list[LinkedOriginal]
    vocabulary: VocabularyUsed
    entity_matches: list[dict[str, Any]]
    edges_cut: list[EdgeCut]
    left_behind: list[LeftBehind]
    new_items: list[NewItem]
    cuts: list[Cut]
    audit_id: str | None
    source_audit_id: str | None


class TransferOutResult(Message):
    """What was sent to the Trash of the project it left, and what was cut there."""

    transfer_id: str
    item_count: int
    cuts: list[Cut]
