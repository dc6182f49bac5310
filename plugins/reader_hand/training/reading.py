"""Reads lines of the corpora with a model, for what is fitted and measured after the training."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from armarium_reader_hand.decoding import Answer
from armarium_reader_hand.model import TOGETHER, LineModel
from armarium_reader_hand.picture import Grey, line_picture

MOST = 60
"""Lines of each unseen source, kind and part that are read (half as many of the others): of all, two cores take an hour."""


def grey(line: Mapping[str, Any]) -> Grey:
    """The line's picture."""
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(line["image"])).convert("L"))


def answers(model: LineModel, lines: Sequence[Mapping[str, Any]]) -> Iterator[Answer]:
    """The network's answer for each line, in order."""
    pictures = [line_picture(grey(line), model.height) for line in lines]
    order = sorted(range(len(pictures)), key=lambda at: pictures[at].shape[1])
    by_line: dict[int, Answer] = {}
    for start in range(0, len(order), TOGETHER):
        some = order[start : start + TOGETHER]
        for at, answer in zip(some, model.answers([pictures[at] for at in some]), strict=True):
            by_line[at] = answer.astype(np.float16)
    return (by_line[at].astype(np.float32) for at in range(len(pictures)))
