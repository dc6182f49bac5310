"""Models of batches of files (import-batch, ingest/files)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, PrivateAttr

from armarium.api import MaterialPath, Message, Params, SourceText
from armarium_formats.placing import Beyond
from armarium_formats.schemas.exchange import Prepared
from armarium_formats.schemas.mets import UsedMets

MAX_FILES = 10_000
"""Files of one batch."""


class SentFile(Params):
    """A file that was sent: its bytes, or UTF-8 text. Its name may contain folders, as a dropped folder's
    do.
    """

    filename: Annotated[str, Field(min_length=1, max_length=4096)]
    file: SourceText | bytes = b""
    _path: Path | None = PrivateAttr(default=None)

    @classmethod
    def lying_at(cls, filename: str, path: Path) -> SentFile:
        """Return the model of a file that was received into a scratch folder."""
        found = cls(filename=filename[:4096] or "file")
        found._path = path
        return found

    def lay_in(self, folder: Path, number: int) -> Path:
        """Return the path of its bytes: where they were received, else in *folder*."""
        if self._path is None:
            self._path = folder / f"sent-{number:05}"
            self._path.write_bytes(self.file.encode() if isinstance(self.file, str) else self.file)
        return self._path


class _Batch(Prepared):
    parent_id: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    beyond: Beyond = "clip"
    """What becomes of shapes that reach beyond their page."""


class IngestBatch(_Batch):
    """Files that were sent together."""

    files: Annotated[list[SentFile], Field(min_length=1, max_length=MAX_FILES)]


class IngestFiles(_Batch):
    """Files on the engine's own machine, imported as one set; `link` leaves pictures where they are."""

    paths: Annotated[list[MaterialPath], Field(min_length=1, max_length=MAX_FILES)]
    link: bool = False


class IngestedDocument(Message):
    """A file that became a document; `path` is its path on this machine, null if it was sent."""

    id: str
    name: str
    path: str | None
    notes: list[str] = []


class IngestedPass(Message):
    """A page of a layout file that became a pass: `paired_by` says how its picture was found."""

    pass_id: str
    document_id: str
    file: str
    paired_by: Literal["declared", "name", "mets", "size"]
    notes: list[str]


class NotTaken(Message):
    file: str
    why: str


class Ingested(Message):
    """What was imported, what was not and why; the job pictures the pages of PDFs and TIFFs and has their text layers read,
    else it draws thumbnails; null if there was no picture. With a job that pictures pages, this step belongs to its set.
    """

    documents: list[IngestedDocument]
    passes: list[IngestedPass]
    mets: list[UsedMets]
    unpaired: list[NotTaken]
    refused: list[NotTaken]
    job_id: str | None
