"""Shapes of the import of Tropy's export."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from armarium.api import MaterialPath, Message
from armarium_formats.schemas.exchange import Prepared


class ImportTropy(Prepared):
    """`path` is the JSON-LD file that Tropy exported; its photos are in its folder or below it."""

    path: MaterialPath
    parent_id: Annotated[str, Field(max_length=64)] | None = None


class TropyLoss(Message):
    """What of the export has no place here, or was left out, with the reason."""

    what: str
    count: int
    why: str


class TropyImported(Message):
    """How many items are new, changed and as they were; pages, notes and passes count what was added or changed.
    `refused` names photos that were not taken, each with the reason."""

    items: int
    new: int
    changed: int
    equal: int
    pages: int
    notes: int
    passes: int
    document_ids: list[str]
    refused: list[dict[str, str]]
    losses: list[TropyLoss]
