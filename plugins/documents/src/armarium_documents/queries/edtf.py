"""Where a date begins and ends: ISO 8601 and the EDTF forms that descriptions of archives use."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_DATE = re.compile(r"(Y?[+-]?\d{1,9}|[+-]?[\dX]{4})(?:-([\dX]{2}))?(?:-([\dX]{2}))?", re.ASCII)
_SEASONS = {21: (3, 5), 22: (6, 8), 23: (9, 11), 24: (12, 12)}
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class Span(NamedTuple):
    """The first and last day a date may mean, each as year * 10,000 + month * 100 + day, and its precision."""

    start: int
    end: int
    year: int
    month: int | None
    day: int | None


@lru_cache(maxsize=65_536)
def span_of(text: str) -> Span | None:
    """What *text* says, or None when it is no date. Of an interval or a set: from its first to its last date."""
    plain = text.strip().strip("[]{}").replace("?", "").replace("~", "").replace("%", "")
    first, slash, last = plain.partition("/")
    if not slash:
        listed = re.split(r"\.\.|,", plain)
        first, last = listed[0], listed[-1]
    one = _single(first.strip())
    other = _single(last.strip()) if last.strip() else None
    if one is None and other is not None and first.strip() in ("", ".."):
        return other
    if one is None:
        return None
    if other is None or other.end < one.start:
        return one
    return one._replace(end=other.end)


def _single(text: str) -> Span | None:
    # A time of day says nothing about which day.
    found = _DATE.fullmatch(text.partition("T")[0])
    if found is None:
        return None
    written, month_text, day_text = found.groups()
    written = written.removeprefix("Y")
    low, high = int(written.replace("X", "0")), int(written.replace("X", "9"))
    if low > high:
        low, high = high, low
    if month_text is None or "X" in month_text:
        return Span(low * 10_000 + 101, high * 10_000 + 1231, low, None, None)
    month = int(month_text)
    if month in _SEASONS:
        begins, ends = _SEASONS[month]
        return Span(low * 10_000 + begins * 100 + 1, high * 10_000 + ends * 100 + 31, low, begins, None)
    if not 1 <= month <= 12:
        return None
    if day_text is None or "X" in day_text:
        return Span(low * 10_000 + month * 100 + 1, high * 10_000 + month * 100 + 31, low, month, None)
    day = int(day_text)
    if not 1 <= day <= _DAYS[month - 1]:
        return None
    return Span(low * 10_000 + month * 100 + day, high * 10_000 + month * 100 + day, low, month, day)


def start_of(value: object) -> int | None:
    """The first day a stored value may mean, or None."""
    found = (
        span_of(value) if isinstance(value, str) else span_of(str(value)) if isinstance(value, int) else None
    )
    return None if found is None else found.start


def bin_of(value: object, granularity: str) -> str | None:
    """The year, month or day a stored value begins in; the coarser bin when it says no more; None for no date."""
    found = (
        span_of(value) if isinstance(value, str) else span_of(str(value)) if isinstance(value, int) else None
    )
    if found is None:
        return None
    sign = "-" if found.year < 0 else ""
    label = f"{sign}{abs(found.year):04}"
    if granularity != "year" and found.month is not None:
        label += f"-{found.month:02}"
        if granularity == "day" and found.day is not None:
            label += f"-{found.day:02}"
    return label
