"""Row 39: the vectors of lines of real pages computed; and how often the most similar line on another page is by the
same writer.

Three sets of the shared sample pages form one pool: one writer's notebook, wills by many writers (a will of several
pages is by one writer), a notary's register taken as one hand. Eight lines of each page are used, spread over it; a
query's own page is left out. The base hand reader's features are compared with plain pixels (the line in grey at 16 by
128) and chance.
"""

from __future__ import annotations

import base64
import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.bench_pages import DATA
from benchmarks.harness import Result, seconds

A_PAGE = 8
LIMIT = 40
"""Lines a second, on two cores."""
PIXELS = (128, 16)


@dataclass
class Page:
    """A picture, who wrote it, and the lines on it in the form a worker takes them."""

    picture: Path
    writer: str
    lines: list[dict[str, Any]]


def measure(rounds: int) -> list[Result]:
    """Measure everything; without the sample pages, nothing."""
    from armarium_reader_hand.looking import LineLooking
    from armarium_worker.server import Call, WorkerContext

    pages = [*_notebook(), *_wills(), *_register()]
    if not pages:
        return []
    looking = LineLooking(WorkerContext(threads=2))
    vectors: list[Any] = []

    def look() -> None:
        vectors.clear()
        for page in pages:
            params = {"image": str(page.picture), "max_pixels": 10**9, "lines": page.lines}
            answer = looking.look(Call("look", params))
            vectors.append(base64.b64decode(answer["vectors"]))

    taken = sorted(seconds(look) for _ in range(max(1, rounds)))[max(1, rounds) // 2]
    count = sum(len(page.lines) for page in pages)
    rate = count / taken
    return [
        Result(39, f"vectors of {count} lines of {len(pages)} pages, page pictures decoded: lines a second", "a second",
               rate, LIMIT, "the limit", rate / LIMIT, "at least", 1.0),
        *_retrieval(pages, b"".join(vectors)),
    ]  # fmt: skip


def _retrieval(pages: list[Page], data: bytes) -> list[Result]:
    import numpy as np

    writers = np.array([page.writer for page in pages for _ in page.lines])
    of_page = np.array([number for number, page in enumerate(pages) for _ in page.lines])
    looks = np.frombuffer(data, dtype=np.float16).reshape(len(writers), -1)
    ways = {"eyes": _likest(looks, of_page), "plain pixels": _likest(_pixels(pages), of_page)}
    elsewhere = of_page[:, None] != of_page[None]
    same = (writers[:, None] == writers[None]) & elsewhere
    found = []
    for name in ("notebook", "wills", "register"):
        asked = np.flatnonzero(np.char.startswith(writers, name) & same.any(axis=1))
        by_chance = float((same[asked].sum(axis=1) / elsewhere[asked].sum(axis=1)).mean())
        rates = {way: float(same[asked, likest[asked]].mean()) for way, likest in ways.items()}
        found.append(
            Result(39, f"the likest line on another page is of the same writer: {name}, {len(asked)} lines", "of 1",
                   rates["eyes"], rates["plain pixels"], "plain pixels", rates["eyes"] / max(rates["plain pixels"], 0.01),
                   "at least", None, f"by chance {by_chance:.2f}")
        )  # fmt: skip
    return found


def _likest(looks: Any, of_page: Any) -> Any:
    """Return the position of the most similar line on another page, by the angle after subtracting the mean of all, as
    the engine does.
    """
    import numpy as np

    centred = looks.astype(np.float64) - looks.astype(np.float64).mean(axis=0)
    centred /= np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), 1e-9)
    scores = centred @ centred.T
    scores[of_page[:, None] == of_page[None]] = -2
    return scores.argmax(axis=1)


def _pixels(pages: list[Page]) -> Any:
    import numpy as np
    from PIL import Image

    rows = []
    for page in pages:
        with Image.open(page.picture) as image:
            grey = image.convert("L")
        for line in page.lines:
            x, y, w, h = line["rect"]
            small = grey.crop((round(x), round(y), round(x + w), round(y + h))).resize(PIXELS)
            row = np.asarray(small, dtype=np.float64).ravel()
            rows.append((row - row.mean()) / max(float(row.std()), 1e-9))
    return np.array(rows)


def _notebook() -> list[Page]:
    return [
        Page(path.with_suffix(".jpg"), "notebook", _lines(path))
        for path in sorted((DATA / "onehand-peraire").glob("*.xml"))
    ]


def _wills() -> list[Page]:
    folder = DATA / "series-wills"
    if not (folder / "boundaries.csv").is_file():
        return []
    with (folder / "boundaries.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [
        Page(
            folder / row["image"],
            f"wills {row['document']}",
            _lines((folder / row["image"]).with_suffix(".xml")),
        )
        for row in rows
    ]


def _register() -> list[Page]:
    folder = DATA / "page-pairs" / "bronod"
    return [
        Page(path, "register", _lines(folder / "page" / f"{path.stem}.xml"))
        for path in sorted(folder.glob("*.jpg"))
    ]


def _lines(path: Path) -> list[dict[str, Any]]:
    """Return up to eight lines of a PAGE or ALTO file, spread over the page, in pixels."""
    from lxml import etree

    found = []
    for line in etree.parse(path).iter("{*}TextLine"):
        polygon = next(
            (
                element.get("points") or element.get("POINTS")
                for element in line.iter("{*}Coords", "{*}Polygon")
            ),
            None,
        )
        under = next((element.get("points") for element in line.iter("{*}Baseline")), line.get("BASELINE"))
        if polygon and under and len(shape := _points(polygon)) > 2 and len(below := _points(under)) > 1:
            xs, ys = zip(*shape, strict=True)
            rect = [min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)]
            if rect[2] > 3 * rect[3] > 0:
                found.append({"rect": rect, "polygon": shape, "baseline": below})
    if len(found) <= A_PAGE:
        return found
    return [found[round(number * (len(found) - 1) / (A_PAGE - 1))] for number in range(A_PAGE)]


def _points(text: str) -> list[list[float]]:
    numbers = [float(one) for one in text.replace(",", " ").split()]
    return [list(pair) for pair in zip(numbers[::2], numbers[1::2], strict=False)]
