"""The words of a line and where they stand, for formats that place every word: stated by a file or a reader, else shared out."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from armarium_formats.alto.strings import split_line
from armarium_formats.page_model import PageModel, PageSegment, PageText, Point, kept_by
from armarium_formats.shapes import Box, bounds, box_around, corners, line_height
from armarium_source_model.api import Frame, frame_of, runs_down, share_out


class WordOfLine(NamedTuple):
    """A word of a line, in the order of its text. *corners* begin where the line does and go along it first."""

    text: str
    corners: tuple[Point, Point, Point, Point]
    confidence: float | None = None
    segment: PageSegment | None = None
    is_estimate: bool = False
    """Nothing says where it stands: it has its share of the line."""

    @property
    def box(self) -> Box:
        """Return the upright box around it."""
        return bounds(self.corners)


def frame_of_line(line: PageSegment, page: PageModel, line_height: Callable[[], float]) -> Frame | None:
    """Return the frame of a line in pixels; None where it has no place."""
    outline = line.points
    if not outline and len(line.baseline) > 1:
        outline = corners(box_around(line.baseline, line_height()))
    down = runs_down(outline, line.direction or page.direction, line.text)
    return frame_of(outline, line.baseline, runs_down=down)


def words_of_line(
    line: PageSegment, page: PageModel, line_height: Callable[[], float]
) -> tuple[list[WordOfLine], Frame | None]:
    """Return the words of a line with its frame: none if it has no text, or no place."""
    frame = frame_of_line(line, page, line_height)
    split = split_line(line)
    if split is not None and all(word.points for word, _ in split.words):
        down = frame is not None and abs(frame.along_y) > abs(frame.along_x)
        words = [
            WordOfLine(text, _corners_of(word, down), word.texts[0].confidence if word.texts else None, word)
            for word, text in split.words
        ]
        if split.hyphen and words:
            words[-1] = words[-1]._replace(text=words[-1].text + split.hyphen)
        return words, frame
    text = line.texts[0] if line.texts else None
    if text is None or frame is None:
        return [], frame
    places = text.places
    placed = places.words(text.text) if places is not None else []
    if places is None or not placed:
        places = share_out(frame, text.text)
        placed = places.words(text.text)
    own = [None] * len(placed) if split is None else [word for word, _ in split.words]
    sound = split is not None and len(own) == len(placed)
    return [
        WordOfLine(word.text, word.corners, word.probability, own[at] if sound else None, places.is_estimate)
        for at, word in enumerate(placed)
    ], frame


def _corners_of(word: PageSegment, down: bool) -> tuple[Point, Point, Point, Point]:
    """Return the corners of a word that has a place of its own: those of its frame, upright."""
    frame = frame_of(word.points, word.baseline, runs_down=down)
    if frame is None:
        first, second, third, fourth = corners(bounds(word.points))
        return first, second, third, fourth
    return frame.point(0, 0), frame.point(1, 0), frame.point(1, 1), frame.point(0, 1)


def give_words(page: PageModel) -> None:
    """Give each line without words those whose place a reader stated, as segments of it."""
    for line in page.of_kind("line"):
        text = line.texts[0] if line.texts else None
        if line.children or text is None or text.places is None or kept_by("alto", text).get("elements"):
            continue
        line.children = [
            PageSegment(
                f"{line.id}-w{number}",
                "word",
                points=[(round(x, 2), round(y, 2)) for x, y in word.corners],
                texts=[PageText(word.text, None if word.probability is None else round(word.probability, 4))],
            )
            for number, word in enumerate(text.places.words(text.text), 1)
        ]


def words_of_page(page: PageModel) -> tuple[list[WordOfLine], int]:
    """Return the words of a page in reading order, and how many of its texts have no place on it."""
    height = cache(lambda: line_height(page, (page.width, page.height)))
    words: list[WordOfLine] = []
    unplaced = 0
    within: set[int] = set()
    for segment in page.in_order():
        if id(segment) in within:
            continue
        if segment.kind == "region":
            placed = _words_of_text(segment, page) if segment.text and not segment.children else None
        else:
            line = segment
            if segment.kind == "word":  # in no line
                line = PageSegment("", "line", points=segment.points, children=[segment])
            within.update(id(child) for child in segment.walk())
            placed = words_of_line(line, page, height)[0] if _says_something(line) else None
        if placed is not None:
            words += placed
            unplaced += not placed
    return words, unplaced


def _says_something(line: PageSegment) -> bool:
    return bool(line.text.strip()) or any(word.text.strip() for word in line.children)


def _words_of_text(region: PageSegment, page: PageModel) -> list[WordOfLine]:
    """Return the words of a region that has a text and no lines: each line of the text has its share of the region."""
    rows = [row for row in region.text.split("\n") if row.strip()]
    if not region.points:
        return []
    left, top, right, bottom = bounds(region.points)
    high = (bottom - top) / max(1, len(rows))
    words: list[WordOfLine] = []
    for at, row in enumerate(rows):
        box = (left, top + at * high, right, top + (at + 1) * high)
        frame = frame_of(corners(box), ())
        if frame is not None:
            words += [
                WordOfLine(word.text, word.corners, is_estimate=True)
                for word in share_out(frame, row).words(row)
            ]
    return words
