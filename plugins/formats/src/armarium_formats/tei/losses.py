"""Counts what a page has and our TEI profile does not carry, before a line is written."""

from __future__ import annotations

import re
from typing import Any

from armarium_formats.driver import Loss
from armarium_formats.numbers import parse_unsigned
from armarium_formats.page_model import PageModel, PageOrder

_REPEATED = re.compile(r"(?:readingOrder|structure)\s*\{[^{}]*\}")


def losses_of(page: PageModel) -> list[Loss]:
    """Return losses: groups of the reading order, other formats' extras, the structure of a text that was
    read.
    """
    losses: list[Loss] = []
    groups = _groups(page.order)
    if groups:
        losses.append(
            Loss(
                "groups of the reading order", groups, "TEI has the sequence of the text, and no groups in it"
            )
        )
    foreign: dict[str, int] = {}
    for extras in _extras(page):
        for driver, kept in extras.items():
            if driver != "tei" and _says_something(kept):
                foreign[driver] = foreign.get(driver, 0) + 1
    losses += [
        Loss(f"what the {driver} file says beyond the model", count, "it is written back only to that format")
        for driver, count in foreign.items()
    ]
    left: dict[str, str] = (page.extras.get("tei") or {}).get("left") or {}
    losses += [
        Loss(
            f"element {what} of the text",
            count,
            "the profile has blocks with lines, one after the other",
        )
        for what, stated in left.items()
        if (count := parse_unsigned(stated)) is not None
    ]
    return losses


def _groups(order: PageOrder | None) -> int:
    """Return the groups below the top, and the top if it is unordered or says more."""
    if order is None:
        return 0
    inner = sum(1 for node in order.walk() if node.items and node is not order)
    return inner + (1 if order.items and not order.is_ordered else 0)


def _extras(page: PageModel) -> list[dict[str, Any]]:
    found = [page.extras]
    for segment in page.walk():
        found += [one for one in (segment.extras, *(text.extras for text in segment.texts)) if one]
    return found


def _says_something(kept: Any) -> bool:
    """Return whether extras matter: an index of a TextEquiv and a readingOrder repeat the sequence, a structure the
    kind.
    """
    if not isinstance(kept, dict) or set(kept) - {"attributes", "marks"}:
        return bool(kept)
    stated = dict(kept.get("attributes") or {})
    stated.pop("index", None)
    if not _REPEATED.sub("", stated.get("custom", "")).strip():
        stated.pop("custom", None)
    return bool(stated)
