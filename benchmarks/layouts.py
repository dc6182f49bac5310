"""Layouts of real pages: their lines in the order in which a person reads them, and the same with a finder's mistakes."""

from __future__ import annotations

import csv
import math
import os
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

DATA = Path(os.environ.get("ARMARIUM_SHARED_DATA", Path(__file__).parents[2] / "shared" / "data"))
FOLDERS = ("page-pairs", "alto-pairs", "rtl", "vertical", "alto-only", "onehand-peraire", "series-wills")
DIRECTIONS = {"rtl": "rtl", "vertical": "ttb"}
Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Line:
    """A line's box in pixels, its baseline, its text."""

    id: str
    x: float
    y: float
    w: float
    h: float
    baseline: Points = ()
    text: str = ""

    @property
    def middle(self) -> float:
        return self.y + self.h / 2


@dataclass(frozen=True)
class Layout:
    """The lines of a page in reading order. columns: how many, where `columns.csv` says so."""

    name: str
    document: str
    width: float
    height: float
    lines: list[Line]
    folder: str
    columns: int | None = None

    @property
    def direction(self) -> str | None:
        return DIRECTIONS.get(self.folder)

    def with_lines(self, lines: list[Line]) -> Layout:
        return replace(self, lines=lines)

    def columns_of_lines(self) -> dict[str, int]:
        """Return the column of each line: those that follow one another below each other share one.

        Short lines have none: page numbers, notes and initials stand here or there in the files.
        """
        least = 0.4 * median(line.w for line in self.lines)
        found: dict[str, int] = {}
        column = 0
        long = [line for line in self.lines if line.w >= least]
        for before, line in pairwise([long[0], *long]):
            shared = min(line.x + line.w, before.x + before.w) - max(line.x, before.x)
            column += shared < 0.25 * min(line.w, before.w)
            found[line.id] = column
        return found


def read_layouts() -> Iterator[Layout]:
    """Yield the pages with columns of the shared data, then the others that have at least three lines."""
    table = DATA / "columns" / "columns.csv"
    if table.is_file():
        with table.open(encoding="utf-8") as file:
            for row in csv.DictReader(file):
                layout = read_layout(table.parent / row["file"], "columns", row["document"])
                if layout is not None:
                    yield replace(layout, columns=int(row["columns"]))
    for folder in FOLDERS:
        for path in sorted((DATA / folder).rglob("*.xml")):
            if "bronod/alto" not in path.as_posix() and (
                layout := read_layout(path, folder, path.parent.name)
            ):
                yield layout


def read_layout(path: Path, folder: str, document: str) -> Layout | None:
    """Read a PAGE or ALTO file; None without a size or with fewer than three lines."""
    from lxml import etree

    root = etree.parse(str(path), etree.XMLParser(recover=True, resolve_entities=False, no_network=True))
    page = next(root.iter("{*}Page"))
    width = float(page.get("imageWidth") or page.get("WIDTH") or 0)
    height = float(page.get("imageHeight") or page.get("HEIGHT") or 0)
    stated = {one.get("regionRef"): number for number, one in enumerate(root.iter("{*}RegionRefIndexed"))}
    lines: list[tuple[int, Line]] = []
    for number, element in enumerate(root.iter("{*}TextLine")):
        shape = next(
            (
                _points(one.get("points") or one.get("POINTS") or "")
                for one in element.iter("{*}Coords", "{*}Polygon")
            ),
            (),
        )
        under = next((one.get("points") or "" for one in element.iter("{*}Baseline")), "")
        baseline = _points(element.get("BASELINE") or under)
        if not shape and element.get("HPOS"):
            x, y, w, h = (float(element.get(name)) for name in ("HPOS", "VPOS", "WIDTH", "HEIGHT"))
            shape = ((x, y), (x + w, y + h))
        if len(shape or baseline) > 1:
            xs, ys = zip(*(shape or baseline), strict=True)
            box = (min(xs), min(ys), max(max(xs) - min(xs), 1), max(max(ys) - min(ys), 1))
            line = Line(f"{number:04}", *box, baseline if len(baseline) > 1 else (), _text(element))
            parent = element.getparent()
            lines.append((stated.get(parent.get("id"), len(stated)), line))
    if not width or not height or len(lines) < 3:
        return None
    lines.sort(key=lambda one: one[0])
    return Layout(path.stem, document, width, height, [line for _, line in lines], folder)


def _text(element: Any) -> str:
    written = [one.text or "" for one in element.findall("{*}TextEquiv/{*}Unicode")]
    return written[0] if written else " ".join(one.get("CONTENT") or "" for one in element.iter("{*}String"))


def _points(text: str) -> Points:
    numbers = [float(one) for one in re.findall(r"-?[\d.]+", text)]
    return tuple(zip(numbers[::2], numbers[1::2], strict=False))


# ---------------------------------------------------------------------------------------------- a finder's mistakes


def drop(page: Layout, dice: random.Random) -> Layout:
    """Lose every tenth line."""
    return page.with_lines([line for line in page.lines if dice.random() > 0.1])


