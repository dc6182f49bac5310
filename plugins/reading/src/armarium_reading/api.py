"""What other families and the makers of readers may import: the reader contract, its proving suite.

The contract itself lives in `armarium_worker`, which a reader's own runtime has too; a driver that runs in a
runtime imports it from there.
"""

from __future__ import annotations

from armarium_reading.proving import ReaderProof, exercise_reader
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
    "FoundLine",
    "LineReading",
    "LineShape",
    "ModelFile",
    "Page",
    "ReadLine",
    "Reader",
    "ReaderProof",
    "Refused",
    "RemoteFile",
    "Runtime",
    "exercise_reader",
]
