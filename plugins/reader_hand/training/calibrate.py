"""The card of the model, with the table that turns the network's own sureness into a share of right letters.

The table is fitted on the documents held out of the training: lines in order of sureness, in groups, each with the share
of its letters that is right, made rising by pooling neighbours that are not (isotonic regression).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rapidfuzz.distance import Levenshtein

from armarium_reader_hand import CARD
from armarium_reader_hand.decoding import best_path
from armarium_reader_hand.model import LineModel
from armarium_reader_hand.spelling import WEIGHED
from training.card import provenance
from training.corpus import HELD_OUT, Line, PreparedCorpus
from training.settings import PACKAGE, Settings

GROUPS = 16
TOGETHER = 16


def accuracy(reference: str, text: str) -> float:
    """The share of a line's letters that is right, from 0 to 1: one less the character error rate."""
    return max(0.0, 1 - Levenshtein.distance(reference, text) / max(1, len(reference)))


def fit(sure: Sequence[float], right: Sequence[float]) -> list[list[float]]:
    """Rising pairs [sureness, share of right letters], from lines with both; the ends reach 0 and 1."""
    order = np.argsort(sure)
    groups = [group for group in np.array_split(order, GROUPS) if len(group)]
    pools: list[list[float]] = []
    for group in groups:
        pools.append(
            [float(np.asarray(sure)[group].mean()), float(np.asarray(right)[group].mean()), len(group)]
        )
        while len(pools) > 1 and pools[-2][1] >= pools[-1][1]:
            last, before = pools.pop(), pools.pop()
            count = before[2] + last[2]
            pools.append(
                [(a * before[2] + b * last[2]) / count for a, b in zip(before[:2], last[:2], strict=True)]
                + [count]
            )
    inner = [[round(x, 4), round(y, 4)] for x, y, _ in pools]
    return [[0.0, round(inner[0][1] / 2, 4)], *inner, [1.0, max(inner[-1][1], 0.99)]]


def calibration_error(confidence: Sequence[float], right: Sequence[float], bins: int = 10) -> float:
    """Expected calibration error: the mean distance of confidence and share of right letters over *bins* of confidence."""
    places = np.minimum((np.asarray(confidence) * bins).astype(int), bins - 1)
    gaps = [
        abs(np.asarray(confidence)[places == place].mean() - np.asarray(right)[places == place].mean())
        * (places == place).mean()
        for place in set(places.tolist())
    ]
    return float(sum(gaps))


def sureness(
    model: LineModel, corpus: PreparedCorpus, lines: Sequence[Line]
) -> tuple[list[float], list[float]]:
    """For each line how sure the network is and the share of letters that is right."""
    sure: list[float] = []
    right: list[float] = []
    inorder = sorted(lines, key=lambda line: line.width)
    for start in range(0, len(inorder), TOGETHER):
        some = inorder[start : start + TOGETHER]
        for line, answer in zip(some, model.answers([corpus.picture(line) for line in some]), strict=True):
            codes, value = best_path(answer)
            if codes:
                sure.append(value)
                right.append(accuracy(line.text, model.reading(answer).text))
    return sure, right


def write_card(wanted: Settings, state: dict[str, Any]) -> None:
    """Write the card's machine part; `evaluate` adds the figures."""
    corpus = PreparedCorpus(Path(wanted.training.folder) / "corpus")
    card: dict[str, Any] = {
        "name": "hand-base",
        **provenance(corpus.lines, wanted.corpus.folder),
        "alphabet": corpus.alphabet,
        "spelling": WEIGHED,
        "calibration": [[0.0, 0.0], [1.0, 1.0]],
    }
    (PACKAGE / CARD).write_text(json.dumps(card), encoding="utf-8")
    sure, right = sureness(LineModel.load_shipped(2), corpus, corpus.lines_of(HELD_OUT))
    card["calibration"] = fit(sure, right)
    calibrated = np.interp(sure, *np.array(card["calibration"]).T)
    card["training"] = {
        "samples": state["samples"],
        "seconds": round(state["seconds"]),
        "curve": state["curve"],
        "held_out": {
            "documents": sorted({line.document for line in corpus.lines_of(HELD_OUT)}),
            "lines": len(right),
            "calibration_error": round(calibration_error(calibrated.tolist(), right), 4),
        },
    }
    (PACKAGE / CARD).write_text(json.dumps(card, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
