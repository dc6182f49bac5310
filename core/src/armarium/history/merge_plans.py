"""Which rows a merge writes: what is chosen, how conflicts are decided, and what depends on what; then the writing.

A plan is whole: no row is written without those it refers to, and none is deleted to which another still refers.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlalchemy import Table

from armarium.history.capture import is_counter, key_columns, quote_name
from armarium.history.merging import Change, children_of, references
from armarium.history.net_differences import Key, Values, places
from armarium.history.schema import Schema
from armarium.store.tables import rules_of

OnConflict = Literal["refuse", "keep_ours", "take_theirs", "keep_both"]

Place = tuple[str, Key]


@dataclass
class MergePlan:
    """The rows that a merge writes."""

    inserts: dict[Place, tuple[Table, Values]] = field(default_factory=dict)
    updates: dict[Place, tuple[Table, dict[str, Any]]] = field(default_factory=dict)
    deletes: dict[Place, Change] = field(default_factory=dict)
    undecided: list[Change] = field(default_factory=list)
    """Conflicts that the choice made does not decide."""
    needs: list[Change] = field(default_factory=list)
    """Changes that were not chosen and without which a chosen one cannot be made."""
    left_out: set[Place] = field(default_factory=set)
    """Chosen changes that are not made, because what is here was kept."""
    preferred: list[Change] = field(default_factory=list)
    """Changes taken although a rival stands beside them."""

    @property
    def files(self) -> set[str]:
        """The files that its new values name."""
        digests: set[Any] = set()
        for table, row in self.inserts.values():
            digests |= {row[at] for at, column in enumerate(table.columns) if column.info.get("object")}
        for table, values in self.updates.values():
            digests |= {value for name, value in values.items() if table.c[name].info.get("object")}
        return digests - {None}

    @property
    def endings(self) -> dict[Place, tuple[Table, str]]:
        """The rows that end here because a rival was taken, each with the column that says so."""
        return {
            (table.name, key): (table, ended)
            for change in self.preferred
            if change.place in self.inserts and (ended := _ending(change.table)) is not None
            for table, key in change.rivals
        }

    @property
    def places(self) -> set[Place]:
        """The rows that it writes."""
        return self.inserts.keys() | self.updates.keys() | self.deletes.keys()

    def __len__(self) -> int:
        return len(self.inserts) + len(self.updates) + len(self.deletes)


def plan_merge(
    schema: Schema,
    changes: Sequence[Change],
    chosen: Collection[Place],
    on_conflict: OnConflict,
    raw: sqlite3.Connection,
) -> MergePlan:
    """Return what is written to the target *raw* when those of *changes* that are *chosen* are merged."""
    plan = MergePlan()
    by_place = {change.place: change for change in changes}
    for change in changes:
        if change.place in chosen and change.status != "same":
            _add(plan, change, on_conflict)
            if change.place not in plan.left_out:
                plan.needs += [by_place[place] for place in sorted(change.rests_on) if place not in chosen]
    while not plan.undecided and not plan.needs and _settle(schema, plan, by_place, chosen, raw):
        pass
    return plan


def _add(plan: MergePlan, change: Change, on_conflict: OnConflict) -> None:
    columns = set(change.changed_columns)
    if change.status == "conflict":
        one_stands = change.why == "rival" and _ending(change.table) is not None
        undecided = {
            "keep_both": change.why != "rival" or one_stands,
            "take_theirs": change.why == "remade",
        }
        if on_conflict == "keep_both" and change.why == "rival" and rules_of(change.table).choice is not None:
            # Both readings stay; which of them counts stays as it is here.
            plan.left_out.add(change.place)
            return
        if on_conflict == "refuse" or undecided.get(on_conflict):
            plan.undecided.append(change)
            return
        if on_conflict == "keep_ours":
            columns -= change.conflicting
            if change.why != "both_changed" or change.base is None or not columns:
                plan.left_out.add(change.place)
                return
        if on_conflict == "take_theirs":
            if change.why == "rival":
                plan.preferred.append(change)
            elif change.why == "taken":
                for table, key in change.rivals:
                    other = Change(table, key, None, None, None, ())
                    plan.deletes[other.place] = other
    if change.theirs is None:
        plan.deletes[change.place] = change
    elif change.ours is None:
        plan.inserts[change.place] = (change.table, change.theirs)
    else:
        changed = change.changed_columns
        values = {
            name: change.theirs[changed[name]]
            for name in columns
            # What both sides did, apart from when, stays as it is here.
            if name in change.conflicting
            or change.base is None
            or change.ours[changed[name]] == change.base[changed[name]]
        }
        if values:
            plan.updates[change.place] = (change.table, values)


def _ending(table: Table) -> str | None:
    """Return the column by which a row of *table* ends where a rival is taken; of choices, whoever merges says which counts."""
    rules = rules_of(table)
    return rules.ended if rules.choice is None else None


def _settle(
    schema: Schema,
    plan: MergePlan,
    by_place: dict[Place, Change],
    chosen: Collection[Place],
    raw: sqlite3.Connection,
) -> bool:
    """Make the plan whole by one round; return whether anything changed."""
    before = (len(plan), len(plan.left_out))
    users_by_row: dict[tuple[Table, Key], list[Place]] = {}
    for place, (table, values) in plan.inserts.items():
        for _, at, parent in references(schema)[table.name]:
            if values[at] is not None:
                users_by_row.setdefault((parent, (values[at],)), []).append(place)
    for place, (table, changed) in plan.updates.items():
        for name, _, parent in references(schema)[table.name]:
            if changed.get(name) is not None:
                users_by_row.setdefault((parent, (changed[name],)), []).append(place)
    for (parent, key), users in _find_missing(plan, users_by_row, raw):
        parent_change = by_place.get((parent.name, key))
        if parent_change is not None and parent_change.place not in chosen:
            plan.needs.append(parent_change)
        elif (
            parent_change is not None
            and parent_change.status == "same"
            and parent_change.theirs is not None
            and parent_change.ours is None
        ):
            # A rival that says the same stands here already, but what hangs on this one needs it.
            plan.inserts[parent_change.place] = (parent_change.table, parent_change.theirs)
        else:
            _leave_out(plan, users)
    for place, change in list(plan.deletes.items()):
        for child, key in children_of(schema, raw, change):
            child_place = (child.name, key)
            other = by_place.get(child_place)
            if child_place in plan.deletes or _lets_go(schema, plan, other, change):
                continue
            if other is not None and child_place not in chosen:
                plan.needs.append(other)
            elif change.place in by_place and change.status != "conflict":
                _leave_out(plan, [place])
    return (len(plan), len(plan.left_out)) != before


def _lets_go(schema: Schema, plan: MergePlan, child: Change | None, parent: Change) -> bool:
    """Return whether the plan makes the row of *child* refer to nothing that it deletes with *parent*."""
    if child is None or child.ours is None or child.place not in plan.updates:
        return False
    table, changed = plan.updates[child.place]
    return all(
        (changed.get(name, child.ours[places(table)[name]]),) != parent.key
        for user, name, _ in schema.children_of(parent.table)
        if user is table
    )


def _leave_out(plan: MergePlan, places: Iterable[Place]) -> None:
    for place in places:
        for part in (plan.inserts, plan.updates, plan.deletes):
            part.pop(place, None)
        plan.left_out.add(place)


def _find_missing(
    plan: MergePlan, users_by_row: dict[tuple[Table, Key], list[Place]], raw: sqlite3.Connection
) -> list[tuple[tuple[Table, Key], list[Place]]]:
    """Return what is referred to and would not be there."""
    keys_by_table: dict[Table, list[Key]] = {}
    for table, key in users_by_row:
        if (table.name, key) not in plan.inserts:
            keys_by_table.setdefault(table, []).append(key)
    missing = []
    for table, keys in keys_by_table.items():
        (name,) = map(quote_name, key_columns(table))
        present = {
            key
            for key in keys
            if raw.execute(f"SELECT 1 FROM {quote_name(table.name)} WHERE {name} = ?", key).fetchone()
            and (table.name, key) not in plan.deletes
        }
        missing += [((table, key), users_by_row[table, key]) for key in keys if key not in present]
    return missing


def write_plan(raw: sqlite3.Connection, schema: Schema, plan: MergePlan, now: str) -> None:
    """Write the rows of *plan* within an open step: deletions child-first, then changes, then new rows."""
    if not schema.defers:
        raw.execute("PRAGMA defer_foreign_keys=ON")
    for table in reversed(schema.tracked):
        deleted_keys = [change.key for change in plan.deletes.values() if change.table.name == table.name]
        if deleted_keys:
            raw.executemany(f"DELETE FROM {quote_name(table.name)} WHERE {_is_row(table)}", deleted_keys)
    alike: dict[tuple[str, tuple[str, ...]], tuple[Table, list[Values]]] = {}
    ended = {place: (table, {column: now}) for place, (table, column) in plan.endings.items()}
    for (_, key), (table, values) in (plan.updates | ended).items():
        names = tuple(sorted(values))
        rows = alike.setdefault((table.name, names), (table, []))[1]
        rows.append((*(values[name] for name in names), *_growth_values(table, now), *key))
    for (_, names), (table, rows) in alike.items():
        sets = [f"{quote_name(name)} = ?" for name in names] + _growing(table)
        raw.executemany(f"UPDATE {quote_name(table.name)} SET {', '.join(sets)} WHERE {_is_row(table)}", rows)
    for table in schema.tracked:
        new = [values for target, values in plan.inserts.values() if target.name == table.name]
        if new:
            marks = ", ".join("?" * len(table.columns))
            columns = ", ".join(quote_name(column.name) for column in table.columns)
            raw.executemany(f"INSERT INTO {quote_name(table.name)} ({columns}) VALUES ({marks})", new)


def _is_row(table: Table) -> str:
    return " AND ".join(f"{quote_name(key)} = ?" for key in key_columns(table))


def _growing(table: Table) -> list[str]:
    """SQL that raises the columns which only grow: counters by one, times to the parameters of `_growth_values`."""
    return [
        f"{quote_name(column.name)} = {quote_name(column.name)} + 1"
        if is_counter(column)
        else f"{quote_name(column.name)} = ?"
        for column in sorted(_monotonic(table), key=is_counter)
    ]


def _growth_values(table: Table, now: str) -> list[str]:
    return [now for column in _monotonic(table) if not is_counter(column)]


def _monotonic(table: Table) -> list[Any]:
    return [column for column in table.columns if column.name in rules_of(table).monotonic]
