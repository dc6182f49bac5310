"""Packs what the line finder is trained on: lines of the corpora as strips of ink, drawn pages reduced, layouts of pages.

python -m training.finder.pack --lines FOLDER FOLDER --data FOLDER --out packed.npz
"""

from __future__ import annotations

import argparse
import io
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from training.finder.bank import HEIGHT
from training.finder.drawn import DrawnPage, drawn_pages, read_layout
from training.packed import rows_of

LONG_SIDE = 1280
HELD_OUT = ("bronod", "mariages", "kraken", "caroline", "prima", "dinglehopper", "onehand")
"""Sources of drawn pages, by the beginning of their names, that are measured on and never trained on."""


def strip_of(grey: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], int, int] | None:
    """How much light each pixel of a line lets through (255: paper), and the rows of its x-height and its baseline."""
    width = max(8, round(grey.shape[1] * HEIGHT / grey.shape[0]))
    small = cv2.resize(grey, (width, HEIGHT), interpolation=cv2.INTER_AREA).astype(np.float32)
    paper = np.percentile(small, 88, axis=0).astype(np.float32)[None]
    paper = cv2.blur(cv2.dilate(paper, np.ones((1, 31))), (61, 1))
    light = np.clip(small / np.maximum(paper, 1) * 1.06, 0, 1)
    dark = 1 - light
    profile = cv2.GaussianBlur(dark.mean(1, keepdims=True), (1, 5), 1.2)[:, 0]
    peak = int(profile[6:-4].argmax()) + 6
    level = 0.52 * profile[peak]
    top = peak
    while top > 0 and profile[top - 1] > level:
        top -= 1
    base = peak
    while base < HEIGHT - 1 and profile[base + 1] > level:
        base += 1
    if dark.max() < 0.15 or not 6 <= base - top <= 34 or base < 16:
        return None
    return (light * 255).astype(np.uint8), top, base


def take_lines(folders: list[Path], most: int, seed: int) -> dict[str, Any]:
    """Lines drawn by the square root of the size of their sources, as WebP, with their document."""
    by_source: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for number, row in enumerate(rows_of(folders, ["source", "document", "split"])):
        if row["split"] == "train":
            by_source[row["source"]].append((row["document"], number))
    chance = np.random.default_rng(seed)
    total = sum(len(rows) ** 0.5 for rows in by_source.values())
    numbers: set[int] = set()
    for rows in by_source.values():
        count = min(len(rows), round(most * len(rows) ** 0.5 / total))
        by_document: dict[str, list[int]] = defaultdict(list)
        for document, number in rows:
            by_document[document].append(number)
        chosen: list[int] = []
        # Several lines of one hand: a page is written by one.
        for document in chance.permutation(sorted(by_document)):
            chosen += [
                int(number) for number in chance.permutation(by_document[document])[: max(12, count // 12)]
            ]
        numbers.update(chosen[:count])
    blobs, tops, bases, groups = [], [], [], []
    names: dict[tuple[str, str], int] = {}
    for number, row in enumerate(rows_of(folders, ["image", "source", "document"])):
        if number not in numbers:
            continue
        strip = strip_of(np.asarray(Image.open(io.BytesIO(row["image"])).convert("L")))
        if strip is None:
            continue
        blobs.append(cv2.imencode(".webp", strip[0], [cv2.IMWRITE_WEBP_QUALITY, 38])[1].tobytes())
        tops.append(strip[1])
        bases.append(strip[2])
        groups.append(names.setdefault((row["source"], row["document"]), len(names)))
    ends = np.cumsum([len(blob) for blob in blobs])
    return {
        "lines": np.frombuffer(b"".join(blobs), np.uint8),
        "line_ends": ends,
        "tops": np.array(tops, np.uint8),
        "bases": np.array(bases, np.uint8),
        "groups": np.array(groups, np.int32),
    }


def page_record(page: DrawnPage, scale: float) -> dict[str, Any]:
    """What is drawn on a page, in pixels of the reduced picture."""
    return {
        "source": page.source,
        "size": [page.width * scale, page.height * scale],
        "lines": [
            [
                np.round(line.baseline * scale, 1).tolist(),
                round(line.above * scale, 1),
                round(line.below * scale, 1),
            ]
            for line in page.lines
        ],
    }


def main() -> None:
    """Pack."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=Path, nargs="+", required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--most", type=int, default=14000)
    options = parser.parse_args()
    packed = take_lines(options.lines, options.most, 1)
    blobs, records = [], []
    for page in drawn_pages(options.data):
        if page.source.startswith(HELD_OUT) or page.picture is None:
            continue
        scale = min(1.0, 1.15 * LONG_SIDE / max(page.width, page.height))
        image = Image.open(page.picture).convert("L")
        image = image.resize((round(page.width * scale), round(page.height * scale)), Image.Resampling.BOX)
        blobs.append(cv2.imencode(".jpg", np.asarray(image), [cv2.IMWRITE_JPEG_QUALITY, 72])[1].tobytes())
        records.append(page_record(page, scale))
    layouts = []
    for path in sorted((options.data / "columns").glob("*.xml")):
        layout = read_layout(path, "columns")
        if layout is not None:
            layouts.append(page_record(layout, LONG_SIDE / max(layout.width, layout.height)))
    records_json = json.dumps({"pages": records, "layouts": layouts}).encode()
    np.savez(
        options.out,
        pages=np.frombuffer(b"".join(blobs), np.uint8),
        page_ends=np.cumsum([len(blob) for blob in blobs]),
        told=np.frombuffer(records_json, np.uint8),
        **packed,
    )
    print(
        f"{len(packed['tops'])} lines, {len(records)} pages, {len(layouts)} layouts, {options.out.stat().st_size:,} bytes"
    )


if __name__ == "__main__":
    main()
