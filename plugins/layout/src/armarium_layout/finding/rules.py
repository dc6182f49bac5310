"""Ruled lines on a page: where they run, repaired where the ink is broken."""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy

from armarium_layout.finding.ink import Pixels, Sheet

SHORTEST = 0.03
"""A rule is longer than this share of the longest side,"""
LETTERS = 5
"""and than so many letters are tall."""
EDGE = 0.82
"""If one side of a line is darker than this share of the other, it is the edge of a sheet, not a rule."""
INKED = 0.6
"""A rule has ink along at least this share of its length."""
HARDLY = 8
"""A faint rule is so many grey levels darker than the paper beside it,"""
MOST = 0.8
"""along at least this share of its length."""
ALONG_EDGE = 0.85
"""A line longer than this share of the picture, and"""
AT_EDGE = 0.06
"""closer to its edge than this share of it, is the edge of the sheet."""
CLEAR = 0.45
"""Beside a rule there is less ink than this share of the ink on it: a row of letters has about as much."""
BEND = 2
"""By how many pixels a rule may deviate from the straight line between its ends."""
SLANT = 0.02
"""The largest slope of a rule, as a share of its length."""


class Rule(NamedTuple):
    """A ruled line. along: where it begins and ends; at: its position across, at its beginning and its end.

    A level rule runs from x = along[0] to along[1] at y = at[0] to at[1]; a vertical one the other way round.
    """

    along: tuple[float, float]
    at: tuple[float, float]

    @property
    def length(self) -> float:
        return self.along[1] - self.along[0]

    @property
    def middle(self) -> float:
        return (self.at[0] + self.at[1]) / 2

    def position_at(self, place: float) -> float:
        """Return its position across at *place* along it, extended beyond its ends."""
        begin, end = self.along
        return self.at[0] + (self.at[1] - self.at[0]) * (place - begin) / max(end - begin, 1e-9)


def rules_of(sheet: Sheet, letters: float, *, upright: bool) -> list[Rule]:
    """Return the rules of a page, level or *upright*, ordered across. letters: their height in pixels."""
    turned = [
        numpy.ascontiguousarray(picture.T if upright else picture) for picture in (sheet.ink, sheet.grey)
    ]
    turned_ink, grey = turned[0].astype(numpy.uint8), turned[1]
    least = max(12.0, SHORTEST * max(turned_ink.shape), LETTERS * letters)
    run = max(9, round(least / 3))
    # A leaning rule is made of steps of a pixel: thickened by a row, its runs are unbroken.
    thick = cv2.dilate(turned_ink, numpy.ones((3, 1), numpy.uint8))
    if upright:
        thick = cv2.bitwise_or(thick, _mark_faint(grey, 3 * run))
    runs = cv2.morphologyEx(thick, cv2.MORPH_OPEN, numpy.ones((1, run), numpy.uint8))
    count, labels, stats, _ = cv2.connectedComponentsWithStats(runs, connectivity=8)
    pieces = []
    for number in range(1, count):
        x, y, w, h, area = (int(value) for value in stats[number])
        # As thick as a rule, and not a block of ink.
        if area > 7 * w and h > 12:
            continue
        columns = labels[y : y + h, x : x + w] == number
        ends = [_height(columns[:, :run]), _height(columns[:, -run:])]
        pieces.append(Rule((x, x + w), (y + ends[0], y + ends[1])))
    joined = [rule for rule in _join_rules(pieces, least) if rule.length >= least]
    aside = max(4.0, 0.3 * letters)
    return sorted(
        (rule for rule in joined if not _is_edge(rule, turned_ink) and _is_ruled(thick, grey, rule, aside)),
        key=lambda rule: rule.middle,
    )


def _is_edge(rule: Rule, turned_ink: Pixels) -> bool:
    """Return whether it runs along nearly the whole edge of the picture, as the edge of the sheet does."""
    across, along = turned_ink.shape
    return bool(
        rule.length > ALONG_EDGE * along and min(rule.middle, across - rule.middle) < AT_EDGE * across
    )


