"""Finds lines whose words a file lists against the direction of their letters; pure."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

from armarium_formats.page_model import PageSegment

_FEWEST = 3
"""Words of a line that show a direction: two may be swapped for other reasons."""


def runs_against_its_letters(line: PageSegment) -> bool:
    """Return whether the boxes of a line's words follow each other in the direction in which its letters do not run."""
    words = [one for one in line.children if one.kind == "word" and one.points and one.text]
    if len(words) < _FEWEST:
        return False
    letters = [unicodedata.bidirectional(letter) for word in words for letter in word.text]
    to_left = sum(kind in ("R", "AL") for kind in letters)
    to_right = letters.count("L")
    at = [sum(x for x, _ in word.points) / len(word.points) for word in words]
    if all(one < other for one, other in pairwise(at)):
        return to_left > 2 * to_right
    return all(one > other for one, other in pairwise(at)) and to_right > 2 * to_left
