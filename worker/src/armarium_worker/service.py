"""Serves one reader class inside a worker process: keeps the loaded model and the last decoded page, packs the results."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from .errors import Refused
from .reading import Reader
from .server import Call, WorkerContext
from .shapes import Page, pack_line, pack_places, pack_reading, place, unpack_shape


class ReaderService:
    """Serves one reader class: keeps the loaded model and the last decoded page, checks and packs its results."""

    def __init__(self, reader: type[Reader], context: WorkerContext) -> None:
        self.cls = reader
        self.context = context
        self.loaded: tuple[tuple[Any, Any], Reader] | None = None
        self.page: Page | None = None

    def load(self, call: Call) -> dict[str, Any]:
        """Load the model now, so that the first page does not wait for it."""
        started = time.perf_counter()
        self._reader(call)
        return {"seconds": time.perf_counter() - started}

    def find_lines(self, call: Call) -> dict[str, Any]:
        """Params: image, width?, height?, model?, language?, max_pixels?. Result: lines[], width, height, seconds,
        cpu_seconds."""
        reader, page = self._reader(call), self._page(call)
        started = _clocks()
        lines = []
        for line in reader.find_lines(page):
            placed = place(line, page)
            if placed is not None:
                lines.append(pack_line(placed))
                call.progress(len(lines), unit="lines")
            call.check()
        return self._answer(page, started, lines=lines)

    def read_lines(self, call: Call) -> dict[str, Any]:
        """Params: as find_lines, and lines[] {rect, polygon?, baseline?, direction?}, alternatives?. Result: readings[]."""
        reader, page = self._reader(call), self._page(call)
        started = _clocks()
        shapes = [unpack_shape(line) for line in call.params.get("lines", [])]
        readings: list[dict[str, Any]] = []
        reader.alternatives = int(call.params.get("alternatives", 0))
        for reading in reader.read_lines(page, shapes):
            readings.append(pack_reading(reading))
            call.progress(len(readings), len(shapes), unit="lines")
            call.check()
        if len(readings) != len(shapes):
            raise ValueError(f"{self.cls.name} was given {len(shapes)} lines and read {len(readings)}")
        return self._answer(page, started, readings=readings)

    def align_lines(self, call: Call) -> dict[str, Any]:
        """Params: as read_lines, and texts[], one for each line. Result: places[], each packed, or {why} where it does not fit."""
        reader, page = self._reader(call), self._page(call)
        started = _clocks()
        shapes = [unpack_shape(line) for line in call.params.get("lines", [])]
        places: list[dict[str, Any]] = []
        for answer in reader.align_lines(page, shapes, call.params["texts"]):
            places.append({"why": answer} if isinstance(answer, str) else pack_places(answer))
            call.progress(len(places), len(shapes), unit="lines")
            call.check()
        return self._answer(page, started, places=places)

    def read_page(self, call: Call) -> dict[str, Any]:
        """Params: as find_lines. Result: lines[], each with text and its confidence under `reading`."""
        reader, page = self._reader(call), self._page(call)
        started = _clocks()
        lines: list[dict[str, Any]] = []
        for read in reader.read_page(page):
            placed = place(read.line, page)
            if placed is not None:
                lines.append({**pack_line(placed), "reading": pack_reading(read.reading)})
                call.progress(len(lines), unit="lines")
            call.check()
        return self._answer(page, started, lines=lines)

    def _reader(self, call: Call) -> Reader:
        """Return the reader with the model the call names; another model replaces the loaded one."""
        call_key = (call.params.get("model"), call.params.get("language"))
        if self.loaded is None or self.loaded[0] != call_key:
            self.loaded = None
            model = call_key[0]
            if model is not None and Path(model).is_absolute() and not Path(model).is_file():
                raise Refused(f"The model file {Path(model).name} is no longer there.")
            reader = self.cls(
                model=model, language=call_key[1], threads=self.context.threads, device=self.context.device
            )
            reader.load()
            self.loaded = (call_key, reader)
        return self.loaded[1]

    def _page(self, call: Call) -> Page:
        """Return the page the call names; the last decoded one is kept, since its lines are usually read next."""
        path = Path(str(call.params["image"]))
        if self.page is None or self.page.path != path:
            self.page = None
            if not path.is_file():
                raise Refused("The page picture is not there any more; is the project's folder complete?")
            assert self.loaded is not None
            self.page = self.loaded[1].open_page(path, int(call.params.get("max_pixels", 200_000_000)))
        page, width, height = self.page, call.params.get("width"), call.params.get("height")
        if width and height and (page.width, page.height) != (width, height):
            raise Refused(
                f"The page picture is {page.width} x {page.height} pixels and {width} x {height} were recorded; "
                "import it again."
            )
        return page

    def _answer(self, page: Page, started: tuple[float, float], **fields: Any) -> dict[str, Any]:
        seconds, cpu = (now - then for now, then in zip(_clocks(), started, strict=True))
        size = {"width": page.width, "height": page.height}
        return {**fields, **size, "seconds": seconds, "cpu_seconds": cpu}


def _clocks() -> tuple[float, float]:
    """Return wall-clock seconds, and processor seconds of this process, its threads and ended children."""
    own = os.times()
    return time.perf_counter(), time.process_time() + own.children_user + own.children_system
