"""Identifiers and timestamps, made in one place."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from functools import lru_cache

_ID = re.compile(r"[0-9a-f]{32}")


def new_id() -> str:
    """Return a UUID version 7 as 32 lower-case hex digits, so that ids sort by the time they were made."""
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
        raise ValueError(f"{text!r} is no timestamp")
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