def split(page: Layout, dice: random.Random) -> Layout:
    """Find every tenth line as two pieces."""
    found: list[Line] = []
    for line in page.lines:
        if dice.random() < 0.1 and line.w > 4 * line.h:
            cut, gap = line.x + line.w * dice.uniform(0.3, 0.7), 0.15 * line.h
            found.append(_piece(line, "a", line.x, cut - gap))
            found.append(_piece(line, "b", cut + gap, line.x + line.w))
        else:
            found.append(line)
    return page.with_lines(found)


def _piece(line: Line, name: str, left: float, right: float) -> Line:
    baseline = line.baseline
    if baseline:
        (x0, y0), (x1, y1) = baseline[0], baseline[-1]
        fall = (y1 - y0) / ((x1 - x0) or 1)
        baseline = tuple((x, y0 + fall * (x - x0)) for x in (left, right))
    return replace(line, id=line.id + name, x=left, w=right - left, baseline=baseline)


def merge(page: Layout, dice: random.Random) -> Layout:
    """Take every twentieth line and the one beside it in the next column for one."""
    column = page.columns_of_lines()
    size = median(line.h for line in page.lines)
    gone: set[str] = set()
    merged: dict[str, Line] = {}
    for line in page.lines:
        if line.id not in column or dice.random() > 0.05:
            continue
        for other_line in page.lines:
            is_other = other_line.id in column and column[other_line.id] != column[line.id]
            is_level = abs(other_line.middle - line.middle) < 0.3 * size
            is_near = -0.02 * page.width < other_line.x - line.x - line.w < 2.5 * size
            if is_other and is_level and is_near and not {line.id, other_line.id} & (gone | merged.keys()):
                top, bottom = min(line.y, other_line.y), max(line.y + line.h, other_line.y + other_line.h)
                baseline = line.baseline[:1] + other_line.baseline[-1:]
                width = other_line.x + other_line.w - line.x
                merged[line.id] = replace(line, w=width, y=top, h=bottom - top, baseline=baseline)
                gone.add(other_line.id)
                break
    return page.with_lines([merged.get(line.id, line) for line in page.lines if line.id not in gone])


def crumbs(page: Layout, dice: random.Random) -> Layout:
    """Find stains for lines: small boxes anywhere, whose ids begin with `crumb`."""
    size = median(line.h for line in page.lines)
    left, right = min(line.x for line in page.lines), max(line.x + line.w for line in page.lines)
    top, bottom = min(line.y for line in page.lines), max(line.y + line.h for line in page.lines)
    found = [
        Line(
            f"crumb{number}",
            dice.uniform(left, right),
            dice.uniform(top, bottom),
            size * dice.uniform(0.3, 2.5),
            size * dice.uniform(0.3, 1.2),
        )
        for number in range(len(page.lines) // 20 + 1)
    ]
    return page.with_lines([*page.lines, *found])


def tilt(page: Layout, dice: random.Random) -> Layout:
    """Turn the page by one to three degrees."""
    angle = math.radians(dice.choice((-1, 1)) * dice.uniform(1, 3))
    cos, sin = math.cos(angle), math.sin(angle)

    def turn(x: float, y: float) -> tuple[float, float]:
        x, y = x - page.width / 2, y - page.height / 2
        return x * cos - y * sin + page.width / 2, x * sin + y * cos + page.height / 2

    found = []
    for line in page.lines:
        corners = [turn(line.x + across, line.y + down) for across in (0, line.w) for down in (0, line.h)]
        xs, ys = zip(*corners, strict=True)
        box = {"x": min(xs), "y": min(ys), "w": max(xs) - min(xs), "h": max(ys) - min(ys)}
        found.append(replace(line, **box, baseline=tuple(turn(*point) for point in line.baseline)))
    return page.with_lines(found)


def jitter(page: Layout, dice: random.Random) -> Layout:
    """Move every edge a little."""
    size = median(line.h for line in page.lines)

    def move_edges(line: Line) -> Line:
        width = max(line.w + dice.gauss(0, 0.25 * size), 0.3 * line.w)
        height = max(line.h + dice.gauss(0, 0.1 * size), 0.5 * size)
        x, y = line.x + dice.gauss(0, 0.25 * size), line.y + dice.gauss(0, 0.1 * size)
        return replace(line, x=x, y=y, w=width, h=height)

    return page.with_lines([move_edges(line) for line in page.lines])


def beside(page: Layout, other: Layout) -> Layout:
    """Photograph two pages as one."""

    def move_line(line: Line, name: str, by: float) -> Line:
        baseline = tuple((x + by, y) for x, y in line.baseline)
        return replace(line, id=name + line.id, x=line.x + by, baseline=baseline)

    lines = [move_line(line, "l", 0.0) for line in page.lines]
    lines += [move_line(line, "r", page.width) for line in other.lines]
    return replace(
        page, width=page.width + other.width, height=max(page.height, other.height), lines=lines, columns=None
    )


MISTAKES: dict[str, Callable[[Layout, random.Random], Layout]] = {
    "a tenth of the lines lost": drop,
    "a tenth in two pieces": split,
    "a twentieth joined with the next column": merge,
    "stains taken for lines": crumbs,
    "turned by 1 to 3 degrees": tilt,
    "edges moved": jitter,
}
