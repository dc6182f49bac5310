"""Row 2: many tracked rows through the bus against bare executemany; and undo against the step it undoes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from armarium.api import Engine, Library, Outcome
from benchmarks import bench_family as family
from benchmarks.harness import Result, compare, seconds
from benchmarks.places import OWNER, bare_database, running_engine, scratch_folder

ROWS = 40_000

DEPTH = 5
"""How often each row was changed before, where that is measured: its history then has as many more entries."""

PAUSE = 0.5
"""Seconds before each timed write, in which preparatory writes are checkpointed."""


def measure(rounds: int, rows: int = ROWS) -> list[Result]:
    """Measure insert, update and delete of *rows* rows, each against the bare statement, and its undo against itself."""
    family.Stock.rows = family.rows_of(rows)
    table = _Both(rows)
    return [
        table.against_bare("insert", 3.0, rounds),
        table.against_bare("update", 2.0, rounds),
        table.against_bare("delete", 2.0, rounds),
        table.against_bare("update all", None, rounds),
        table.against_bare("delete all", None, rounds),
        table.against_bare("update", None, rounds, changes=DEPTH),
        table.undo_against_doing("insert", rounds),
        table.undo_against_doing("update", rounds),
        table.undo_against_doing("delete", rounds),
    ]


class _Both:
    """The same table twice: tracked in a project, and bare; recreated for each measurement, so that all rounds are
    alike.
    """

    def __init__(self, rows: int) -> None:
        self.rows = rows

    def against_bare(self, what: str, limit: float | None, rounds: int, *, changes: int = 0) -> Result:
        """Return the action's time over the bare statements' time; both in one transaction, after *changes* of every
        row.
        """

        way = "in one statement" if what.endswith("all") else "row by row"
        name = what.removesuffix(" all")
        return compare(
            2,
            f"{name} of {self.rows:,} tracked rows, {way}"
            + (f", each of which was changed {changes} times" if changes else ""),
            engine=lambda: _time_changes(self._library(what), what, changes),
            peer=lambda: _time_changes(self._bare(what), what, changes),
            peer_name="bare sqlite3" if limit is None else "bare executemany",
            unit="s",
            rounds=rounds,
            limit=limit,
        )

    def undo_against_doing(self, what: str, rounds: int) -> Result:
        """Return the undo's time over the time of the step it undoes, in the same round."""

        def undoing() -> float:
            with self._library(what) as run:
                outcome = run(what)
                time.sleep(PAUSE)
                return seconds(lambda: run.undo(outcome))

        return compare(
            2,
            f"undo of the {what} of {self.rows:,} rows",
            engine=undoing,
            peer=lambda: _time_changes(self._library(what), what),
            peer_name="doing it",
            unit="s",
            rounds=rounds,
            limit=1.0,
        )

    @contextmanager
    def _library(self, what: str) -> Iterator[_Actions]:
        """Return the actions of a new project, with all rows in it unless *what* inserts them."""
        with scratch_folder() as folder, running_engine(folder, [family.plugin()]) as (engine, library):
            run = _Actions(engine, library, self.rows)
            if what != "insert":
                run("insert")
            yield run

    @contextmanager
    def _bare(self, what: str) -> Iterator[Callable[[str], object]]:
        """Return the statements of a new bare table, each kind in one transaction, with the rows likewise."""
        with scratch_folder() as folder:
            bare = bare_database(folder / "bare.sqlite", *family.bare_table())
            plain: dict[str, Callable[[], object]] = {
                "insert": lambda: bare.executemany(family.INSERT, family.Stock.rows),
                "update": lambda: bare.executemany(family.UPDATE, family.Stock.changes()),
                "delete": lambda: bare.executemany(family.DELETE, family.Stock.keys()),
                "update all": lambda: bare.execute(family.UPDATE_ALL, ("2026-01-03T00:00:00.000Z",)),
                "delete all": lambda: bare.execute(family.DELETE_ALL),
            }

            def run(one: str) -> None:
                bare.execute("BEGIN IMMEDIATE")
                plain[one]()
                bare.execute("COMMIT")

            try:
                if what != "insert":
                    run("insert")
                yield run
            finally:
                bare.close()


def _time_changes(
    place: AbstractContextManager[Callable[[str], object]], what: str, changes: int = 0
) -> float:
    """Return the seconds that *what* takes there, after *changes* of every row and a rest."""
    with place as run:
        for _ in range(changes):
            run("update")
        time.sleep(PAUSE)
        return seconds(lambda: run(what))


@dataclass(frozen=True)
class _Actions:
    """The writes to a project's rows, by name."""

    engine: Engine
    library: Library
    rows: int

    def __call__(self, what: str) -> Outcome:
        """Insert, update or delete, row by row or "all" in one statement."""
        name, params = {
            "insert": ("bench.fill", {"count": self.rows}),
            "update": ("bench.change", {"by_row": True}),
            "delete": ("bench.clear", {"by_row": True}),
            "update all": ("bench.change", {"by_row": False}),
            "delete all": ("bench.clear", {"by_row": False}),
        }[what]
        return self.engine.run(self.library, name, params, OWNER)

    def undo(self, outcome: Outcome) -> None:
        """Undo a step."""
        self.engine.undo(self.library, [outcome.audit_id], OWNER)
