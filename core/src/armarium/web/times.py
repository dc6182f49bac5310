"""A point in time given as a filter of a query."""

from __future__ import annotations

from armarium.errors import Invalid
from armarium.ids import time_span


def moment(name: str, text: str | None, *, last: bool = False) -> str | None:
    """Return the filter *name* in the log's own spelling, the first or *last* millisecond of what it states; Invalid (422)
    for what is not a time.
    """
    if text is None:
        return None
    try:
        # In a query a plus sign arrives as a space.
        return time_span(text.replace(" ", "+", 1) if text.count(" ") == 1 and "T" in text else text)[last]
    except (ValueError, OverflowError):
        fault = {"loc": ["query", name], "msg": "is not a timestamp", "type": "timestamp"}
        raise Invalid(
            f"query.{name}: {text!r} is not a timestamp; write it as 2026-01-31T12:00:00Z.",
            code="invalid_request",
            errors=[fault],
        ) from None
