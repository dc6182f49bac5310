"""Parses a date as a document writes it: EDTF, its calendar, and the same day in the Gregorian calendar."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from armarium_documents.dates.calendars import (
    Calendar,
    Day,
    YearBegins,
    calendar_of,
    day_number,
    day_of,
    easter,
    is_a_day,
    weekday,
)
from armarium_documents.dates.components import Parts, parts_of
from armarium_documents.dates.date_answers import Precision, ReadDate
from armarium_documents.dates.edtf import runs_backwards
from armarium_documents.dates.reigns import in_force, reign_in, republican
from armarium_documents.dates.spans import century_or_decade, numeric
from armarium_documents.dates.words import CIRCA, plain, stated_calendar

_WINTER = 24
"""As EDTF numbers the seasons."""

LONGEST = 300
"""A date is not longer than this; longer texts hold dates, and are not read here."""


class DateContext(NamedTuple):
    """What is known of a document besides its text."""

    month_first: bool
    country: str | None
    year_begins: YearBegins


def read_date(
    text: str,
    *,
    language: str | None = None,
    country: str | None = None,
    year_begins: YearBegins = "january-1",
) -> ReadDate | None:
    """Parse *text* as a date, or return None: see `armarium_documents.api.read_date`."""
    if not text or len(text) > LONGEST:
        return None
    named_calendar, bare = stated_calendar(plain(text))
    context = DateContext((language or "").casefold() == "en-us", country, year_begins)
    about = (CIRCA.search(bare) is not None and not bare.startswith("c ")) or re.match(
        r"c\.? ?\d", bare
    ) is not None
    unsure = "?" in bare
    bare = CIRCA.sub(" ", bare).replace("?", " ") if about else bare.replace("?", " ")
    date = _read_single(" ".join(bare.split()).strip(" .-"), context, named_calendar) or _interval(
        " ".join(bare.split()), context, named_calendar
    )
    if date is None:
        place, _, date_text = text.partition(",")
        # "Madrid, 3 de mayo de 1808": the place is written before the date.
        if date_text and not any(letter.isdigit() for letter in place):
            after = read_date(date_text, language=language, country=country, year_begins=year_begins)
            return None if after is None else after._replace(as_written=text)
        return None
    mark = "%" if about and unsure else "~" if about else "?" if unsure else ""
    return date._replace(
        as_written=text, edtf=_mark_edtf(date.edtf, mark), gregorian=_mark_edtf(date.gregorian, mark)
    )


def _mark_edtf(edtf: str, mark: str) -> str:
    return (
        edtf
        if not mark
        else "/".join(f"{part}{mark}" if part not in ("", "..") else part for part in edtf.split("/"))
    )


def _read_single(text: str, context: DateContext, named_calendar: str | None) -> ReadDate | None:
    days = republican(text)
    if days is not None:
        first, last = days
        edtf = iso(first) if first == last else f"{iso(first)}/{iso(last)}"
        return ReadDate("", edtf, "gregorian", "stated", edtf, "day" if first == last else "interval")
    spread = century_or_decade(text)
    if spread is not None:
        return _without_day(spread[0], int(spread[0][:2] + "00"), spread[1], context, named_calendar)
    parts = numeric(text, month_first=context.month_first)
    if parts is None:
        reign = reign_in(text)
        if reign is not None:
            return _of_reign(*reign, named_calendar=named_calendar)
        parts = parts_of(text)
    return None if parts is None else _resolve_parts(parts, context, named_calendar)


def _resolve_parts(parts: Parts, context: DateContext, named_calendar: str | None) -> ReadDate | None:
    if parts.season == _WINTER and parts.year is not None and parts.is_dual:
        # The winter of 1914/15 is the one between these years, not the one at the end of the second.
        ends = (
            _without_day(f"{_year(year)}-{month:02}", year, "month", context, named_calendar)
            for year, month in ((parts.year - 1, 12), (parts.year, 2))
        )
        return _build_range(*ends)
    if parts.season is not None and parts.year is not None:
        return _without_day(
            f"{_year(parts.year)}-{parts.season}", parts.year, "season", context, named_calendar
        )
    if parts.year is None:
        if parts.month is None or parts.feast is not None:
            return None
        day = f"-{parts.day:02}" if parts.day else ""
        if parts.day and not is_a_day(Day(2000, parts.month, parts.day), "gregorian"):
            return None
        calendar, basis = _calendar(Day(1600, 1, 1), context, named_calendar)
        edtf = f"XXXX-{parts.month:02}{day}"
        return ReadDate("", edtf, calendar, basis, edtf, "day" if day else "month")
    if parts.feast is None and parts.day is None:
        if parts.month is None:
            return _without_day(_year(parts.year), parts.year, "year", context, named_calendar)
        if not 1 <= parts.month <= 12:
            return None
        year = _year_from_january(
            parts.year, Day(parts.year, parts.month, 1), context.year_begins, parts.is_dual
        )
        return _without_day(f"{_year(year)}-{parts.month:02}", year, "month", context, named_calendar)
    return _of_day(parts, parts.year, context, named_calendar)


def _of_day(parts: Parts, year: int, context: DateContext, named_calendar: str | None) -> ReadDate | None:
    """Build a date with a day of the month or a feast: the year's calendar determines Easter."""
    calendar, _ = _calendar(Day(year, parts.month or 6, parts.day or 15), context, named_calendar)
    day = parts.day_in(year, calendar)
    if day is None:
        return None
    counted = _year_from_january(year, day, context.year_begins, parts.is_dual)
    if counted != year:
        # The document counts this day to the preceding or following year; the feasts are those of that year.
        return _of_day(parts, counted, context._replace(year_begins="january-1"), named_calendar)
    calendar, basis = _calendar(day, context, named_calendar)
    day = parts.day_in(year, calendar)
    if day is None or not is_a_day(day, calendar):
        return None
    if calendar_of(day, context.country) is None and named_calendar is None:
        return None
    return _build_date(day, calendar, basis, parts.weekday if parts.feast is None else None)


