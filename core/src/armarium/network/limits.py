"""Limits of one request to the network, and of the wait that the other side asks for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

MIB = 1024 * 1024

LONGEST_WAIT = 3600
"""Seconds by which anything waits for somebody else before it looks again, whatever is asked of it."""


@dataclass(frozen=True)
class Limits:
    """Bounds of one request: bytes of the answer's body, seconds in all, seconds of silence."""

    max_bytes: int = 64 * MIB
    seconds: float = 60.0
    silence: float = 30.0


def seconds_to_wait(retry_after: str | None, otherwise: float = 0.0) -> float:
    """Return the seconds that a `Retry-After` asks for (RFC 9110, 10.2.3), a number or a date, at most `LONGEST_WAIT`;
    *otherwise* where it asks for none or cannot be read.
    """
    wait_text = (retry_after or "").strip()
    try:
        seconds = float(wait_text)
    except ValueError:
        try:
            when = parsedate_to_datetime(wait_text)
        except ValueError:
            return otherwise
        seconds = (when.replace(tzinfo=when.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return min(seconds, float(LONGEST_WAIT)) if seconds > 0 else otherwise
