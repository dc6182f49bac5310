"""Identifiers and timestamps, made in one place."""

from __future__ import annotations

import re
import time
from calendar import isleap, monthrange
from datetime import UTC, datetime, timedelta
from functools import lru_cache

_ID = re.compile(r"[0-9a-f]{32}")
_DAYS = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?", re.ASCII)


def new_id() -> str:
    """Return a UUID version 7 as 32 lower-case hex digits. Ids of one process sort as they were made, also within a
    millisecond, so lists end in the id where times tie; those of several processes sort by the millisecond.
    """
    # A command that only queries an engine makes no ids.
    import uuid_utils

    return uuid_utils.uuid7().hex


def is_id(text: str) -> bool:
    """Return whether *text* has the form of `new_id`."""
    return _ID.fullmatch(text) is not None


@lru_cache(maxsize=2)
def _second(seconds: int) -> str:
    return timestamp(datetime.fromtimestamp(seconds, UTC)).removesuffix("000Z")


def now() -> str:
    """Return the current time as RFC 3339 in UTC with milliseconds and `Z`."""
    # Called several times per step: each second is formatted once.
    seconds, rest = divmod(time.time_ns(), 1_000_000_000)
    return f"{_second(seconds)}{rest // 1_000_000:03d}Z"


def timestamp(moment: datetime) -> str:
    """Format *moment* (timezone-aware) in the one form every stored timestamp has."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_timestamp(text: str) -> datetime:
    """Return the time that a stored timestamp (or any RFC 3339 text) names; ValueError when it names none."""
    if "\0" in text:  # a NUL, at which the standard library would stop reading
        raise ValueError(f"{text!r} is not a timestamp")
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def time_span(text: str) -> tuple[str, str]:
    """Return the first and the last millisecond of the year, month, day, second or millisecond that *text* names, as
    timestamps; ValueError or OverflowError when it names none. It is of UTC unless it says otherwise.
    """
    if match := _DAYS.fullmatch(text):
        year, month, day = match.groups()
        begins = datetime(int(year), int(month or 1), int(day or 1), tzinfo=UTC)
        days = 1 if day else monthrange(begins.year, begins.month)[1] if month else 365 + isleap(begins.year)
        return timestamp(begins), timestamp(begins + timedelta(days=days, milliseconds=-1))
    if "T" not in text and " " not in text:
        raise ValueError(f"{text!r} is not a timestamp")
    begins = parse_timestamp(text)
    return timestamp(begins), timestamp(begins + timedelta(milliseconds=0 if "." in text else 999))
