"""Converts a page in pixels to segments in fractions, and reports shapes that cannot be stored."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import orjson

from armarium.api import graphemes
from armarium_formats.errors import shapes_outside
from armarium_formats.glyphs import has_glyphs
from armarium_formats.marked_texts import between_breaks, marks_to_keep
from armarium_formats.markup.noting import Notes
from armarium_formats.numbers import count_noun, name_first
from armarium_formats.page_model import PageModel, PageSegment, PageText, Point, checksum, misses_places
from armarium_formats.shapes import (
    Box,
    bounds,
    box_around,
    clip_box,
    clip_outline,
    clip_path,
    distance_beyond,
    is_beside,
    line_height,
    runs_against_its_letters,
    surround,
    why_no_area,
    why_no_line,
)
from armarium_source_model.api import (
    MARKS_OF,
    BadGeometry,
    NewSegment,
    ReadySegments,
    SoundPoints,
    as_metadata,
    pixel_bounds,
    ready_segments,
    sound_pixels,
)

TOLERANCE = 2
"""Pixels that a shape may reach beyond its page: drawing programs round outwards. It is brought to the edge, noted."""

MAX_POINTS = 10_000

_MOST_WHOLE = 1 << 53
"""Below it every whole number is one as a float too."""

Beyond: TypeAlias = Literal["clip", "keep", "refuse"]
"""What becomes of a shape that reaches further beyond its page: `clip` draws what lies on the page and refuses the file for one
of which nothing does, `keep` takes that one in without a place of its own, `refuse` refuses the file for either."""


@dataclass(slots=True)
class PlacedSegments:
    """The segments of a page ready for the source model, and the texts of each by its key."""

    segments: ReadySegments
    texts: list[tuple[str, PageText]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    marked: list[tuple[str, PageText]] = field(default_factory=list)
    """Texts whose characters are marked, by the key of their segment; one that is empty is not a reading."""
    hands: list[tuple[str, str]] = field(default_factory=list)
    """The hand of each segment, both by their keys."""


def place(
    page: PageModel, size: tuple[int, int], filename: str, driver: str, beyond: Beyond = "clip"
) -> PlacedSegments:
    """Return the page's segments in fractions of *size*; shapes_outside if *beyond* says to refuse."""
    return _Placing(page, size, driver, beyond).place(filename)


def shape_mark(shape: Any) -> int:
    """Return a checksum by which an export sees whether a substitute shape was moved."""
    return zlib.crc32(orjson.dumps(shape))


