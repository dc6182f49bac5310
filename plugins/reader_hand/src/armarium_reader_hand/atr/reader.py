"""The reader `atr`: reads lines with a recogniser of others, an ONNX file that was taken in with its alphabet.

Runs in a worker process of the engine's own interpreter; it never downloads.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from armarium_reader_hand.atr import CARD_FILE, GRAPH_FILE, LETTERS_FILE
from armarium_worker import (
    Handler,
    LineReading,
    LineShape,
    OfferedModel,
    Page,
    Reader,
    Refused,
    RemoteFile,
    WorkerContext,
)


class AtrReader(Reader):
    """Any CTC recogniser of lines as ONNX. What it reads is on the card of each model.

    Its confidence can be compared with that of other readers once a model was measured on checked lines.
    """

    name = "atr"
    label = "Line recognisers in ONNX"
    can = frozenset({"read_lines"})
    model_kind = "atr"
    model_suffixes = (".onnx",)
    reading_needs_model = True
    model_parts = (GRAPH_FILE, LETTERS_FILE, CARD_FILE)
    largest_model = 512 << 20

    def load(self) -> None:
        """Load the given model, with as many threads as the engine allows."""
        from armarium_reader_hand.atr.recogniser import Recogniser

        if self.model is None:
            raise Refused(f"{self.label}: name a model; armarium models get shows which can be downloaded.")
        self.lines: Any = Recogniser.load(Path(self.model), self.threads)

    def open_page(self, path: Path, max_pixels: int) -> Page:
        """Decode the page in colour."""
        import numpy as np

        page = super().open_page(path, max_pixels)
        page.image = np.asarray(page.image)
        return page

    def read_lines(self, page: Page, lines: Sequence[LineShape]) -> Iterator[LineReading]:
        """Read the given lines one after another, the next ones while some are decoded."""
        from armarium_reader_hand.crops import cut_line

        pictures = (self.lines.picture(cut_line(page.image, line)) for line in lines)
        for text in self.lines.read_all(pictures, self.alternatives):
            yield LineReading(text.text, text.confidence, text.others)

    @classmethod
    def model_for(cls, *, reading: bool, language: str | None, folder: Path) -> Path | None:
        """Return the model that is here if there is only one; Refused says how to get one."""
        here = cls.models_here(folder, None)
        if not reading or len(here) == 1:
            return here[0].path if reading else None
        if here:
            return super().model_for(reading=reading, language=language, folder=folder)
        raise Refused(f"{cls.label}: no model is on this machine yet. {_how_to_get()}")

    @classmethod
    def offers(cls) -> Sequence[OfferedModel]:
        """Return kraken's open PP-OCRv6 models in ONNX."""
        return _read_offers()

    @classmethod
    def remote(cls, model: str, fetch: Callable[[str], bytes]) -> RemoteFile:
        """Refuse: only the models that are offered can be downloaded by their names."""
        raise Refused(
            f"{model!r} is none of the models that can be downloaded for {cls.name}. {_how_to_get()}"
        )

    @classmethod
    def handlers(cls, context: WorkerContext) -> Mapping[str, Handler]:
        """Return the methods of every reader, and the one that takes in a model."""
        from armarium_reader_hand.atr.taking import take_model

        return {
            **super().handlers(context),
            "take_model": lambda call: take_model(call, cls.largest_model),
        }


def _how_to_get() -> str:
    names = ", ".join(offer.model for offer in _read_offers())
    return f"armarium models get NAME downloads one after asking ({names}); armarium models add FILE takes one from disk."


@cache
def _read_offers() -> tuple[OfferedModel, ...]:
    listing = json.loads(files("armarium_reader_hand.atr").joinpath("offers.json").read_text("utf-8"))
    about, place = listing["about"], listing["place"]
    offered = []
    for model in listing["models"]:
        folder = f"{place}/resolve/main/models/squiddle_PP-OCRv6_{model['size']}_rec"
        offered.append(
            OfferedModel(
                **{name: model[name] for name in ("model", "title", "doi", "size_bytes", "cer")},
                **{name: about[name] for name in ("licence", "authors", "reads", "card")},
                languages=tuple(about["languages"]),
                scripts=tuple(about["scripts"]),
                page=place,
                files=tuple(RemoteFile(f"{folder}/{name}", name) for name in (GRAPH_FILE, LETTERS_FILE)),
            )
        )
    return tuple(offered)
