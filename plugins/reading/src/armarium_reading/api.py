"""What other families and the makers of readers may import: the reader contract, its proving suite, the ledger.

The contract itself lives in `armarium_worker`, which a reader's own runtime has too; a driver that runs in a
runtime imports it from there.
"""

from __future__ import annotations

from armarium_reading.ledger import ModelCall, record, record_in
from armarium_reading.models import episodes
from armarium_reading.proving import ReaderProof, exercise_reader
from armarium_reading.queries import list_episodes
from armarium_reading.readers import GROUP, Choice, choose, load_reader, models_folder, readers
from armarium_worker import (
    FoundLine,
    LineReading,
    LineShape,
    ModelFile,
    Page,
    Reader,
    ReadLine,
    Refused,
    RemoteFile,
    Runtime,
)

__all__ = [
    "GROUP",
    "Choice",
    "FoundLine",
    "LineReading",
    "LineShape",
    "ModelCall",
    "ModelFile",
    "Page",
    "ReadLine",
    "Reader",
    "ReaderProof",
    "Refused",
    "RemoteFile",
    "Runtime",
    "choose",
    "episodes",
    "exercise_reader",
    "list_episodes",
    "load_reader",
    "models_folder",
    "readers",
    "record",
    "record_in",
]
