"""From a page in pixels to segments in fractions: the shapes that can be held, and why others cannot (B 2.1, B 4.5)."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

from armarium_formats.errors import ShapesOutside
from armarium_formats.heights import Box, around, line_height
from armarium_formats.page_model import PageModel, PageSegment, PageText, Point, misses_places
from armarium_source_model.api import (
    BadGeometry,
    NewSegment,
    ReadySegments,
    SoundPoints,
    pixel_bounds,
    ready_segments,
    sound_pixels,
)

TOLERANCE = 2
"""Pixels that a shape may reach beyond its page: drawing programs round outwards. It is brought to the edge, noted."""

MAX_POINTS = 10_000


@dataclass(slots=True)
class Placed:
    """The segments of a page ready for the source model, and the texts of each by its key."""

    segments: ReadySegments
    texts: list[tuple[str, PageText]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


def place(page: PageModel, size: tuple[int, int], filename: str, driver: str) -> Placed:
    """The page's segments in fractions of *size*; ShapesOutside when some reach more than 2 px beyond it."""
    return _Placing(page, size, driver).place(filename)


def checksum(text: str) -> int:
    """A mark by which export sees whether a text is still the one the file had."""
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


class _Placing:
    def __init__(self, page: PageModel, size: tuple[int, int], driver: str) -> None:
        self.page = page
        self.width, self.height = size
        self.driver = driver
        self.segments: list[NewSegment] = []
        self.placed = Placed(ready_segments(()))
        self.outside: list[str] = []
        self.edged = self.empty = self.unplaced = self.bare = 0
        self.line_height: float | None = None
        self.problems: Counter[str] = Counter()
        self.sequence = 0

    def place(self, filename: str) -> Placed:
        whole: Box = (0, 0, self.width, self.height)
        self._segments(self.page.segments, None, whole)
        if self.outside:
            raise ShapesOutside(filename, (self.width, self.height), self.outside)
        self.placed.segments = ready_segments(self.segments)
        notes = self.placed.notes
        if self.edged:
            notes.append(
                f"{self.edged} shapes reach up to {TOLERANCE} pixels beyond the page; they end at its edge now."
            )
        if self.empty:
            notes.append(f"{self.empty} texts are empty; they are no readings.")
        if self.bare:
            notes.append(
                f"{self.bare} lines have a baseline and no outline; boxes as high as the page's lines stand around them."
            )
        if self.unplaced:
            notes.append(
                f"{self.unplaced} times some parts state their place in the reading order and others beside them do "
                "not; those stand as they do in the file."
            )
        notes += [
            f"{problem} ({count} times)." if count > 1 else f"{problem}."
            for problem, count in self.problems.items()
        ]
        return self.placed

    def _segments(self, brothers: list[PageSegment], parent: str | None, around: Box) -> None:
        if misses_places(brothers) and not (
            self.page.order and all(one.kind == "region" for one in brothers)
        ):
            self.unplaced += 1
        for segment in brothers:
            self._segment(segment, parent, around)

    def _segment(self, segment: PageSegment, parent: str | None, around: Box) -> None:
        raw: dict[str, Any] = {}
        why: list[str] = []
        points = segment.points
        polygon: SoundPoints | None = None
        box: Box | None = None
        if points:
            box, polygon = self._shape(segment, points, why, area=True)
            if polygon is None:
                raw["raw_polygon_px"] = points
        baseline: SoundPoints | None = None
        if segment.baseline:
            line_box, baseline = self._shape(segment, segment.baseline, why, area=False)
            if baseline is None:
                raw["raw_baseline_px"] = segment.baseline
            if box is None and line_box is not None:
                box = self._around(segment) if segment.kind == "line" else line_box
        if box is None:
            box = _box_of_parts(segment) or around
            why.append("the file draws no outline; the box of its parts stands instead")
        left, top, right, bottom = _within(box, self.width, self.height)
        kept: dict[str, Any] = {"driver": self.driver, "id": segment.id, "sequence": self.sequence}
        self.sequence += 1
        if segment.position is not None:
            kept["position"] = segment.position
        if segment.extras:
            kept["extras"] = segment.extras
        if segment.texts:
            self._texts(segment, kept)
        metadata: dict[str, Any] = {"format": kept}
        if segment.line_order is not None:
            metadata["line_order"] = segment.line_order
        if why:
            problem = "; ".join(dict.fromkeys(why))
            metadata |= {
                "geometry_problem": problem,
                "raw_pixel_frame": [self.width, self.height],
                **raw,
            }
            self.problems[f"{segment.kind.capitalize()}: {problem}"] += 1
        width, height = self.width, self.height
        self.segments.append(
            NewSegment(
                segment.id,
                segment.kind,
                (left / width, top / height, (right - left) / width, (bottom - top) / height),
                polygon,
                baseline,
                parent,
                segment.kind_raw,
                segment.is_furniture,
                segment.language,
                segment.script,
                segment.direction,
                segment.confidence,
                metadata,
                segment.cell,
            )
        )
        self.placed.counts[segment.kind] += 1
        if segment.children:
            self._segments(segment.children, segment.id, (left, top, right, bottom))

    def _around(self, line: PageSegment) -> Box | None:
        """The box of a line that has a baseline and no outline: that of its words, else as high as the page's lines are."""
        if any(part.points for part in line.walk()):
            return _box_of_parts(line)
        if self.line_height is None:
            self.line_height = line_height(self.page, (self.width, self.height))
        self.bare += 1
        return around(line.baseline, self.line_height)

    def _shape(
        self, segment: PageSegment, points: Sequence[Point], why: list[str], *, area: bool
    ) -> tuple[Box | None, SoundPoints | None]:
        """The box of an outline (*area*) or baseline in pixels, and its points in fractions where they can be held."""
        width, height = self.width, self.height
        box = pixel_bounds(points)
        left, top, right, bottom = box or (-inf, -inf, inf, inf)
        if left < 0 or top < 0 or right > width or bottom > height:
            if min(left, top, width - right, height - bottom) < -TOLERANCE:
                if not self.outside or self.outside[-1] != segment.id:
                    self.outside.append(segment.id)
                return None, None
            self.edged += 1
            points = [(min(max(x, 0), width), min(max(y, 0), height)) for x, y in points]
            box = max(left, 0), max(top, 0), min(right, width), min(bottom, height)
        problem = _is_area(points) if area else _is_line(points)
        if problem is None and len(points) > MAX_POINTS:
            problem = f"has more than {MAX_POINTS:,} points"
        if problem is not None:
            why.append(f"its {'outline' if area else 'baseline'} {problem}")
            return box, None
        try:
            return box, sound_pixels(points, (width, height), box, area=area)
        except BadGeometry:
            # Exact in pixels and nothing in fractions: a speck of a huge page, a straight line with the noise of a scale.
            why.append(f"its {'outline' if area else 'baseline'} is too flat to be held")
            return box, None

    def _texts(self, segment: PageSegment, kept: dict[str, Any]) -> None:
        first, others = segment.texts[0], segment.texts[1:]
        if first.text.strip():
            self.placed.texts.append((segment.id, first))
            if first.extras:
                kept["text"] = {"of": checksum(first.text), "extras": first.extras}
        else:
            self.empty += 1
        others = [text for text in others if not self._of_its_own_kind(segment, text)]
        if others:
            kept["alternatives"] = [[text.text, text.confidence, text.extras] for text in others]

    def _of_its_own_kind(self, segment: PageSegment, text: PageText) -> bool:
        """A further text of another kind (a normalised one, a translation) is a reading too, not an alternative."""
        if text.kind == "transcription" or not text.text.strip():
            return False
        self.placed.texts.append((segment.id, text))
        return True


def _is_area(points: Sequence[Point]) -> str | None:
    """Why *points* are no outline, or None: three of them that are not on one line."""
    if len(points) < 3:
        return f"has {len(points)} points"
    ax, ay = points[0]
    dx = dy = 0.0
    for x, y in points:
        if dx or dy:
            if dx * (y - ay) != dy * (x - ax):
                return None
        else:
            dx, dy = x - ax, y - ay
    return "encloses no area"


def _is_line(points: Sequence[Point]) -> str | None:
    if len(points) < 2:
        return "has one point"
    return None if any(point != points[0] for point in points) else "has no length"


def _box_of_parts(segment: PageSegment) -> Box | None:
    points = [point for part in segment.walk() for point in (part.points or part.baseline)]
    if not points:
        return None
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return min(xs), min(ys), max(xs), max(ys)


def _within(box: Box, width: int, height: int) -> Box:
    """A box of at least one pixel inside the page."""
    left, top, right, bottom = box
    if 0 <= left <= right - 1 and right <= width and 0 <= top <= bottom - 1 and bottom <= height:
        return box
    left, top = min(max(left, 0), width - 1), min(max(top, 0), height - 1)
    return left, top, min(max(right, left + 1), width), min(max(bottom, top + 1), height)
