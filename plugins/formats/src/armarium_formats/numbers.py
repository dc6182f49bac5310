"""Whole numbers as files state them: one that is none, or longer than any count of a page, is no reason to refuse a file."""

from __future__ import annotations

import re
from typing import Any

_SIGNED = re.compile("-?[0-9]{1,9}")


def parse_signed(stated: Any) -> int | None:
    """A text of up to nine ASCII digits, with a minus or without, as a number; None for all else (`isdigit` takes "²")."""
    return int(stated) if isinstance(stated, str) and _SIGNED.fullmatch(stated) else None


def parse_unsigned(stated: Any) -> int | None:
    """The same from 0."""
    found = parse_signed(stated)
    return found if found is not None and not stated.startswith("-") else None
