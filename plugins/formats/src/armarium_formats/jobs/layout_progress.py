"""The arguments, the checkpoint and the pace of the job `ingest-layouts`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from armarium.api import MaterialPath, Message
from armarium_documents.api import count_remarks
from armarium_formats.placing import Beyond

MAX_LISTED = 1000
"""Files that are named in the job's result; all of them are in its log."""

MAX_NOTES = 100
"""Kinds of notes that are told apart in the job's result; all notes are in its log."""


FIRST = 32
"""Files of the first step."""

MOST = 128
"""Files of any step."""

SECONDS = 0.15
"""How long a step may take, about: as long a person's write may have to wait for it."""


class LayoutJobArgs(Message):
    """What was imported, and the set that its steps belong to."""

    paths: list[MaterialPath]
    folder: MaterialPath | None = None
    parent_id: str
    recursive: bool = True
    format: str | None = None
    again: bool = False
    mirrored: str | None = None
    beyond: Beyond = "clip"
    set_id: str
    document_ids: list[str] = []
    """Imported PDFs, whose own text is read."""


@dataclass
class Progress:
    """The checkpoint: how many files are done, those that wait for their size, and the results."""

    number: int = 0
    page: int = 0
    """How many pages of the present file are done with."""
    waiting: list[dict[str, Any]] = field(default_factory=list)
    settled: int = 0
    passes: int = 0
    texts: int = 0
    """Pages whose own text became a pass."""
    pdf: int = 0
    """How many PDFs are done with, how many pages of the present one, and how many of these have a text."""
    pdf_page: int = 0
    pdf_texts: int = 0
    already: int = 0
    """Pages of files that are passes of their pictures since an earlier import."""
    unpaired: list[dict[str, str]] = field(default_factory=list)
    unpaired_count: int = 0
    refused: list[dict[str, str]] = field(default_factory=list)
    refused_count: int = 0
    mets: list[dict[str, Any]] = field(default_factory=list)
    """What METS files did."""
    notes: list[dict[str, Any]] = field(default_factory=list)
    """[{note, count, files}]: what the readers noted, alike notes once, with how many files and some of them."""
    unknown_classes: dict[str, int] = field(default_factory=dict)
    """Kinds of regions that have no counterpart here, with how many files have them."""

    def answer(self) -> dict[str, Any]:
        """Return the job's result."""
        inner = ("number", "page", "waiting", "settled", "pdf", "pdf_page", "pdf_texts")
        return {name: value for name, value in asdict(self).items() if name not in inner}

    def refuse(self, place: str, why: str) -> None:
        """Count a refused file."""
        self.refused_count += 1
        if len(self.refused) < MAX_LISTED:
            self.refused.append({"file": place, "why": why})

    def leave(self, place: str, why: str) -> None:
        """Count a page without a picture."""
        self.unpaired_count += 1
        if len(self.unpaired) < MAX_LISTED:
            self.unpaired.append({"file": place, "why": why})

    def note(self, place: str, notes: Iterable[str], unknown: Iterable[str]) -> None:
        """Count the notes on a file."""
        count_remarks(self.notes, place, notes, most=MAX_NOTES)
        for word in dict.fromkeys(unknown):
            if word in self.unknown_classes or len(self.unknown_classes) < MAX_LISTED:
                self.unknown_classes[word] = self.unknown_classes.get(word, 0) + 1


class Pace:
    """Steps grow while they are fast, and shrink if pages are large, the disk is slow or people write as
    well.
    """

    def __init__(self, first: int = FIRST) -> None:
        self.files = first

    def note_step(self, files: int, seconds: float) -> None:
        """Record that a step of *files* files took *seconds*, including its wait for the writer."""
        fitting = int(files * SECONDS / max(seconds, 0.001))
        # At most double: these may have been small ones.
        self.files = max(1, min(fitting, 2 * files, MOST))
