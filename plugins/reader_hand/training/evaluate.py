"""Read the handwritten lines of the test documents and say how far the readings are from the transcriptions.

`python -m training.evaluate` in the project's own environment (`make evaluate-base`). Total edit distance over total
characters, policy diplomatic, with both sides mapped to the convention and, beside it, unmapped. `--every N` takes each
N-th line, `--rapidocr N` lets RapidOCR read each N-th of these too, `--write` puts the figures into the card.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import cv2
import numpy as np
from rapidfuzz.distance import Levenshtein

from armarium_reader_hand import CARD
from armarium_reader_hand.cards import shipped_card
from armarium_reader_hand.model import LineModel
from armarium_reader_hand.picture import Grey, line_picture
from training.calibrate import accuracy, calibration_error
from training.convention import to_convention
from training.corpus import TEST, rows
from training.settings import PACKAGE, settings

TOGETHER = 16
DRAWS = 1000
"""Samples of documents that an interval is taken from (95 of 100)."""


class Read(NamedTuple):
    """A line of the test documents and how it was read."""

    source: str
    document: str
    century: int | None
    reference: str
    text: str
    confidence: float
    mapped: tuple[int, int]
    """Distance and characters, both sides in the convention."""
    unmapped: tuple[int, int]


def read(source: Mapping[str, Any], text: str, confidence: float) -> Read:
    """A line with its distances."""
    plain = source["text"]
    reference, ours = to_convention(plain), to_convention(text)
    return Read(
        source["source"],
        source["document"],
        source["century"],
        reference,
        text,
        confidence,
        (Levenshtein.distance(reference, ours), len(reference)),
        (Levenshtein.distance(plain, text), len(plain)),
    )


def rate(pairs: Iterable[tuple[int, int]]) -> float:
    """Total distance over total characters."""
    distances, lengths = zip(*pairs, strict=True)
    return sum(distances) / sum(lengths)


def interval(lines: Sequence[Read]) -> list[float]:
    """The 95 % interval of the rate, drawing whole documents with replacement; of one document, drawing lines."""
    by: dict[Any, list[tuple[int, int]]] = defaultdict(list)
    for line in lines:
        by[line.document].append(line.mapped)
    if len(by) == 1:
        by = defaultdict(list, {number: [line.mapped] for number, line in enumerate(lines)})
    sums = np.array([np.sum(pairs, axis=0) for pairs in by.values()], dtype=float)
    drawn = np.random.default_rng(0).integers(len(sums), size=(DRAWS, len(sums)))
    totals = sums[drawn].sum(axis=1)
    low, high = np.percentile(totals[:, 0] / totals[:, 1], (2.5, 97.5))
    return [round(float(low), 4), round(float(high), 4)]


def figures(lines: Sequence[Read]) -> dict[str, Any]:
    """The figures of a set of lines."""
    return {
        "lines": len(lines),
        "cer": round(rate(line.mapped for line in lines), 4),
        "interval": interval(lines),
        "cer_unmapped": round(rate(line.unmapped for line in lines), 4),
    }


def groups(lines: Sequence[Read], of: Callable[[Read], Any]) -> dict[str, dict[str, Any]]:
    """The figures by source, document or century."""
    by: dict[str, list[Read]] = defaultdict(list)
    for line in lines:
        by[str(of(line))].append(line)
    return {name: figures(by[name]) for name in sorted(by)}


def pictures(sources: Sequence[Mapping[str, Any]]) -> list[Grey]:
    """The lines' pictures in grey."""
    from PIL import Image

    return [np.asarray(Image.open(io.BytesIO(source["image"])).convert("L")) for source in sources]


def by_hand_reader(sources: Sequence[Mapping[str, Any]]) -> tuple[list[Read], float]:
    """Every line read by the shipped model, and lines a second, pictures decoded before."""
    model = LineModel.load_shipped(2)
    greys = pictures(sources)
    batches = (
        [line_picture(grey) for grey in greys[start : start + TOGETHER]]
        for start in range(0, len(greys), TOGETHER)
    )
    started = time.perf_counter()
    texts = list(model.read_all(batches))
    seconds = time.perf_counter() - started
    done = [read(source, one.text, one.confidence) for source, one in zip(sources, texts, strict=True)]
    return done, len(sources) / seconds


def by_rapidocr(sources: Sequence[Mapping[str, Any]]) -> list[Read]:
    """The lines read by the default reader of print."""
    from armarium_reader_rapidocr.reader import RapidOcrReader

    reader = RapidOcrReader(threads=2)
    reader.load()
    colours = [cv2.cvtColor(grey, cv2.COLOR_GRAY2BGR) for grey in pictures(sources)]
    answer = reader.ocr.recognize_txt(colours)
    return [
        read(source, str(text), float(score))
        for source, text, score in zip(sources, answer.txts, answer.scores, strict=True)
    ]


def report(every: int, rapidocr: int) -> dict[str, Any]:
    """All figures of one evaluation."""
    sources = [row for row in rows(settings().corpus) if row["split"] == TEST][::every]
    lines, speed = by_hand_reader(sources)
    right = [accuracy(line.reference, to_convention(line.text)) for line in lines]
    found: dict[str, Any] = {
        "every": every,
        **figures(lines),
        "calibration_error": round(calibration_error([line.confidence for line in lines], right), 4),
        "lines_per_second": round(speed, 1),
        "by_source": groups(lines, lambda line: line.source),
        "by_century": groups(lines, lambda line: line.century),
        "by_document": groups(lines, lambda line: line.document),
    }
    if rapidocr:
        found["rapidocr"] = figures(by_rapidocr(sources[::rapidocr]))
        found["same_lines"] = figures(lines[::rapidocr])
    return found


def table(found: Mapping[str, Any]) -> str:
    """The report in words and columns."""
    said = [
        f"{found['lines']} handwritten lines of the test documents",
        f"CER {found['cer']:.1%} ({found['interval'][0]:.1%} to {found['interval'][1]:.1%}), "
        f"unmapped {found['cer_unmapped']:.1%}; calibration error {found['calibration_error']:.1%}; "
        f"{found['lines_per_second']} lines a second",
    ]
    if "rapidocr" in found:
        same, other = found["same_lines"], found["rapidocr"]
        said.append(
            f"On {same['lines']} of them: CER {same['cer']:.1%}, RapidOCR {other['cer']:.1%} "
            f"(unmapped {same['cer_unmapped']:.1%} and {other['cer_unmapped']:.1%})"
        )
    for by in ("by_source", "by_century", "by_document"):
        said += ["", by.replace("_", " ")]
        said += [
            f"  {name[:60]:60} {row['lines']:5} {row['cer']:6.1%}  {row['interval'][0]:.1%} to {row['interval'][1]:.1%}"
            for name, row in found[by].items()
        ]
    return "\n".join(said)


def main() -> int:
    """Evaluate and print; 1, with a sentence, where the corpus or the weights are missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--rapidocr", type=int, default=10)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    folder = settings().corpus.folder
    if not any(folder.glob("*.parquet")):
        print(
            f"The corpus is not here: {folder} should hold the Parquet files of hand-lines, beside the checkout. "
            "Without it the figures in the model card cannot be repeated.",
            file=sys.stderr,
        )
        return 1
    if not (PACKAGE / "model.onnx").is_file():
        print("The weights are not here; python -m training.export writes them.", file=sys.stderr)
        return 1
    found = report(options.every, options.rapidocr)
    print(table(found))
    if options.write:
        card = {**shipped_card(), "evaluation": found}
        text = json.dumps(card, ensure_ascii=False, indent=1) + "\n"
        (PACKAGE / CARD).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