def _build_date(
    day: Day, calendar: Calendar, basis: Literal["stated", "country", "default"], named: int | None
) -> ReadDate:
    number = day_number(day, calendar)
    fits = None if named is None else weekday(number) == named
    return ReadDate("", iso(day), calendar, basis, iso(day_of(number, "gregorian")), "day", fits)


def _of_reign(begin: Day, last: Day, after: str, *, named_calendar: str | None) -> ReadDate | None:
    """Build the date of a regnal year, or of the day in it that the rest of the text names."""
    customary: Calendar = in_force(begin)
    calendar: Calendar = customary if named_calendar is None else _as_calendar(named_calendar)
    basis: Literal["stated", "country"] = "country" if named_calendar is None else "stated"
    begin, last = (day_of(day_number(day, customary), calendar) for day in (begin, last))
    if not after or not (words := parts_of(after)):
        if after and not _is_silent(after):
            return None
        edtf = f"{iso(begin)}/{iso(last)}"
        ends = [iso(day_of(day_number(day, calendar), "gregorian")) for day in (begin, last)]
        return ReadDate("", edtf, calendar, basis, "/".join(ends), "interval")
    for year in (begin.year, last.year):
        day = words.day_in(year, calendar)
        if day is not None and begin <= day <= last and is_a_day(day, calendar):
            return _build_date(day, calendar, basis, words.weekday if words.feast is None else None)
    return None


def _as_calendar(calendar: str) -> Calendar:
    return "julian" if calendar == "julian" else "gregorian"


def _is_silent(text: str) -> bool:
    from armarium_documents.dates.words import SILENT, words_of

    return all(word in SILENT for word in words_of(text))


def _calendar(
    day: Day, context: DateContext, named_calendar: str | None
) -> tuple[Calendar, Literal["stated", "country", "default"]]:
    if named_calendar is not None:
        return _as_calendar(named_calendar), "stated"
    return calendar_of(day, context.country) or "gregorian", "country" if context.country else "default"


