"""Parses numbers in files: one that is invalid or absurdly large is no reason to refuse a file."""

from __future__ import annotations

import re
from typing import Any

LARGEST = 1_000_000_000
"""No number of a page is larger; what is, is taken for none."""

_SIGNED = re.compile("-?[0-9]{1,9}")


def parse_signed(stated: Any) -> int | None:
    """Return up to nine ASCII digits, with an optional minus, as a number; otherwise None (`isdigit` takes
    "²").
    """
    return int(stated) if isinstance(stated, str) and _SIGNED.fullmatch(stated) else None


def parse_unsigned(stated: Any) -> int | None:
    """As `parse_signed`, from 0."""
    found = parse_signed(stated)
    return found if found is not None and not stated.startswith("-") else None


def parse_number(stated: str | None) -> float | None:
    """Return a number, whole if it is; None for anything else, infinities, and what no page has."""
    found: float
    try:
        found = int(stated or "")
    except ValueError:
        try:
            found = float(stated or "")
        except ValueError:
            return None
    if not -LARGEST <= found <= LARGEST:
        return None
    return int(found) if found == int(found) else found


def count_noun(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun: `1 line`, `3 lines`."""
    return f"{number} {one if number == 1 else many or f'{one}s'}"
