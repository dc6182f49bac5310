"""The framed protocol that the engine and its worker processes speak, and the contracts of readers, transcribers
and embedders; no dependencies.

This distribution runs on both sides: in the engine (`WorkerProcess`) and inside a runtime's own interpreter
(`serve`), where nothing else of Armarium is installed. So it imports the standard library only.
"""

from .client import WorkerProcess
from .epochs import EpochTrainer, no_room, write_whole
from .errors import (
    ProtocolError,
    Refused,
    WorkerDied,
    WorkerError,
    WorkerFailed,
    WorkerRefused,
    WorkerStopped,
    WorkerTimeout,
)
from .frames import MAX_BINARY, MAX_JSON, Frame, read_frame, write_frame
from .graphemes import graphemes
from .passages import PassageEmbedder
from .reading import ModelFile, OfferedModel, Reader, RemoteFile, Runtime
from .server import Call, Handler, WorkerContext, serve
from .shapes import FoundLine, LinePlaces, LineReading, LineShape, Page, Point, ReadLine
from .speech import SpokenLine, Transcriber, Transcript

__all__ = [
    "MAX_BINARY",
    "MAX_JSON",
    "Call",
    "EpochTrainer",
    "FoundLine",
    "Frame",
    "Handler",
    "LinePlaces",
    "LineReading",
    "LineShape",
    "ModelFile",
    "OfferedModel",
    "Page",
    "PassageEmbedder",
    "Point",
    "ProtocolError",
    "ReadLine",
    "Reader",
    "Refused",
    "RemoteFile",
    "Runtime",
    "SpokenLine",
    "Transcriber",
    "Transcript",
    "WorkerContext",
    "WorkerDied",
    "WorkerError",
    "WorkerFailed",
    "WorkerProcess",
    "WorkerRefused",
    "WorkerStopped",
    "WorkerTimeout",
    "graphemes",
    "no_room",
    "read_frame",
    "serve",
    "write_frame",
    "write_whole",
]