def _year_from_january(year: int, day: Day, begins: YearBegins, is_dual: bool) -> int:
    """Return the year, counted from 1 January, of a day in a year that begins on another date."""
    if is_dual or begins == "january-1":
        return year
    if begins == "march-25":
        return year + 1 if (day.month, day.day) < (3, 25) else year
    if begins == "december-25":
        return year - 1 if (day.month, day.day) >= (12, 25) else year
    # A day before the year's own Easter can only be in the following spring.
    return year + 1 if day < easter(year, "julian") else year


def _without_day(
    edtf: str, year: int, precision: Precision, context: DateContext, named_calendar: str | None
) -> ReadDate:
    calendar, basis = _calendar(Day(year, 6, 15), context, named_calendar)
    return ReadDate("", edtf, calendar, basis, edtf, precision)


def _interval(text: str, context: DateContext, named_calendar: str | None) -> ReadDate | None:
    """Build an interval: from one date to another, before one, or after one."""
    for pattern, ends in _OPEN:
        match = pattern.match(text)
        if match is not None:
            date = _read_single(match[1], context, named_calendar)
            return None if date is None else _build_range(None, date) if ends else _build_range(date, None)
    for pattern in _BETWEEN:
        for match in pattern.finditer(text):
            first, second = text[: match.start()], text[match.end() :]
            opening = _OPENING.match(first)
            first = first[opening.end() :] if opening else first
            later = _read_single(second.strip(" ."), context, named_calendar)
            if later is None:
                continue
            earlier = _read_single(first.strip(" ."), context, named_calendar) or _fill_earlier(
                first, second, context, named_calendar
            )
            if earlier is not None and earlier.edtf.startswith("XXXX") and not later.edtf.startswith("XXXX"):
                earlier = _fill_earlier(first, second, context, named_calendar)
            if (
                earlier is not None
                and "/" not in earlier.edtf + later.edtf
                and _are_in_order(earlier.gregorian, later.gregorian)
            ):
                return _build_range(earlier, later)
    return None


def _are_in_order(earlier: str, later: str) -> bool:
    if "XXXX" in earlier + later:
        return earlier <= later
    return not runs_backwards(earlier, later)


_OPENING = re.compile(r"(?:between|entre|inter|zwischen|from|von|vom|de|del|du|desde|ab|a)\b ?")
_BETWEEN = tuple(
    re.compile(words)
    for words in (
        r" (?:until|till|hasta|jusqu a|jusque|bis(?: zum)?|usque(?: ad)?|to|au|al) ",
        r" ?- ?",
        r" (?:and|y|et|und|a) ",
        r"/",
    )
)
_OPEN = (
    (re.compile(r"(?:before|antes de(?:l)?|avant|vor(?: dem)?|ante|hasta|until|not after) (.+)$"), True),
    (re.compile(r"(?:after|despues de(?:l)?|apres|nach(?: dem)?|post|desde|since|not before) (.+)$"), False),
)


def _fill_earlier(
    first: str, second: str, context: DateContext, named_calendar: str | None
) -> ReadDate | None:
    """Return the earlier of two dates, completed with the month and year that only the later one states."""
    words = second.split()
    for begin in range(1, len(words)):
        date = _read_single(f"{first} {' '.join(words[begin:])}".strip(), context, named_calendar)
        if date is not None and not date.edtf.startswith("XXXX"):
            return date
    return None


def _build_range(first: ReadDate | None, last: ReadDate | None) -> ReadDate:
    later = last or first
    assert later is not None
    edtf = [later.edtf if later is not None else ".." for later in (first, last)]
    gregorian = [later.gregorian if later is not None else ".." for later in (first, last)]
    return later._replace(
        edtf="/".join(edtf), gregorian="/".join(gregorian), precision="interval", weekday_fits=None
    )


def iso(day: Day) -> str:
    """Return a day as EDTF."""
    return f"{_year(day.year)}-{day.month:02}-{day.day:02}"


def _year(year: int) -> str:
    return f"{year:04}"
