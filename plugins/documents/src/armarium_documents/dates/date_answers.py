"""What a date that was read is told as."""

from __future__ import annotations

from typing import Literal, NamedTuple

from armarium_documents.dates.calendars import Calendar

Precision = Literal["day", "month", "season", "year", "decade", "century", "interval"]


class ReadDate(NamedTuple):
    """A date as it was read.

    edtf: by the calendar named, as the document counts; year without a known day of the year change are as written.
    gregorian: the same in the Gregorian calendar, where the day is known; otherwise what `edtf` says.
    calendar_basis: stated (by the text), country (asked for), or default.
    weekday_fits: whether the day of the week that is named is that day's; None where none is named or no day is known.
    """

    as_written: str
    edtf: str
    calendar: Calendar
    calendar_basis: Literal["stated", "country", "default"]
    gregorian: str
    precision: Precision
    weekday_fits: bool | None = None
