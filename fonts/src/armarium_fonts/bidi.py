"""The visual order of letters on a line: Unicode's bidirectional algorithm (UAX 9) without its invisible controls.

A letter here is a character with its marks, so that no mark is ever separated from its letter.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

_STRONG = {"L": "L", "R": "R", "AL": "R"}


def levels(letters: Sequence[str]) -> list[int]:
    """Return the embedding level of each letter: odd levels run from right to left."""
    kinds = [unicodedata.bidirectional(letter[0]) or "L" for letter in letters]
    base = next((int(_STRONG[kind] == "R") for kind in kinds if kind in _STRONG), 0)
    if base == 0 and not any(kind in ("R", "AL", "AN") for kind in kinds):
        return [0] * len(kinds)
    edge = "R" if base else "L"
    resolved = _resolve_weak(kinds, edge)
    _neutral(resolved, edge)
    levels_of_kinds = [_level(kind, base) for kind in resolved]
    # L1: blanks at the end of the line get the line's own level.
    for place in reversed(range(len(kinds))):
        if kinds[place] not in ("WS", "S", "B"):
            break
        levels_of_kinds[place] = base
    return levels_of_kinds


def visual_order(run_levels: Sequence[int]) -> list[int]:
    """Return the runs from left to right (L2), each of one level."""
    order = list(range(len(run_levels)))
    for level in range(max(run_levels, default=0), 0, -1):
        place = 0
        while place < len(order):
            end = place
            while end < len(order) and run_levels[order[end]] >= level:
                end += 1
            order[place:end] = reversed(order[place:end])
            place = max(end, place + 1)
    return order


def letters_from_left(letters: Sequence[str]) -> list[int]:
    """Return the places of *letters* in the text as they stand on the line, from left to right."""
    return visual_order(levels(letters))


def _level(kind: str, base: int) -> int:
    """Apply I1 and I2."""
    if kind == "R":
        return base + (1 - base % 2)
    if kind in ("EN", "AN"):
        return base + (1 if base % 2 else 2)
    return base + base % 2


def _resolve_weak(kinds: Sequence[str], edge: str) -> list[str]:
    """Apply W2 to W7: the types of numbers and the characters around them."""
    weak = list(kinds)
    strong = edge
    for place, kind in enumerate(kinds):
        if kind in _STRONG:
            strong = kind
        elif kind == "EN" and strong == "AL":
            weak[place] = "AN"
    weak = [_STRONG.get(kind, kind) for kind in weak]
    for place in range(1, len(weak) - 1):
        before, after = weak[place - 1], weak[place + 1]
        if before == after and (
            (weak[place] == "ES" and before == "EN") or (weak[place] == "CS" and before in ("EN", "AN"))
        ):
            weak[place] = before
    _terminators(weak)
    strong = edge
    for place, kind in enumerate(weak):
        if kind in ("L", "R"):
            strong = kind
        elif kind == "EN" and strong == "L":
            weak[place] = "L"
        elif kind in ("ES", "ET", "CS"):
            weak[place] = "ON"
    return weak


def _terminators(kinds_so_far: list[str]) -> None:
    """Apply W5: characters such as % and £ next to a European number belong to it."""
    place = 0
    while place < len(kinds_so_far):
        end = place
        while end < len(kinds_so_far) and kinds_so_far[end] == "ET":
            end += 1
        if end > place:
            beside = (place and kinds_so_far[place - 1] == "EN") or (
                end < len(kinds_so_far) and kinds_so_far[end] == "EN"
            )
            if beside:
                kinds_so_far[place:end] = ["EN"] * (end - place)
        place = max(end, place + 1)


def _neutral(kinds_so_far: list[str], edge: str) -> None:
    """Apply N1 and N2: neutral characters take the direction of their neighbours if these agree, else that of
    the line.
    """
    strong = {"L": "L", "R": "R", "EN": "R", "AN": "R"}
    place = 0
    while place < len(kinds_so_far):
        end = place
        while end < len(kinds_so_far) and kinds_so_far[end] not in strong:
            end += 1
        if end > place:
            before = strong[kinds_so_far[place - 1]] if place else edge
            after = strong[kinds_so_far[end]] if end < len(kinds_so_far) else edge
            kinds_so_far[place:end] = [before if before == after else edge] * (end - place)
        place = max(end, place + 1)
