"""Readers for tests, run in real worker processes: the colour of a page's first pixel determines their
behaviour.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from armarium_worker import (
    FoundLine,
    LineReading,
    LineShape,
    ModelFile,
    Page,
    Reader,
    Refused,
    RemoteFile,
    Runtime,
    SpokenLine,
    Transcriber,
    Transcript,
)

WHITE = (255, 255, 255)
REFUSE = (0, 255, 0)
FAIL = (0, 0, 255)
CRASH = (255, 0, 0)
SLOW = (255, 255, 0)
EMPTY = (0, 0, 0)
GREY = (120, 120, 120)
MIXED = (60, 60, 60)


class FakeReader(Reader):
    """Finds a region with two lines on every page and reads each line as its height in pixels."""

    name = "fake"
    label = "Fake"
    can = frozenset({"find_lines", "read_lines", "read_page"})
    languages = ("he", "la")
    model_kind = "fakes"
    model_suffixes = (".fake",)

    def find_lines(self, page: Page) -> Iterator[FoundLine]:
        """Find a region and its lines, or do what the page's colour demands."""
        colour = page.image.getpixel((0, 0))
        if colour == REFUSE:
            raise Refused("The page is too faint to find lines on.")
        if colour == FAIL:
            raise RuntimeError("weights do not fit")
        if colour == CRASH:
            os._exit(9)
        if colour == SLOW:
            time.sleep(2)
        if colour == EMPTY:
            return
        yield FoundLine(rect=(10, 10, 80, 60), kind="region", kind_raw="text", key="r1")
        for number, top in enumerate((10, 40)):
            yield FoundLine(
                polygon=((10, top), (90, top), (90, top + 20), (10, top + 20)),
                baseline=((10, top + 15), (90, top + 15)),
                confidence=0.5,
                key=f"l{number}",
                parent="r1",
                direction="rtl" if number else None,
            )

    def read_lines(self, page: Page, lines: Sequence[LineShape]) -> Iterator[LineReading]:
        """Return the model file's text for every line; without a model, Hebrew on the second line and nothing
        on the third.
        """
        if page.image.getpixel((0, 0)) == REFUSE:
            raise Refused("The page is too faint to read.")
        for number, line in enumerate(lines):
            if self.model:
                yield LineReading(Path(self.model).read_text("utf-8"), 0.9)
            else:
                yield LineReading((f"height {round(line.rect[3])}", "שלום עולם", "")[number % 3], 0.75)

    @classmethod
    def remote(cls, model: str, fetch: Callable[[str], bytes]) -> RemoteFile:
        """Return the file that the tests' fake network offers."""
        if model != "10.1/known":
            raise Refused(f"There is no model {model!r}.")
        checksum = fetch("https://models.example/10.1/known").decode()
        return RemoteFile("https://models.example/file", "known.fake", checksum, "md5", "Known", "CC0-1.0")


class FinderOnly(Reader):
    """Can find lines but not read."""

    name = "finder"
    label = "Finder"
    can = frozenset({"find_lines"})

    def find_lines(self, page: Page) -> Iterator[FoundLine]:
        """Find one line."""
        yield FoundLine(rect=(1, 1, 20, 10))


class NeedsModel(FakeReader):
    """Cannot read without a model file."""

    name = "needy"
    label = "Needy"
    reading_needs_model = True


class NeedsRuntime(Reader):
    """Needs a runtime that this machine does not have."""

    name = "heavy"
    label = "Heavy"
    can = frozenset({"find_lines"})
    runtime = Runtime("absent", "fake_readers", "requirements.txt", "absent", size_mb=10)
    model_kind = "heavies"
    model_suffixes = (".heavy",)

    @classmethod
    def models_here(cls, folder: Path, runtime_folder: Path | None) -> list[ModelFile]:
        """Return a model that comes with the runtime."""
        return [ModelFile("inside", "Inside", None, 5, shipped=True)]

    def find_lines(self, page: Page) -> Iterator[FoundLine]:
        """Never called."""
        return iter(())


class Modest(FakeReader):
    """States low confidence, and is right more often than stated."""

    name, label = "modest", "Modest"
    writing = frozenset({"hand"})
    calibration = ((0.0, 0.3), (0.4, 0.6), (1.0, 1.0))

    def read_lines(self, page: Page, lines: Sequence[LineShape]) -> Iterator[LineReading]:
        """Read with high confidence on grey pages, and the upper line of mixed ones."""
        colour = page.image.getpixel((0, 0))
        for line in lines:
            sure = {GREY: 0.6, MIXED: 1.0 if line.rect[1] < 30 else 0.0}
            yield LineReading("modest", sure.get(colour, 0.4))


class Boastful(FakeReader):
    """States high confidence, and is right less often than stated."""

    name, label = "boastful", "Boastful"
    writing = frozenset({"print"})
    calibration = ((0.0, 0.0), (0.9, 0.65), (1.0, 0.7))

    def read_lines(self, page: Page, lines: Sequence[LineShape]) -> Iterator[LineReading]:
        """Read with high confidence on every page."""
        for _ in lines:
            yield LineReading("boastful", 0.9)


class FakeTranscriber(Transcriber):
    """Transcribes any recording as two sentences that extend beyond its edges, and silence between them."""

    name = "ear"
    label = "Ear"
    languages = ("es",)

    def transcribe(self, recording: Path) -> Transcript:
        """Refuse files that are not WAV."""
        import wave

        try:
            with wave.open(str(recording)) as sound:
                seconds = sound.getnframes() / sound.getframerate()
        except (wave.Error, EOFError) as error:
            raise Refused(f"The recording cannot be decoded ({error}). Import it again.") from error
        lines = [
            SpokenLine(-1, seconds / 4, " Buenos\ndías.", 0.8),
            SpokenLine(seconds / 4, seconds / 2, " "),
        ]
        return Transcript(seconds, [*lines, SpokenLine(seconds, seconds * 2, f"In {self.language}.", 2.0)])


class OurFinder(FakeReader):
    """Goes by the name of our finder: it finds the first line alone, and on a grey page it is sure of it."""

    name = "lines"
    label = "Ours"
    can = frozenset({"find_lines"})

    def find_lines(self, page: Page) -> Iterator[FoundLine]:
        """Find a region and one line."""
        region, line, _ = super().find_lines(page)
        yield region
        yield replace(line, confidence=0.9 if page.image.getpixel((0, 0)) == GREY else 0.5)


class OtherFinder(FakeReader):
    """Goes by the name of the other finder: it finds both lines."""

    name = "rapidocr"
    label = "The other"
    can = frozenset({"find_lines"})
