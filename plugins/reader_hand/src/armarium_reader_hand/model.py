"""The model: its file, its card, and pictures of lines turned into texts."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from armarium_reader_hand import CARD, WEIGHTS
from armarium_reader_hand.decoding import Answer, Codes, best_path, expected_share, likeliest
from armarium_reader_hand.picture import HEIGHT, Grey
from armarium_reader_hand.project_text import TextModel, likeliest_text
from armarium_worker import Refused

TEXT_MODEL = "text_model"
"""The property of a trained model's file with the counts of its project's text."""
STEP = 4
"""Pixels of width per step of the answer."""
MARGIN = 40
"""Pixels of paper right of every line, as far as the convolutions see: what it is batched with then makes no difference."""


class Text(NamedTuple):
    """A text with the share of its letters that is expected to be right, 0 to 1."""

    text: str
    confidence: float


class LineModel:
    """Pictures of lines (`picture.line_picture`) to texts.

    *session* is an onnxruntime session with inputs `lines` (lines, 1, 48, width; ink from 0 to 1) and `steps` (lines),
    and the output of `decoding` for all lines together (steps, lines, classes). *card* gives `alphabet` and `calibration`.
    """

    def __init__(self, session: Any, card: dict[str, Any]) -> None:
        self.session = session
        self.alphabet: list[str] = card["alphabet"]
        self.calibration: list[list[float]] = card["calibration"]
        told = card.get(TEXT_MODEL)
        self.project_text = None if told is None else TextModel.unpacked(told)

    @classmethod
    def shipped(cls, threads: int) -> LineModel:
        """The model in this package."""
        weights = files("armarium_reader_hand").joinpath(WEIGHTS).read_bytes()
        return cls(_session(weights, threads), shipped_card())

    @classmethod
    def of_file(cls, path: Path, threads: int) -> LineModel:
        """A trained model: its letters and its calibration are properties of the file. Refused for another file."""
        try:
            session = _session(path.read_bytes(), threads)
            stated = session.get_modelmeta().custom_metadata_map
            card = {name: json.loads(stated[name]) for name in ("alphabet", "calibration")}
            if TEXT_MODEL in stated:
                card[TEXT_MODEL] = json.loads(stated[TEXT_MODEL])
            return cls(session, card)
        except Exception as error:
            raise Refused(
                f"{path.name} is no model of the hand reader, or is damaged. It takes models that were trained from it."
            ) from error

    def answers(self, pictures: Sequence[Grey]) -> list[Answer]:
        """The network's answer for each picture; they are run together, so similar widths cost least."""
        steps = [-(-picture.shape[1] // STEP) for picture in pictures]
        lines = np.zeros((len(pictures), 1, HEIGHT, max(steps) * STEP + MARGIN), dtype=np.float32)
        for line, picture in zip(lines, pictures, strict=True):
            line[0, :, : picture.shape[1]] = picture / np.float32(255)
        inputs = {"lines": lines, "steps": np.array(steps, dtype=np.int32)}
        (together,) = self.session.run(None, inputs)
        return [together[:count, number] for number, count in enumerate(steps)]

    def read(self, pictures: Sequence[Grey]) -> list[Text]:
        """The text of each picture, by the best path; of a model with a project's text by what that expects, too."""
        found = []
        for answer in self.answers(pictures):
            codes, sure = best_path(answer)
            if self.project_text is not None and codes:
                codes = likeliest_text(answer, self.alphabet, self.project_text)
            found.append(Text(self.text(codes), expected_share(self.calibration, sure) if codes else 0.0))
        return found

    def alternatives(self, picture: Grey, count: int) -> list[tuple[str, float]]:
        """The *count* likeliest texts of one line with their probabilities, likeliest first."""
        (answer,) = self.answers([picture])
        return [(self.text(codes), float(np.exp(score))) for codes, score in likeliest(answer, count)]

    def text(self, codes: Codes) -> str:
        """Classes as text: composed characters, no white space at the ends."""
        text = "".join(self.alphabet[code - 1] for code in codes)
        return unicodedata.normalize("NFC", " ".join(text.split()))


def _session(weights: bytes, threads: int) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(weights, options, ["CPUExecutionProvider"])


def shipped_card() -> dict[str, Any]:
    """The card of the model in this package."""
    card: dict[str, Any] = json.loads(
        files("armarium_reader_hand").joinpath(CARD).read_text(encoding="utf-8")
    )
    return card
