"""Readers for the tests of bake-offs, run in real worker processes, each with known errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from armarium_worker import FoundLine, LineReading, LineShape, ModelFile, Page, Reader, Refused

DARK = 245
"""A page whose first pixel is darker is written in the second hand."""


class First(Reader):
    """Reads row n as `line n`, with one wrong letter in every tenth row."""

    name, label = "first", "First"
    can = frozenset({"find_lines", "read_lines"})
    scripts, languages = ("Latn",), ("en",)

    @classmethod
    def models_here(cls, folder: Path, runtime_folder: Path | None) -> list[ModelFile]:
        """Return the one model that comes with this reader."""
        return [ModelFile("base", f"{cls.label} base", None, 1000, shipped=True)]

    def word(self, number: int, dark: bool) -> str:
        """Return the word that it reads in front of the row's number."""
        return "lime" if number % 10 == 0 else "line"

    def read_lines(self, page: Page, lines: Sequence[LineShape]) -> Iterator[LineReading]:
        """Read the rows in their order."""
        dark = page.image.convert("L").getpixel((0, 0)) < DARK
        for number, _ in enumerate(lines):
            yield LineReading(f"{self.word(number, dark)} {number}", 0.9)

    def find_lines(self, page: Page) -> Iterator[FoundLine]:
        """Find as many rows as the pages of these tests have, and one too many at the foot."""
        height = page.height / 61
        for row in range(61):
            yield FoundLine(rect=(0.1 * page.width, row * height, 0.8 * page.width, 0.8 * height))


class Second(First):
    """Reads the second hand without errors, and no word of the first hand."""

    name, label = "second", "Second"

    def word(self, number: int, dark: bool) -> str:
        """Return the right word on dark pages only."""
        return "line" if dark else "time"


class Third(First):
    """Reads every word wrong."""

    name, label = "third", "Third"

    def word(self, number: int, dark: bool) -> str:
        """Return a wrong word."""
        return "wood"


class Worst(Third):
    """Reads worse than all others."""

    name, label = "worst", "Worst"

    def word(self, number: int, dark: bool) -> str:
        """Return what shares no letter with the right word and is longer."""
        return "#########"


class Printer(First):
    """A reader of print only."""

    name, label = "printer", "Printer"
    writing = frozenset({"print"})


class RefusingReader(First):
    """A reader that refuses every page."""

    name, label = "silent", "Silent"

    def read_lines(self, page: Page, lines: Sequence[LineShape]) -> Iterator[LineReading]:
        """Refuse the page."""
        raise Refused("The page is too faint to read.")


class Finder(First):
    """A reader with the name of the one whose detector is the stand-in."""

    name, label = "rapidocr", "RapidOCR"
    languages = ()


class Trainable(First):
    """A reader that uses models trained here."""

    name, label = "trainable", "Trainable"
    model_kind, model_suffixes = "trainable", (".trained",)
    reading_needs_model = True

    @classmethod
    def models_here(cls, folder: Path, runtime_folder: Path | None) -> list[ModelFile]:
        """Return no model: none comes with this reader."""
        return []
