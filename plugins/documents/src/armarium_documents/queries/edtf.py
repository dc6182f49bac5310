"""The first and last day of a date in ISO 8601 or the EDTF forms that archival descriptions use."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from armarium_documents.schemas.fields import last_day

_PLAIN = re.compile(r"\d{4}(?:-\d\d(?:-\d\d)?)?", re.ASCII)
_DATE = re.compile(r"(Y?[+-]?\d{1,9}|[+-]?[\dX]{4})(?:-([\dX]{2}))?(?:-([\dX]{2}))?", re.ASCII)
_SEASONS = {21: (3, 5), 22: (6, 8), 23: (9, 11), 24: (12, 12)}


class Span(NamedTuple):
    """The first and last day a date may mean, each as year * 10,000 + month * 100 + day; the precision."""

    start: int
    end: int
    year: int
    month: int | None
    day: int | None


@lru_cache(maxsize=65_536)
def span_of(text: str) -> Span | None:
    """Parse *text*; None if it is not a date. An interval or a set spans its first to its last date."""
    if _PLAIN.fullmatch(text):
        # The form of nearly every date; nothing else needs to be parsed.
        return _single(text)
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
    # A time of day does not change the day.
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
    if not 1 <= day <= max(last_day(low, month), last_day(high, month)):
        return None
    return Span(low * 10_000 + month * 100 + day, high * 10_000 + month * 100 + day, low, month, day)


def start_of(value: object) -> int | None:
    """Return the first day a stored value may mean, or None."""
    found = date_in(value)
    return None if found is None else found.start


def bin_of(value: object, granularity: str) -> str | None:
    """Return the year, month or day in which a stored value begins (or a coarser unit), or None."""
    found = pack_date(value)
    return None if found is None else label_of(found, granularity)


def date_in(value: object) -> Span | None:
    """Return a stored value as a date; an integer is a year."""
    if isinstance(value, str):
        return span_of(value)
    return span_of(str(value)) if isinstance(value, int) else None


def pack_date(value: object) -> int | None:
    """Pack a date into one number: its first day times 4, plus how many of year, month and day it states."""
    if isinstance(value, str) and _PLAIN.fullmatch(value):
        month, day = value[5:7], value[8:]
        if "01" <= month <= "12" and (not day or 1 <= int(day) <= last_day(int(value[:4]), int(month))):
            start = int(value[:4]) * 10_000 + int(month) * 100 + int(day or 1)
            return start * 4 + (3 if day else 2)
    found = date_in(value)
    if found is None:
        return None
    return found.start * 4 + (1 if found.month is None else 2 if found.day is None else 3)


def label_of(date: int, granularity: str) -> str:
    """Return the year, month or day in which a packed date begins, or the coarser unit that it states."""
    year, rest = divmod(date // 4, 10_000)
    label = f"{'-' if year < 0 else ''}{abs(year):04}"
    if granularity != "year" and date % 4 >= 2:
        label += f"-{rest // 100:02}"
        if granularity == "day" and date % 4 == 3:
            label += f"-{rest % 100:02}"
    return label
