"""The values a reader takes and gives, how they are clipped to the page, and how they are sent between processes.

All geometry is in pixels of the page picture, origin top left.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Point = tuple[float, float]
Rect = tuple[float, float, float, float]
Direction = Literal["ltr", "rtl", "ttb"]


@dataclass(frozen=True, slots=True)
class FoundLine:
    """A line (or a region, or a word) on a page. Without `rect` it is the box around polygon and baseline.

    `key` and `parent` connect lines with their regions inside one result; the driver chooses them. `baseline` runs in
    reading direction of the picture's x axis, left to right, for horizontal writing.
    """

    polygon: Sequence[Point] = ()
    baseline: Sequence[Point] = ()
    rect: Rect | None = None
    kind: Literal["region", "line", "word"] = "line"
    confidence: float | None = None
    direction: Direction | None = None
    kind_raw: str | None = None
    key: str | None = None
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class LinePlaces:
    """Where the letters of a line's text stand: one entry for each grapheme cluster (`graphemes`), in logical order.

    `frame` is the area of the line, level with it, in pixels: x and y of its corner, then its side along the line (from
    left to right as the picture is read) and its side across. Each letter has the parts of these sides, 0 to 1, between
    which it stands: start, end, top, bottom; and its probability, None if the reader does not know the letter.
    """

    frame: tuple[float, float, float, float, float, float]
    letters: Sequence[tuple[float, float, float, float, float | None]]
    others: Mapping[int, Sequence[tuple[str, float | None]]] = field(default_factory=dict)
    """Further letters that the reader sees, by the number of the letter, each with its probability, None where it does not say."""
    fit: float | None = None
    """How well text and ink agree, 0 to 1."""


@dataclass(frozen=True, slots=True)
class LineReading:
    """What a line says, in logical order and exactly as read; confidence 0 to 1."""

    text: str
    confidence: float | None = None
    alternatives: tuple[tuple[str, float], ...] = ()
    """Alternative texts of the line, each with its probability, the most likely first; only where they were requested.
    """
    places: LinePlaces | None = None
    """Where its letters stand, for readers that know."""


@dataclass(frozen=True, slots=True)
class ReadLine:
    """A line found and read in one step."""

    line: FoundLine
    reading: LineReading


@dataclass(frozen=True, slots=True)
class LineShape:
    """A line to be read: at least its rect is known."""

    rect: Rect
    polygon: Sequence[Point] = ()
    baseline: Sequence[Point] = ()
    direction: Direction | None = None

    @property
    def outline(self) -> Sequence[Point]:
        """Return its polygon, else the corners of its rect, clockwise from the upper left."""
        x, y, w, h = self.rect
        return self.polygon if len(self.polygon) > 2 else ((x, y), (x + w, y), (x + w, y + h), (x, y + h))


@dataclass(slots=True)
class Page:
    """A decoded page picture whose lines are found and read; `image` is whatever the driver decodes to."""

    path: Path
    width: int
    height: int
    image: Any


def place(line: FoundLine, page: Page) -> FoundLine | None:
    """Return the line with its shapes clipped to the page and its rect known; None when nothing of it is on the page."""
    polygon, baseline = _clip_points(line.polygon, page), _clip_points(line.baseline, page)
    if line.rect is not None:
        x, y, w, h = line.rect
        corners: Sequence[Point] = _clip_points(((x, y), (x + w, y + h)), page)
    else:
        corners = polygon or baseline
    if not corners:
        return None
    left, top = min(corner[0] for corner in corners), min(corner[1] for corner in corners)
    right, bottom = max(corner[0] for corner in corners), max(corner[1] for corner in corners)
    if right - left < 1 or bottom - top < 1:
        return None
    return FoundLine(
        polygon if len(polygon) >= 3 else (),
        baseline if len(baseline) >= 2 else (),
        (left, top, right - left, bottom - top),
        line.kind,
        line.confidence,
        line.direction,
        line.kind_raw,
        line.key,
        line.parent,
    )


def _clip_points(points: Sequence[Point], page: Page) -> tuple[Point, ...]:
    """Return the points as plain numbers, moved to the page's edge where they lie outside; raises for NaN."""
    placed: list[Point] = []
    for x, y in points:
        if not (math.isfinite(x) and math.isfinite(y)):
            raise ValueError("a point of a line is not a number")
        point = (min(max(float(x), 0.0), float(page.width)), min(max(float(y), 0.0), float(page.height)))
        if not placed or placed[-1] != point:
            placed.append(point)
    return tuple(placed)


def pack_line(line: FoundLine) -> dict[str, Any]:
    """Pack a found line for sending: plain lists, absent values left out."""
    body: dict[str, Any] = {"rect": [round(value, 2) for value in line.rect or ()], "kind": line.kind}
    if line.polygon:
        body["polygon"] = [[round(x, 2), round(y, 2)] for x, y in line.polygon]
    if line.baseline:
        body["baseline"] = [[round(x, 2), round(y, 2)] for x, y in line.baseline]
    if line.confidence is not None:
        body["confidence"] = _share(line.confidence)
    for key in ("direction", "kind_raw", "key", "parent"):
        if (value := getattr(line, key)) is not None:
            body[key] = value
    return body


def unpack_shape(body: Mapping[str, Any]) -> LineShape:
    """Unpack a received line to be read."""
    return LineShape(
        tuple(body["rect"]),
        tuple((x, y) for x, y in body.get("polygon") or ()),
        tuple((x, y) for x, y in body.get("baseline") or ()),
        body.get("direction"),
    )


def pack_reading(reading: LineReading) -> dict[str, Any]:
    """Pack a reading for sending; lone surrogates, which JSON cannot carry, become the replacement character."""
    text = reading.text.encode("utf-8", "replace").decode("utf-8")
    body: dict[str, Any] = {"text": text}
    if reading.confidence is not None:
        body["confidence"] = _share(reading.confidence)
    if reading.alternatives:
        body["alternatives"] = [
            {"text": other.encode("utf-8", "replace").decode("utf-8"), "confidence": _share(share)}
            for other, share in reading.alternatives
        ]
    if reading.places is not None:
        body["places"] = pack_places(reading.places)
    return body


def pack_places(places: LinePlaces) -> dict[str, Any]:
    """Pack places for sending: of each letter five whole numbers of ten-thousandths, -1 for no probability."""
    body: dict[str, Any] = {
        "frame": [round(float(value), 2) for value in places.frame],
        "letters": [
            -1 if value is None else round(10_000 * _share(value))
            for letter in places.letters
            for value in letter
        ],
        "others": {
            str(at): [
                [other.encode("utf-8", "replace").decode("utf-8"), round(_share(sure), 4)]
                for other, sure in some
            ]
            for at, some in places.others.items()
        },
    }
    if places.fit is not None:
        body["fit"] = _share(places.fit)
    return body


def _share(value: Any) -> float:
    number = float(value)
    return min(max(number, 0.0), 1.0) if math.isfinite(number) else 0.0
