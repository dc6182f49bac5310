"""Readers for the tests of evaluation and of reading at scale, run in real worker processes."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from armarium_worker import FoundLine, LineReading, LineShape, Page, Reader, Refused


class Careful(Reader):
    """Reads the row of number n as `line n`, and finds two lines on every page."""

    name, label = "careful", "Careful"
    can = frozenset({"find_lines", "read_lines", "read_page"})
    model_kind = "careful"
    model_suffixes = (".careful",)
    words = "line"

    def find_lines(self, page: Page) -> Iterator[FoundLine]:
        """Two lines."""
        for top in (10, 40):
            yield FoundLine(rect=(10, top, 80, 20))

    def read_lines(self, page: Page, lines: Sequence[LineShape]) -> Iterator[LineReading]:
        """The rows in their order."""
        if (page.path.parent / "refuse-all").exists():
            raise Refused("The page is too faint to read.")
        for number, _ in enumerate(lines):
            yield LineReading(f"{self.words} {number}", 0.9)


class Careless(Careful):
    """Misreads a letter in each line."""

    name, label = "careless", "Careless"
    model_kind = "careless"
    words = "lime"


class Refusing(Careful):
    """Reads nothing."""

    name, label = "refusing", "Refusing"

    def read_lines(self, page: Page, lines: Sequence[LineShape]) -> Iterator[LineReading]:
        """Never."""
        raise Refused("The page is too faint to read.")


class Dying(Careful):
    """Ends its worker, once."""

    name, label = "dying", "Dying"

    def read_lines(self, page: Page, lines: Sequence[LineShape]) -> Iterator[LineReading]:
        """The second time it goes well."""
        mark = Path(os.environ["ARMARIUM_TEST_MARK"])
        if not mark.exists():
            mark.touch()
            os._exit(9)
        yield from super().read_lines(page, lines)


class Sleeping(Careful):
    """Leaves its process id and takes longer than anybody waits."""

    name, label = "sleeping", "Sleeping"

    def find_lines(self, page: Page) -> Iterator[FoundLine]:
        """Never."""
        Path(os.environ["ARMARIUM_TEST_MARK"]).write_text(str(os.getpid()))
        time.sleep(120)
        yield from super().find_lines(page)


class Swaggering(Careful):
    """Needs a model; of the lines of which it is less sure it misreads every other one."""

    name, label = "swaggering", "Swaggering"
    model_kind = "swaggering"
    model_suffixes = (".sure",)
    reading_needs_model = True

    def read_lines(self, page: Page, lines: Sequence[LineShape]) -> Iterator[LineReading]:
        """A third of the lines each: wrong in every letter and 0.6 sure, right and 0.6 sure, right and 0.9 sure."""
        for number, _ in enumerate(lines):
            yield LineReading("#" * 7 if number % 3 == 0 else f"line {number}", (0.6, 0.6, 0.9)[number % 3])


ALL = (Careful, Careless, Refusing, Dying, Sleeping, Swaggering)
