"""Merging what one copy of a project changed into another: three states of each row, compared column by column.

*source* is the side whose changes are taken, *target* the one they are written into; a row's *base* is what both had
when they last agreed. Found and judged here; which changes are taken is decided in `merge_plans`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import orjson
from sqlalchemy import Boolean, LargeBinary, Table

from armarium.history.audit import head as head
from armarium.history.capture import key_columns, quote_name
from armarium.history.changes import value_of
from armarium.history.meetings import Agreement
from armarium.history.meetings import Meeting as Meeting
from armarium.history.meetings import Parting as Parting
from armarium.history.net_differences import Key as Key
from armarium.history.net_differences import Side as Side
from armarium.history.net_differences import Values as Values
from armarium.history.net_differences import (
    compared_columns,
    is_equal,
    touched_since,
)
from armarium.history.net_differences import digest_at as digest_at
from armarium.history.net_differences import live_rows as live_rows
from armarium.history.net_differences import makers_of as makers_of
from armarium.history.net_differences import places as places
from armarium.history.restructuring import find_restructured_here, find_restructured_there, is_only_when
from armarium.history.rivals import find_rivals, says_the_same
from armarium.history.row_differences import Change as Change
from armarium.history.row_differences import Status as Status
from armarium.history.row_differences import Why as Why
from armarium.history.row_differences import references as references
from armarium.history.schema import Schema
from armarium.store.tables import Json, rules_of


def find_changes(
    schema: Schema, parting: Parting, part_of: Callable[[Table, Key, Values], str]
) -> Iterator[Change]:
    """Yield what the source changed net since both sides last agreed (`meetings`); *part_of* names a row as the meetings do.
    Tables whose rows stay in their project are left out.
    """
    for table in schema.tracked:
        if rules_of(table).stays_here:
            continue
        touched = touched_since(parting.source.raw, table, parting.source.since)
        if not touched:
            continue
        agreement = Agreement(table, touched, parting)
        for key, row in touched.items():
            now, ours = agreement.theirs.get(key), agreement.ours.get(key)
            # A row that was removed is known by the page on which the source had it.
            known = now or row.before or agreement.find_version(key) or ours
            if known is None:
                continue
            part = part_of(table, key, known) if parting.meetings else ""
            base, sent_at, taken_at = agreement.find_base(key, part)
            if is_equal(table, base, now) or (now is None and parting.never_came(table, key)):
                continue
            steps = tuple(step for step in row.steps if step > sent_at)
            yield Change(table, key, base, now, ours, steps or (taken_at,))


def judge(schema: Schema, changes: Sequence[Change], parting: Parting) -> None:
    """Say of each of *changes*, which are all that there are, whether it is clean, was made on both sides, or is a conflict.

    What the target has besides counts whenever it was made since both parted, also before other changes were merged.
    """
    by_place = {change.place: change for change in changes}
    target = parting.target
    for change in changes:
        _compare(change)
    find_rivals(schema, changes, parting, by_place)
    for table in {change.table: None for change in changes}:
        _find_taken(table, [c for c in changes if c.table is table and c.status == "clean"], target, by_place)
    find_restructured_here(schema, changes, parting, by_place)
    find_restructured_there(schema, changes, parting, by_place)
    _find_gone(schema, changes, target.raw, by_place)
    _find_used(schema, changes, target.raw, by_place)


def _compare(change: Change) -> None:
    """Compare the three states of one row."""
    table, base, theirs, ours = change.table, change.base, change.theirs, change.ours
    if is_equal(table, theirs, ours):
        change.status = "same"
    elif theirs is None:
        if not is_equal(table, base, ours):
            change.status, change.why = "conflict", "deleted_there"
    elif ours is None:
        if base is not None:
            change.status, change.why = "conflict", "deleted_here"
    else:
        apart = {name: at for name, at in change.changed_columns.items() if theirs[at] != ours[at]}
        both = frozenset(
            name
            for name, at in apart.items()
            if (base is None or ours[at] != base[at]) and not is_only_when(name, theirs[at], ours[at])
        )
        if both:
            change.status, change.why, change.conflicting = "conflict", "both_changed", both
        elif all(base is None or ours[at] != base[at] for at in apart.values()):
            # Only when and by whom differs: both did it, and what is here stays.
            change.status = "same"


def _find_taken(
    table: Table, changes: list[Change], target: Side, by_place: Mapping[tuple[str, Key], Change]
) -> None:
    """Find changes whose unique values another row of the target has, which the source neither changes nor deletes."""
    for index in sorted(
        (candidate for candidate in table.indexes if candidate.unique),
        key=lambda candidate: str(candidate.name),
    ):
        unique = [column.name for column in index.columns]
        at = [places(table)[name] for name in unique]
        where = " AND ".join(f"{quote_name(name)} = ?" for name in unique)
        keys = ", ".join(quote_name(key) for key in key_columns(table))
        for change in changes:
            if (
                change.theirs is None
                or change.status != "clean"
                or not change.changed_columns.keys() & set(unique)
            ):
                continue
            values = tuple(change.theirs[position] for position in at)
            if None in values:
                continue
            holders = [
                key
                for key in target.raw.execute(
                    f"SELECT {keys} FROM {quote_name(table.name)} WHERE {where}", values
                )
                if key != change.key and (table.name, key) not in by_place
            ]
            if holders:
                rows = live_rows(target.raw, table, holders)
                alike = any(says_the_same(table, change.theirs, row) for row in rows.values())
                change.rivals, change.why = [(table, key) for key in rows], "taken"
                change.status = "same" if alike and change.base is None else "conflict"


def _find_gone(
    schema: Schema,
    changes: Sequence[Change],
    raw: sqlite3.Connection,
    by_place: Mapping[tuple[str, Key], Change],
) -> None:
    """Find rows that would refer to a row which the target does not have and the source did not make."""
    by_table: dict[Table, list[Change]] = {}
    for change in changes:
        by_table.setdefault(change.table, []).append(change)
    for table, its in by_table.items():
        for _, at, parent in references(schema)[table.name]:
            pointing: dict[Any, list[Change]] = {}
            for change in its:
                row, base = change.theirs, change.base
                if row is not None and row[at] is not None and (base is None or base[at] != row[at]):
                    pointing.setdefault(row[at], []).append(change)
            asked = {
                (value,)
                for value in pointing
                if (known := by_place.get((parent.name, (value,)))) is None
                or (known.ours is None and known.base is not None)
            }
            for (value,) in asked - _existing(raw, parent, asked):
                for change in pointing[value]:
                    if change.status == "clean":
                        change.status, change.why = "conflict", "gone"


def _existing(raw: sqlite3.Connection, table: Table, keys: Collection[Key]) -> set[Key]:
    (name,) = map(quote_name, key_columns(table))
    among = orjson.dumps([key[0] for key in keys]).decode()
    return set(
        raw.execute(
            f"SELECT {name} FROM {quote_name(table.name)} WHERE {name} IN (SELECT value FROM json_each(?))",
            (among,),
        )
    )


def _find_used(
    schema: Schema,
    changes: Sequence[Change],
    raw: sqlite3.Connection,
    by_place: Mapping[tuple[str, Key], Change],
) -> None:
    """Find deletions of rows to which a row of the target refers that the source does not change with them."""
    for change in changes:
        if change.theirs is None and change.status == "clean":
            for child, key in children_of(schema, raw, change):
                with_it = by_place.get((child.name, key))
                if with_it is None:
                    change.status, change.why = "conflict", "used"


def children_of(schema: Schema, raw: sqlite3.Connection, change: Change) -> Iterator[tuple[Table, Key]]:
    """Yield the tracked rows of the target that refer to the row of *change*."""
    if len(change.key) != 1:
        return
    (own,) = key_columns(change.table)
    for child, column, target in schema.children_of(change.table):
        if target != own or rules_of(child).kind != "tracked":
            continue
        keys = ", ".join(quote_name(key) for key in key_columns(child))
        for key in raw.execute(
            f"SELECT {keys} FROM {quote_name(child.name)} WHERE {quote_name(column)} = ?", change.key
        ):
            if (child.name, key) != change.place:
                yield child, key


def named_values(table: Table, row: Values) -> dict[str, Any]:
    """Return a row as Python values by column, without the columns that only grow."""
    return {
        name: row[at] if column is None else value_of(column, row[at])
        for at, name, column in _as_stored(table)
    }


@lru_cache(maxsize=1024)
def _as_stored(table: Table) -> list[tuple[int, str, Any]]:
    """Return position and name of the columns that count, and the column itself where it is stored as something else."""
    return [
        (at, name, table.c[name] if isinstance(table.c[name].type, Json | Boolean | LargeBinary) else None)
        for at, name in compared_columns(table)
    ]
