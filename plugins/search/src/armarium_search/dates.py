"""Dates as intervals of days: from the first to the last day of an ISO 8601 or EDTF expression; pure."""

from __future__ import annotations

import re

from armarium_search.errors import bad_date

FIRST, LAST = "0000-01-01", "9999-12-31"
"""The first and last day assumed for an interval without a beginning or an end."""
_DAY = re.compile(r"(\d{4}|\d{3}X|\d{2}XX)(?:-(0[1-9]|1[0-2]|XX)(?:-(0[1-9]|[12]\d|3[01]|XX))?)?[?~%]?")


def days_of(written: str) -> tuple[str, str] | None:
    """Return the first and the last day (YYYY-MM-DD) of a date or interval; None if it is neither, or before
    year 0.
    """
    begin, parted, end = written.strip().partition("/")
    if not parted:
        return _days(begin)
    first = (FIRST, FIRST) if begin in ("", "..") else _days(begin)
    last = (LAST, LAST) if end in ("", "..") else _days(end)
    if first is None or last is None or (begin in ("", "..") and end in ("", "..")):
        return None
    return first[0], last[1]


def required_days(written: str) -> tuple[str, str]:
    """As `days_of`; Invalid if it is not a date."""
    found = days_of(written.upper().replace("–", "/"))
    if found is None:
        raise bad_date(written)
    return found


def _days(written: str) -> tuple[str, str] | None:
    match = _DAY.fullmatch(written)
    if match is None:
        return None
    year, month, day = match.groups()
    month = None if month == "XX" else month
    day = None if day == "XX" or month is None else day
    first = f"{year.replace('X', '0')}-{month or '01'}-{day or '01'}"
    last = f"{year.replace('X', '9')}-{month or '12'}-{day or '31'}"
    return first, last
