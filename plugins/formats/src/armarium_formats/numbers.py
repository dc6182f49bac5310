"""Parses numbers in files: one that is invalid or absurdly large is no reason to refuse a file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

LARGEST = 1_000_000_000
"""No number of a page is larger; what is, is taken for none."""

_SIGNED = re.compile("-?[0-9]{1,9}")


def parse_signed(value: Any) -> int | None:
    """Return up to nine ASCII digits, with an optional minus, as a number; otherwise None (`isdigit` takes
    "²").
    """
    return int(value) if isinstance(value, str) and _SIGNED.fullmatch(value) else None


def parse_unsigned(value: Any) -> int | None:
    """Like `parse_signed`, for numbers from 0."""
    number = parse_signed(value)
    return number if number is not None and not value.startswith("-") else None


def parse_number(text: str | None) -> float | None:
    """Return a number, whole if it is; None for anything else, infinities, and what no page has."""
    number: float
    try:
        number = int(text or "")
    except ValueError:
        try:
            number = float(text or "")
        except ValueError:
            return None
    if not -LARGEST <= number <= LARGEST:
        return None
    return int(number) if number == int(number) else number


def parse_share(text: str | None) -> float | None:
    """Return a probability or confidence from 0 to 1; None for anything else."""
    value = parse_number(text)
    return None if value is None or not 0 <= value <= 1 else float(value)


def share_text(value: float) -> str:
    """Return a probability or confidence as files state it, within 0 to 1."""
    return repr(min(1.0, max(0.0, float(value))))


def name_first(names: Sequence[str], most: int) -> str:
    """Return the first names and how many there are beside them: `a, b and 3 more`."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def count_noun(number: int, noun: str, many: str | None = None) -> str:
    """Return a number with its noun: `1 line`, `3 lines`."""
    return f"{number} {noun if number == 1 else many or f'{noun}s'}"
