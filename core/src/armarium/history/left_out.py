"""What a former merge left out: rows that the source made and the target never had, needed by what the source did since."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from sqlalchemy import Table

from armarium.history.net_differences import Key, Side, keys_had_since, live_rows, made_since, steps_of
from armarium.history.row_differences import Change, references
from armarium.history.schema import Schema
from armarium.store.tables import rules_of


def offer_again(schema: Schema, changes: Iterable[Change], source: Side, target: Side) -> Iterator[Change]:
    """Yield the rows left out to which one of *changes* refers, directly or through others; among *changes*, such a row is a new one.

    The sides name the steps at which the copies parted.
    """
    keys_made_since = cache(lambda table: frozenset(made_since(source, table)))
    keys_had = cache(lambda table: keys_had_since(target, table))

    def is_left_out(table: Table, key: Key) -> bool:
        return not rules_of(table).stays_here and key in keys_made_since(table) and key not in keys_had(table)

    waiting = list(changes)
    waiting_places = {change.place for change in waiting}
    while waiting:
        change = waiting.pop()
        if change.base is not None and change.ours is None and is_left_out(change.table, change.key):
            change.base = None
        for _, at, parent in references(schema)[change.table.name] if change.theirs is not None else ():
            assert change.theirs is not None
            key = (change.theirs[at],)
            if (parent.name, key) in waiting_places or not is_left_out(parent, key):
                continue
            row = live_rows(source.raw, parent, [key]).get(key)
            if row is not None:
                steps = tuple(steps_of(source.raw, parent, key, source.since))
                parent_change = Change(parent, key, None, row, None, steps)
                waiting_places.add(parent_change.place)
                waiting.append(parent_change)
                yield parent_change
