"""How well regions were found: the mean average precision at an overlap of one half (mAP50), as COCO defines it.

For each class, detections are visited from the highest score down; each is matched to the true region with
the largest overlap (intersection over union of at least one half), and each true region once. The precision
at 101 levels of recall, each the best at that recall or a higher one, is averaged, and then averaged over the
classes that occur.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

Box = tuple[float, float, float, float]
"""left, top, width, height."""
OVERLAP = 0.5
SAME = 0.7
"""Two detections that overlap this much are one region; the one with the higher score stays."""
MOST = 100
"""How many detections of a class are considered on a page, those with the highest scores."""


class FoundRegion(NamedTuple):
    """A region that was found: its class by number, its rectangle, its score from 0 to 1."""

    kind: int
    box: Box
    score: float


class TrueRegion(NamedTuple):
    """A true region."""

    kind: int
    box: Box


def intersection_over_union(one: Box, other: Box) -> float:
    """Return the intersection over union."""
    across = min(one[0] + one[2], other[0] + other[2]) - max(one[0], other[0])
    down = min(one[1] + one[3], other[1] + other[3]) - max(one[1], other[1])
    if across <= 0 or down <= 0:
        return 0.0
    both = across * down
    return both / (one[2] * one[3] + other[2] * other[3] - both)


def mean_average_precision(
    found: Sequence[Sequence[FoundRegion]], true: Sequence[Sequence[TrueRegion]]
) -> float | None:
    """Return the mAP50 of *found* against *true* regions, page by page; None if no page has a true one."""
    kinds = sorted({one.kind for page in true for one in page})
    if not kinds:
        return None
    return sum(_average_precision(kind, found, true) for kind in kinds) / len(kinds)


def _average_precision(
    kind: int, found: Sequence[Sequence[FoundRegion]], true: Sequence[Sequence[TrueRegion]]
) -> float:
    looked_at: list[tuple[float, bool]] = []
    there = 0
    for page, boxes in zip(found, true, strict=True):
        wanted = [box.box for box in boxes if box.kind == kind]
        there += len(wanted)
        surest = sorted((one for one in page if one.kind == kind), key=lambda one: -one.score)[:MOST]
        looked_at += zip(
            (one.score for one in surest), _match([one.box for one in surest], wanted), strict=True
        )
    # The order of pages decides between equal scores, as in COCO.
    looked_at.sort(key=lambda one: -one[0])
    right, points = 0, []
    for number, (_, is_right) in enumerate(looked_at, 1):
        right += is_right
        points.append((right / there, right / number))
    best, envelope = 0.0, []
    for recall, precision in reversed(points):
        best = max(best, precision)
        envelope.append((recall, best))
    envelope.reverse()
    total, at = 0.0, 0
    for hundredth in range(101):
        while at < len(envelope) and envelope[at][0] < hundredth / 100:
            at += 1
        total += envelope[at][1] if at < len(envelope) else 0.0
    return total / 101


def sure_from(found: Sequence[Sequence[FoundRegion]], known: Sequence[Sequence[TrueRegion]]) -> float | None:
    """Return the least score with which most regions are found and fewest invented (the highest F1); None if
    nothing right was found.
    """
    there = sum(map(len, known))
    told: list[tuple[float, bool]] = []
    for page, boxes in zip(found, known, strict=True):
        for kind in {one.kind for one in page}:
            surest = sorted((one for one in page if one.kind == kind), key=lambda one: -one.score)
            right = _match([one.box for one in surest], [box.box for box in boxes if box.kind == kind])
            told += zip((one.score for one in surest), right, strict=True)
    told.sort(key=lambda one: -one[0])
    best, answer, right_ones = 0.0, None, 0
    for number, (score, is_right) in enumerate(told, 1):
        right_ones += is_right
        after = told[number][0] if number < len(told) else 0.0
        share = 2 * right_ones / (number + there)
        if after < score and share > best:
            best, answer = share, (score + after) / 2
    return answer


def distinct(found: Sequence[FoundRegion]) -> list[FoundRegion]:
    """Return *found* (highest score first) without those that nearly cover one with a higher score, of any class."""
    kept: list[FoundRegion] = []
    for one in found:
        if all(intersection_over_union(one.box, other.box) < SAME for other in kept):
            kept.append(one)
    return kept


def _match(surest: Sequence[Box], wanted: Sequence[Box]) -> list[bool]:
    """Return for each box, highest score first, whether it matches a wanted one."""
    free = set(range(len(wanted)))
    answers = []
    for box in surest:
        best = max(
            free, key=lambda number: (intersection_over_union(box, wanted[number]), number), default=None
        )
        is_right = best is not None and intersection_over_union(box, wanted[best]) >= OVERLAP
        if is_right and best is not None:
            free.remove(best)
        answers.append(is_right)
    return answers