class _Placing:
    def __init__(self, page: PageModel, size: tuple[int, int], driver: str, beyond: Beyond) -> None:
        self.page = page
        self.size = self.width, self.height = size
        self.driver = driver
        self.beyond = beyond
        self.segments: list[NewSegment] = []
        self.placed = PlacedSegments(ready_segments(()))
        self.outside: dict[str, None] = {}
        self.countless: list[str] = []
        """Segments with coordinates that are too large to count with."""
        self.clipped: list[float] = []
        self.beside: list[float] = []
        """How far each shape that was clipped, or of which nothing lies on the page, reaches beyond it."""
        self.edged = self.empty = self.unplaced = self.bare = self.against = 0
        self.line_height: float | None = None
        self.problems = Notes()
        self.sequence = 0

    def place(self, filename: str) -> PlacedSegments:
        whole: Box = (0, 0, self.width, self.height)
        self._segments(self.page.segments, None, whole)
        if self.countless:
            # Not even their points could be stored.
            raise shapes_outside(filename, self.size, self.countless, "uncountable")
        if self.outside and self.beyond != "keep":
            raise shapes_outside(filename, self.size, list(self.outside), self.beyond)
        self.placed.segments = ready_segments(self.segments)
        notes = self.placed.notes
        if self.edged:
            notes.append(
                f"{count_noun(self.edged, 'shape')} extended up to {TOLERANCE} pixels beyond the page; "
                f"{'it now ends' if self.edged == 1 else 'they now end'} at its edge."
            )
        if self.clipped:
            notes.append(
                f"{_shapes(self.clipped)} beyond the page, {_describe_farthest(self.clipped)}; the part on the page "
                "is drawn, and the file's own points are kept."
            )
        if self.beside:
            listed = name_first(list(self.outside), 20)
            notes.append(
                f"{_shapes(self.beside)} only beyond the page, {_describe_farthest(self.beside)}, and got the place "
                f"of what surrounds them; the file's own points are kept: {listed}."
            )
        if self.empty:
            notes.append(f"{count_noun(self.empty, 'text is', 'texts are')} empty and no reading.")
        if self.bare:
            notes.append(
                f"{count_noun(self.bare, 'line has', 'lines have')} a baseline and no outline; "
                f"{'it got a box' if self.bare == 1 else 'they got boxes'} as high as the page's lines."
            )
        if self.against:
            notes.append(
                f"{count_noun(self.against, 'line lists its', 'lines list their')} words against the direction of the letters; "
                "the order of the file is kept, so check the text."
            )
        if self.unplaced:
            notes.append(
                f"{count_noun(self.unplaced, 'time')} some parts state their place in the reading order and their siblings "
                "do not; those keep their place in the file."
            )
        notes += self.problems.sentences()
        return self.placed

    def _segments(self, brothers: list[PageSegment], parent: str | None, around: Box) -> None:
        if misses_places(brothers) and not (
            self.page.order and all(brother.kind == "region" for brother in brothers)
        ):
            self.unplaced += 1
        for segment in brothers:
            self._segment(segment, parent, around)

    def _segment(self, segment: PageSegment, parent: str | None, around: Box) -> None:
        raw: dict[str, Any] = {}
        why: list[str] = []
        beyond: list[str] = []
        points = segment.points
        polygon: SoundPoints | None = None
        box: Box | None = None
        own = True
        if points:
            box, polygon, own = self._shape(segment, points, why, beyond, area=True)
            if not own and not self.countless:
                raw["raw_polygon_px"] = _as_json(points)
        baseline: SoundPoints | None = None
        own_baseline = True
        if segment.baseline:
            line_box, baseline, own_baseline = self._shape(segment, segment.baseline, why, beyond, area=False)
            if not own_baseline and not self.countless:
                raw["raw_baseline_px"] = _as_json(segment.baseline)
            if box is None and line_box is not None:
                box = self._box_around(segment) if segment.kind == "line" else line_box
                own = False
        if box is None:
            own = False
            if points and beyond:
                box = around
            else:
                box = self._box_of_parts(segment) or around
                why.append("the file draws no outline; the box of its parts is used instead")
        left, top, right, bottom = _clip_box(box, self.width, self.height)
        width, height = self.width, self.height
        rect = (left / width, top / height, (right - left) / width, (bottom - top) / height)
        of_format: dict[str, Any] = {"driver": self.driver, "id": segment.id, "sequence": self.sequence}
        self.sequence += 1
        if not own:
            of_format["outline"] = shape_mark(
                [rect, None if polygon is None else orjson.Fragment(polygon.text)]
            )
        if not own_baseline:
            of_format["baseline"] = shape_mark(None if baseline is None else orjson.Fragment(baseline.text))
        if segment.position is not None:
            of_format["position"] = segment.position
        if segment.shape_of is not None:
            of_format["shape_of"] = segment.shape_of
        if segment.extras:
            of_format["extras"] = segment.extras
        if segment.hand is not None:
            self.placed.hands.append((segment.id, segment.hand))
        if segment.texts:
            if segment.kind != "region":
                for number, text in enumerate(segment.texts):
                    if (bare := between_breaks(text)) is not text:
                        self.problems.note(
                            "The text of a line or word has line breaks around it, which were left out"
                        )
                        segment.texts[number] = bare
            self._texts(segment, of_format)
            if has_glyphs(segment):
                of_format["glyphs"] = shape_mark(
                    [rect, None if polygon is None else orjson.Fragment(polygon.text), *self.size]
                )
        metadata: dict[str, Any] = {"format": of_format}
        if segment.shape_of is not None:
            metadata[MARKS_OF] = segment.shape_of
        if segment.text.strip() and (marks := marks_to_keep(segment.texts[0])):
            metadata |= as_metadata(segment.text, marks)
        if segment.seconds is not None:
            metadata["start_seconds"], metadata["end_seconds"] = segment.seconds
        if segment.line_order is not None:
            metadata["line_order"] = segment.line_order
        if why or beyond:
            metadata |= {
                "geometry_problem": "; ".join(dict.fromkeys((*beyond, *why))),
                "raw_pixel_frame": [self.width, self.height],
                **raw,
            }
        if why:
            self.problems.note(f"{segment.kind.capitalize()}: {'; '.join(dict.fromkeys(why))}")
        self.segments.append(
            NewSegment(
                segment.id,
                segment.kind,
                rect,
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
            self.against += segment.kind == "line" and runs_against_its_letters(segment)
            self._segments(segment.children, segment.id, (left, top, right, bottom))

    def _box_around(self, line: PageSegment) -> Box | None:
        """Return the box of a line with a baseline but no outline: that of its words, else of the usual
        height.
        """
        if any(part.points for child in line.children for part in child.walk()):
            return self._box_of_parts(line)
        if self.line_height is None:
            self.line_height = line_height(self.page, (self.width, self.height))
        self.bare += 1
        return box_around(line.baseline, self.line_height)

    def _shape(
        self, segment: PageSegment, points: Sequence[Point], why: list[str], beyond: list[str], *, area: bool
    ) -> tuple[Box | None, SoundPoints | None, bool]:
        """Return the box of an outline (*area*) or baseline in pixels, its points in fractions if storable,
        and whether those are the file's own.
        """
        box = pixel_bounds(points)
        if box is None:
            self.countless.append(segment.id)
            return None, None, False
        own = True
        left, top, right, bottom = box
        problem = (why_no_area if area else why_no_line)(points)
        if left < 0 or top < 0 or right > self.width or bottom > self.height:
            far = distance_beyond(box, self.size)
            fault = f"its {'outline' if area else 'baseline'} extends {far:.6g} pixels beyond the page"
            if far <= TOLERANCE:
                self.edged += 1
                points = [(min(max(x, 0), self.width), min(max(y, 0), self.height)) for x, y in points]
                box = clip_box(box, self.size)
                problem = (why_no_area if area else why_no_line)(points)
            elif self.beyond == "refuse":
                self.outside[segment.id] = None
                return None, None, False
            else:
                parts = (clip_outline if area else clip_path)(points, self.size) if problem is None else []
                if is_beside(box, self.size) or (problem is None and not parts):
                    self.beside.append(far)
                    self.outside[segment.id] = None
                    beyond.append(f"{fault}, and no part of it is on the page")
                    return None, None, False
                self.clipped.append(far)
                own = False
                if len(parts) > 1:
                    beyond.append(f"{fault}, and the part on the page is in {len(parts)} pieces")
                    return _box_of(parts), None, False
                beyond.append(fault)
                points, box = parts[0] if parts else points, _box_of(parts) or clip_box(box, self.size)
        if problem is None and len(points) > MAX_POINTS:
            problem = f"has more than {MAX_POINTS:,} points"
        if problem is not None:
            why.append(f"its {'outline' if area else 'baseline'} {problem}")
            return box, None, False
        try:
            return box, sound_pixels(points, self.size, box, area=area), own
        except BadGeometry:
            # Valid in pixels, degenerate in fractions: a speck on a huge page, a straight line with the noise
            # of scaling.
            why.append(f"its {'outline' if area else 'baseline'} is too flat to be stored")
            return box, None, False

    def _box_of_parts(self, segment: PageSegment) -> Box | None:
        """Return the box around the parts of a segment that are on the page; None if there are none."""
        boxes = [
            clip_box(box, self.size)
            for part in segment.walk()
            if (points := part.points or part.baseline)
            and (box := pixel_bounds(points)) is not None
            and not is_beside(box, self.size)
        ]
        return surround(boxes) if boxes else None

    def _texts(self, segment: PageSegment, of_format: dict[str, Any]) -> None:
        first, others = segment.texts[0], segment.texts[1:]
        if first.places is not None:
            sound = len(first.places.letters) == len(graphemes(first.text))
            first = replace(
                first, places=first.places.in_units(1 / self.width, 1 / self.height) if sound else None
            )
        if first.marks:
            self.placed.marked.append((segment.id, first))
        others = [text for text in others if not self._of_its_own_kind(segment, text)]
        if first.text.strip():
            # Of readings with the same time the last one counts, so the others are inserted before it.
            distinct = {first.text}
            for text in reversed(others):
                if text.text.strip() and text.text not in distinct:
                    distinct.add(text.text)
                    self.placed.texts.append((segment.id, text))
            self.placed.texts.append((segment.id, first))
            if first.extras:
                of_format["text"] = {"of": checksum(first.text), "extras": first.extras}
        elif not first.marks:
            self.empty += 1
            of_format["empty"] = True
        if others:
            of_format["further"] = [
                [None if text.text == first.text else text.text, text.confidence, text.extras]
                for text in others
            ]

    def _of_its_own_kind(self, segment: PageSegment, text: PageText) -> bool:
        """Add a text of another kind (normalised, translation) as a reading, not as an alternative."""
        if text.kind == "transcription" or not text.text.strip():
            return False
        self.placed.texts.append((segment.id, text))
        return True


def _as_json(points: Sequence[Point]) -> list[Point]:
    """Return points as JSON stores them: without integers of more than 64 bits."""
    if max(map(max, points)) < _MOST_WHOLE and min(map(min, points)) > -_MOST_WHOLE:
        return list(points)
    return [(float(x), float(y)) for x, y in points]


def _box_of(parts: Sequence[Sequence[Point]]) -> Box | None:
    return bounds(point for part in parts for point in part) if parts else None


def _shapes(distances: Sequence[float]) -> str:
    return f"{len(distances)} shape{' reaches' if len(distances) == 1 else 's reach'}"


def _describe_farthest(distances: Sequence[float]) -> str:
    far = max(distances)
    return f"{'by' if len(distances) == 1 else 'the farthest by'} {far:.6g} pixel{'' if far == 1 else 's'}"


def _clip_box(box: Box, width: int, height: int) -> Box:
    """Clip a box to the image, at least one pixel large."""
    left, top, right, bottom = box
    if 0 <= left <= right - 1 and right <= width and 0 <= top <= bottom - 1 and bottom <= height:
        return box
    left, top = min(max(left, 0), width - 1), min(max(top, 0), height - 1)
    return left, top, min(max(right, left + 1), width), min(max(bottom, top + 1), height)
