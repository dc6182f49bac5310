"""The table that turns the network's own sureness into a share of right letters: `python -m training.calibrate`.

Fitted on lines that were not trained on: lines in order of sureness, in groups, each with the share of its letters that is
right, made rising by pooling neighbours that are not (isotonic regression). Every source counts as much as any other. What is
stated of its error is measured on unseen sources, and leaving sources out: the lines of each get the confidence of a table
that was fitted on the others.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from rapidfuzz.distance import Levenshtein

from armarium_reader_hand.cards import shipped_card
from armarium_reader_hand.decoding import best_path
from armarium_reader_hand.model import LineModel
from armarium_training.calibration import fit
from training.convention import to_convention
from training.held_out import lines_held_out
from training.reading import MOST, answers
from training.settings import write_card


def accuracy(reference: str, text: str) -> float:
    """The share of a line's letters that is right, from 0 to 1: one less the character error rate."""
    return max(0.0, 1 - Levenshtein.distance(reference, text) / max(1, len(reference)))


def calibration_error(confidence: Sequence[float], right: Sequence[float], bins: int = 10) -> float:
    """Expected calibration error: the mean distance of confidence and share of right letters over *bins* of confidence."""
    places = np.minimum((np.asarray(confidence) * bins).astype(int), bins - 1)
    gaps = [
        abs(np.asarray(confidence)[places == place].mean() - np.asarray(right)[places == place].mean())
        * (places == place).mean()
        for place in set(places.tolist())
    ]
    return float(sum(gaps))


def fit_sources(sure: Sequence[float], right: Sequence[float], sources: Sequence[str]) -> list[list[float]]:
    """The table in which every source counts as much as any other."""
    sizes = Counter(sources)
    return fit(sure, right, [1 / sizes[source] for source in sources])


def leaving_sources_out(sure: Sequence[float], right: Sequence[float], sources: Sequence[str]) -> list[float]:
    """For each line the confidence by the table fitted on the other sources."""
    confidence = np.zeros(len(sure))
    own = np.asarray(sources)
    for source in set(sources):
        others = np.flatnonzero(own != source)
        table = fit_sources(*([values[at] for at in others] for values in (sure, right, sources)))
        confidence[own == source] = np.interp(np.asarray(sure)[own == source], *np.array(table).T)
    return [float(value) for value in confidence]


def measure_calibration(
    sure: Sequence[float], right: Sequence[float], lines: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """What the card says of the table, of lines of unseen sources: the expected calibration error, and by how much the mean
    confidence of one source is off, on average and at worst."""
    sources = [line["source"] for line in lines]
    confidence = leaving_sources_out(sure, right, sources)
    unseen = [at for at, line in enumerate(lines) if line["unseen"]]
    gaps: dict[str, list[float]] = defaultdict(list)
    for at in unseen:
        gaps[sources[at]].append(confidence[at] - right[at])
    off = [abs(float(np.mean(own))) for own in gaps.values()]
    error = calibration_error([confidence[at] for at in unseen], [right[at] for at in unseen])
    return {
        "lines": len(lines),
        "sources": len(set(sources)),
        "unseen_sources": len(gaps),
        "error_leaving_sources_out": round(error, 4),
        "a_source_is_off_by": [round(float(np.mean(off)), 4), round(max(off), 4)],
    }


def main() -> None:
    """Fit and write into the card."""
    card = shipped_card()
    model = LineModel.load_shipped(2)
    read: list[Mapping[str, Any]] = []
    sure: list[float] = []
    right: list[float] = []
    lines = lines_held_out(MOST)
    for line, answer in zip(lines, answers(model, lines), strict=True):
        codes, value = best_path(answer)
        if codes:
            read.append(line)
            sure.append(value)
            right.append(accuracy(line["reference"], to_convention(model.reading(answer).text)))
    card["calibration"] = fit_sources(sure, right, [line["source"] for line in read])
    card["calibrated_on"] = measure_calibration(sure, right, read)
    print(card["calibrated_on"])
    write_card(card)


if __name__ == "__main__":
    main()
