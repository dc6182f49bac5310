"""Read lines that were not trained on and say how far the readings are from the transcriptions, for sources that nobody knew
and for documents of the others.

`python -m training.evaluate` in the project's own environment (`make evaluate-base`). Total edit distance over total
characters, policy diplomatic, with both sides mapped to the convention and, beside it, unmapped. `--most N` reads at most N
lines of each unseen source, kind and part of the corpus, and half as many of the others; `--rapidocr N` lets RapidOCR read each
N-th of these too; `--earlier FOLDER` reads them with the model, card and spelling of another edition; `--write` puts the
figures into the card.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import cv2
import numpy as np
from rapidfuzz.distance import Levenshtein

from armarium_reader_hand import CARD, SPELLING, WEIGHTS
from armarium_reader_hand.cards import shipped_card
from armarium_reader_hand.model import LineModel, Text, session_of
from armarium_reader_hand.picture import line_picture
from armarium_reader_hand.spelling import Ngrams, Spelling
from training.calibrate import accuracy, calibration_error
from training.convention import to_convention
from training.held_out import lines_held_out
from training.reading import MOST, grey
from training.settings import PACKAGE, corpora, write_card

CORES = 2
DRAWS = 1000
"""Samples of documents that an interval is taken from (95 of 100)."""


class Read(NamedTuple):
    """A line and how it was read."""

    document: str
    confidence: float
    right: float
    """The share of its letters that is right."""
    mapped: tuple[int, int]
    """Distance and characters, both sides in the convention."""
    unmapped: tuple[int, int]


def read(line: Mapping[str, Any], text: str, confidence: float) -> Read:
    """A line with its distances."""
    reference, ours = to_convention(line["text"]), to_convention(text)
    return Read(
        line["document"],
        confidence,
        accuracy(reference, ours),
        (Levenshtein.distance(reference, ours), len(reference)),
        (Levenshtein.distance(line["text"], text), len(line["text"])),
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
        "documents": len({line.document for line in lines}),
        "cer": round(rate(line.mapped for line in lines), 4),
        "interval": interval(lines),
        "cer_unmapped": round(rate(line.unmapped for line in lines), 4),
        "calibration_error": round(
            calibration_error([line.confidence for line in lines], [line.right for line in lines]), 4
        ),
    }


def edition(folder: Path) -> LineModel:
    """The model, card and spelling of another edition."""
    card = json.loads((folder / CARD).read_text(encoding="utf-8"))
    weighed = card.pop("spelling", None)
    model = LineModel(session_of((folder / WEIGHTS).read_bytes()), card)
    if weighed is not None:
        ngrams = Ngrams.load(folder / SPELLING)
        model.spelling = Spelling([(ngrams, 1.0)], model.alphabet, weighed["weight"], weighed["bonus"])
    return model


def texts_of(model: LineModel, lines: Sequence[Mapping[str, Any]]) -> list[Text]:
    """Every line read."""
    return list(model.read_all(line_picture(grey(line), model.height) for line in lines))


def by_rapidocr(lines: Sequence[Mapping[str, Any]]) -> list[Read]:
    """The lines read by the default reader of print."""
    from armarium_reader_rapidocr.reader import RapidOcrReader

    reader = RapidOcrReader(threads=2)
    reader.load()
    colours = [cv2.cvtColor(grey(line), cv2.COLOR_GRAY2BGR) for line in lines]
    answer = reader.ocr.recognize_txt(colours)
    return [
        read(line, str(text), float(score))
        for line, text, score in zip(lines, answer.txts, answer.scores, strict=True)
    ]


def _kind_of(line: Mapping[str, Any]) -> str:
    return f"{'unseen' if line['unseen'] else 'seen'} {line['kind']}"


def _source_of(line: Mapping[str, Any]) -> str:
    return f"{line['source']} ({_kind_of(line)})"


def report(most: int | None, rapidocr: int, earlier: Path | None) -> dict[str, Any]:
    """All figures of one evaluation."""
    lines = lines_held_out(most)
    started = time.process_time()
    ours = texts_of(LineModel.load_shipped(2), lines)
    # Of processor time, as two cores have it: what else the machine does then makes no difference.
    seconds = (time.process_time() - started) / CORES
    done = {"new": [read(line, *text[:2]) for line, text in zip(lines, ours, strict=True)]}
    if earlier is not None:
        other_texts = texts_of(edition(earlier), lines)
        done["earlier"] = [read(line, *text[:2]) for line, text in zip(lines, other_texts, strict=True)]

    def by(groups: Sequence[str]) -> dict[str, dict[str, Any]]:
        figures_by_name = {}
        for name in sorted(set(groups), key=lambda name: ("unseen" not in name, name)):
            at = [number for number, group in enumerate(groups) if group == name]
            figures_by_name[name] = figures([done["new"][number] for number in at])
            if "earlier" in done:
                figures_by_name[name]["earlier"] = figures([done["earlier"][number] for number in at])["cer"]
        return figures_by_name

    by_kind = by([_kind_of(line) for line in lines])
    unseen = [reading for reading, line in zip(done["new"], lines, strict=True) if line["unseen"]]
    evaluation: dict[str, Any] = {
        "most": most,
        # What is said of it in one figure is said of hands of sources that it never saw.
        **by_kind["unseen hand"],
        "calibration_error": figures(unseen)["calibration_error"],
        "lines_per_second": round(len(lines) / seconds, 1),
        "by_kind": by_kind,
        "by_source": by([_source_of(line) for line in lines]),
    }
    if rapidocr:
        some = range(0, len(lines), rapidocr)
        theirs = by_rapidocr([lines[at] for at in some])
        for name, kind in by_kind.items():
            at = [number for number, line in enumerate(some) if _kind_of(lines[line]) == name]
            if at:
                kind["rapidocr"] = {
                    "lines": len(at),
                    "cer": round(rate(theirs[number].mapped for number in at), 4),
                    "cer_same_lines": round(rate(done["new"][some[number]].mapped for number in at), 4),
                }
    return evaluation


def table(evaluation: Mapping[str, Any]) -> str:
    """The report in words and columns."""
    lines = [
        "Lines that were not trained on; unseen: of sources of which (in that kind of writing) nothing was trained on",
        f"{evaluation['lines_per_second']} lines a second",
    ]
    for by in ("by_kind", "by_source"):
        lines += [
            "",
            f"{by.replace('_', ' '):72} {'lines':>5}    CER  95 %              earlier  confidence off by",
        ]
        for name, row in evaluation[by].items():
            low, high = row["interval"]
            before = f"{row['earlier']:7.1%}" if "earlier" in row else " " * 7
            lines.append(
                f"  {name[:70]:70} {row['lines']:5} {row['cer']:6.1%}  {low:5.1%} to {high:5.1%}  {before}"
                f"  {row['calibration_error']:5.1%}"
            )
            if "rapidocr" in row:
                peer = row["rapidocr"]
                lines.append(
                    f"    on {peer['lines']} of them {peer['cer_same_lines']:.1%}, RapidOCR {peer['cer']:.1%}"
                )
    return "\n".join(lines)


def main() -> int:
    """Evaluate and print; 1, with a sentence, where the corpora or the weights are missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=MOST)
    parser.add_argument("--rapidocr", type=int, default=6)
    parser.add_argument("--earlier", type=Path, metavar="FOLDER")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    lacking = [folder for folder in corpora() if not any(folder.glob("*.parquet"))]
    if lacking:
        print(
            f"The corpus is not here: {lacking[0]} should hold its Parquet files, beside the checkout. "
            "Without it the figures in the model card cannot be repeated.",
            file=sys.stderr,
        )
        return 1
    if not (PACKAGE / WEIGHTS).is_file():
        print("The weights are not here; python -m training.export writes them.", file=sys.stderr)
        return 1
    evaluation = report(options.most, options.rapidocr, options.earlier)
    print(table(evaluation))
    if options.write:
        write_card({**shipped_card(), "evaluation": evaluation})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
