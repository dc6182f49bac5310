"""The transcriber contract: what a driver that transcribes the speech of a recording is, and how a worker serves one.

As with readers, the engine reads the class attributes and a worker process runs the methods; heavy libraries are
imported only inside methods.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import Refused
from .reading import Reader
from .server import Call, Handler, WorkerContext
from .service import ReaderService
from .shapes import LineReading, pack_reading

LEAST_SPAN = 0.01
"""Minimum duration of a line in seconds, so that every line has a place on the recording."""


@dataclass(frozen=True, slots=True)
class SpokenLine:
    """What is said from `start` to `end`, in seconds from the recording's beginning; confidence 0 to 1."""

    start: float
    end: float
    text: str
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Transcript:
    """The length of a recording in seconds, and its lines in the order in which they are spoken."""

    seconds: float
    lines: Iterable[SpokenLine]


class Transcriber(Reader):
    """The base of every transcriber: set the class attributes, write `transcribe`.

    Models, languages and the runtime are declared as for a reader; `can` stays empty, because a transcriber neither
    finds nor reads lines of pictures. Lines may be generated one after the other: the engine may stop between two.
    """

    can = frozenset()

    def transcribe(self, recording: Path) -> Transcript:
        """Return what is spoken in the file; raises Refused for one that cannot be decoded."""
        raise Refused(f"{self.label} writes down no recordings; choose a transcriber that does.")

    @classmethod
    def handlers(cls, context: WorkerContext) -> Mapping[str, Handler]:
        """Return the methods of a worker process of this transcriber."""
        service = SpeechService(cls, context)
        return {"load": service.load, "transcribe": service.transcribe}


class SpeechService(ReaderService):
    """Serves one transcriber class: keeps the loaded model, checks and packs its results."""

    def transcribe(self, call: Call) -> dict[str, Any]:
        """Params: recording, model?, language?. Result: lines[] {start, end, text, confidence?}, length, seconds."""
        transcriber = self._reader(call)
        assert isinstance(transcriber, Transcriber)
        path = Path(str(call.params["recording"]))
        if not path.is_file():
            raise Refused("The recording is not there any more; is the project's folder complete?")
        started = time.perf_counter()
        transcript = transcriber.transcribe(path)
        length = float(transcript.seconds)
        if not (math.isfinite(length) and length > 0):
            raise Refused("The recording has no length; import it again from a good copy.")
        lines: list[dict[str, Any]] = []
        for line in transcript.lines:
            start, end = _span(line, length)
            lines.append({"start": start, "end": end, **pack_reading(_reading(line))})
            call.progress(round(end), round(length), unit="seconds")
            call.check()
        return {"lines": lines, "length": length, "seconds": time.perf_counter() - started}


def _span(line: SpokenLine, length: float) -> tuple[float, float]:
    """Return the line's interval within the recording, never empty; raises for NaN, a fault of the driver."""
    if not (math.isfinite(line.start) and math.isfinite(line.end)):
        raise ValueError("the time of a line is not a number")
    least = min(LEAST_SPAN, length)
    start = min(max(float(line.start), 0.0), length - least)
    return start, min(max(float(line.end), start + least), length)


def _reading(line: SpokenLine) -> LineReading:
    return LineReading(" ".join(line.text.split()), line.confidence)
