"""A reader that only waits: the rest of a shard's time is what sending and starting it takes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from armarium_worker import FoundLine, LineReading, LineShape, Page, Reader

WAITS = 30.0
"""Seconds per page: as long as two cores need to read fifty handwritten pages, a shard's default size."""


class Waiting(Reader):
    """Reads nothing, slowly."""

    name, label = "waiting", "Waiting"
    can = frozenset({"find_lines", "read_lines", "read_page"})

    def find_lines(self, page: Page) -> Iterator[FoundLine]:
        """Find no lines, after a while."""
        time.sleep(WAITS)
        yield from ()

    def read_lines(self, page: Page, lines: Sequence[LineShape]) -> Iterator[LineReading]:
        """Read nothing."""
        yield from ()
