"""What one stored value counts as, by type: the readings that SQL and the columns share (A 4.2)."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

import orjson

EXCERPT = 280
MOST_FACET_VALUES = 1000
"""Values of one facet that are answered, the most frequent first."""

_AT_ONCE = 20_000

Reading = tuple[str, Any, str | None]
_CONSTANTS: dict[str, Reading] = {
    "true": ("true", 1, None),
    "false": ("false", 0, None),
    "null": ("null", None, None),
}


def json_path(attr: str) -> str:
    """SQLite's path to an attribute: its name as JSON writes it, which is how it is stored."""
    return f"$.{orjson.dumps(attr).decode()}"


def folded(text: object) -> str | None:
    """*text* as it is compared when case does not count."""
    return text.casefold() if isinstance(text, str) else None


def contains(text: object, needle: str) -> bool | None:
    """Whether *needle*, folded already, is in *text*."""
    return needle in text.casefold() if isinstance(text, str) else None


def number_in(text: object) -> float | None:
    """The finite number that *text* writes, or None."""
    try:
        number = float(str(text))
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def read_json(raw: sqlite3.Connection, texts: Sequence[str]) -> Iterator[Reading]:
    """What SQLite takes values written as JSON for: their JSON type, the value, its text where only SQLite writes it.

    Simple texts and whole numbers are read here; the rest by SQLite itself, so that no number differs from its own.
    """
    rest = [text for text in texts if _simple(text) is None]
    asked = _read_by_sqlite(raw, rest)
    for text in texts:
        found = _simple(text)
        yield next(asked) if found is None else found


def _simple(text: str) -> Reading | None:
    if text[0] == '"':
        return None if "\\" in text else ("text", text[1:-1], None)
    if text.isdecimal() and len(text) < 18:
        return ("integer", int(text), None)
    return _CONSTANTS.get(text)


def _read_by_sqlite(raw: sqlite3.Connection, texts: Sequence[str]) -> Iterator[Reading]:
    for start in range(0, len(texts), _AT_ONCE):
        yield from raw.execute(
            "SELECT type, value, CASE typeof(value) WHEN 'real' THEN CAST(value AS TEXT) END FROM json_each(?)",
            (f"[{','.join(texts[start : start + _AT_ONCE])}]",),
        )


def members_of(written: str) -> list[bytes]:
    """The JSON of what a facet counts in a value written as JSON: itself, or each member of a list."""
    value = orjson.loads(written)
    return [orjson.dumps(one) for one in (value if isinstance(value, list) else [value]) if one is not None]
