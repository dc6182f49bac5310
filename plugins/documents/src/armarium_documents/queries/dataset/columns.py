"""A project's documents as columns: for each row, the number of its value among the column's distinct values.

The readings of values (dates, numbers, folded text) are computed once per distinct value, in `values`.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import count
from typing import NamedTuple, Protocol

import numpy as np
import orjson
import polars as pl

from armarium.api import name_key
from armarium_documents.queries.dataset.values import NO_VALUE, Value, compose, read_values
from armarium_documents.schemas.dataset import FIELDS

ROWS = pl.Schema({"id": pl.String, "live": pl.Boolean, "attributed": pl.Boolean, "order": pl.Int64})
"""What is asked of every row, whatever the query."""

PARENT = "document.parent_id"

_FIELDS = (PARENT, *(f"document.{name}" for name in sorted(FIELDS)))
_SELECTED = ", ".join(
    ["d.id", "d.deleted_at IS NULL", "d.attributes <> '{}'", "d.sort_order", "d.attributes"]
    + [f'd."{name.removeprefix("document.")}"' for name in _FIELDS]
)
_AT_ONCE = 20_000
_LARGEST = 2**63


class Column(NamedTuple):
    """A column of a part: `codes[n]` is the value of row `rows[n]` (ascending), a row number of `values`.

    A row not listed has no value; row 0 of `values` stands for that.
    """

    rows: pl.Series
    codes: pl.Series
    values: pl.DataFrame


class Part(Protocol):
    """A portion of the project's documents, in memory or in a file."""

    @property
    def rows(self) -> pl.DataFrame:
        """Return one row per document (ROWS)."""

    def names(self) -> Iterable[str]:
        """Return the names of the columns."""

    def column(self, name: str) -> Column | None:
        """Return the column *name*, an attribute or `document.<field>`; None if no row has a value in it."""


class ReadPart:
    """Documents in memory."""

    def __init__(self, rows: pl.DataFrame, columns: dict[str, Column]) -> None:
        self.rows = rows
        self._columns = columns

    def names(self) -> Iterable[str]:
        return self._columns

    def column(self, name: str) -> Column | None:
        return self._columns.get(name)


class _Reader:
    """One column while rows are being read."""

    def __init__(self) -> None:
        self.rows, self.codes = array("I"), array("I")
        # A value met for the first time gets the next code; 0 means no value.
        self.code_of: dict[Value, int] = defaultdict(count(1).__next__)

    def take(self, first: int, values: tuple[Value | None, ...]) -> None:
        """Add the values of the rows from *first* on."""
        present = [value for value in values if value is not None]
        self.codes.extend(map(self.code_of.__getitem__, present))
        rows = range(first, first + len(values))
        self.rows.extend(row for row, value in zip(rows, values, strict=True) if value is not None)

    def column(self, raw: sqlite3.Connection, name: str) -> Column:
        values = read_values(raw, list(self.code_of), flags=name.startswith("document.is_"))
        return Column(_series(self.rows), _series(self.codes), values)


def read_documents(raw: sqlite3.Connection, ids: Sequence[str] | None = None) -> ReadPart:
    """Read the documents that *raw*'s transaction sees: all, or the existing ones of *ids*."""
    if ids is None:
        cursor = raw.execute(f"SELECT {_SELECTED} FROM document d")
    else:
        cursor = raw.execute(
            f"SELECT {_SELECTED} FROM json_each(?) j JOIN document d ON d.id = j.value",
            (orjson.dumps(ids).decode(),),
        )
    parts: list[pl.DataFrame] = [pl.DataFrame(schema=ROWS)]
    fields = {name: _Reader() for name in _FIELDS}
    attributes: dict[str, _Reader] = {}
    number = 0
    while rows := cursor.fetchmany(_AT_ONCE):
        of_id, live, attributed, order, texts, *listed = zip(*rows, strict=True)
        parts.append(
            pl.DataFrame(
                [
                    pl.Series("id", of_id, pl.String),
                    pl.Series("live", live, pl.Int8).cast(pl.Boolean),
                    pl.Series("attributed", attributed, pl.Int8).cast(pl.Boolean),
                    pl.Series("order", order, pl.Int64),
                ]
            )
        )
        for name, values in zip(_FIELDS, listed, strict=True):
            fields[name].take(number, values)
        _take_attributes(attributes, number, texts)
        number += len(rows)
    # An attribute named like a field could not be queried.
    readers = attributes | fields
    columns = {}
    for name in list(readers):
        # Each is released as soon as its column is built.
        if (reader := readers.pop(name)).rows:
            columns[name] = reader.column(raw, name)
    return ReadPart(pl.concat(parts), columns)


