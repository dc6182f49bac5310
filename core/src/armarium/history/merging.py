"""Merging what one copy of a project changed into another: three states of each row, compared column by column.

*source* is the side whose changes are taken, *target* the one they are written into; a row's *base* is what both had
when they last agreed. Found and judged here; which changes are taken is decided in `merge_plans`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

import orjson
from sqlalchemy import Table

from armarium.history.audit import head as head
from armarium.history.capture import key_columns, quote_name
from armarium.history.changes import values_of
from armarium.history.net_differences import (
    Key,
    Values,
    compared_columns,
    is_equal,
    touched_since,
)
from armarium.history.net_differences import live_rows as live_rows
from armarium.history.net_differences import places as places
from armarium.history.restructuring import (
    Above,
    is_only_when,
    is_restructured,
    net_changes,
    step_of,
    with_structure,
)
from armarium.history.schema import Schema
from armarium.store.tables import rules_of

Status = Literal["clean", "same", "conflict"]
Why = Literal[
    "both_changed", "deleted_here", "deleted_there", "rival", "taken", "gone", "used", "restructured"
]
"""Why a change is a conflict: both sides changed a column; it was deleted here and changed there, or the other way
round; both made a row of the same thing; another row here has its unique values; it refers to a row that is gone here; a
row made here refers to what it deletes; one side withdrew, joined or split what the other changed or what that hangs on.
"""

AUTHORSHIP = frozenset({"provenance_kind", "created_by", "run_id"})
"""Columns that say who made a row: two rows that differ in them alone say the same."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of two copies: its database, and the step after which its changes count."""

    raw: sqlite3.Connection
    since: int


@dataclass(slots=True)
class Change:
    """What the source changed in one row, beside what the target has of it."""

    table: Table
    key: Key
    base: Values | None
    theirs: Values | None
    ours: Values | None
    steps: tuple[int, ...]
    """The steps of the source that touched it."""
    status: Status = "clean"
    why: Why | None = None
    conflicting: frozenset[str] = frozenset()
    """The columns that both sides changed."""
    rivals: list[Key] = field(default_factory=list)
    """Rows of the target that stand for the same."""

    @property
    def place(self) -> tuple[str, Key]:
        """Its table and key."""
        return self.table.name, self.key

    @property
    def changed_columns(self) -> dict[str, int]:
        """The columns that the source changed, with their positions; of a row that it made, all of them."""
        return {
            name: at
            for at, name in compared_columns(self.table)
            if self.theirs is not None and (self.base is None or self.base[at] != self.theirs[at])
        }


def find_changes(
    schema: Schema, source: Side, target: Side, *, base_in_source: bool = True
) -> Iterator[Change]:
    """Yield what *source* changed net since its step. The base is the source's state at its step or, without
    *base_in_source*, the target's at the target's. Tables whose rows stay in their project are left out.
    """
    for table in schema.tracked:
        if rules_of(table).stays_here:
            continue
        touched = touched_since(source.raw, table, source.since)
        if not touched:
            continue
        theirs, ours = (live_rows(side.raw, table, touched.keys()) for side in (source, target))
        there = {} if base_in_source else touched_since(target.raw, table, target.since)
        for key, row in touched.items():
            base = row.before
            if not base_in_source:
                base = there[key].before if key in there else ours.get(key)
            if not is_equal(table, base, theirs.get(key)):
                yield Change(table, key, base, theirs.get(key), ours.get(key), row.steps)


def judge(
    schema: Schema,
    changes: Sequence[Change],
    source: Side,
    target: Side,
    by_place: Mapping[tuple[str, Key], Change],
) -> None:
    """Say of each of *changes* whether it is clean, was made on both sides, or is a conflict; *by_place*: all changes that
    there are.
    """
    for change in changes:
        _compare(change)
    for table in {change.table: None for change in changes}:
        made = [
            c
            for c in changes
            if c.table is table and c.base is None and c.ours is None and c.theirs is not None
        ]
        if rules_of(table).rivals and made:
            _find_rivals(table, made, target, by_place)
        _find_taken(table, [c for c in changes if c.table is table and c.status == "clean"], target, by_place)
    _find_restructured_here(schema, changes, source.raw, target)
    _find_restructured_there(schema, changes, source.raw, target, by_place)
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


def _find_rivals(
    table: Table, made: list[Change], target: Side, by_place: Mapping[tuple[str, Key], Change]
) -> None:
    columns = [places(table)[name] for name in rules_of(table).rivals]
    touched = touched_since(target.raw, table, target.since)
    fresh = [key for key, row in touched.items() if row.before is None and (table.name, key) not in by_place]
    standing: dict[Values, dict[Key, Values]] = {}
    for key, row in live_rows(target.raw, table, fresh).items():
        standing.setdefault(tuple(row[at] for at in columns), {})[key] = row
    for change in made:
        assert change.theirs is not None
        of = tuple(change.theirs[at] for at in columns)
        beside = standing.get(of, {}) if None not in of else {}
        if beside:
            _beside(change, beside, "rival")


def _beside(change: Change, others: dict[Key, Values], why: Why) -> None:
    change.rivals = list(others)
    assert change.theirs is not None
    alike = any(_says_the_same(change.table, change.theirs, row) for row in others.values())
    change.status, change.why = ("same" if alike and change.base is None else "conflict"), why


def _says_the_same(table: Table, left: Values, right: Values) -> bool:
    keys = key_columns(table)
    return all(
        left[at] == right[at]
        for at, name in compared_columns(table)
        if name not in keys and name not in AUTHORSHIP and not is_only_when(name, left[at], right[at])
    )


