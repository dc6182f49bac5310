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
from armarium_reader_hand.model import MARGIN, STEP, LineModel
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
        texts = []
        for start in range(0, len(lines), TOGETHER):
            pictures = [line_picture(cut_line(page, line)) for line in lines[start : start + TOGETHER]]
            steps = [-(-picture.shape[1] // STEP) for picture in pictures]
            together: Any = np.zeros((len(pictures), 1, HEIGHT, max(steps) * STEP + MARGIN), np.float32)
            for row, picture in zip(together, pictures, strict=True):
                row[0, :, : picture.shape[1]] = picture / np.float32(255)
            given = {"lines": together, "steps": np.array(steps, np.int32)}
            (answer,) = self.session.run(None, given)
            texts += [self.decoder.reading(answer[:count, at]).text for at, count in enumerate(steps)]
        return texts
