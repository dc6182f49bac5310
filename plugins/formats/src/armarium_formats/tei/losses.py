"""Counts what a page has and our TEI profile does not carry, before a line is written."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from armarium_formats.driver import Loss, as_losses
from armarium_formats.numbers import parse_unsigned
from armarium_formats.page_model import PageModel, PageOrder

_REPEATED = re.compile(r"(?:readingOrder|structure)\s*\{[^{}]*\}")


def losses_of(page: PageModel) -> list[Loss]:
    """Return losses: groups of the reading order, other formats' extras, the structure of a text that was
    read.
    """
    foreign = Counter(
        driver
        for extras in _extras(page)
        for driver, of_driver in extras.items()
        if driver != "tei" and _says_something(of_driver)
    )
    counts: dict[str, str] = (page.extras.get("tei") or {}).get("left") or {}
    order, back = (
        "TEI has the sequence of the text, and no groups in it",
        "it is written back only to that format",
    )
    blocks = "the profile has blocks with lines, one after the other"
    return as_losses(
        {("groups of the reading order", order): _groups(page.order)}
        | {
            (f"what the {driver} file says beyond the model", back): count
            for driver, count in foreign.items()
        }
        | {
            (f"element {what} of the text", blocks): parse_unsigned(count) or 0
            for what, count in counts.items()
        }
    )


def _groups(order: PageOrder | None) -> int:
    """Return the groups below the top, and the top if it is unordered or says more."""
    if order is None:
        return 0
    inner = sum(1 for node in order.walk() if node.items and node is not order)
    return inner + (1 if order.items and not order.is_ordered else 0)


def _extras(page: PageModel) -> list[dict[str, Any]]:
    extras = [page.extras]
    for segment in page.walk():
        extras += [own for own in (segment.extras, *(text.extras for text in segment.texts)) if own]
    return extras


def _says_something(extras: Any) -> bool:
    """Return whether extras matter: an index of a TextEquiv and a readingOrder repeat the sequence, a structure the
    kind.
    """
    if not isinstance(extras, dict) or set(extras) - {"attributes", "marks"}:
        return bool(extras)
    attributes = dict(extras.get("attributes") or {})
    attributes.pop("index", None)
    if not _REPEATED.sub("", attributes.get("custom", "")).strip():
        attributes.pop("custom", None)
    return bool(attributes)
