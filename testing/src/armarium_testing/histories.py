"""Random histories: steps, undos of steps and sets, redos, compared with an oracle that knows nothing of triggers.

After each step all content is read and compared with the previous state, so the oracle learns from the rows alone what
the step changed. From that it predicts for every undo whether it is refused, why, and what it leaves.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from armarium.engine import Engine
from armarium.errors import ServiceError
from armarium.history.capture import quote_name
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library
from armarium.store.database import raw_of
from armarium.store.tables import rules_of

Key = tuple[str, tuple[Any, ...]]
Content = dict[Key, tuple[Any, ...]]


@dataclass
class World:
    """The existing rows, from which a move chooses."""

    content: Content

    def keys(self, table: str) -> list[str]:
        """Return the (single-column) keys of the rows of *table*."""
        return [key[0] for name, key in self.content if name == table]


Move = Callable[[random.Random, World], Any]
"""Chooses `(action, parameters)`, or returns something false where there is nothing to work on."""


@dataclass
class DoneStep:
    """One committed step as the oracle knows it."""

    audit_id: str
    changed: dict[Key, tuple[tuple[Any, ...] | None, tuple[Any, ...] | None]]
    """Each row with its values before and after; None where the row did not exist."""
    undone: bool = False
    inverse_of: DoneStep | None = None

    def mark_undone(self) -> None:
        """Mark the step as undone; of its chain of undos and redos every other one is in effect again."""
        self.undone = True
        state, step = False, self.inverse_of
        while step is not None:
            step.undone = state
            state, step = not state, step.inverse_of


Law = Callable[[Mapping[str, Mapping[Any, Mapping[str, Any]]], str, Mapping[str, Any]], bool]
"""Whether a row of a table violates a law, given all rows by table and key: `(rows, table, row)`."""


class Difference(AssertionError):
    """The engine did not do what the oracle predicted."""


@dataclass
class Tally:
    """The counts of a run of histories."""

    steps: int = 0
    undone: int = 0
    refused: dict[str, int] = field(default_factory=dict)


class Histories:
    """Runs random histories in one project. Raises `Difference` with the seed at the first disagreement."""

    def __init__(
        self,
        engine: Engine,
        library: Library,
        moves: Sequence[Move],
        *,
        seed: int = 0,
        laws: Sequence[Law] = (),
    ) -> None:
        """*laws* are the family's rules (`RowLaw`) as the oracle states them itself; a violation is refused as
        `changed`.
        """
        self.laws = laws
        self.engine = engine
        self.library = library
        self.moves = list(moves)
        self.random = random.Random(seed)
        self.seed = seed
        self.tally = Tally()
        self._keys = {
            table.name: [column.name for column in table.primary_key.columns]
            for table in engine.library_schema.tracked
        }
        self._columns = {
            table.name: [
                column.name for column in table.columns if column.name not in rules_of(table).monotonic
            ]
            for table in engine.library_schema.tracked
        }
        self._parents = [
            (child.name, column, table.name)
            for table in engine.library_schema.tracked
            for child, column, _ in engine.library_schema.children_of(table)
            if rules_of(child).kind == "tracked"
        ]
        self._own = [(child, column) for child, column, parent in self._parents if child == parent]
        self._unique = [
            (table.name, [self._columns[table.name].index(column.name) for column in index.columns])
            for table in engine.library_schema.tracked
            for index in sorted(table.indexes, key=lambda index: str(index.name))
            if index.unique
        ]
        """Values that no two rows of a table may share; null is never shared."""
        self._grown = {
            table.name: [column.name for column in table.columns if column.name in rules_of(table).monotonic]
            for table in engine.library_schema.tracked
        }
        self._counters: dict[Key, tuple[Any, ...]] = {}
        self._reads = [
            (
                table,
                len(columns),
                [columns.index(key) for key in self._keys[table]],
                f"SELECT {', '.join(map(quote_name, [*columns, *self._grown[table]]))} FROM {quote_name(table)}",
            )
            for table, columns in self._columns.items()
        ]
        self.content = self.read()

    def read(self) -> Content:
        """Return every tracked row without its monotonic columns, which are remembered separately."""
        content: Content = {}
        self._counters = {}
        with self.library.db.read() as conn:
            raw = raw_of(conn)
            for table, width, keys, query in self._reads:
                for row in raw.execute(query):
                    key = (table, tuple([row[i] for i in keys]))
                    content[key] = row[:width]
                    self._counters[key] = row[width:]
        return content

    def run(self, sequences: int, *, steps: int = 12) -> Tally:
        """Run *sequences* histories of *steps* steps each, undos among them."""
        for number in range(sequences):
            recent: list[DoneStep] = []
            for _ in range(steps):
                if recent and self.random.random() < 0.4:
                    self._undo(recent, number)
                else:
                    self._step(recent)
        return self.tally

    def empty(self) -> int:
        """Undo every step still in effect, newest first; return how many. Raises the refusal of any."""
        with self.library.db.read() as conn:
            raw = raw_of(conn)
            steps = raw.execute(
                "WITH RECURSIVE chain(origin, seq, id) AS (SELECT id, seq, id FROM audit WHERE inverse_of IS NULL"
                " AND undone = 0 AND undoable UNION ALL SELECT c.origin, a.seq, a.id FROM chain c"
                " JOIN audit a ON a.inverse_of = c.id)"
                " SELECT origin FROM chain GROUP BY origin ORDER BY max(seq) DESC"
            ).fetchall()
        for (audit_id,) in steps:
            self.engine.undo(self.library, [audit_id], LOCAL_OWNER)
        self.content = self.read()
        return len(steps)

    def _step(self, recent: list[DoneStep]) -> None:
        chosen = self.random.choice(self.moves)(self.random, World(self.content))
        if not chosen:
            return
        try:
            outcome = self.engine.run(self.library, chosen[0], chosen[1], LOCAL_OWNER)
        except ServiceError:
            if self.read() != self.content:
                raise Difference(f"seed {self.seed}: {chosen[0]} was refused and changed something") from None
            return
        recent.append(self._note_step(outcome.audit_id))
        self.tally.steps += 1

    def _note_step(self, audit_id: str, inverse_of: DoneStep | None = None) -> DoneStep:
        before, counted, after = self.content, self._counters, self.read()
        # A row whose counter grew was touched, even if its other values are the same.
        changed = {
            key: (before.get(key), after.get(key))
            for key in before.keys() | after.keys()
            if before.get(key) != after.get(key) or counted.get(key) != self._counters.get(key)
        }
        self.content = after
        return DoneStep(audit_id, changed, inverse_of=inverse_of)

    def _undo(self, recent: list[DoneStep], number: int) -> None:
        size = self.random.choice((1, 1, 1, 2, 3))
        chosen = self.random.sample(recent, min(size, len(recent)))
        if self.random.random() < 0.3:
            chosen = recent[-size:]
        # Newest first, as the engine takes them; ids are ordered by time.
        chosen.sort(key=lambda step: step.audit_id, reverse=True)
        foretold, content = self._foretell(chosen)
        at_step = f"seed {self.seed}, history {number}: undo of {[step.audit_id for step in chosen]}"
        try:
            answer = self.engine.undo(self.library, [step.audit_id for step in chosen], LOCAL_OWNER)
        except ServiceError as error:
            reason = str(error.fields.get("reason"))
            self.tally.refused[reason] = self.tally.refused.get(reason, 0) + 1
            if foretold != reason:
                raise Difference(
                    f"{at_step} was refused ({reason}); predicted: {foretold or 'done'}"
                ) from None
            if self.read() != self.content:
                raise Difference(f"{at_step} was refused and changed something") from None
            return
        if foretold is not None:
            raise Difference(f"{at_step} was done; predicted: refused, {foretold}")
        if self.read() != content:
            raise Difference(f"{at_step} left other rows than were there before")
        self.tally.undone += len(chosen)
        state = self.content
        for step, audit_id in zip(chosen, answer["audit_ids"], strict=True):
            after = _taken_back(state, step)
            changed = {key: (state.get(key), after.get(key)) for key in step.changed}
            step.mark_undone()
            recent.append(DoneStep(audit_id, changed, inverse_of=step))
            state = after
        self.content = state

    def _foretell(self, chosen: Sequence[DoneStep]) -> tuple[str | None, Content]:
        """Return the predicted reason for refusing an undo of *chosen*, or None; and the content the undo leaves."""
        content = self.content
        flags: dict[int, bool] = {}
        for step in chosen:
            if flags.get(id(step), step.undone):
                return "already-undone", self.content
            if any(content.get(key) != after for key, (_, after) in step.changed.items()):
                return "changed", self.content
            content = _taken_back(content, step)
            removed = {key for key in step.changed if key not in content}
            if (
                self._orphans(content, removed)
                or self._has_doubles(content, step)
                or self._circles(content, step)
                or self._breaks_laws(content, step)
            ):
                return "changed", self.content
            state, other = False, step.inverse_of
            flags[id(step)] = True
            while other is not None:
                flags[id(other)] = state
                state, other = not state, other.inverse_of
        # A row may be restored before its parent, as long as the whole set leaves every reference intact.
        return ("changed" if self._orphans(content) else None), content

    def _orphans(self, content: Content, parents: set[Key] | None = None) -> bool:
        """Return whether some row refers to a row that does not exist (only to one of *parents*, where given)."""
        if parents is not None and not parents:
            return False
        by_table: dict[str, list[tuple[Any, ...]]] = {}
        for (table, _), row in content.items():
            by_table.setdefault(table, []).append(row)
        for child, column, parent in self._parents:
            position = self._columns[child].index(column)
            for row in by_table.get(child, ()):
                if row[position] is None:
                    continue
                key = (parent, (row[position],))
                if key not in content and (parents is None or key in parents):
                    return True
        return False

    def _circles(self, content: Content, step: DoneStep) -> bool:
        """Return whether a row that *step* touched is now its own ancestor."""
        for table, column in self._own:
            at = self._columns[table].index(column)
            for name, key in step.changed:
                above, visited = key[0], set()
                while name == table and above is not None and above not in visited:
                    visited.add(above)
                    row = content.get((table, (above,)))
                    above = row[at] if row is not None else None
                    if above == key[0]:
                        return True
        return False

    def _breaks_laws(self, content: Content, step: DoneStep) -> bool:
        """Return whether a row that *step* touched violates a law in its present state."""
        if not self.laws:
            return False
        rows: dict[str, dict[Any, dict[str, Any]]] = {}
        for (table, key), row in content.items():
            rows.setdefault(table, {})[key[0]] = dict(zip(self._columns[table], row, strict=True))
        touched = [(table, rows[table][key[0]]) for table, key in step.changed if (table, key) in content]
        return any(law(rows, table, row) for law in self.laws for table, row in touched)

    def _has_doubles(self, content: Content, step: DoneStep) -> bool:
        """Return whether two rows now share a unique value, because a later step took the one that this undo restores."""
        for table, positions in self._unique:
            if not any(name == table for name, _ in step.changed):
                continue
            rows_of_table = [
                [row[at] for at in positions] for (name, _), row in content.items() if name == table
            ]
            whole = [tuple(values) for values in rows_of_table if None not in values]
            if len(set(whole)) < len(whole):
                return True
        return False


def _taken_back(content: Content, step: DoneStep) -> Content:
    restored = dict(content)
    for key, (before, _) in step.changed.items():
        if before is None:
            restored.pop(key, None)
        else:
            restored[key] = before
    return restored
