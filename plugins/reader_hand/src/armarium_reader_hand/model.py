"""The model: its file, its card, and recognition of pictures of lines."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from armarium_reader_hand import WEIGHTS
from armarium_reader_hand.alignment import DoesNotFit, Spots, spots_of
from armarium_reader_hand.cards import shipped_card
from armarium_reader_hand.decoding import Answer, Codes, best_path, expected_share, likeliest
from armarium_reader_hand.picture import Grey
from armarium_reader_hand.spelling import Spelling
from armarium_worker import Refused

T = TypeVar("T")

SPELLING = "spelling"
"""The property of a trained model's file that says how its texts are weighed with n-grams of letters."""
STEP, STEPS = 8, 2
"""Pixels of width by which lines are lengthened, and the steps of an answer over them."""
MARGIN = 40
"""Pixels of paper right of every line, as far as the convolutions see: what it is batched with then makes no difference."""
TOGETHER, AHEAD = 4, 64
"""Most lines that are run together, and those among which lines of like width are looked for."""


class Text(NamedTuple):
    """A text with its expected share of right letters, 0 to 1."""

    text: str
    confidence: float
    others: tuple[tuple[str, float], ...] = ()
    """The likeliest texts beside it with their probabilities to the network, as many as were asked for."""
    spots: Spots | None = None
    """Where its letters stand in the picture."""


class LineModel:
    """Recognises pictures of lines (`picture.line_picture`).

    *session* is an onnxruntime session with inputs `lines` (lines, 1, height, width; ink from 0 to 1) and
    `steps` (lines), and the output of `decoding` for all lines together (steps, lines, classes). *card* gives
    `alphabet` and `calibration`, and optionally `spelling`, how n-grams of letters are weighted
    (`Spelling.stated`).
    """

    says_places = True
    """Whether its steps and pictures are those of `alignment`."""

    threads = 1
    """How many batches are run at once."""

    def __init__(self, session: Any, card: dict[str, Any]) -> None:
        self.session = session
        # Models that were trained from the first edition's base see lines of 48 pixels.
        self.height = int(session.get_inputs()[0].shape[2])
        self.alphabet: list[str] = card["alphabet"]
        self.calibration: list[list[float]] = card["calibration"]
        weighed = card.get(SPELLING)
        self.spelling = None if weighed is None else Spelling.from_card(weighed, self.alphabet)

    @classmethod
    def load_shipped(cls, threads: int) -> LineModel:
        """Load the model in this package."""
        weights = files("armarium_reader_hand").joinpath(WEIGHTS).read_bytes()
        model = cls(session_of(weights), shipped_card())
        model.threads = threads
        return model

    @classmethod
    def of_file(cls, path: Path, threads: int) -> LineModel:
        """Load a trained model; letters, calibration and spelling are properties of the file. Refused for
        other files.
        """
        try:
            session = session_of(path.read_bytes())
            properties = session.get_modelmeta().custom_metadata_map
            card = {name: json.loads(properties[name]) for name in ("alphabet", "calibration")}
            if SPELLING in properties:
                card[SPELLING] = json.loads(properties[SPELLING])
            model = cls(session, card)
        except Exception as error:
            raise Refused(
                f"{path.name} is not a model of the hand reader, or is damaged. It takes models that were trained from it."
            ) from error
        model.threads = threads
        return model

    def answers(self, pictures: Sequence[Grey]) -> list[Answer]:
        """Return the network's output for each picture; batched, so similar widths are cheapest."""
        widths = [-(-picture.shape[1] // STEP) for picture in pictures]
        lines = np.zeros((len(pictures), 1, self.height, max(widths) * STEP + MARGIN), dtype=np.float32)
        for line, picture in zip(lines, pictures, strict=True):
            line[0, :, : picture.shape[1]] = picture / np.float32(255)
        steps = [STEPS * width for width in widths]
        inputs = {"lines": lines, "steps": np.array(steps, dtype=np.int32)}
        (together,) = self.session.run(None, inputs)
        return [together[:count, number] for number, count in enumerate(steps)]

    def read(self, pictures: Sequence[Grey]) -> list[Text]:
        """Return the likeliest text of each picture."""
        return [self.reading(answer) for answer in self.answers(pictures)]

    def read_all(self, pictures: Iterable[Grey], others: int = 0) -> Iterator[Text]:
        """Yield the likeliest text of each picture, in order, with as many *others*, and where its letters stand."""

        def read(_: int, picture: Grey, answer: Answer) -> Text:
            text = self.reading(answer, others)
            if not text.text or not self.says_places:
                return text
            return text._replace(spots=spots_of(answer, picture, text.text, self.alphabet))

        yield from self._each(pictures, read)

    def align_all(self, pictures: Iterable[Grey], texts: Sequence[str]) -> Iterator[Spots | str]:
        """Yield where the letters of each text stand in its picture, in order; a sentence where it does not fit."""

        def place(number: int, picture: Grey, answer: Answer) -> Spots | str:
            try:
                return spots_of(answer, picture, texts[number], self.alphabet)
            except DoesNotFit as refusal:
                return str(refusal)

        yield from self._each(pictures, place)

    def _each(self, pictures: Iterable[Grey], work: Callable[[int, Grey, Answer], T]) -> Iterator[T]:
        """Yield what *work* makes of each picture, with its number, and the network's output for it, in order.

        Lines of like width are run together; the next ones run while there is work on some.
        """
        coming, before = iter(pictures), 0
        with ThreadPoolExecutor(self.threads) as ahead:
            while near := list(islice(coming, AHEAD)):
                order = sorted(range(len(near)), key=lambda at: near[at].shape[1])
                size = min(TOGETHER, -(-len(near) // self.threads))
                batches = [order[start : start + size] for start in range(0, len(order), size)]
                results: dict[int, T] = {}
                answers = ahead.map(
                    lambda batch, near=near: self.answers([near[at] for at in batch]), batches
                )
                for batch, together in zip(batches, answers, strict=True):
                    for at, answer in zip(batch, together, strict=True):
                        results[at] = work(before + at, near[at], answer)
                yield from (results[at] for at in range(len(near)))
                before += len(near)

    def reading(self, answer: Answer, others: int = 0) -> Text:
        """Return the text of an output: the best path's or, with spelling, the likeliest near it."""
        codes, sure = best_path(answer)
        if not codes:
            return Text("", 0.0)
        # Texts that differ only in spaces are one.
        near = likeliest(answer, 2 * others + 1, spelling=self.spelling) if others or self.spelling else []
        if self.spelling is not None:
            codes = near[0][0]
        text = self.text(codes)
        beside: dict[str, float] = {}
        for other, likelihood in near:
            spelled = self.text(other)
            if spelled and spelled != text:
                beside.setdefault(spelled, float(np.exp(likelihood)))
        alternatives = sorted(beside.items(), key=lambda pair: -pair[1])[:others]
        return Text(text, expected_share(self.calibration, sure), tuple(alternatives))

    def text(self, codes: Codes) -> str:
        """Convert classes to text: composed characters, no white space at the ends."""
        text = "".join(self.alphabet[code - 1] for code in codes)
        return unicodedata.normalize("NFC", " ".join(text.split()))


def session_of(weights: bytes) -> Any:
    """Return a session of onnxruntime for the bytes of a model, for one thread: two batches at once on two cores take a quarter
    less of them than one batch that is divided.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(weights, options, ["CPUExecutionProvider"])
