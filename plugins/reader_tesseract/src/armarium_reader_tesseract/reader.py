"""Tesseract as a reader: print in more than a hundred languages, with language data that this machine has.

Runs in a worker process of the engine's own interpreter; Tesseract is inside the tesserocr wheel, an
extra of this distribution; its language data is not and is never downloaded from here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from armarium_reader_tesseract.language_data import PUBLISHED, SUFFIX, list_installed, names_for
from armarium_worker import (
    FoundLine,
    LineReading,
    LineShape,
    ModelFile,
    Page,
    Reader,
    ReadLine,
    Refused,
    RemoteFile,
    Sign,
    places_of_signs,
)

DPI = 300
"""What Tesseract takes the resolution for, since page photographs seldom say it truly."""
MARGIN = 8
"""Pixels of page left around a line that is read by itself."""
MIN_LINE = 3
"""Pixels: a line lower or narrower than this cannot be read."""


class TesseractReader(Reader):
    """Finds and reads lines of print; finding needs no language data."""

    name = "tesseract"
    label = "Tesseract"
    can = frozenset({"find_lines", "read_lines", "read_page"})
    writing = frozenset({"print"})
    model_kind = "tesseract"
    model_suffixes = (SUFFIX,)

    def load(self) -> None:
        """Start Tesseract with the language data of `model`, or without any for finding lines alone."""
        from tesserocr import PSM, PyTessBaseAPI

        self.segmentation = PSM
        if self.model is None:
            self.api: Any = PyTessBaseAPI(init=False)
            self.api.InitForAnalysePage()
            return
        data = Path(self.model)
        try:
            self.api = PyTessBaseAPI(path=str(data.parent), lang=data.name.removesuffix(SUFFIX))
        except RuntimeError as error:
            raise Refused(
                f"Tesseract cannot use {data.name}; it may be truncated or of another version. Download it again."
            ) from error

    def find_lines(self, page: Page) -> Iterator[FoundLine]:
        """Return lines with the boxes and baselines of Tesseract's layout analysis."""
        self._show(page)
        self.api.SetPageSegMode(self.segmentation.AUTO_ONLY)
        layout = self.api.AnalyseLayout()
        if layout is not None:
            yield from self._lines(layout)

    def read_lines(self, page: Page, lines: Sequence[LineShape]) -> Iterator[LineReading]:
        """Read each given line by itself."""
        self._require_data()
        self._show(page)
        self.api.SetPageSegMode(self.segmentation.SINGLE_LINE)
        for line in lines:
            x, y, w, h = line.rect
            left, top = max(0, round(x) - MARGIN), max(0, round(y) - MARGIN)
            right, bottom = min(page.width, round(x + w) + MARGIN), min(page.height, round(y + h) + MARGIN)
            if right - left < MIN_LINE or bottom - top < MIN_LINE:
                yield LineReading("", 0.0)
                continue
            self.api.SetRectangle(left, top, right - left, bottom - top)
            text = " ".join(self.api.GetUTF8Text().strip().split("\n"))
            sure = self.api.MeanTextConf() / 100 if text else 0.0
            yield LineReading(text, sure, places=places_of_signs(text, list(_signs(self.api.GetIterator()))))

    def read_page(self, page: Page) -> Iterator[ReadLine]:
        """Find and read in one go, as Tesseract itself does."""
        from tesserocr import RIL

        self._require_data()
        self._show(page)
        self.api.SetPageSegMode(self.segmentation.AUTO)
        self.api.Recognize()
        results = self.api.GetIterator()
        if results is None:
            return
        while True:
            line = _line(results, RIL.TEXTLINE)
            text = (
                ""
                if line is None or results.Empty(RIL.TEXTLINE)
                else results.GetUTF8Text(RIL.TEXTLINE).strip()
            )
            if line is not None and text:
                sure = results.Confidence(RIL.TEXTLINE) / 100
                places = places_of_signs(text, list(_signs(results, RIL.TEXTLINE)))
                yield ReadLine(line, LineReading(text, sure, places=places))
            if not results.Next(RIL.TEXTLINE):
                return

    def _show(self, page: Page) -> None:
        self.api.SetImage(page.image)
        self.api.SetSourceResolution(DPI)

    def _lines(self, layout: Any) -> Iterator[FoundLine]:
        from tesserocr import RIL

        while True:
            line = _line(layout, RIL.TEXTLINE)
            if line is not None:
                yield line
            if not layout.Next(RIL.TEXTLINE):
                return

    def _require_data(self) -> None:
        if self.model is None:
            raise Refused("Tesseract reads with the data of a language; name the language.")

    @classmethod
    def model_for(cls, *, reading: bool, language: str | None, folder: Path) -> Path | None:
        """Return the language data that reads *language*; Refused says what is installed and how to get the rest."""
        if not reading:
            return None
        here = list_installed(folder)
        if language is None:
            words = f"Installed: {', '.join(sorted(here))}." if here else _how_to_get("spa")
            raise Refused(f"Tesseract reads one language at a time; name it (`es`, `la`, `de-Latf`). {words}")
        names = names_for(language)
        for name in names:
            if name in here:
                return here[name]
        raise Refused(
            f"Tesseract has no data for the language {language!r} on this machine. {_how_to_get(names[0])}"
            + (f" Installed: {', '.join(sorted(here))}." if here else "")
        )

    @classmethod
    def models_here(cls, folder: Path, runtime_folder: Path | None) -> list[ModelFile]:
        """Return every language this machine has data for."""
        return [
            ModelFile(name, name, path, path.stat().st_size)
            for name, path in sorted(list_installed(folder).items())
        ]

    @classmethod
    def remote(cls, model: str, fetch: Callable[[str], bytes]) -> RemoteFile:
        """Return the best official data for a language, by its Tesseract name or BCP 47 tag."""
        name = next((name for name in names_for(model) if name in PUBLISHED), None)
        if name is None:
            raise Refused(
                f"Tesseract's makers publish no language data called {model!r}; a name is such as spa, lat, deu_latf "
                "or script/Latin. Data of your own goes among the engine's models for tesseract."
            )
        page = "https://github.com/tesseract-ocr/tessdata_best"
        return RemoteFile(
            url=f"{page}/raw/main/{name}{SUFFIX}",
            name=f"{name.rpartition('/')[2]}{SUFFIX}",
            title=name,
            licence="Apache-2.0",
            page=page,
        )

    @classmethod
    def why_not(cls, language: str | None) -> str | None:
        """Say what to install where Tesseract is missing; which languages it reads, `model_for` decides from the data here."""
        if find_spec("tesserocr") is not None:
            return None
        return (
            "Tesseract is not installed; install it with: pip install 'armarium-reader-tesseract[tesserocr]'"
        )


