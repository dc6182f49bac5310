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


def intersection_over_union(box: Box, other: Box) -> float:
    """Return the intersection over union."""
    across = min(box[0] + box[2], other[0] + other[2]) - max(box[0], other[0])
    down = min(box[1] + box[3], other[1] + other[3]) - max(box[1], other[1])
    if across <= 0 or down <= 0:
        return 0.0
    both = across * down
    return both / (box[2] * box[3] + other[2] * other[3] - both)


def mean_average_precision(
    detected: Sequence[Sequence[FoundRegion]], true: Sequence[Sequence[TrueRegion]]
) -> float | None:
    """Return the mAP50 of *detected* against *true* regions, page by page; None if no page has a true one."""
    kinds = sorted({region.kind for page in true for region in page})
    if not kinds:
        return None
    return sum(_average_precision(kind, detected, true) for kind in kinds) / len(kinds)


def _average_precision(
    kind: int, detected: Sequence[Sequence[FoundRegion]], true: Sequence[Sequence[TrueRegion]]
) -> float:
    looked_at: list[tuple[float, bool]] = []
    true_count = 0
    for page, boxes in zip(detected, true, strict=True):
        targets = [box.box for box in boxes if box.kind == kind]
        true_count += len(targets)
        regions = (region for region in page if region.kind == kind)
        surest = sorted(regions, key=lambda region: -region.score)[:MOST]
        right = _match([region.box for region in surest], targets)
        looked_at += zip((region.score for region in surest), right, strict=True)
    # The order of pages decides between equal scores, as in COCO.
    looked_at.sort(key=lambda pair: -pair[0])
    right_ones, points = 0, []
    for number, (_, is_right) in enumerate(looked_at, 1):
        right_ones += is_right
        points.append((right_ones / true_count, right_ones / number))
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


def sure_from(
    detected: Sequence[Sequence[FoundRegion]], known: Sequence[Sequence[TrueRegion]]
) -> float | None:
    """Return the least score with which most regions are found and fewest invented (the highest F1); None if
    nothing right was found.
    """
    true_count = sum(map(len, known))
    looked_at: list[tuple[float, bool]] = []
    for page, boxes in zip(detected, known, strict=True):
        for kind in {region.kind for region in page}:
            regions = (region for region in page if region.kind == kind)
            surest = sorted(regions, key=lambda region: -region.score)
            right = _match([region.box for region in surest], [box.box for box in boxes if box.kind == kind])
            looked_at += zip((region.score for region in surest), right, strict=True)
    looked_at.sort(key=lambda pair: -pair[0])
    best, answer, right_ones = 0.0, None, 0
    for number, (score, is_right) in enumerate(looked_at, 1):
        right_ones += is_right
        after = looked_at[number][0] if number < len(looked_at) else 0.0
        share = 2 * right_ones / (number + true_count)
        if after < score and share > best:
            best, answer = share, (score + after) / 2
    return answer


def distinct(detected: Sequence[FoundRegion]) -> list[FoundRegion]:
    """Return *detected* (highest score first) without those that nearly cover one with a higher score, of any class."""
    regions: list[FoundRegion] = []
    for region in detected:
        if all(intersection_over_union(region.box, other.box) < SAME for other in regions):
            regions.append(region)
    return regions


def _match(surest: Sequence[Box], targets: Sequence[Box]) -> list[bool]:
    """Return for each box, highest score first, whether it matches one of *targets*."""
    free = set(range(len(targets)))
    answers = []
    for box in surest:
        best = max(
            free, key=lambda number: (intersection_over_union(box, targets[number]), number), default=None
        )
        is_right = best is not None and intersection_over_union(box, targets[best]) >= OVERLAP
        if is_right and best is not None:
            free.remove(best)
        answers.append(is_right)
    return answers
