"""Reading layout files ahead of the import that writes them: a worker process reads and places, the writer writes.

Nothing depends on it. A file that was not read ahead in time, that is large, strange or refused is read where it is
needed; so is every file where the machine has one core, and every file after the worker gave way.
"""

from __future__ import annotations

import logging
import os
import pickle
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from armarium.api import open_plain
from armarium_formats.catalogue import GROUP
from armarium_formats.driver import FormatDriver, ReadContext
from armarium_formats.mets.reader import sniff_mets
from armarium_formats.opening import MAX_SIDE, Opened, Size, collector_waits, digest_of
from armarium_formats.page_model import PageModel
from armarium_formats.placing import Placed, place

if TYPE_CHECKING:
    from armarium.api import JobContext

log = logging.getLogger("armarium.formats")

WORKER = f"{__name__}:ReadingAhead"

LEAST_FILES = 100
"""Of an import, for a process to be worth its start."""

AT_ONCE = 16
"""Files of one call."""

CALLS = 2
"""Calls that are on their way at a time: as much is held in memory beside the step in hand."""

LONGEST = 1 << 20
"""Bytes of a file that is read ahead."""


class Asked(NamedTuple):
    """A file that may be read ahead: where it lies, what it is called, the size of the picture called like it."""

    path: Path
    name: str
    picture: Size | None


class _Read(NamedTuple):
    """A file of one page as the worker read it: its bytes, the page without its segments, and these in fractions."""

    data: bytes
    digest: str
    page: PageModel
    placed: Placed


class ReadingAhead:
    """What runs in the worker process."""

    @staticmethod
    def handlers(context: Any) -> dict[str, Any]:
        """The methods that the engine calls."""
        return {"read": ReadingAhead.read}

    @staticmethod
    def read(call: Any) -> dict[str, Any]:
        """Read and place *files* with *driver*; None for each that is better read by the import itself."""
        (entry,) = entry_points(group=GROUP, name=call.params["driver"])
        kind = entry.load()
        driver = kind()
        with collector_waits():
            found = [_read(driver, *one) for one in call.params["files"]]
        call.answer_binary = pickle.dumps(found, pickle.HIGHEST_PROTOCOL)
        return {"driver": _whole_name(kind)}


def _read(driver: FormatDriver, path: str, name: str, picture: Sequence[int] | None) -> _Read | None:
    try:
        with open_plain(Path(path)) as file:
            data = file.read(LONGEST + 1)
        if not 0 < len(data) <= LONGEST or sniff_mets(data) or driver.sniff(data) < 1.0:
            return None
        size = (picture[0], picture[1]) if picture else None
        pages = driver.read(data, ReadContext(name, size, {}))
        (page,) = pages
        if not (0 < page.width <= MAX_SIDE and 0 < page.height <= MAX_SIDE):
            return None
        placed = place(page, (page.width, page.height), name, driver.name)
    except Exception:
        # The import reads it itself and says in words what is the matter.
        return None
    return _Read(data, digest_of(data), replace(page, segments=[]), placed)


def _whole_name(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


class Ahead:
    """The import's side: files are asked for in their order and taken when they are there, never waited for."""

    def __init__(self, ctx: JobContext, files: int, asked: Callable[[int], Asked]) -> None:
        self.ctx = ctx
        self.files = files
        self.asked = asked
        self.calls: list[tuple[int, Future[list[_Read | None]]]] = []
        self.read: dict[int, _Read | None] = {}
        self.next = 0
        """The first file that was not asked for."""
        self.driver: FormatDriver | None = None
        self.hand: ThreadPoolExecutor | None = None
        if files >= LEAST_FILES and _cores() > 1:
            self.hand = ThreadPoolExecutor(1, "read-ahead")
            self.start = self.hand.submit(ctx.call_worker, None, WORKER, "hello", {})

    def take(self, number: int) -> tuple[Opened, bytes] | None:
        """File *number* as it was read ahead; None when it is to be read now."""
        if self.hand is None or self.driver is None or not self.start.done() or self._gave_way(self.start):
            return None
        self._gather(number)
        self._ask(number)
        found = self.read.pop(number, None)
        if found is None:
            return None
        return Opened(
            self.driver, self.asked(number).name, found.digest, [found.page], found.placed
        ), found.data

    def is_of(self, driver: FormatDriver) -> None:
        """The driver of the file that was read last: the next ones are read ahead with it."""
        if self.driver is None or driver.name != self.driver.name:
            self.driver = driver
            self.calls, self.read = [], {}

    def close(self) -> None:
        """Ask for nothing more."""
        if self.hand is not None:
            self.hand.shutdown(wait=False, cancel_futures=True)
            self.hand = None

    def _gather(self, number: int) -> None:
        """Take over what the worker has read."""
        while self.calls and self.calls[0][1].done() and not self._gave_way(self.calls[0][1]):
            start, call = self.calls.pop(0)
            self.read |= dict(enumerate(call.result(), start))
        self.read = {one: read for one, read in self.read.items() if one >= number}

    def _gave_way(self, call: Future[Any]) -> bool:
        """Whether the worker failed a call: it is asked no more, and the import goes on without it."""
        fault = call.exception()
        if fault is not None and self.hand is not None:
            log.warning("layout files are read without a worker: %s", fault)
            self.close()
        return fault is not None

    def _ask(self, number: int) -> None:
        assert self.driver is not None
        while self.hand is not None and len(self.calls) < CALLS:
            # What the import will have come to by itself is not asked for.
            start = max(self.next, number + 1)
            asked = [self.asked(one) for one in range(start, min(start + AT_ONCE, self.files))]
            if not asked:
                return
            self.next = start + len(asked)
            self.calls.append((start, self.hand.submit(self._call, self.driver, asked)))

    def _call(self, driver: FormatDriver, asked: Sequence[Asked]) -> list[_Read | None]:
        files = [(_told(one.path), one.name, one.picture) for one in asked]
        answer = self.ctx.call_worker(None, WORKER, "read", {"driver": driver.name, "files": files})
        if answer["driver"] != _whole_name(type(driver)):
            # Another driver of that name is installed than the engine has.
            return [None] * len(asked)
        found: list[_Read | None] = pickle.loads(answer["binary"])
        return found


def _told(path: Path) -> str:
    """The path as JSON can carry it; one that JSON cannot carry leads nowhere, and is read by the import itself."""
    return str(path).encode("utf-8", "replace").decode()


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
