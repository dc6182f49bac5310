"""What a former merge left out: rows that one side made and the other never had, and when what was done since needs them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlalchemy import Table

from armarium.history.meetings import Parting
from armarium.history.net_differences import Key, live_rows, steps_of
from armarium.history.row_differences import Change, references
from armarium.history.schema import Schema
from armarium.store.tables import rules_of


def offer_again(schema: Schema, changes: Iterable[Change], parting: Parting) -> Iterator[Change]:
    """Yield the rows left out to which one of *changes* refers, directly or through others; among *changes*, such a row is a new one."""

    def is_left_out(table: Table, key: Key) -> bool:
        return not rules_of(table).stays_here and parting.never_came(table, key)

    waiting = list(changes)
    known = {change.place for change in waiting}
    while waiting:
        change = waiting.pop()
        if change.base is not None and change.ours is None and is_left_out(change.table, change.key):
            change.base = None
        for _, at, parent in references(schema)[change.table.name] if change.theirs is not None else ():
            assert change.theirs is not None
            key = (change.theirs[at],)
            if (parent.name, key) in known or not is_left_out(parent, key):
                continue
            row = live_rows(parting.source.raw, parent, [key]).get(key)
            if row is not None:
                steps = tuple(steps_of(parting.source.raw, parent, key, parting.source.since))
                again = Change(parent, key, None, row, None, steps)
                known.add(again.place)
                waiting.append(again)
                yield again
