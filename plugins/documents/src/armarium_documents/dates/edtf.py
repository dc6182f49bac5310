"""Dates as they are stored and asked for: ISO 8601 and EDTF levels 0 and 1; which days one may mean, and when two overlap.

The one rule of the dataset, the search, entities and places: a date is found by each day that it may mean. 19XX may mean any
day of the century, ../1960 any day up to the end of 1960, and 1742-21 a day of spring. A date without a year
(XXXX-03-12) may mean no day in particular, and no date finds it.
"""

from __future__ import annotations

import re
from calendar import isleap
from functools import lru_cache
from typing import NamedTuple

FIRST, LAST = -(10**14), 10**14
"""Before and after every day: the ends of an interval that has none."""

_PLAIN = re.compile(r"\d{4}(?:-\d\d(?:-\d\d)?)?", re.ASCII)
_DATE = re.compile(r"(Y?[+-]?\d{1,9}|[+-]?[\dX]{4})(?:-([\dX]{2}))?(?:-([\dX]{2}))?", re.ASCII)
_SEASONS = {21: (3, 5), 22: (6, 8), 23: (9, 11), 24: (12, 2)}
"""The first and the last month of each; a winter is named by the year in which it begins, as EDTF counts it last."""

_MONTH = r"(?:0[1-9]|1[0-2]|XX)(?:-(?:0[1-9]|[12][0-9]|3[01]|XX)(?:T[0-9]{2}:[0-9]{2}(?::[0-9]{2})?(?:Z|[-+][0-9]{2}(?::[0-9]{2})?)?)?)?"
_DAY = rf"(?:[-+]?(?:[0-9]{{4,9}}|[0-9]{{3}}X|[0-9]{{2}}XX|[0-9]X{{3}}|X{{4}})|Y-?[0-9]{{5,9}})(?:-(?:{_MONTH}|2[1-4]))?[?~%]?"
_STORED = re.compile(rf"{_DAY}(?:/(?:{_DAY}|\.\.)?)?|(?:\.\.)?/{_DAY}")


FIRST_OF_SEASONS = 301
"""The first day of the first season, as `pack_date` counts the days of a year."""


class Span(NamedTuple):
    """The first and last day a date may mean, each as year * 10,000 + month * 100 + day; what it states of its beginning
    (of its end where it has no beginning). Years are counted with a year 0, which is 1 BC.
    """

    start: int
    end: int
    year: int
    month: int | None
    day: int | None
    years: int = 1
    """How many years the stated one may be: 100 of 19XX."""
    season: int | None = None
    """Of 21 (spring) to 24 (winter), if it states one; `month` is then the first of it."""

    def overlaps(self, other: Span) -> bool:
        """Return whether some day may be meant by both."""
        return self.start <= other.end and other.start <= self.end

    @property
    def stated_day(self) -> int:
        """The first day of the year, month or day that it states."""
        return self.year * 10_000 + (self.month or 1) * 100 + (self.day or 1)


def last_day(year: int, month: int) -> int:
    """Return the last day of a month in the proleptic Gregorian calendar, which ISO 8601 uses."""
    if month == 2:
        return 29 if isleap(year) else 28
    return 30 if month in (4, 6, 9, 11) else 31


@lru_cache(maxsize=65_536)
def span_of(text: str) -> Span | None:
    """Parse *text*; None if it is not a date. An interval or a set spans its first to its last date."""
    if _PLAIN.fullmatch(text):
        # The form of nearly every date; nothing else needs to be parsed.
        return _parse_single(text)
    plain = text.strip().strip("[]{}").replace("?", "").replace("~", "").replace("%", "")
    first, slash, last = (part.strip() for part in plain.partition("/"))
    if not slash:
        listed = re.split(r"\.\.|,", plain)
        if len(listed) == 1:
            return _parse_single(plain)
        first, last = listed[0].strip(), listed[-1].strip()
    opening, closing = (None if part in ("", "..") else _parse_single(part) for part in (first, last))
    if opening is None and closing is not None and first in ("", ".."):
        return closing._replace(start=FIRST)
    if opening is not None and closing is None and last in ("", ".."):
        return opening._replace(end=LAST)
    if opening is None or closing is None or closing.end < opening.start:
        return None
    return opening._replace(end=closing.end)


def _parse_single(text: str) -> Span | None:
    # A time of day does not change the day.
    match = _DATE.fullmatch(text.partition("T")[0])
    if match is None or "XXXX" in match[1]:
        return None
    year_text, month_text, day_text = match.groups()
    year_text = year_text.removeprefix("Y")
    low, high = sorted((int(year_text.replace("X", "0")), int(year_text.replace("X", "9"))))
    years = high - low + 1
    if month_text is None or "X" in month_text:
        return Span(low * 10_000 + 101, high * 10_000 + 1231, low, None, None, years)
    month = int(month_text)
    first, last = _SEASONS.get(month, (month, month))
    if not 1 <= first <= 12:
        return None
    final_years = (low, high) if first <= last else (low + 1, high + 1)
    longest = max(last_day(year, last) for year in final_years)
    if day_text is None or "X" in day_text or month in _SEASONS:
        season = month if month in _SEASONS else None
        end = final_years[1] * 10_000 + last * 100 + longest
        return Span(low * 10_000 + first * 100 + 1, end, low, first, None, years, season)
    day = int(day_text)
    if not 1 <= day <= longest:
        return None
    return Span(low * 10_000 + month * 100 + day, high * 10_000 + month * 100 + day, low, month, day, years)


