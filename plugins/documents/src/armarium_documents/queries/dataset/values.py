"""Interprets a stored value as each type: every distinct value of a column is read once."""

from __future__ import annotations

import math
import sqlite3
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

import orjson
import polars as pl

from armarium_documents.dates.edtf import pack_date

READINGS = pl.Schema(
    {
        "json": pl.String,  # counted by a facet
        "text": pl.String,
        "folded": pl.String,  # for case-insensitive comparison
        "number": pl.Float64,
        "low": pl.Int64,  # what a float64 leaves out of a large whole number
        # What a date states, the first and the last day that it may mean: see `edtf.pack_date`.
        "date": pl.Int64,
        "first": pl.Int64,
        "last": pl.Int64,
    }
)
"""The columns of a column's distinct values; null where a value is not of the type."""

Value = str | int | bytes
"""A stored value: a text, a whole number of 64 bits, or the JSON of anything else."""

_Date = tuple[int | None, int | None, int | None]
Reading = tuple[str | None, str | None, str | None, float | None, int, int | None, int | None, int | None]
_NO_DATE: _Date = (None, None, None)

_AT_ONCE = 20_000
_FLAGS = ("false", "true")
_LARGEST = 2**62


def read_values(raw: sqlite3.Connection, distinct: Sequence[Value], *, flags: bool = False) -> pl.DataFrame:
    """Return the readings of no value, then of *distinct* values; *flags* (0, 1) count as booleans."""
    frames = [NO_VALUE]
    for start in range(0, len(distinct), _AT_ONCE):
        batch = distinct[start : start + _AT_ONCE]
        readings = _read_by_sqlite(raw, [value.decode() for value in batch if isinstance(value, bytes)])
        frames.append(_frame([_reading(value, readings, flags) for value in batch]))
    return pl.concat(frames).rechunk()


def _frame(readings: Sequence[Reading]) -> pl.DataFrame:
    columns = zip(*readings, strict=True)
    return pl.DataFrame(
        [
            pl.Series(name, column, dtype=dtype)
            for (name, dtype), column in zip(READINGS.items(), columns, strict=True)
        ]
    )


NO_VALUE = _frame([(None, None, None, None, 0, *_NO_DATE)])
"""The readings of no value, one row."""


def number_parts(value: float) -> tuple[float, int]:
    """Return *value* as a float64 and the remainder, so that large integers are compared exactly."""
    # Adding 0.0 turns -0.0 into 0.0.
    number = float(value) + 0.0
    low = value - int(number) if isinstance(value, int) else 0
    return number, max(-_LARGEST, min(_LARGEST, low))


def compose(text: str) -> str:
    """Return *text* as it is compared and counted: how its letters are composed makes no difference."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def members_of(value_text: str) -> list[str]:
    """Return the JSON of each member of a JSON list, once, as a facet counts them."""
    members = (orjson.dumps(member).decode() for member in orjson.loads(value_text) if member is not None)
    return list(dict.fromkeys(members))


def read_members(lists: Sequence[str]) -> pl.DataFrame:
    """Return the readings of each member of the JSON *lists*, with the number of its list in the column `list`."""
    numbered = [
        (number, _reading_of_member(member))
        for number, value_text in enumerate(lists)
        for member in orjson.loads(value_text)
        if member is not None
    ]
    if not numbered:
        return NO_VALUE.clear().with_columns(list=pl.lit(0))
    numbers, readings = zip(*numbered, strict=True)
    return _frame(readings).with_columns(list=pl.Series(numbers))


def _reading_of_member(member: Any) -> Reading:
    if isinstance(member, str) or type(member) is int:
        return _reading(member, iter(()), flags=False)
    member_json = orjson.dumps(member)
    number = isinstance(member, float)
    kind = "real" if number else member_json.decode() if isinstance(member, bool) else "json"
    return _reading(
        member_json, iter([(kind, member if number else None, member_json.decode())]), flags=False
    )


def _reading(value: Value, readings: Iterator[tuple[str, Any, str]], flags: bool) -> Reading:
    if isinstance(value, str):
        value = compose(value)
        value_text, number, date = orjson.dumps(value).decode(), None, _NO_DATE
        # Most texts are words, and parsing each as a number and a date takes long.
        if not value[:1].isalpha() or value[0] in "XY":
            number, date = _number_in(value), pack_date(value) or _NO_DATE
        return value_text, value, value.casefold(), number, 0, *date
    if isinstance(value, int):
        text = str(value)
        return (
            _FLAGS[value] if flags else text,
            text,
            text,
            *number_parts(value),
            *(pack_date(value) or _NO_DATE),
        )
    kind, stored, text = next(readings)
    number, low = number_parts(stored) if kind in ("integer", "real") else (None, 0)
    if kind in ("true", "false"):
        text = kind
    # Normalised like a compared list, object or number, so that 1.50 and 1.5 are equal.
    value_text = compose(orjson.dumps(orjson.loads(value)).decode())
    text = compose(text)
    return value_text, text, text.casefold(), number, low, *_NO_DATE


def _number_in(text: str) -> float | None:
    """Return the finite number that *text* represents, or None."""
    if text[4:5] == "-" and text[:4].isdigit():
        # Probably a date: parsing it as a number would fail slowly.
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return number + 0.0 if math.isfinite(number) else None


def _read_by_sqlite(raw: sqlite3.Connection, texts: Sequence[str]) -> Iterator[tuple[str, Any, str]]:
    """Return each JSON text as SQLite reads it, so that numbers are written as the database writes them."""
    return raw.execute("SELECT type, value, CAST(value AS TEXT) FROM json_each(?)", (f"[{','.join(texts)}]",))
