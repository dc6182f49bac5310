"""The Julian and Gregorian calendars: day numbers, Easter, and when which country adopted which.

A date is (year, month, day) with the year counted from 1 January; days are Julian day numbers.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Calendar = Literal["julian", "gregorian"]

YearBegins = Literal["january-1", "march-25", "december-25", "easter"]
"""On which day the year's number changes: 1 January, Lady Day (England to 1751), Christmas, Easter (France to 1564)."""


class Day(NamedTuple):
    """A day of a calendar."""

    year: int
    month: int
    day: int


FIRST_GREGORIAN: dict[str, Day] = {
    "ES": Day(1582, 10, 15),
    "PT": Day(1582, 10, 15),
    "IT": Day(1582, 10, 15),
    "PL": Day(1582, 10, 15),
    "VA": Day(1582, 10, 15),
    "MX": Day(1582, 10, 15),
    "FR": Day(1582, 12, 20),
    "LU": Day(1582, 12, 25),
    "BE": Day(1583, 1, 1),
    "NL": Day(1583, 1, 1),
    "AT": Day(1583, 10, 16),
    "DE": Day(1583, 10, 16),
    "CH": Day(1584, 1, 22),
    "CZ": Day(1584, 1, 17),
    "HU": Day(1587, 11, 1),
    "DK": Day(1700, 3, 1),
    "NO": Day(1700, 3, 1),
    "IS": Day(1700, 11, 28),
    "DE-protestant": Day(1700, 3, 1),
    "CH-protestant": Day(1701, 1, 12),
    "GB": Day(1752, 9, 14),
    "IE": Day(1752, 9, 14),
    "US": Day(1752, 9, 14),
    "SE": Day(1753, 3, 1),
    "FI": Day(1753, 3, 1),
    "BG": Day(1916, 4, 14),
    "RU": Day(1918, 2, 14),
    "EE": Day(1918, 2, 14),
    "UA": Day(1918, 3, 1),
    "RO": Day(1919, 4, 14),
    "RS": Day(1919, 1, 28),
    "GR": Day(1923, 3, 1),
}
"""The first day counted by the Gregorian calendar, by ISO 3166 code. Where a country's parts differed it is that of most
Catholic ones; `DE-protestant` and `CH-protestant` are the others."""
ANYWHERE = Day(1582, 10, 15)
"""Where no country is stated."""


def day_number(day: Day, calendar: Calendar) -> int:
    """Return the Julian day number of a date (at noon), for years from -4712 on."""
    shift = (14 - day.month) // 12
    year, month = day.year + 4800 - shift, day.month + 12 * shift - 3
    days = day.day + (153 * month + 2) // 5 + 365 * year + year // 4
    return days - 32083 if calendar == "julian" else days - year // 100 + year // 400 - 32045


def day_of(number: int, calendar: Calendar) -> Day:
    """Return the date of a Julian day number."""
    if calendar == "gregorian":
        a = number + 32044
        b = (4 * a + 3) // 146097
        c = a - 146097 * b // 4
    else:
        b, c = 0, number + 32082
    d = (4 * c + 3) // 1461
    e = c - 1461 * d // 4
    m = (5 * e + 2) // 153
    return Day(100 * b + d - 4800 + m // 10, m + 3 - 12 * (m // 10), e - (153 * m + 2) // 5 + 1)


def is_a_day(day: Day, calendar: Calendar) -> bool:
    """Return whether a calendar has this date."""
    return 1 <= day.month <= 12 and day_of(day_number(day, calendar), calendar) == day


def weekday(number: int) -> int:
    """Return the day of the week of a day number: Monday is 0, Sunday 6."""
    return number % 7


def easter(year: int, calendar: Calendar) -> Day:
    """Return Easter Sunday: the Sunday after the ecclesiastical full moon on or after 21 March."""
    golden = year % 19
    if calendar == "julian":
        moon = (19 * golden + 15) % 30
        return day_of(day_number(Day(year, 3, 21), "julian") + _to_sunday(year, moon, "julian"), "julian")
    century = year // 100
    moon = (19 * golden + century - century // 4 - (8 * century + 13) // 25 + 15) % 30
    if moon == 29 or (moon == 28 and golden > 10):
        moon -= 1
    return day_of(
        day_number(Day(year, 3, 21), "gregorian") + _to_sunday(year, moon, "gregorian"), "gregorian"
    )


def _to_sunday(year: int, moon: int, calendar: Calendar) -> int:
    """Return the days from 21 March to the Sunday after the full moon, which is *moon* days after it."""
    full = day_number(Day(year, 3, 21), calendar) + moon
    return moon + 7 - (weekday(full) + 1) % 7


def calendar_of(day: Day, country: str | None) -> Calendar | None:
    """Return the calendar that a country used on this day; None for a day that it skipped.

    *country* is a code of `FIRST_GREGORIAN`; others, and None, changed when the Papal States did.
    """
    first = FIRST_GREGORIAN.get(country or "", ANYWHERE)
    if day >= first:
        return "gregorian"
    last = day_of(day_number(first, "gregorian") - 1, "julian")
    return "julian" if day <= last else None