def span_asked(text: str) -> Span | None:
    """Return the days that a date of a question may mean: in the form in which dates are stored (also with an en dash
    or two dots between its ends), or in words ("spring of 1742"). None if it is neither.
    """
    plain = _as_stored(text)
    if _STORED.fullmatch(plain):
        return span_of(plain)
    # Imported late: only what no person wrote for a machine needs it.
    from armarium_documents.dates.reading import read_date

    read = read_date(text)
    return None if read is None else span_of(read.gregorian)


def _as_stored(asked: str) -> str:
    plain = asked.strip().upper().replace("–", "/")
    if "/" not in plain and ".." in plain:
        plain = "/".join(end.strip() or ".." for end in plain.split("..", 1))
    return plain


def asks_backwards(text: str) -> bool:
    """Return whether a date of a question, which `span_asked` takes for none, is an interval that ends before it begins."""
    ends = [None if end in ("", "..") else end for end in _as_stored(text).split("/")]
    return len(ends) == 2 and runs_backwards(*ends)


def span_between(start: str | None, end: str | None) -> Span:
    """Return the span from one date to another, which runs backwards if they do; None, and a date without a year, stand
    for an open end. ValueError names what is not a date.
    """
    first, last = (_known_span(text) if text else None for text in (start, end))
    span = first or last or Span(FIRST, LAST, 0, None, None)
    return span._replace(start=first.start if first else FIRST, end=last.end if last else LAST)


def _known_span(text: str) -> Span | None:
    span = span_of(text)
    if span is None and not ("XXXX" in text and _STORED.fullmatch(text)):
        raise ValueError(text)
    return span


def runs_backwards(start: str | None, end: str | None) -> bool:
    """Return whether an interval ends before it begins, whatever days its dates mean."""
    first, last = (span_of(text) if text else None for text in (start, end))
    return first is not None and last is not None and last.end < first.start


def check_date(value: str) -> str:
    """Return *value* if it is a date in ISO 8601 or EDTF (levels 0 and 1); ValueError otherwise."""
    if _STORED.fullmatch(value) is None:
        raise ValueError(
            "a date is written as 1750, 1750-03, 1750-03-21 or 1750/1752, with ? for uncertain and XX for unknown; "
            "the source's own words go into date_original"
        )
    ends = value.split("/")
    for end in ends:
        if end not in ("", "..") and span_of(end.replace("XXXX", "2000")) is None:
            year, month = end.lstrip("+-").split("-")[:2]
            longest = last_day(2000 if "X" in year else int(year), int(month))
            raise ValueError(
                f"{year}-{month} has {longest} days, so there is no {end}; dates are of the Gregorian calendar, the "
                "source's own words go into date_original"
            )
    if len(ends) == 2 and runs_backwards(*(None if end == ".." else end for end in ends)):
        raise ValueError(f"{value} ends before it begins; the earlier date comes first")
    return value


def date_in(value: object) -> Span | None:
    """Return a stored value as a date; an integer is a year."""
    if isinstance(value, str):
        return span_of(value)
    return span_of(str(value)) if isinstance(value, int) else None


def start_of(value: object) -> int | None:
    """Return the first day of what a stored value states, by which it is sorted, or None."""
    packed = pack_date(value)
    return None if packed is None else packed[0] // 4


def bin_of(value: object, granularity: str) -> str | None:
    """Return the year, month or day in which a stored value begins (or what coarser it states: 19XX, ../1960, 1742-21), or None."""
    packed = pack_date(value)
    return None if packed is None else label_of(packed[0], granularity)


def pack_date(value: object) -> tuple[int, int, int] | None:
    """Return of a date: what it states, packed into one number (its first day times 4, plus how many of year, month and day
    there are), and the first and last day that it may mean. Where it begins in no one year, 0 of them: the year, and
    in place of the day the number of its unknown digits (19XX), or 0 if it has no beginning (../1960: the year it ends).
    Of a season, 0 of them and the first day of it.
    """
    span = _parse_single(value) if isinstance(value, str) and _PLAIN.fullmatch(value) else date_in(value)
    if span is None:
        return None
    if span.start == FIRST:
        return (span.year + span.years - 1) * 40_000, span.start, span.end
    if span.years > 1:
        return (span.year * 10_000 + len(str(span.years)) - 1) * 4, span.start, span.end
    precision = 0 if span.season else 1 if span.month is None else 2 if span.day is None else 3
    return span.stated_day * 4 + precision, span.start, span.end


def label_of(date: int, granularity: str) -> str:
    """Return the year, month or day in which a packed date begins, or what coarser it states."""
    year, day_of_year = divmod(date // 4, 10_000)
    label = f"{'-' if year < 0 else ''}{abs(year):04}"
    if date % 4 == 0 and day_of_year >= FIRST_OF_SEASONS:
        return label if granularity == "year" else f"{label}-{20 + day_of_year // 300}"
    if date % 4 == 0:
        return f"{label[:-day_of_year]}{'X' * day_of_year}" if day_of_year else f"../{label}"
    if granularity != "year" and date % 4 >= 2:
        label += f"-{day_of_year // 100:02}"
        if granularity == "day" and date % 4 == 3:
            label += f"-{day_of_year % 100:02}"
    return label
