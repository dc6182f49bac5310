"""A recogniser: its session, how a picture becomes its input, and how its answer becomes text."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from armarium_reader_hand.atr import ALPHABET, CARD
from armarium_reader_hand.atr.card import Card, fit_letters, read_card
from armarium_reader_hand.decoding import Answer, Codes
from armarium_reader_hand.model import LineModel, Text, session_of
from armarium_worker import Refused

Picture = NDArray[np.uint8]

WIDEST, NARROWEST = 64, 16
"""Heights to which a longer line is squeezed; pixels to which a shorter one is lengthened."""
TRIED = 64
"""Likeliest classes of each step of which alternatives are made: an alphabet may have twenty thousand."""
MIRRORED = str.maketrans("()[]{}<>«»", ")(][}{><»«")
UNWRITTEN = dict.fromkeys(map(ord, "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"))
"""Marks of direction, which no text keeps."""


class Recogniser(LineModel):
    """Recognises pictures of lines with a CTC network of others.

    The network takes (1, channels, height, width) and answers (1, steps, classes) or (steps, 1, classes): probabilities, their
    logarithms, or scores. Lines are run one at a time: what a line is batched with changes what many such networks read.
    """

    says_places = False

    def __init__(self, session: Any, letters: list[str], card: Card) -> None:
        self.session, self.about = session, card
        inputs = session.get_inputs()
        shape = inputs[0].shape if len(inputs) == 1 else []
        takes_one = len(shape) == 4 and (shape[0] == 1 or not isinstance(shape[0], int))
        if not takes_one or inputs[0].type != "tensor(float)":
            raise Refused(
                "The network does not take pictures of lines: one input is expected, (lines, channels, height, width), for one "
                "line at a time."
            )
        self.name: str = inputs[0].name
        self.channels = shape[1] if isinstance(shape[1], int) else 3
        if self.channels not in (1, 3):
            raise Refused(f"The network takes pictures of {self.channels} channels; 1 or 3 are expected.")
        self.height = shape[2] if isinstance(shape[2], int) else card.height
        self.width: int | None = shape[3] if isinstance(shape[3], int) else None
        self.alphabet = letters
        self.calibration, self.spelling = [[0.0, 0.0], [1.0, 1.0]], None
        # What the shape of the output states may be only a name, so a line decides.
        blank = np.full((self.height, 2 * self.height, 3), 255, dtype=np.uint8)
        self.alphabet = fit_letters(letters, self._run(blank).shape[1])

    @classmethod
    def load(cls, path: Path, threads: int) -> Recogniser:
        """Load a model that was taken in; Refused for other files."""
        try:
            session = session_of(path.read_bytes())
            properties = session.get_modelmeta().custom_metadata_map
            recogniser = cls(session, json.loads(properties[ALPHABET]), read_card(properties[CARD]))
        except Refused:
            raise
        except Exception as error:
            raise Refused(
                f"{path.name} was not taken in as a line recogniser. Use armarium models add, which also takes its alphabet."
            ) from error
        recogniser.threads = threads
        return recogniser

    def picture(self, cut: Picture) -> Picture:
        """Return a line's picture (height, width, 3) as high as the network wants it."""
        high, wide = cut.shape[:2]
        limit = self.width or WIDEST * self.height
        size = min(limit, max(1, round(wide * self.height / high))), self.height
        scaled: Any = cv2.resize(
            cut, size, interpolation=cv2.INTER_AREA if high > self.height else cv2.INTER_CUBIC
        )
        lacking = max(0, NARROWEST - size[0])
        out: Picture = np.pad(scaled, ((0, 0), (0, lacking), (0, 0)), mode="edge")
        return out

    def answers(self, pictures: Sequence[Picture]) -> list[Answer]:
        """Return the network's output for each picture, as `decoding` takes it."""
        return [self._run(picture) for picture in pictures]

    def _run(self, picture: Picture) -> Answer:
        levels: Any = picture if self.about.colour == "rgb" else picture[..., ::-1]
        if self.channels == 1:
            levels = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)[..., None]
        ready = ((levels.astype(np.float32) / 255 - self.about.mean) / self.about.std).transpose(2, 0, 1)
        if self.width is not None:
            ready = np.pad(ready, ((0, 0), (0, 0), (0, self.width - ready.shape[2])))
        output = np.asarray(self.session.run(None, {self.name: np.ascontiguousarray(ready[None])})[0])
        if (
            output.ndim != 3
            or 1 not in output.shape[:2]
            or output.shape[2] < 2
            or not np.isfinite(output).all()
        ):
            raise Refused(
                "The network does not answer as a line recogniser (CTC) does: (1, steps, classes) finite numbers are expected."
            )
        answer = _logarithms(output.reshape(-1, output.shape[2]).astype(np.float32))
        return answer if self.about.blank == "first" else np.roll(answer, 1, axis=1)

    def reading(self, answer: Answer, others: int = 0) -> Text:
        """Return the text of an output; alternatives are made of the likeliest classes of each step."""
        if others and answer.shape[1] > TRIED:
            least = np.partition(answer, -TRIED, axis=1)[:, -TRIED:].min(axis=1, keepdims=True)
            answer = np.where(answer >= least, answer, np.float32(-1e9))
        return super().reading(answer, others)

    def text(self, codes: Codes) -> str:
        """Convert classes to text in the order in which it is read."""
        text = "".join(self.alphabet[code - 1] for code in codes).translate(UNWRITTEN)
        if self.about.order == "visual":
            text = as_read(text)
        return unicodedata.normalize("NFC", " ".join(text.split()))


def _logarithms(answer: Answer) -> Answer:
    """Return logarithms of probabilities, whether an answer has these, probabilities or scores."""
    if answer.min() >= 0 and abs(float(answer.sum(axis=1).mean()) - 1) < 0.01:
        return np.log(np.maximum(answer, np.float32(1e-30)))
    highest = answer.max(axis=1, keepdims=True)
    logarithms: Answer = answer - highest - np.log(np.exp(answer - highest).sum(axis=1, keepdims=True))
    return logarithms


def as_read(text: str) -> str:
    """Return a text written from left to right as it is seen in the order in which it is read.

    Letters of right-to-left scripts are turned; numbers and other scripts among them keep their order.
    """
    kinds = [_direction(sign) for sign in text]
    if "R" not in kinds:
        return text
    base = "R" if kinds.count("R") >= kinds.count("L") else "L"
    kinds = ["L" if kind == "number" else kind for kind in kinds]
    for at, kind in enumerate(kinds):
        if kind == "":
            before = kinds[at - 1] if at else base
            after = next((later for later in kinds[at:] if later), base)
            kinds[at] = before if before == after else base
    runs = [
        (kind, "".join(sign for _, sign in run))
        for kind, run in groupby(zip(kinds, text, strict=True), lambda pair: pair[0])
    ]
    turned = [run[::-1].translate(MIRRORED) if kind == "R" else run for kind, run in runs]
    return "".join(reversed(turned) if base == "R" else turned)


def _direction(sign: str) -> str:
    kind = unicodedata.bidirectional(sign)
    classes = {"R": "R", "AL": "R", "L": "L", "EN": "number", "AN": "number"}
    return classes.get(kind, "")
