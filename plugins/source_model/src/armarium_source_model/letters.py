"""Where the letters of a line stand: a frame on the page and, along it, the place of each letter; pure.

The frame lies level with the line: lengths run along it, from left to right (in upright writing from top to bottom),
heights across it. Letters are grapheme clusters, in the order in which they are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from armarium.api import graphemes, letters_from_left
from armarium_source_model.geometry import XY

UPRIGHT = 2.0
"""Heights of its width: a line of several letters that is as high runs downward, where nothing is said of it."""
_NARROW, _WIDE = frozenset("iIljtfr.,;:'’!|()[]-·"), frozenset("mwMWŒœÆæ—@")


class Frame(NamedTuple):
    """The corner of a line's area, and its sides: along the line and across it. In fractions of the page or in pixels."""

    x: float
    y: float
    along_x: float
    along_y: float
    across_x: float
    across_y: float

    def point(self, length: float, height: float) -> XY:
        """Return the point at these parts of the sides."""
        return (
            self.x + self.along_x * length + self.across_x * height,
            self.y + self.along_y * length + self.across_y * height,
        )

    def in_units(self, width: float, height: float) -> Frame:
        """Return it with every x multiplied by *width* and every y by *height*."""
        return Frame(*(value * (height if place % 2 else width) for place, value in enumerate(self)))


class LetterPlace(NamedTuple):
    """Parts, 0 to 1, of the sides of the frame between which a letter stands, and how probable it is to the network."""

    start: float
    end: float
    top: float = 0.0
    bottom: float = 1.0
    probability: float | None = None


class PlacedWord(NamedTuple):
    """A word, its letters in the text (*first* up to *end*), its four corners, and the mean of their probabilities.

    The corners begin where the frame does and go along it first.
    """

    text: str
    first: int
    end: int
    corners: tuple[XY, XY, XY, XY]
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class LetterPlaces:
    """The places of the letters of a text. *others*: further letters that the network saw, by number, each with its
    probability, None where nobody said.
    """

    frame: Frame
    letters: Sequence[LetterPlace]
    others: Mapping[int, Sequence[tuple[str, float | None]]] = field(default_factory=dict)
    is_estimate: bool = False
    """Nothing measured the letters: each has a share of the line."""

    def corners(self, first: int, end: int) -> tuple[XY, XY, XY, XY]:
        """Return the corners of the area of the letters from *first* up to *end*."""
        letters = self.letters[first:end]
        start, stop = min(letter.start for letter in letters), max(letter.end for letter in letters)
        top, bottom = min(letter.top for letter in letters), max(letter.bottom for letter in letters)
        point = self.frame.point
        return point(start, top), point(stop, top), point(stop, bottom), point(start, bottom)

    def words(self, text: str) -> list[PlacedWord]:
        """Return the words of *text*, whose letters these are; none if they are not."""
        letters = graphemes(text)
        if len(letters) != len(self.letters):
            return []
        placed: list[PlacedWord] = []
        for first, end in _words(letters):
            sure = [
                letter.probability for letter in self.letters[first:end] if letter.probability is not None
            ]
            mean = sum(sure) / len(sure) if sure else None
            placed.append(PlacedWord("".join(letters[first:end]), first, end, self.corners(first, end), mean))
        return placed

    def in_units(self, width: float, height: float) -> LetterPlaces:
        """Return it with its frame in other units."""
        return LetterPlaces(self.frame.in_units(width, height), self.letters, self.others, self.is_estimate)


def _words(letters: Sequence[str]) -> Iterator[tuple[int, int]]:
    first = 0
    for place in range(len(letters) + 1):
        if place == len(letters) or letters[place].isspace():
            if place > first:
                yield first, place
            first = place + 1


def frame_of(
    outline: Sequence[Sequence[float]], baseline: Sequence[Sequence[float]], *, runs_down: bool = False
) -> Frame | None:
    """Return the frame of a line from its shapes, in pixels; None where it has no area."""
    points = outline or baseline
    if len(points) < 2:
        return None
    along_x, along_y = (0.0, 1.0) if runs_down else (1.0, 0.0)
    if len(baseline) > 1:
        dx, dy = baseline[-1][0] - baseline[0][0], baseline[-1][1] - baseline[0][1]
        length = (dx * dx + dy * dy) ** 0.5
        if length > 0:
            # From left to right and from top to bottom, in whichever direction it was drawn.
            sign = -1 if (dx < 0 if abs(dx) >= abs(dy) else dy < 0) else 1
            along_x, along_y = sign * dx / length, sign * dy / length
    # Across: downward for a level line; for one that runs down, to the left, as a quarter turn of it.
    across_x, across_y = -along_y, along_x
    lengths = [x * along_x + y * along_y for x, y in points]
    heights = [x * across_x + y * across_y for x, y in points]
    low, top = min(lengths), min(heights)
    length, height = max(lengths) - low, max(heights) - top
    if length <= 0 or height <= 0:
        return None
    return Frame(
        low * along_x + top * across_x,
        low * along_y + top * across_y,
        along_x * length,
        along_y * length,
        across_x * height,
        across_y * height,
    )


def runs_down(outline: Sequence[Sequence[float]], direction: str | None, text: str) -> bool:
    """Return whether a line without a baseline runs from top to bottom: as stated, else by its shape."""
    if direction is not None or not outline:
        return direction in ("ttb", "btt")
    xs, ys = [point[0] for point in outline], [point[1] for point in outline]
    return max(ys) - min(ys) > UPRIGHT * (max(xs) - min(xs)) and len(graphemes(text)) > 2


def share_out(frame: Frame, text: str) -> LetterPlaces:
    """Return places for the letters of a text by the usual width of each: an estimate. From left to right as they are
    written (Unicode's bidirectional algorithm).
    """
    letters = graphemes(text)
    widths = [_width(letter) for letter in letters]
    whole = sum(widths) or 1.0
    upright = abs(frame.along_y) > abs(frame.along_x)
    places: list[LetterPlace] = [LetterPlace(0, 1)] * len(letters)
    at = 0.0
    for place in range(len(letters)) if upright else letters_from_left(letters):
        places[place] = LetterPlace(at / whole, (at + widths[place]) / whole)
        at += widths[place]
    return LetterPlaces(frame, places, is_estimate=True)


def _width(letter: str) -> float:
    if letter[0] in _NARROW or letter.isspace():
        return 0.6
    return 1.5 if letter[0] in _WIDE else 1.0


def _share(stored: int) -> float | None:
    return None if stored < 0 else stored / 10_000


def unpacked_places(frame: Sequence[float], stored: Mapping[str, Any]) -> LetterPlaces:
    """Return places from JSON: of each letter five whole numbers of ten-thousandths, -1 for no probability."""
    numbers: Sequence[int] = stored["letters"]
    letters = []
    for at in range(0, len(numbers), 5):
        start, end, top, bottom = (value / 10_000 for value in numbers[at : at + 4])
        letters.append(LetterPlace(start, end, top, bottom, _share(numbers[at + 4])))
    others = {
        int(at): [(sign, sure) for sign, sure in alternatives]
        for at, alternatives in stored["others"].items()
    }
    return LetterPlaces(Frame(*frame), letters, others)
