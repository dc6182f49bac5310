"""The answer model of a date that was read."""

from __future__ import annotations

from typing import Literal, NamedTuple

from armarium_documents.dates.calendars import Calendar

Precision = Literal["day", "month", "season", "year", "decade", "century", "interval"]


class ReadDate(NamedTuple):
    """A date as it was read.

    edtf: in the calendar named, as the document counts; a year whose first day is unknown is as written.
    gregorian: the same in the Gregorian calendar, where the day is known; otherwise as `edtf`.
    calendar_basis: stated (by the text), country (asked for), or default. weekday_fits: whether the weekday
    named is that of the day; None if none is named or the day is unknown.
    """

    as_written: str
    edtf: str
    calendar: Calendar
    calendar_basis: Literal["stated", "country", "default"]
    gregorian: str
    precision: Precision
    weekday_fits: bool | None = None
