"""Identifiers and timestamps: what every row carries, made in one place."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from functools import lru_cache

_ID = re.compile(r"[0-9a-f]{32}")


def new_id() -> str:
    """A UUID version 7 as 32 lower-case hex digits, so that ids sort by the time they were made."""
    # A command that only asks an engine makes no ids.
    import uuid_utils

    return uuid_utils.uuid7().hex


def is_id(text: str) -> bool:
    """Whether *text* has the form `new_id` gives."""
    return _ID.fullmatch(text) is not None


@lru_cache(maxsize=2)
def _second(seconds: int) -> str:
    return timestamp(datetime.fromtimestamp(seconds, UTC)).removesuffix("000Z")


def now() -> str:
    """The present moment as RFC 3339 in UTC with milliseconds and `Z`."""
    # Asked several times a step: a second is spelled once.
    seconds, rest = divmod(time.time_ns(), 1_000_000_000)
    return f"{_second(seconds)}{rest // 1_000_000:03d}Z"


def timestamp(moment: datetime) -> str:
    """*moment* (timezone-aware) in the one form every stored timestamp has."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_timestamp(text: str) -> datetime:
    """The moment that a stored timestamp (or any RFC 3339 text) names; ValueError when it names none."""
    if "\0" in text:  # which the standard library takes for the text's end
        raise ValueError(f"{text!r} is no timestamp")
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
