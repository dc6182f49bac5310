"""A reader that finds two lines and reads them anew each time, so that a reading that was displaced shows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from armarium_worker import FoundLine, LineReading, LineShape, Page, Reader


class Restless(Reader):
    """Never reads the same twice."""

    name, label = "restless", "Restless"
    can = frozenset({"find_lines", "read_lines", "read_page"})

    def find_lines(self, page: Page) -> Iterator[FoundLine]:
        """Two lines."""
        width, height = page.image.size
        for top in (0.2, 0.55):
            yield FoundLine(rect=(0.1 * width, top * height, 0.8 * width, 0.2 * height))

    def read_lines(self, page: Page, lines: Sequence[LineShape]) -> Iterator[LineReading]:
        """Other words than the last time."""
        for number, _ in enumerate(lines):
            yield LineReading(f"machine {os.urandom(3).hex()} {number}", 0.5)
