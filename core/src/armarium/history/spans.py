"""Where the images of one step are in the history tables: its first and last row, found by bisection."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import cache

from sqlalchemy import Table

from armarium.errors import Conflict
from armarium.history.capture import history_name, quote_name

_NO_STEP = 2**63 - 1
"""Stands for the step of a row that has none, which `span` refuses."""


def span(raw: sqlite3.Connection, table: Table | str, audit_seq: int) -> tuple[int, int] | None:
    """Return the first and last row of step *audit_seq* in *table*'s history, or None when it did not touch the table.

    Rows are appended by one writer, so step numbers never fall along `seq`: each end is found by bisection. Raises
    Conflict when the file holds a row without a step, which the database never wrote.
    """
    name = quote_name(history_name(table))
    try:
        return _span(raw, name, audit_seq)
    except TypeError as error:
        raise Conflict(
            f"The history {name} is damaged. Run `armarium doctor` and restore a snapshot.",
            code="library_damaged",
        ) from error


def spans(raw: sqlite3.Connection, tables: Sequence[Table], audit_seq: int) -> dict[Table, tuple[int, int]]:
    """Return the `span` of each of *tables* that step *audit_seq* touched; one statement selects the candidates."""
    return {
        table: bounds
        for table in _select_tables(raw, tables, audit_seq)
        if (bounds := span(raw, table, audit_seq)) is not None
    }


def first_after(raw: sqlite3.Connection, table: Table, audit_seq: int) -> int | None:
    """Return the first row in *table*'s history of a step after *audit_seq*, or None where no such step touched it."""
    name = quote_name(history_name(table))
    newest = raw.execute(f"SELECT seq, audit_seq FROM {name} ORDER BY seq DESC LIMIT 1").fetchone()
    if newest is None or newest[1] <= audit_seq:
        return None
    return _first_of(raw, name, audit_seq + 1, newest)[0]


def counts(raw: sqlite3.Connection, tables: Sequence[Table], audit_seq: int) -> dict[str, int]:
    """Return how many images the newest step left, by table: recorded in its audit row, and recounted by the doctor."""
    images_by_table: dict[str, int] = {}
    for table in _select_tables(raw, tables, audit_seq):
        name = quote_name(history_name(table))
        # From the end back to the step before: faster than bisection for small steps, and all rows are counted anyway.
        (images_by_table[str(table.name)],) = raw.execute(
            f"SELECT count(*) FROM {name} WHERE seq > IFNULL("
            f"(SELECT seq FROM {name} WHERE audit_seq < ? ORDER BY seq DESC LIMIT 1), -1)",
            (audit_seq,),
        ).fetchone()
    return images_by_table


def _select_tables(raw: sqlite3.Connection, tables: Sequence[Table], audit_seq: int) -> list[Table]:
    """Return those *tables* whose newest image is of step *audit_seq* or a later one."""
    if not tables:
        return []
    newest = raw.execute(_newest_steps(tuple([table.name for table in tables]))).fetchone()
    return [
        table for table, last in zip(tables, newest, strict=True) if last is not None and last >= audit_seq
    ]


def newest_steps(raw: sqlite3.Connection, tables: Sequence[Table]) -> list[int | None]:
    """Return the last step that touched each of *tables*, whatever *raw* shows of them; None: no step did."""
    if not tables:
        return []
    query = _newest_steps(tuple(table.name for table in tables), "main.")
    return list(raw.execute(query).fetchone())


def seq_after(raw: sqlite3.Connection, table: Table, audit_seq: int) -> int:
    """Return the first row of *table*'s history that a step after *audit_seq* wrote; there is one."""
    name = f"main.{quote_name(history_name(table))}"
    newest = raw.execute(f"SELECT seq, audit_seq FROM {name} ORDER BY seq DESC LIMIT 1").fetchone()
    return _first_of(raw, name, audit_seq + 1, newest)[0]


@cache
def _newest_steps(tables: tuple[str, ...], of: str = "") -> str:
    newest = "(SELECT IFNULL(audit_seq, {}) FROM {}{} ORDER BY seq DESC LIMIT 1)"
    return (
        f"SELECT {', '.join(newest.format(_NO_STEP, of, quote_name(history_name(name))) for name in tables)}"
    )


def _span(raw: sqlite3.Connection, name: str, audit_seq: int) -> tuple[int, int] | None:
    newest = raw.execute(f"SELECT seq, audit_seq FROM {name} ORDER BY seq DESC LIMIT 1").fetchone()
    if newest is None or newest[1] < audit_seq:
        return None
    first = _first_of(raw, name, audit_seq, newest)
    if first[1] != audit_seq:
        return None
    last: int = newest[0]
    if newest[1] > audit_seq:
        last = _first_of(raw, name, audit_seq + 1, newest)[0] - 1
    return first[0], last


def _first_of(raw: sqlite3.Connection, name: str, audit_seq: int, newest: tuple[int, int]) -> tuple[int, int]:
    """Return (seq, audit_seq) of the first row whose step is *audit_seq* or later; *newest*, the last row, is one."""
    probe = f"SELECT seq, audit_seq FROM {name} WHERE seq >= ? ORDER BY seq LIMIT 1"
    first = newest
    low, high = 0, newest[0]
    # Small steps near the end are requested most often: widen from there before bisecting.
    stride, widens = 1, True
    while low < high:
        at = max(low, high - stride) if widens else (low + high) // 2
        row = raw.execute(probe, (at,)).fetchone()
        if row[1] >= audit_seq:
            first, high = row, at
            stride *= 4
        else:
            low, widens = row[0] + 1, False
    return first
