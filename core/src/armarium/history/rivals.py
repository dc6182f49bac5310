"""Rivals: what both sides made of the same thing, and what either chose among it, where that is not the same."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import Table

from armarium.history.capture import key_columns
from armarium.history.net_differences import (
    Key,
    Side,
    Values,
    compared_columns,
    live_rows,
    made_since,
    places,
)
from armarium.history.restructuring import Place, is_only_when
from armarium.history.row_differences import Change, references
from armarium.history.schema import Schema
from armarium.store.tables import rules_of

AUTHORSHIP = frozenset({"provenance_kind", "created_by", "run_id"})
"""Columns that say who made a row: two rows that differ in them alone say the same."""


def find_rivals(
    schema: Schema,
    changes: Sequence[Change],
    source: Side,
    target: Side,
    by_place: Mapping[Place, Change],
) -> None:
    """Find what the source made or chose of something of which the target made or chose something else.

    What stood in the target when one of the same was taken from the source was decided on then.
    """
    for rivalry in _rivalries(schema):
        own = [change for change in changes if change.table in rivalry.tables]
        additions: dict[Place, Values] = {
            change.place: change.theirs
            for change in own
            if change.base is None
            and change.ours is None
            and change.theirs is not None
            and rivalry.stands(change.place, change.theirs)
        }
        undecided = rivalry.find_undecided(source, target, by_place) if additions else {}
        texts = rivalry.texts(source.raw, additions)
        contested: dict[Values, list[tuple[Table, Key]]] = {}
        for change in own if undecided else ():
            if (row := additions.get(change.place)) is not None:
                of = rivalry.thing(change.place, row)
                rivalry.compare(change, row, texts[change.place], undecided.get(of, ()))
                if change.status == "conflict":
                    contested.setdefault(of, change.rivals)
        for change in own if contested else ():
            # That a former choice ended is part of what is decided.
            if change.status == "clean" and change.base is not None and rivalry.is_choice(change.place):
                of = rivalry.thing(change.place, change.base)
                if of in contested:
                    change.status, change.why, change.rivals = "conflict", "rival", contested[of]


class _Decision(NamedTuple):
    """A row of the target that was made of something, or chose among what was; by which step, and its text."""

    place: Place
    row: Values
    step: int
    text: object


@dataclass(frozen=True)
class _Rivalry:
    """A table whose rows are made of things, and the one whose rows choose among them, if there is one."""

    made: Table
    choices: Table | None

    @property
    def tables(self) -> list[Table]:
        return [self.made] if self.choices is None else [self.made, self.choices]

    def is_choice(self, place: Place) -> bool:
        return place[0] != self.made.name

    def table_of(self, place: Place) -> Table:
        return next(table for table in self.tables if table.name == place[0])

    def thing(self, place: Place, row: Values) -> Values:
        """Return of what a row is."""
        table = self.table_of(place)
        return tuple(row[places(table)[name]] for name in rules_of(table).rivals)

    def stands(self, place: Place, row: Values) -> bool:
        """Return whether a row says anything; one that ended does not."""
        table = self.table_of(place)
        ended = rules_of(table).ended
        return ended is None or row[places(table)[ended]] is None

    def texts(self, raw: sqlite3.Connection, rows: Mapping[Place, Values]) -> dict[Place, object]:
        """Return what each row says: its text, or of a choice that of the row it names."""
        if self.choices is None:
            return dict.fromkeys(rows)
        choice = rules_of(self.choices).choice
        assert choice is not None
        at, names = places(self.made)[choice.text], places(self.choices)[choice.of]
        chosen_keys = {place: (row[names],) for place, row in rows.items() if self.is_choice(place)}
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
        self, source: Side, target: Side, by_place: Mapping[Place, Change]
    ) -> dict[Values, list[_Decision]]:
        """Return what the target says of each thing since nothing of the same was taken from the source."""
        steps: dict[Place, int] = {}
        rows: dict[Place, Values] = {}
        decided: dict[Values, int] = {}
        for table in self.tables:
            keys_made = made_since(target, table)
            there = live_rows(source.raw, table, keys_made.keys())
            for key, row in live_rows(target.raw, table, keys_made.keys()).items():
                place = (table.name, key)
                change = by_place.get(place)
                if key in there if change is None else change.base is not None:
                    of = self.thing(place, row)
                    decided[of] = max(decided.get(of, 0), keys_made[key])
                elif change is None and self.stands(place, row):
                    steps[place], rows[place] = keys_made[key], row
        texts = self.texts(target.raw, rows)
        undecided: dict[Values, list[_Decision]] = {}
        for place in sorted(steps, key=lambda place: steps[place]):
            of = self.thing(place, rows[place])
            if None not in of and steps[place] > decided.get(of, 0):
                undecided.setdefault(of, []).append(_Decision(place, rows[place], steps[place], texts[place]))
        return undecided

    def compare(self, change: Change, row: Values, text: object, decisions: Sequence[_Decision]) -> None:
        """Compare what the source made or chose with the *decisions* of the target on the same; a choice there decides alone."""
        choices = [decision for decision in decisions if self.is_choice(decision.place)]
        others = [decision for decision in decisions if not self.is_choice(decision.place)]
        differs = any(decision.text != text for decision in choices or others)
        if self.is_choice(change.place):
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
            change.rivals = [(self.table_of(rival.place), rival.place[1]) for rival in rivals]


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
            yield _Rivalry(table, among.get(table))


def says_the_same(table: Table, left: Values, right: Values) -> bool:
    """Return whether two rows of *table* differ at most in who made them and when."""
    keys = key_columns(table)
    return all(
        left[at] == right[at]
        for at, name in compared_columns(table)
        if name not in keys and name not in AUTHORSHIP and not is_only_when(name, left[at], right[at])
    )
