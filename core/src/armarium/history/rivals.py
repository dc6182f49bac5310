"""Rivals: what both sides made of the same thing, and what either chose among it, where that is not the same."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import Table

from armarium.history.capture import key_columns
from armarium.history.meetings import Parting
from armarium.history.net_differences import (
    Key,
    Values,
    compared_columns,
    live_rows,
    places,
)
from armarium.history.restructuring import Place, is_only_when
from armarium.history.row_differences import Change, references
from armarium.history.schema import Schema
from armarium.store.tables import rules_of

Row = tuple[Table, Key]

AUTHORSHIP = frozenset({"provenance_kind", "created_by", "run_id"})
"""Columns that say who made a row: two rows that differ in them alone say the same."""


def find_rivals(
    schema: Schema,
    changes: Sequence[Change],
    parting: Parting,
    by_place: Mapping[Place, Change],
) -> None:
    """Find what the source made or chose of something of which the target made or chose something else.

    What stood in the target when one of the same was taken from the source was decided on then.
    """
    for rivalry in _rivalries(schema):
        own = [change for change in changes if change.table in rivalry.tables]
        additions: dict[Row, Values] = {
            (change.table, change.key): change.theirs
            for change in own
            if change.base is None
            and change.ours is None
            and change.theirs is not None
            and stands(change.table, change.theirs)
        }
        undecided = rivalry.find_undecided(parting, by_place) if additions else {}
        texts = rivalry.texts(parting.source.raw, additions) if undecided else {}
        contested: dict[Values, list[Row]] = {}
        for change in own if undecided else ():
            if (row := additions.get((change.table, change.key))) is not None:
                of = thing_of(change.table, row)
                rivalry.compare(change, row, texts[change.table, change.key], undecided.get(of, ()))
                if change.status == "conflict":
                    contested.setdefault(of, change.rivals)
        for change in own if contested else ():
            # That a former choice ended is part of what is decided.
            if change.status == "clean" and change.base is not None and change.table is rivalry.choices:
                of = thing_of(change.table, change.base)
                if of in contested:
                    change.status, change.why, change.rivals = "conflict", "rival", contested[of]


def thing_of(table: Table, row: Values) -> Values:
    """Return of what a row is."""
    return tuple(row[places(table)[name]] for name in rules_of(table).rivals)


def stands(table: Table, row: Values) -> bool:
    """Return whether a row says anything; one that ended does not."""
    ended = rules_of(table).ended
    return ended is None or row[places(table)[ended]] is None


class _Decision(NamedTuple):
    """A row of the target that was made of something, or chose among what was, and its text."""

    table: Table
    key: Key
    row: Values
    text: object


@dataclass(frozen=True)
class _Rivalry:
    """A table whose rows are made of things, and the one whose rows choose among them, if there is one."""

    made: Table
    choices: Table | None
    tables: list[Table]

    def texts(self, raw: sqlite3.Connection, rows: Mapping[Row, Values]) -> dict[Row, object]:
        """Return what each row says: its text, or of a choice that of the row it names."""
        if self.choices is None:
            return dict.fromkeys(rows)
        choice = rules_of(self.choices).choice
        assert choice is not None
        at, names = places(self.made)[choice.text], places(self.choices)[choice.of]
        chosen_keys = {place: (row[names],) for place, row in rows.items() if place[0] is self.choices}
        chosen = live_rows(raw, self.made, set(chosen_keys.values())) if chosen_keys else {}
        return {
            place: row[at]
            if place not in chosen_keys
            else chosen[chosen_keys[place]][at]
            if chosen_keys[place] in chosen
            else None
            for place, row in rows.items()
        }

    def find_undecided(
        self, parting: Parting, by_place: Mapping[Place, Change]
    ) -> dict[Values, list[_Decision]]:
        """Return what the target says of each thing since nothing of the same was taken from the source, the oldest first."""
        steps: dict[Row, int] = {}
        rows: dict[Row, Values] = {}
        decided: dict[Values, int] = {}
        for table in self.tables:
            came = {
                key: step
                for key, step in parting.steps_touched(parting.target, table).items()
                if step is not None
            }
            here = live_rows(parting.target.raw, table, came)
            there = live_rows(parting.source.raw, table, here) if here else {}
            for key, row in here.items():
                change = by_place.get((table.name, key))
                if key in there if change is None else change.base is not None:
                    of = thing_of(table, row)
                    decided[of] = max(decided.get(of, 0), came[key])
                elif change is None and stands(table, row):
                    steps[table, key], rows[table, key] = came[key], row
        texts = self.texts(parting.target.raw, rows) if rows else {}
        undecided: dict[Values, list[_Decision]] = {}
        for table, key in sorted(steps, key=lambda place: steps[place]):
            row = rows[table, key]
            of = thing_of(table, row)
            if None not in of and steps[table, key] > decided.get(of, 0):
                undecided.setdefault(of, []).append(_Decision(table, key, row, texts[table, key]))
        return undecided

    def compare(self, change: Change, row: Values, text: object, decisions: Sequence[_Decision]) -> None:
        """Compare what the source made or chose with the *decisions* of the target on the same; a choice there decides alone."""
        choices = [decision for decision in decisions if decision.table is self.choices]
        others = [decision for decision in decisions if decision.table is self.made]
        differs = any(decision.text != text for decision in choices or others)
        if change.table is self.choices:
            rivals = choices or others
            alike = bool(choices) and not differs
        else:
            alike = not (choices and differs) and any(
                says_the_same(self.made, row, rival.row) for rival in others
            )
            differs = differs if choices else bool(others)
            rivals = [*choices, *others]
        if alike or differs:
            change.status, change.why = "same" if alike else "conflict", "rival"
            change.rivals = [(rival.table, rival.key) for rival in rivals]


def _rivalries(schema: Schema) -> Iterator[_Rivalry]:
    """Yield what can be rivals of each other."""
    among: dict[Table, Table] = {}
    for table in schema.tracked:
        choice = rules_of(table).choice
        if choice is not None:
            among |= {
                parent: table for name, _, parent in references(schema)[table.name] if name == choice.of
            }
    for table in schema.tracked:
        if rules_of(table).rivals and table not in among.values():
            choices = among.get(table)
            yield _Rivalry(table, choices, [table] if choices is None else [table, choices])


def says_the_same(table: Table, left: Values, right: Values) -> bool:
    """Return whether two rows of *table* differ at most in who made them and when."""
    keys = key_columns(table)
    return all(
        left[at] == right[at]
        for at, name in compared_columns(table)
        if name not in keys and name not in AUTHORSHIP and not is_only_when(name, left[at], right[at])
    )