def _take_attributes(readers: dict[str, _Reader], first: int, texts: tuple[str, ...]) -> None:
    for row, text in enumerate(texts, first):
        if text == "{}":
            continue
        for name, value in orjson.loads(text).items():
            kind = type(value)
            if kind is not str and (kind is not int or not -_LARGEST <= value < _LARGEST):
                if value is None:
                    continue
                # Copied, because the bytes that orjson returns hold on to a page of memory each.
                value = orjson.dumps(value).decode().encode()
            reader = readers.get(name)
            if reader is None:
                # Names are stored in NFC; those of older projects are taken for it.
                reader = readers[name] = readers.setdefault(compose(name), _Reader())
            if reader.rows and reader.rows[-1] == row:
                continue
            reader.rows.append(row)
            reader.codes.append(reader.code_of[value])


def _series(numbers: array[int]) -> pl.Series:
    return pl.Series(values=np.frombuffer(numbers, np.uint32), dtype=pl.UInt32)


class Table:
    """All documents of one snapshot: parts, the older first, without the rows that a later part replaced."""

    def __init__(self, parts: Sequence[Part], gone: pl.Series) -> None:
        self.parts, self.gone = tuple(parts), gone
        """`gone`: by row, whether it was replaced or removed."""
        rows = pl.concat([part.rows for part in parts], rechunk=False)
        self.ids, self.attributed, self.order = rows["id"], rows["attributed"], rows["order"]
        self.live = rows["live"] & ~gone
        self._folders: dict[str | None, list[str]] | None = None
        self._name_keys: dict[str, pl.Series] = {}

    def column(self, name: str) -> tuple[pl.Series, pl.DataFrame]:
        """Return the code of every row, and the readings of the values by code."""
        name = compose(name)
        codes, values, offset = [], [], 0
        for part in self.parts:
            number = part.rows.height
            column = part.column(name) or _EMPTY
            if len(column.rows) == number:
                dense = column.codes
            else:
                dense = _scatter_codes(number, column.rows, column.codes)
            codes.append((dense + offset).cast(pl.UInt32) if offset else dense)
            values.append(column.values)
            offset += column.values.height
        # The first part is not copied: only what was read since is.
        return pl.concat(codes, rechunk=False), pl.concat(values, rechunk=False)

    def name_keys(self, name: str) -> pl.Series:
        """Return, by code, by which key the text of each value is sorted; null where it has none."""
        if name not in self._name_keys:
            self._name_keys[name] = name_keys_of(self.column(name)[1]["text"])
        return self._name_keys[name]

    def folders(self) -> dict[str | None, list[str]]:
        """Return, by folder, its live subfolders that contain something."""
        if self._folders is None:
            codes, values = self.column(PARENT)
            at = (self.ids.is_in(values["text"].drop_nulls().unique().implode()) & self.live).arg_true()
            by_parent: dict[str | None, list[str]] = {}
            above = values["text"].gather(codes.gather(at))
            for identity, parent in zip(self.ids.gather(at), above, strict=True):
                by_parent.setdefault(parent, []).append(identity)
            self._folders = by_parent
        return self._folders

    def merge_parts(self) -> ReadPart:
        """Return the same documents as one part, without values that no row has any longer."""
        keep = ~self.gone
        rows = pl.concat([part.rows for part in self.parts]).filter(keep)
        columns = {}
        for name in dict.fromkeys(name for part in self.parts for name in part.names()):
            codes, values = self.column(name)
            codes = codes.filter(keep)
            # Row 0 of each part, no value, stays row 0.
            present = values["json"].is_not_null().gather(codes)
            used = codes.filter(present).unique().sort()
            if not len(used):
                continue
            numbers = pl.arange(1, len(used) + 1, dtype=pl.UInt32, eager=True)
            renumbered = _scatter_codes(values.height, used, numbers)
            columns[name] = Column(
                present.arg_true().cast(pl.UInt32),
                renumbered.gather(codes.filter(present)),
                pl.concat([NO_VALUE, values[used]]).rechunk(),
            )
        return ReadPart(rows, columns)


def name_keys_of(texts: pl.Series) -> pl.Series:
    """Return by which key each of *texts* is sorted (`name_key`); null stays null."""
    keys = [None if text is None else name_key(text) for text in texts]
    return pl.Series(values=keys, dtype=pl.String)


def _scatter_codes(number: int, at: pl.Series, codes: pl.Series) -> pl.Series:
    """Return *number* codes: those of *codes* at the positions *at*, else 0."""
    scattered = np.zeros(number, np.uint32)
    scattered[at.to_numpy()] = codes.to_numpy()
    return pl.Series(values=scattered)


_NO_CODES = pl.Series(values=[], dtype=pl.UInt32)
_EMPTY = Column(_NO_CODES, _NO_CODES, NO_VALUE)
