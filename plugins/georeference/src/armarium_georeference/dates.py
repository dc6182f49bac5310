"""Dates of places: ISO 8601 down to the year, years before Christ, and open intervals; pure."""

from __future__ import annotations

import calendar
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

_ISO = re.compile(r"(-?\d{4,6})(?:-(\d{2})(?:-(\d{2}))?)?")

_DOUBT = re.compile(r"[?~%]")
Day = tuple[int, int, int]
"""Astronomical year (year 0 is 1 BC), month, day."""


class Span(NamedTuple):
    """The first and the last day; None for an open end."""

    first: Day | None
    last: Day | None

    def overlaps(self, other: Span) -> bool:
        """Return whether the two have a day in common."""
        return not (
            (self.last is not None and other.first is not None and self.last < other.first)
            or (other.last is not None and self.first is not None and other.last < self.first)
        )

    @property
    def is_contradiction(self) -> bool:
        """Return whether the interval ends before it begins."""
        return self.first is not None and self.last is not None and self.last < self.first


def span_of(text: str) -> Span:
    """Return the days a date names: the whole year or month if it gives no more. Raises ValueError if it is
    not a date.
    """
    found = _ISO.fullmatch(text.strip())
    if found is None:
        raise ValueError(text)
    year = int(found[1])
    if found[2] is None:
        return Span((year, 1, 1), (year, 12, 31))
    month = int(found[2])
    if not 1 <= month <= 12:
        raise ValueError(text)
    # The calendar repeats every 400 years; Python's begins with the year 1.
    longest = calendar.monthrange(year % 400 + 400, month)[1]
    if found[3] is None:
        return Span((year, month, 1), (year, month, longest))
    day = int(found[3])
    if not 1 <= day <= longest:
        raise ValueError(text)
    return Span((year, month, day), (year, month, day))


def span_stated(text: str) -> Span:
    """Return the days a stated date names. It may be uncertain (1750?), have unknown digits (17XX, 1750-XX)
    or be an interval (1750/1752, ../1752): then all days that it could be. Raises ValueError if it is not a
    date.
    """
    start, slash, end = text.strip().partition("/")
    if slash:
        ends = [_span_of_digits(one) if one not in ("", "..") else Span(None, None) for one in (start, end)]
        return Span(ends[0].first, ends[1].last)
    return _span_of_digits(start)


def _span_of_digits(text: str) -> Span:
    """Return the span from the earliest to the latest day that a date with unknown digits could be."""
    plain = _DOUBT.sub("", text).upper().removeprefix("+")
    year, *rest = plain.removeprefix("-").split("-")
    while rest and "X" in rest[-1]:
        rest.pop()
    if any("X" in one for one in rest) or (rest and "X" in year):
        # If digits of the year are unknown, its month narrows nothing down.
        rest = []
    if "X" not in year:
        return span_of("-".join([year if not plain.startswith("-") else f"-{year}", *rest]))
    lowest, highest = year.replace("X", "0"), year.replace("X", "9")
    if plain.startswith("-"):
        lowest, highest = f"-{highest}", f"-{lowest}"
    return Span(span_of(lowest).first, span_of(highest).last)


def span_of_when(when: Mapping[str, Any] | None) -> Span:
    """Return the days that a place value's `when` {start?, end?} names; all days if it states nothing.

    Raises ValueError for what is not a date.
    """
    start, end = (when or {}).get("start"), (when or {}).get("end")
    return Span(
        span_stated(str(start)).first if start else None,
        span_stated(str(end)).last if end else None,
    )
