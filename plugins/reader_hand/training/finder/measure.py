"""Measures line finders on pages whose lines people drew: `make evaluate-finder [FINDERS="lines rapidocr"]`.

A drawn line is found if one found line covers 70 % of its length; a found line belongs to the drawn line that it covers most
of; `pieces`: such lines together cover it. `one box`: no other found line belongs to it. Precision: the share of found lines that half lie on drawn lines (people leave
stamps and marginal notes undrawn, so it cannot be 1). Seconds are of processor time.
"""

from __future__ import annotations

import argparse
import importlib
import json
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from armarium_worker import FoundLine, Reader
from training.finder.drawn import DrawnLine, DrawnPage, drawn_pages
from training.finder.pack import HELD_OUT
from training.settings import REPOSITORY

FINDERS = {
    "lines": "armarium_reader_hand.lines.finder:LineFinder",
    "rapidocr": "armarium_reader_rapidocr.reader:RapidOcrReader",
}
COVERED = 0.7
LIFTED = 0.22
"""How far above a baseline, as a share of the reach above it, a line is looked for."""
COUNTS = ("pages", "drawn", "found", "recalled", "in_pieces", "one_box", "right", "merged")


def measure(page: DrawnPage, found_lines: Sequence[FoundLine]) -> dict[str, int]:
    """Count what was found of the drawn lines of a page."""
    width = int(page.width)
    cover = np.zeros((len(page.lines), len(found_lines)))
    spots = [_spots(line) for line in page.lines]
    outlines = [np.array(line.polygon, np.float32) for line in found_lines]
    for column, outline in enumerate(outlines):
        (x0, y0), (x1, y1) = outline.min(0), outline.max(0)
        for row, points in enumerate(spots):
            near = (points[:, 0] >= x0) & (points[:, 0] <= x1) & (points[:, 1] >= y0) & (points[:, 1] <= y1)
            inside = [
                cv2.pointPolygonTest(outline, (float(x), float(y)), False) >= 0 for x, y in points[near]
            ]
            cover[row, column] = sum(inside) / len(points)
    lengths = np.array([len(points) for points in spots], float)
    most = (cover * lengths[:, None]).argmax(0) if len(found_lines) else np.empty(0, int)
    mine = np.zeros_like(cover)
    for column, row in enumerate(most):
        mine[row, column] = cover[row, column]
    recalled = mine.max(1, initial=0) >= COVERED
    alone = recalled & ((mine > 0.05).sum(1) == 1)
    lying = [_lying(line, page.lines, width) for line in found_lines]
    return {
        "pages": 1,
        "drawn": len(page.lines),
        "found": len(found_lines),
        "recalled": int(recalled.sum()),
        "in_pieces": int((np.minimum(1, mine.sum(1)) >= COVERED).sum()),
        "one_box": int(alone.sum()),
        "right": sum(share >= 0.5 for share in lying),
        "merged": int(((cover >= COVERED).sum(0) > 1).sum()),
    }


def _spots(line: DrawnLine) -> NDArray[np.float64]:
    """Points evenly along a drawn line, a little above its baseline."""
    far = np.r_[0, np.cumsum(np.hypot(*np.diff(line.baseline, axis=0).T))]
    at = np.linspace(0, far[-1], max(10, int(far[-1] / 8)))
    points = np.stack([np.interp(at, far, line.baseline[:, axis]) for axis in (0, 1)], 1)
    span = line.baseline[-1] - line.baseline[0]
    up = np.array([span[1], -span[0]]) / max(1e-9, float(np.hypot(*span)))
    return points + up * LIFTED * line.above


def _lying(found_line: FoundLine, drawn: Sequence[DrawnLine], width: int) -> float:
    """The share of a found line's middle that lies within drawn lines."""
    base = np.array(found_line.baseline, float)
    far = np.r_[0, np.cumsum(np.hypot(*np.diff(base, axis=0).T))]
    at = np.linspace(0, far[-1], 30)
    points = np.stack([np.interp(at, far, base[:, axis]) for axis in (0, 1)], 1)
    inside = np.zeros(len(points), bool)
    for line in drawn:
        span = line.baseline[-1] - line.baseline[0]
        length = float(np.hypot(*span))
        up = np.array([span[1], -span[0]]) / max(1e-9, length)
        rise = (points - line.baseline[0]) @ up
        along = (points - line.baseline[0]) @ (span / max(1e-9, length))
        bends = np.interp(
            along,
            (line.baseline - line.baseline[0]) @ (span / max(1e-9, length)),
            (line.baseline - line.baseline[0]) @ up,
        )
        inside |= (
            (along >= -0.3 * line.above)
            & (along <= length + 0.3 * line.above)
            & (np.abs(rise - bends) < 0.55 * line.above)
        )
    return float(inside.mean())


def load(name: str, threads: int) -> Reader:
    """Start a finder."""
    module, _, cls = FINDERS[name].partition(":")
    finder: Reader = getattr(importlib.import_module(module), cls)(threads=threads)
    finder.load()
    return finder


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=REPOSITORY / "../shared/data")
    parser.add_argument("--finders", nargs="+", default=list(FINDERS), choices=list(FINDERS))
    parser.add_argument("--every", type=int, default=1, help="only each such page of a source")
    parser.add_argument("--unseen", action="store_true", help="only pages of sources that are not trained on")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, help="write the figures here as JSON")
    options = parser.parse_args()
    finders = {name: load(name, options.threads) for name in options.finders}
    totals: dict[tuple[str, str, str], dict[str, float]] = defaultdict(
        lambda: dict.fromkeys((*COUNTS, "seconds"), 0)
    )
    counted: dict[str, int] = defaultdict(int)
    for page in drawn_pages(options.data):
        counted[page.source] += 1
        if (counted[page.source] - 1) % options.every or page.picture is None:
            continue
        part = "unseen" if page.source.startswith(HELD_OUT) else "trained on"
        if options.unseen and part != "unseen":
            continue
        for name, finder in finders.items():
            opened = finder.open_page(page.picture, 1 << 30)
            before = time.process_time()
            found_lines = list(finder.find_lines(opened))
            spent = time.process_time() - before
            counts = measure(page, found_lines)
            for source in (page.source, "all"):
                total = totals[part, source, name]
                total["seconds"] += spent
                for key, value in counts.items():
                    total[key] += value
    print(
        "part        source              finder     pages lines recall pieces one box precision merged s a page"
    )
    for (part, source, name), total in sorted(totals.items()):
        shares = figures(total)
        print(
            f"{part:11} {source:19} {name:10} {total['pages']:5.0f} {total['drawn']:5.0f} {shares['recall']:6.3f} {shares['in_pieces']:6.3f}"
            f" {shares['one_box']:7.3f} {shares['precision']:9.3f} {total['merged']:6.0f} {shares['seconds']:8.2f}"
        )
    if options.out:
        rows = [
            {"part": key[0], "source": key[1], "finder": key[2], **total, **figures(total)}
            for key, total in sorted(totals.items())
        ]
        options.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def figures(total: dict[str, Any]) -> dict[str, float]:
    """The shares that counts amount to."""
    drawn, found = max(1, total["drawn"]), max(1, total["found"])
    return {
        "recall": round(total["recalled"] / drawn, 4),
        "in_pieces": round(total["in_pieces"] / drawn, 4),
        "one_box": round(total["one_box"] / drawn, 4),
        "precision": round(total["right"] / found, 4),
        "seconds": round(total["seconds"] / max(1, total["pages"]), 2),
    }


if __name__ == "__main__":
    main()
