"""Dates of places: ISO 8601 down to the year, years before Christ, and spans with open ends; pure."""

from __future__ import annotations

import calendar
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

_ISO = re.compile(r"(-?\d{4,6})(?:-(\d{2})(?:-(\d{2}))?)?")

Day = tuple[int, int, int]
"""Astronomical year (0 is the year 1 before Christ), month, day."""


class Span(NamedTuple):
    """First and last day; None for an end that is open."""

    first: Day | None
    last: Day | None

    def overlaps(self, other: Span) -> bool:
        """Whether the two have a day in common."""
        return not (
            (self.last is not None and other.first is not None and self.last < other.first)
            or (other.last is not None and self.first is not None and other.last < self.first)
        )

    @property
    def is_contradiction(self) -> bool:
        """Whether it ends before it begins."""
        return self.first is not None and self.last is not None and self.last < self.first


def span_of(text: str) -> Span:
    """The days that a date names: all of them where it stops at the year or month. ValueError for no date."""
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


def span_of_when(when: Mapping[str, Any] | None) -> Span:
    """The days that a place value's `when` {start?, end?} names; all days where it says nothing.

    ValueError for a date that is none.
    """
    start, end = (when or {}).get("start"), (when or {}).get("end")
    return Span(
        span_of(str(start)).first if start else None,
        span_of(str(end)).last if end else None,
    )