def _mark_faint(grey: Pixels, window: int) -> Pixels:
    """Return where a line is barely darker than the paper, but for most of each *window* along it."""
    flat = cv2.GaussianBlur(grey, (0, 0), 0.8)
    across = cv2.morphologyEx(flat, cv2.MORPH_BLACKHAT, numpy.ones((9, 1), numpy.uint8))
    darker = cv2.dilate((across >= HARDLY).astype(numpy.uint8), numpy.ones((3, 1), numpy.uint8))
    along = cv2.boxFilter(darker.astype(numpy.float32), -1, (window, 1))
    return ((along >= MOST) & (darker > 0)).astype(numpy.uint8)


def _is_ruled(thick: Pixels, grey: Pixels, rule: Rule, aside: float) -> bool:
    """Return whether there is ink along a rule, and little on either side of it."""
    xs = numpy.arange(int(rule.along[0]), int(rule.along[1]))
    ys = rule.at[0] + (rule.at[1] - rule.at[0]) * (xs - rule.along[0]) / max(rule.length, 1e-9)

    def sample(picture: Pixels, away: float) -> Pixels:
        rows = numpy.clip(numpy.rint(ys + away), 0, thick.shape[0] - 1).astype(int)
        return picture[rows, numpy.minimum(xs, thick.shape[1] - 1)]

    def measure_ink(away: float) -> float:
        return float(sample(thick, away).mean())

    # A rule drawn by hand, or beside a fold, bends: its ink is looked for slightly to either side of the
    # straight line.
    bend = range(-BEND, BEND + 1)
    thickness = float(numpy.maximum.reduce([sample(thick, away) for away in bend]).mean())
    paper = [float(numpy.median(sample(grey, sign * 2.5 * aside))) for sign in (-1, 1)]
    if min(paper) < EDGE * max(paper):
        return False
    # The other line of a double rule is on one side; letters are on both.
    sides = [min(measure_ink(sign * away) for away in (aside, 1.6 * aside, 2.2 * aside)) for sign in (-1, 1)]
    return thickness >= INKED and max(sides) < CLEAR * thickness


def _height(part: Pixels) -> float:
    rows = numpy.flatnonzero(part.any(axis=1))
    return float(rows.mean()) if len(rows) else 0.0


def _join_rules(pieces: list[Rule], least: float) -> list[Rule]:
    """Join pieces that continue another one, or run beside it as its other edge."""
    joined: list[Rule] = []
    for piece in sorted(pieces, key=lambda rule: -rule.length):
        for number, rule in enumerate(joined):
            gap = max(piece.along[0] - rule.along[1], rule.along[0] - piece.along[1])
            shorter, longer = sorted((rule.length, piece.length))
            # A small piece far from the end of a rule is a stroke of a letter; two long pieces are one broken
            # rule.
            reach = 0.25 * longer if shorter >= least else min(1.5 * shorter, 0.25 * longer)
            middle = sum(piece.along) / 2
            aside = abs(rule.position_at(middle) - piece.middle)
            if gap < reach and aside <= 3 + SLANT * max(0.0, gap) + 0.004 * rule.length:
                joined[number] = _joined_rule(rule, piece)
                break
        else:
            joined.append(piece)
    if len(joined) < len(pieces):
        # A joined piece may meet another that was too far away before.
        return _join_rules(joined, least)
    return joined


def _joined_rule(first: Rule, second: Rule) -> Rule:
    begin, end = min(first.along[0], second.along[0]), max(first.along[1], second.along[1])
    xs = [*first.along, *second.along]
    ys = [*first.at, *second.at]
    weights = [first.length, first.length, second.length, second.length]
    if end - begin <= 0 or len(set(xs)) < 2:
        return first
    slope, base = numpy.polyfit(xs, ys, 1, w=numpy.sqrt(weights))
    return Rule((begin, end), (float(slope * begin + base), float(slope * end + base)))
