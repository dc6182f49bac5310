"""What attributes of FineReader XML mean: boxes (l, t, r, b), the outline of several rectangles, names of languages in
BCP 47 ("EnglishUnitedStates", "GermanNewSpelling", "OldFrench").
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from armarium_formats.markup.languages import languages
from armarium_formats.numbers import parse_number
from armarium_formats.page_model import Point
from armarium_formats.points import Stated, line_of
from armarium_formats.shapes import Box, corners, surround

if TYPE_CHECKING:
    from lxml import etree


def box_of(element: etree._Element) -> Box | None:
    """Return the l, t, r, b of an element in either order; None if one is not a number."""
    left, top, right, bottom = (parse_number(element.get(key)) for key in ("l", "t", "r", "b"))
    if left is None or top is None or right is None or bottom is None:
        return None
    return min(left, right), min(top, bottom), max(left, right), max(top, bottom)


def shapes_of(root: etree._Element) -> Iterator[Stated]:
    """Yield the corners of the rectangles that make up blocks."""
    for region in root.iter("{*}region"):
        yield 4 * sum(1 for _ in region.iter("{*}rect")), line_of(region)


def outline_of(boxes: list[Box]) -> list[Point]:
    """Return one outline around stacked rectangles, down the right side and up the left; else their box."""
    stack = sorted(boxes, key=lambda box: box[1])
    joined = all(
        abs(above[3] - below[1]) <= 1 and above[0] < below[2] and below[0] < above[2]
        for above, below in pairwise(stack)
    )
    if len(stack) < 2 or not joined:
        return corners(surround(boxes))
    right: list[Point] = []
    left: list[Point] = []
    for left_edge, top, right_edge, bottom in stack:
        right += [(right_edge, top), (right_edge, bottom)]
        left += [(left_edge, top), (left_edge, bottom)]
    return [*right, *reversed(left)]


_OWN: Final = {
    "EnglishUnitedStates": "en-US", "EnglishUnitedKingdom": "en-GB", "FrenchCanadian": "fr-CA",
    "PortugueseBrazilian": "pt-BR", "DutchBelgian": "nl-BE", "GermanSwiss": "de-CH", "ChinesePRC": "zh-Hans",
    "ChineseTaiwan": "zh-Hant", "NorwegianBokmal": "nb", "NorwegianNynorsk": "nn", "OldSlavonic": "cu",
    "SlovenianStandard": "sl", "Slovenian": "sl", "Farsi": "fa",
}  # fmt: skip


def language_of(name: str) -> str | None:
    """Return BCP 47 for FineReader's name of a language; None for several at once and for an unknown one."""
    return _tag_of(name) if len(name) <= 100 else None


@lru_cache(maxsize=1000)
def _tag_of(name: str) -> str | None:
    bare = name.strip().strip("()").removesuffix("_")
    if bare in _OWN:
        return _OWN[bare]
    bare = bare.removeprefix("Old")
    codes = {word.replace(" ", ""): code for word, code in languages().items()}
    names = [word for word in codes if bare.startswith(word) and not bare[len(word) :][:1].islower()]
    return codes[max(names, key=len)] if names and "," not in bare else None
