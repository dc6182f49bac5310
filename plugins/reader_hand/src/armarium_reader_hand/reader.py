"""The hand reader: reads lines of handwriting in Latin script, typescript and clean print too, with the weights in its own
package.

Runs in a worker process of the engine's own interpreter; it never downloads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from armarium_reader_hand import WEIGHTS
from armarium_worker import (
    Handler,
    LinePlaces,
    LineReading,
    LineShape,
    ModelFile,
    Page,
    Reader,
    WorkerContext,
)

MODEL = "hand-base"
LINES_A_PAGE = 30
"""By which lines a second are told as pages an hour."""


class HandReader(Reader):
    """Handwriting of the 9th to the 21st century in Latin script; trained mostly on French and Latin.

    It is meant for hands; where a page is typed or printed, the trial of readers tells whether it reads that better.
    """

    name = "hand"
    label = "Armarium's hand reader"
    can = frozenset({"read_lines", "align_lines"})
    writing = frozenset({"hand"})
    picture_mode = "L"
    # Trained on the first seven; the others use the same letters. It cannot read German hands (Kurrent).
    languages = ("fr", "frm", "fro", "la", "it", "es", "ca", "en", "oc", "pt")
    scripts = ("Latn",)
    # Models trained further from the shipped one; the file contains their letters.
    model_kind = "hand"
    model_suffixes = (".onnx",)
    # Its stated confidence is already the expected share of right letters.
    calibration = ((0.0, 0.0), (1.0, 1.0))

    def load(self) -> None:
        """Load the weights, with as many threads as the engine allows."""
        from armarium_reader_hand.model import LineModel

        path = None if self.model is None else Path(self.model)
        self.lines: Any = (
            LineModel.load_shipped(self.threads) if path is None else LineModel.of_file(path, self.threads)
        )

    def open_page(self, path: Path, max_pixels: int) -> Page:
        """Decode the page to grey."""
        import numpy as np

        page = super().open_page(path, max_pixels)
        page.image = np.asarray(page.image)
        return page

    def read_lines(self, page: Page, lines: Sequence[LineShape]) -> Iterator[LineReading]:
        """Read the given lines, several per batch."""
        from armarium_reader_hand.alignment import on_page

        cuts: list[Any] = []
        texts = self.lines.read_all(self._pictures(page, lines, cuts), self.alternatives)
        for number, text in enumerate(texts):
            places = None if text.spots is None else on_page(text.spots, cuts[number])
            cuts[number] = None
            yield LineReading(text.text, text.confidence, text.others, places)

    def align_lines(
        self, page: Page, lines: Sequence[LineShape], texts: Sequence[str]
    ) -> Iterator[LinePlaces | str]:
        """Yield where the letters of each text stand on its line."""
        from armarium_reader_hand.alignment import on_page

        cuts: list[Any] = []
        placed = self.lines.align_all(self._pictures(page, lines, cuts), texts)
        for number, spots in enumerate(placed):
            yield spots if isinstance(spots, str) else on_page(spots, cuts[number])

    def _pictures(self, page: Page, lines: Sequence[LineShape], cuts: list[Any]) -> Iterator[Any]:
        """Yield the pictures of lines as the model sees them; how each was cut is added to *cuts*, without its picture."""
        from dataclasses import replace

        from armarium_reader_hand.crops import cut_with_frame
        from armarium_reader_hand.picture import line_picture

        for line in lines:
            cut = cut_with_frame(page.image, line)
            cuts.append(replace(cut, picture=cut.picture[:0]))
            yield line_picture(cut.picture, self.lines.height)

    @classmethod
    def why_not(cls, language: str | None) -> str | None:
        """Return a sentence if its weights are missing, or for a language it does not read."""
        if not _load_shipped(WEIGHTS).is_file():
            return f"{cls.label} is installed without its weights; use another reader."
        return super().why_not(language)

    @classmethod
    def models_here(cls, folder: Path, runtime_folder: Path | None) -> list[ModelFile]:
        """Return the weights in this package, if included, and trained models in the engine's folder."""
        weights, trained = _load_shipped(WEIGHTS), super().models_here(folder, runtime_folder)
        if not weights.is_file():
            return trained
        # Called often; only weights inside an archive have to be read for it.
        size = weights.stat().st_size if isinstance(weights, Path) else len(weights.read_bytes())
        return [ModelFile(MODEL, "Base model for hands", None, size, True, _read_figures()), *trained]

    @classmethod
    def handlers(cls, context: WorkerContext) -> Mapping[str, Handler]:
        """Return the methods of every reader, and those that a trainer of its models needs."""
        from armarium_reader_hand.teaching import base, fit_text, line_pictures

        taught = {"line_pictures": line_pictures, "base": base, "fit_text": fit_text}
        return {**super().handlers(context), **taught}


@cache
def _read_figures() -> dict[str, float]:
    """Return the evaluation figures in the card of the weights, as details of the model."""
    from armarium_reader_hand.cards import shipped_card

    figures = shipped_card().get("evaluation")
    if figures is None:
        return {}
    return {"cer": figures["cer"], "pages_per_hour": round(figures["lines_per_second"] * 3600 / LINES_A_PAGE)}


def _load_shipped(name: str) -> Any:
    return files("armarium_reader_hand").joinpath(name)