def _find_taken(
    table: Table, changes: list[Change], target: Side, by_place: Mapping[tuple[str, Key], Change]
) -> None:
    """Find changes whose unique values another row of the target has, which the source neither changes nor deletes."""
    for index in sorted((one for one in table.indexes if one.unique), key=lambda one: str(one.name)):
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
            values = tuple(change.theirs[one] for one in at)
            if None in values:
                continue
            found = [
                key
                for key in target.raw.execute(
                    f"SELECT {keys} FROM {quote_name(table.name)} WHERE {where}", values
                )
                if key != change.key and (table.name, key) not in by_place
            ]
            if found:
                _beside(change, live_rows(target.raw, table, found), "taken")


@lru_cache(maxsize=8)
def references(schema: Schema) -> dict[str, list[tuple[str, int, Table]]]:
    """Return for each tracked table the columns that refer to a row of a tracked one by its key: name, position, that table."""
    found: dict[str, list[tuple[str, int, Table]]] = {table.name: [] for table in schema.tracked}
    for table in schema.tracked:
        for key in sorted(table.foreign_keys, key=lambda one: one.parent.name):
            parent = schema.by_name.get(key.column.table.name)
            if parent is not None and parent.name in found and key_columns(parent) == [key.column.name]:
                found[table.name].append((key.parent.name, places(table)[key.parent.name], parent))
    return found


def _find_gone(
    schema: Schema,
    changes: Sequence[Change],
    raw: sqlite3.Connection,
    by_place: Mapping[tuple[str, Key], Change],
) -> None:
    """Find rows that would refer to a row which the target does not have and the source did not make."""
    asked: dict[Table, set[Key]] = {}
    pointing: list[tuple[Change, Table, Key]] = []
    for change in changes:
        if change.theirs is None:
            continue
        moved = change.changed_columns if change.base is not None else None
        for name, at, parent in references(schema)[change.table.name]:
            value = change.theirs[at]
            if value is None or (moved is not None and name not in moved):
                continue
            made = by_place.get((parent.name, (value,)))
            if made is None or (made.ours is None and made.base is not None):
                asked.setdefault(parent, set()).add((value,))
                pointing.append((change, parent, (value,)))
    there = {parent: _existing(raw, parent, keys) for parent, keys in asked.items()}
    for change, parent, key in pointing:
        if key not in there[parent] and change.status == "clean":
            change.status, change.why = "conflict", "gone"


def _find_restructured_here(
    schema: Schema, changes: Sequence[Change], source: sqlite3.Connection, target: Side
) -> None:
    """Find changes of what the target withdrew, joined or split, and of what hangs on it."""
    here = {
        (table.name, key)
        for table, key, before, now, there in net_changes(
            with_structure(schema), target.raw, target.since, source
        )
        if is_restructured(table, before, now) and (there is None or is_restructured(table, there, now))
    }
    above = Above(schema, references(schema), (source, target.raw))
    for change in changes if here else ():
        if change.status == "clean" and not here.isdisjoint(_above(above, change)):
            change.status, change.why = "conflict", "restructured"


def _find_restructured_there(
    schema: Schema,
    changes: Sequence[Change],
    source: sqlite3.Connection,
    target: Side,
    by_place: Mapping[tuple[str, Key], Change],
) -> None:
    """Find what the source withdrew, joined or split, where the target changed it or what hangs on it: with it goes all that
    was joined or split with it, and what the source changed of what hangs on that.
    """
    moved = {
        change.place
        for change in changes
        if change.status != "same" and is_restructured(change.table, change.base, change.theirs)
    }
    if not moved:
        return
    above = Above(schema, references(schema), (target.raw, source))
    found: set[tuple[str, Key]] = set()
    for table, key, before, now, _ in net_changes(schema.tracked, target.raw, target.since, source):
        found |= moved & above.of(table, key, now if now is not None else before)
    steps = {(one[0], _new_step(by_place[one])) for one in found}
    found |= {
        change.place
        for change in by_place.values()
        if (step := _new_step(change)) is not None and (change.table.name, step) in steps
    }
    above = Above(schema, references(schema), (source, target.raw))
    for change in by_place.values() if found else ():
        hangs = change.status == "clean" and not found.isdisjoint(_above(above, change))
        if hangs or (change.place in found and change.status != "same"):
            change.status, change.why = "conflict", "restructured"


def _new_step(change: Change) -> object:
    """Return the step in which the source joined or split the row, if it did."""
    before, after = (step_of(change.table, row) for row in (change.base, change.theirs))
    return after if after != before else None


def _above(above: Above, change: Change) -> frozenset[tuple[str, Key]]:
    return above.of(change.table, change.key, change.theirs if change.theirs is not None else change.base)


def _existing(raw: sqlite3.Connection, table: Table, keys: Iterable[Key]) -> set[Key]:
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
    named = values_of(list(table.columns), row)
    return {name: named[name] for _, name in compared_columns(table)}


def makers_of(raw: sqlite3.Connection, steps: Sequence[int]) -> list[dict[str, Any]]:
    """Return who made those of *steps* that are in effect, oldest first."""
    found = raw.execute(
        "SELECT actor_kind, actor_name, id, action_name, created_at FROM audit"
        " WHERE seq IN (SELECT value FROM json_each(?)) AND NOT undone ORDER BY seq",
        (orjson.dumps(list(steps)).decode(),),
    )
    return [
        dict(zip(("kind", "name", "audit_id", "action_name", "created_at"), row, strict=True))
        for row in found
    ]


def digest_at(raw: sqlite3.Connection, step: int) -> str | None:
    """Return the hash of the log at *step*, or None where the log has no such step."""
    row = raw.execute("SELECT row_hash FROM audit WHERE seq = ?", (step,)).fetchone()
    return None if row is None else str(row[0])
