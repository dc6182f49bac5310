"""The peer of row 30: lines of pages read in a bare loop of onnxruntime, without engine, worker or project.

Lines are cut, scaled and decoded by the same functions as the reader's; the rest is a session and a loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from armarium_reader_hand import WEIGHTS
from armarium_reader_hand.cards import shipped_card
from armarium_reader_hand.crops import cut_line
from armarium_reader_hand.model import MARGIN, STEP, STEPS, LineModel
from armarium_reader_hand.picture import HEIGHT, line_picture
from armarium_worker import LineShape

TOGETHER = 16


class BareLoop:
    """A session of onnxruntime with *threads* threads."""

    def __init__(self, threads: int) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        weights = files("armarium_reader_hand").joinpath(WEIGHTS).read_bytes()
        self.session = onnxruntime.InferenceSession(weights, options, ["CPUExecutionProvider"])
        self.decoder = LineModel(self.session, shipped_card())

    def read(self, path: Path, lines: Sequence[LineShape]) -> list[str]:
        """Return the texts of a page's lines."""
        from PIL import Image

        with Image.open(path) as image:
            page = np.asarray(image.convert("L"))
        pictures = [line_picture(cut_line(page, line)) for line in lines]
        order = sorted(range(len(pictures)), key=lambda at: pictures[at].shape[1])
        texts = [""] * len(pictures)
        for start in range(0, len(order), TOGETHER):
            some = order[start : start + TOGETHER]
            widths = [-(-pictures[at].shape[1] // STEP) for at in some]
            together: Any = np.zeros((len(some), 1, HEIGHT, max(widths) * STEP + MARGIN), np.float32)
            for row, at in zip(together, some, strict=True):
                row[0, :, : pictures[at].shape[1]] = pictures[at] / np.float32(255)
            steps = STEPS * np.array(widths, np.int32)
            (answer,) = self.session.run(None, {"lines": together, "steps": steps})
            for number, at in enumerate(some):
                texts[at] = self.decoder.reading(answer[: steps[number], number]).text
        return texts
