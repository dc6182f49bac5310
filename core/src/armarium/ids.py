"""Identifiers and timestamps: what every row carries, made in one place."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import uuid_utils

_ID = re.compile(r"[0-9a-f]{32}")


def new_id() -> str:
    """A UUID version 7 as 32 lower-case hex digits, so that ids sort by the time they were made (A 1)."""
    return uuid_utils.uuid7().hex


def is_id(text: str) -> bool:
    """Whether *text* has the form `new_id` gives."""
    return _ID.fullmatch(text) is not None


def now() -> str:
    """The present moment as RFC 3339 in UTC with milliseconds and `Z` (A 1)."""
    return timestamp(datetime.now(UTC))


def timestamp(moment: datetime) -> str:
    """*moment* (timezone-aware) in the one form every stored timestamp has."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_timestamp(text: str) -> datetime:
    """The moment that a stored timestamp (or any RFC 3339 text) names; ValueError when it names none."""
    if "\0" in text:  # which the standard library takes for the text's end
        raise ValueError(f"{text!r} is no timestamp")
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
