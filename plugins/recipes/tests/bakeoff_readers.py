"""Readers for the tests of bake-offs, run in real worker processes: what each misreads is known from its words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from armarium_worker import FoundLine, LineReading, LineShape, ModelFile, Page, Reader, Refused

DARK = 245
"""Pages whose first pixel is darker are of the second hand."""


class First(Reader):
    """Reads the row of number n as `line n`, but of every tenth row one letter wrong."""

    name, label = "first", "First"
    can = frozenset({"find_lines", "read_lines"})
    scripts, languages = ("Latn",), ("en",)

    @classmethod
    def models_here(cls, folder: Path, runtime_folder: Path | None) -> list[ModelFile]:
        """One model, which comes with it."""
        return [ModelFile("base", f"{cls.label} base", None, 1000, shipped=True)]

    def word(self, number: int, dark: bool) -> str:
        """What it takes the word for."""
        return "lime" if number % 10 == 0 else "line"

    def read_lines(self, page: Page, lines: Sequence[LineShape]) -> Iterator[LineReading]:
        """The rows in their order."""
        dark = page.image.convert("L").getpixel((0, 0)) < DARK
        for number, _ in enumerate(lines):
            yield LineReading(f"{self.word(number, dark)} {number}", 0.9)

    def find_lines(self, page: Page) -> Iterator[FoundLine]:
        """As many rows as there are on the pages of these tests, and one too many at the foot."""
        height = page.height / 61
        for row in range(61):
            yield FoundLine(rect=(0.1 * page.width, row * height, 0.8 * page.width, 0.8 * height))


class Second(First):
    """Reads the second hand without fault, and of the first hand no word."""

    name, label = "second", "Second"

    def word(self, number: int, dark: bool) -> str:
        """Right where it is dark."""
        return "line" if dark else "time"


class Third(First):
    """Reads no word right."""

    name, label = "third", "Third"

    def word(self, number: int, dark: bool) -> str:
        """Wrong."""
        return "wood"


class Worst(Third):
    """Reads worse than all others."""

    name, label = "worst", "Worst"

    def word(self, number: int, dark: bool) -> str:
        """All wrong."""
        return "#########"


class Printer(First):
    """For print alone."""

    name, label = "printer", "Printer"
    writing = frozenset({"print"})


class Silent(First):
    """Reads nothing."""

    name, label = "silent", "Silent"

    def read_lines(self, page: Page, lines: Sequence[LineShape]) -> Iterator[LineReading]:
        """Never."""
        raise Refused("The page is too faint to read.")


class Finder(First):
    """Under the name of the reader whose detector stands in."""

    name, label = "rapidocr", "RapidOCR"
    languages = ()


class Trainable(First):
    """Takes models that were trained here."""

    name, label = "trainable", "Trainable"
    model_kind, model_suffixes = "trainable", (".trained",)
    reading_needs_model = True

    @classmethod
    def models_here(cls, folder: Path, runtime_folder: Path | None) -> list[ModelFile]:
        """None comes with it."""
        return []