def _how_to_get(name: str) -> str:
    package = f"tesseract-ocr-{name.replace('_', '-').lower()}"
    return (
        f"Install the Debian package {package}, or put {name}{SUFFIX} (from tessdata_best) among the engine's "
        "models for tesseract."
    )


def _signs(results: Any, within: Any = None) -> Iterator[Sign]:
    """Yield the signs from where an iterator points: to the end of that part of the page, or of all that was read."""
    from tesserocr import RIL

    if results is None:
        return
    while True:
        text = "" if results.Empty(RIL.SYMBOL) else "".join(results.GetUTF8Text(RIL.SYMBOL).split())
        box = results.BoundingBox(RIL.SYMBOL)
        if text and box is not None:
            left, top, right, bottom = map(float, box)
            corners = ((left, top), (right, top), (right, bottom), (left, bottom))
            yield Sign(text, corners, results.Confidence(RIL.SYMBOL) / 100)
        if within is not None and results.IsAtFinalElement(within, RIL.SYMBOL):
            return
        if not results.Next(RIL.SYMBOL):
            return


def _line(iterator: Any, level: Any) -> FoundLine | None:
    """Return the line an iterator points at; None if it has no box or is not text."""
    from tesserocr import PT

    box = iterator.BoundingBox(level)
    if box is None or not _is_text(iterator.BlockType(), PT):
        return None
    left, top, right, bottom = map(float, box)
    baseline = iterator.Baseline(level)
    polygon = ((left, top), (right, top), (right, bottom), (left, bottom))
    points = [(float(x), float(y)) for x, y in baseline] if baseline else []
    return FoundLine(polygon=polygon, baseline=points, rect=(left, top, right - left, bottom - top))


def _is_text(kind: Any, kinds: Any) -> bool:
    """Return whether a block is writing: pictures, rules and noise are not."""
    return kind in (
        kinds.FLOWING_TEXT,
        kinds.HEADING_TEXT,
        kinds.PULLOUT_TEXT,
        kinds.TABLE,
        kinds.VERTICAL_TEXT,
        kinds.CAPTION_TEXT,
        kinds.UNKNOWN,
    )
