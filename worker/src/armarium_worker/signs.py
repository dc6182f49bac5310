"""Where the letters of a line stand, worked out from the areas in which a reader saw each of its signs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .graphemes import graphemes
from .shapes import LinePlaces, Point


class Sign(NamedTuple):
    """One or more characters that a reader saw together, the corners of their area on the page, in pixels, how sure it is, and
    what else it sees there, each with its probability.
    """

    text: str
    corners: Sequence[Point]
    probability: float | None = None
    others: Sequence[tuple[str, float | None]] = ()


def places_of_signs(text: str, signs: Sequence[Sign], along: Point = (1.0, 0.0)) -> LinePlaces | None:
    """Return where the letters of *text* stand; *signs* are all of it but the blanks, in its order. None if they are not.

    *along* points from left to right along the line (of any length). A letter of several signs has the area of all of
    them, as probable as the least; letters that are one sign have its area together.
    """
    owners = [number for number, sign in enumerate(signs) for _ in sign.text]
    if not owners or "".join(sign.text for sign in signs) != "".join(text.split()):
        return None
    length = (along[0] ** 2 + along[1] ** 2) ** 0.5
    if length == 0 or not all(sign.corners for sign in signs):
        return None
    x, y = along[0] / length, along[1] / length
    lengths = [[px * x + py * y for px, py in sign.corners] for sign in signs]
    heights = [[py * x - px * y for px, py in sign.corners] for sign in signs]
    left, top = min(map(min, lengths)), min(map(min, heights))
    wide, high = max(map(max, lengths)) - left, max(map(max, heights)) - top
    if wide <= 0 or high <= 0:
        return None
    letters: list[tuple[float, float, float, float, float | None]] = []
    others: dict[int, list[tuple[str, float | None]]] = {}
    at, end = 0, 0.0
    for letter in graphemes(text):
        count = len("".join(letter.split()))
        mine = owners[at : at + count]
        at += count
        if not mine:
            letters.append((end, end, 0.0, 1.0, None))
            continue
        reach = [(value - left) / wide for number in mine for value in lengths[number]]
        depth = [(value - top) / high for number in mine for value in heights[number]]
        end = max(reach)
        sure = [
            probability
            for probability in (signs[number].probability for number in mine)
            if probability is not None
        ]
        for number in dict.fromkeys(mine):
            if signs[number].others and mine.count(number) == len(signs[number].text):
                # Of a letter of several signs, the others of each go with the rest of it.
                before, _, after = "".join(letter.split()).partition(signs[number].text)
                others.setdefault(len(letters), []).extend(
                    (before + other + after, chance) for other, chance in signs[number].others
                )
        letters.append((min(reach), end, min(depth), max(depth), min(sure, default=None)))
    frame = (left * x - top * y, left * y + top * x, wide * x, wide * y, -high * y, high * x)
    return LinePlaces(frame, letters, others)
