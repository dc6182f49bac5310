"""Shapes of the import of items from other programs."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from armarium.api import MaterialPath, Message
from armarium_formats.schemas.exchange import Prepared


class ImportItems(Prepared):
    """`path` is the file that Tropy (JSON-LD), Zotero (RDF, Better BibTeX JSON, CSL JSON) or Omeka S (CSV) exported; its
    files are in its folder or below it."""

    path: MaterialPath
    parent_id: Annotated[str, Field(max_length=64)] | None = None


class ItemLoss(Message):
    """What of the export has no place here, or was left out, with the reason."""

    what: str
    count: int
    why: str


class ItemsImported(Message):
    """How many items are new, changed and as they were; pages, notes and passes count what was added or changed.
    `refused` names files that were not taken, each with the reason."""

    program: str
    items: int
    new: int
    changed: int
    equal: int
    pages: int
    notes: int
    passes: int
    document_ids: list[str]
    refused: list[dict[str, str]]
    losses: list[ItemLoss]


class ItemsStarted(Message):
    """The job that imports; its result is an `ItemsImported`."""

    job_id: str
    state: str
    set_id: str
