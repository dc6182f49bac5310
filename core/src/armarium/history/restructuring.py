"""Conflicts of structure: one side withdrew, joined or split something while the other changed it or what hangs on it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence

from sqlalchemy import Table

from armarium.history.capture import key_columns
from armarium.history.meetings import Parting
from armarium.history.net_differences import (
    Key,
    Values,
    is_equal,
    live_rows,
    places,
)
from armarium.history.row_differences import Change, references
from armarium.history.schema import Schema
from armarium.store.tables import rules_of

Place = tuple[str, Key]


def is_only_when(name: str, theirs: object, ours: object) -> bool:
    """Return whether a column says when or by whom something was done that both sides did."""
    return name.endswith(("_at", "_by")) and theirs is not None and ours is not None


def is_restructured(table: Table, before: Values | None, after: Values | None) -> bool:
    """Return whether *after* has another structure than *before*, both being states of a row."""
    structure = rules_of(table).structure
    if structure is None or before is None or after is None:
        return False
    return any(
        before[at] != after[at] and not is_only_when(name, before[at], after[at])
        for name in structure.columns
        for at in (places(table)[name],)
    )


def step_of(table: Table, row: Values | None) -> object:
    """Return by which step a row was joined or split last, as its table says."""
    structure = rules_of(table).structure
    if row is None or structure is None or structure.step is None:
        return None
    return row[places(table)[structure.step]]


def differences(
    tables: Iterable[Table], parting: Parting, by_place: Mapping[Place, Change]
) -> Iterator[tuple[Table, Key, Values | None, Values | None, Values | None]]:
    """Yield what the target has otherwise than the source, and than the source had it before its changes *by_place*: table,
    key, the row before those, now, and in the source.
    """
    for table in tables:
        if rules_of(table).stays_here:
            continue
        source, target = parting.source, parting.target
        touched = parting.steps_touched(target, table).keys() | parting.steps_touched(source, table).keys()
        if not touched:
            continue
        # Of a change both rows are known; what neither side has any more is no difference.
        changed = {key: change for key in touched if (change := by_place.get((table.name, key))) is not None}
        unchanged = touched - changed.keys()
        now, there = (live_rows(side.raw, table, unchanged) for side in (target, source))
        for key in changed.keys() | now.keys() | there.keys():
            change = changed.get(key)
            after, beside = (change.ours, change.theirs) if change else (now.get(key), there.get(key))
            if is_equal(table, after, beside):
                continue
            if change is None and after is None and parting.never_came(table, key):
                # Left out before: the target removed nothing.
                continue
            base = beside if change is None else change.base
            if not is_equal(table, base, after):
                yield table, key, base, after, beside


class Above:
    """Finds what rows hang on: the rows with a structure that they refer to, directly or through others."""

    def __init__(self, schema: Schema, copies: Sequence[sqlite3.Connection]) -> None:
        self._references, self._copies = references(schema), copies
        self._found: dict[Place, frozenset[Place]] = {}

    def of(self, table: Table, key: Key, row: Values | None) -> frozenset[Place]:
        """Return the places of what the *row* hangs on, its own among them."""
        supports: set[Place] = {(table.name, key)}
        for _, at, parent in self._references[table.name] if row is not None else ():
            if row is not None and row[at] is not None:
                supports |= self._follow(parent, (row[at],))
        return frozenset(supports)

    def _follow(self, table: Table, key: Key) -> frozenset[Place]:
        place = (table.name, key)
        if place not in self._found:
            # What refers to itself in a circle ends here.
            self._found[place] = frozenset()
            rows = (live_rows(raw, table, [key]).get(key) for raw in self._copies)
            self._found[place] = self.of(table, key, next((row for row in rows if row is not None), None))
        return self._found[place]


def with_structure(schema: Schema) -> list[Table]:
    """Return the tables whose rows have a structure."""
    return [table for table in schema.tracked if rules_of(table).structure and len(key_columns(table)) == 1]


def find_restructured_here(
    schema: Schema,
    changes: Sequence[Change],
    parting: Parting,
    by_place: Mapping[Place, Change],
) -> None:
    """Find changes of what is withdrawn, joined or split in the target and not so in the source, and of what hangs on it."""
    here: dict[Place, bool] = {}
    steps_apart: set[tuple[Table, object]] = set()
    for table, key, base, now, there in differences(with_structure(schema), parting, by_place):
        if is_restructured(table, base, now) and (there is None or is_restructured(table, there, now)):
            here[table.name, key] = step_of(table, now) != step_of(table, base)
            steps_apart |= {(table, step_of(table, there))} if here[table.name, key] else set()
    above = Above(schema, (parting.source.raw, parting.target.raw))
    for change in changes if here else ():
        remade = [here[place] for place in _above(above, change) if place in here]
        step = _new_step(change)
        if change.status != "same" and (
            any(remade) or (step is not None and (change.table, step) in steps_apart)
        ):
            change.status, change.why = "conflict", "remade"
        elif remade and change.status == "clean":
            change.status, change.why = "conflict", "restructured"


def find_restructured_there(
    schema: Schema,
    changes: Sequence[Change],
    parting: Parting,
    by_place: Mapping[Place, Change],
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
    remade = frozenset(place for place in moved if _new_step(by_place[place]) is not None)
    above = Above(schema, (parting.source.raw, parting.target.raw))
    for change in changes if remade else ():
        change.rests_on = remade & (_above(above, change) - {change.place})
    above = Above(schema, (parting.target.raw, parting.source.raw))
    changed_places: set[Place] = set()
    for table, key, base, now, _ in differences(schema.tracked, parting, by_place):
        changed_places |= moved & above.of(table, key, now if now is not None else base)
    steps = {(place[0], _new_step(by_place[place])) for place in changed_places}
    changed_places |= {
        change.place
        for change in changes
        if (step := _new_step(change)) is not None and (change.table.name, step) in steps
    }
    above = Above(schema, (parting.source.raw, parting.target.raw))
    for change in changes if changed_places else ():
        hangs = change.status == "clean" and not changed_places.isdisjoint(_above(above, change))
        if hangs or (change.place in changed_places and change.status != "same" and change.why != "remade"):
            change.status, change.why = "conflict", "restructured"


def _new_step(change: Change) -> object:
    """Return the step in which the source joined or split the row, if it did."""
    before, after = (step_of(change.table, row) for row in (change.base, change.theirs))
    return after if after != before else None


def _above(above: Above, change: Change) -> frozenset[Place]:
    return above.of(change.table, change.key, change.theirs if change.theirs is not None else change.base)
