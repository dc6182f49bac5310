"""One attribute of every document as a column: a number for each row that stands for one of its distinct values.

What is asked of values (dates, numbers, folded text, ranks) is worked out once for each distinct value.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import orjson

from armarium_documents.queries.dataset.values import folded, members_of, number_in, read_json
from armarium_documents.queries.edtf import label_of, packed

Codes = npt.NDArray[np.int32]
Numbers = npt.NDArray[np.float64]
Ranks = npt.NDArray[np.int64]

EXACT = 2**53
"""Up to here a float64 tells whole numbers apart."""

_ENTRY = 300
"""Bytes that one distinct value takes beside its own text, generously."""


class Members(NamedTuple):
    """What a facet counts: member *members[n]* occurs once more for each row of value *codes[n]*."""

    codes: Codes
    members: Codes
    keys: list[bytes]
    ranks: Ranks


class Labels(NamedTuple):
    """The bin of each distinct value (-1: none) and the day it begins."""

    bins: Codes
    starts: Numbers
    labels: list[str]
    ranks: Ranks


class _Codes(dict[str | int | None, int]):
    """The code of each value; one asked for the first time gets the next."""

    def __missing__(self, value: str | int | None) -> int:
        self[value] = code = len(self)
        return code


class Column:
    """The values of `name` (an attribute, or `document.<field>`) in the order of the table's rows; 0 is no value."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.codes: Codes = np.zeros(0, np.int32)
        self.bytes = 0
        """Memory of the distinct values, estimated."""
        self._code_of = _Codes({None: 0})
        # By code: the JSON type or that of the field, and the value as SQLite has it; text that only SQLite can write.
        self._kinds: list[str] = [""]
        self._stored: list[Any] = [None]
        self._words: dict[int, str] = {}
        self._typed: dict[str, list[Any]] = {}
        self._made: dict[str, tuple[int, Any]] = {}

    @property
    def is_attribute(self) -> bool:
        return not self.name.startswith("document.")

    @property
    def size(self) -> int:
        """How many distinct values have been met, with 0 for none."""
        return len(self._code_of)

    def encode(self, values: Sequence[str | int | None]) -> Codes:
        """The codes of *values*, JSON texts of an attribute or values of a field; unmet ones are learnt."""
        code_of = self._code_of
        before = len(code_of)
        codes = np.fromiter(map(code_of.__getitem__, values), np.int32, count=len(values))
        for value in islice(reversed(code_of), len(code_of) - before):
            self.bytes += _ENTRY + (len(value) if isinstance(value, str) else 0)
        return codes

    def code_of(self, value: str | None) -> int | None:
        """The code of *value*, or None when no row ever had it."""
        return self._code_of.get(value)

    def values(self) -> list[str | int | None]:
        """The distinct values by code."""
        return list(self._code_of)

    def read(self, raw: sqlite3.Connection) -> None:
        """Read the values met since the last time."""
        fresh = list(islice(reversed(self._code_of), self.size - len(self._kinds)))[::-1]
        if not self.is_attribute:
            self._kinds.extend("text" if isinstance(value, str) else "integer" for value in fresh)
            self._stored.extend(fresh)
            return
        for kind, stored, words in read_json(raw, [str(text) for text in fresh]):
            if words is not None:
                self._words[len(self._kinds)] = words
            self._kinds.append(kind)
            self._stored.append(stored)

    def stored(self) -> list[Any]:
        """The distinct values as SQLite has them."""
        return self._stored

    def typed(self, kind: str) -> list[Any]:
        """The distinct values as *kind*: `number`, `date` (packed), `checkbox`, `text` or `folded`; or None."""
        known = self._typed.setdefault(kind, [])
        if len(known) < self.size:
            known.extend(getattr(self, f"_as_{kind}")(code) for code in range(len(known), self.size))
        return known

    def _as_number(self, code: int) -> Any:
        kind, stored = self._kinds[code], self._stored[code]
        if kind in ("integer", "real"):
            return stored
        return number_in(stored) if kind == "text" else None

    def _as_date(self, code: int) -> int | None:
        return packed(self._stored[code]) if self._kinds[code] in ("text", "integer") else None

    def _as_checkbox(self, code: int) -> Any:
        return self._stored[code] if self._kinds[code] in ("true", "false", "integer") else None

    def _as_text(self, code: int) -> str | None:
        kind, stored = self._kinds[code], self._stored[code]
        if kind in ("true", "false"):
            return kind
        return None if stored is None else self._words.get(code) or str(stored)

    def _as_folded(self, code: int) -> str | None:
        return folded(self._as_text(code))

    def numbers(self, kind: str) -> Numbers | None:
        """`typed` as float64, NaN where there is none; None when a float64 would not tell its values apart."""

        def make() -> Numbers | None:
            values = self.typed(kind)
            if any(isinstance(value, int) and abs(value) > EXACT for value in values):
                return None
            return np.array([np.nan if value is None else value for value in values], np.float64)

        made: Numbers | None = self._kept(f"numbers of {kind}", make)
        return made

    def ranks(self, kind: str) -> Ranks:
        """Where each distinct value stands when they are sorted as *kind*; equal ones share a rank, none is -1."""

        def make() -> Ranks:
            if kind == "date":
                numbers: Numbers | None = self.starts()
            else:
                numbers = None if kind in ("text", "folded") else self.numbers(kind)
            if numbers is not None:
                ranks = np.full(len(numbers), -1, np.int64)
                there = ~np.isnan(numbers)
                ranks[there] = np.unique(numbers[there], return_inverse=True)[1]
                return ranks
            return _ranked(self.typed(kind))

        made: Ranks = self._kept(f"ranks of {kind}", make)
        return made

    def members(self) -> Members:
        """What a facet counts in each distinct value."""
        made: Members = self._kept("members", self._members)
        return made

    def starts(self) -> Numbers:
        """The day on which each distinct value begins as a date, NaN where it is none."""
        numbers = self.numbers("date")
        # A date's number has at most 14 digits.
        assert numbers is not None
        return np.floor(numbers / 4)

    def labels(self, granularity: str) -> Labels:
        """The bins of the distinct values, by year, month or day."""

        def make() -> Labels:
            dates = [(code, date) for code, date in enumerate(self.typed("date")) if date is not None]
            number_of: dict[str, int] = {}
            bins = np.full(self.size, -1, np.int32)
            for code, date in dates:
                label = label_of(date, granularity)
                bins[code] = number_of.setdefault(label, len(number_of))
            return Labels(bins, self.starts(), list(number_of), _ranked(list(number_of)))

        made: Labels = self._kept(f"labels by {granularity}", make)
        return made

    def _members(self) -> Members:
        number_of: dict[bytes, int] = {}
        codes: list[int] = []
        members: list[int] = []
        for code, value in enumerate(self._code_of):
            if value is None:
                continue
            if isinstance(value, str) and self.is_attribute:
                keys = members_of(value)
            else:
                keys = [orjson.dumps(bool(value) if self.name.startswith("document.is_") else value)]
            for key in keys:
                codes.append(code)
                members.append(number_of.setdefault(key, len(number_of)))
        keys = list(number_of)
        return Members(np.array(codes, np.int32), np.array(members, np.int32), keys, _ranked(keys))

    def _kept(self, what: str, make: Callable[[], Any]) -> Any:
        """What *make* gives, kept until a value is met that was not there before."""
        known = self._made.get(what)
        if known is None or known[0] != self.size:
            known = (self.size, make())
            self._made[what] = known
        return known[1]


def _ranked(values: Sequence[Any]) -> Ranks:
    """The rank of each value among *values*, equal ones sharing one, -1 for None."""
    ranks = np.full(len(values), -1, np.int64)
    there = [at for at, value in enumerate(values) if value is not None]
    there.sort(key=values.__getitem__)
    rank, before = -1, None
    for at in there:
        if rank < 0 or values[at] != before:
            rank, before = rank + 1, values[at]
        ranks[at] = rank
    return ranks
