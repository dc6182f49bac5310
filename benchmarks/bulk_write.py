"""Row 2: many tracked rows through the bus against bare executemany; and undo against doing."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable

from armarium.api import Engine, Library, Outcome
from benchmarks import bench_family as family
from benchmarks.harness import Result, compare, seconds
from benchmarks.places import OWNER, bare_database, running_engine, scratch_folder

ROWS = 40_000

PAUSE = 0.5
"""Seconds before each timed write: what was written to make ready is folded into the database beside it."""


def measure(rounds: int, rows: int = ROWS) -> list[Result]:
    """Insert, update and delete of *rows* rows, each against the bare statement, and its undo against itself."""
    family.Stock.rows = family.rows_of(rows)
    with scratch_folder() as folder, running_engine(folder, [family.plugin()]) as (engine, library):
        bare = bare_database(folder / "bare.sqlite", *family.bare_table())
        table = _Both(engine, library, bare, rows)
        try:
            return [
                table.against_bare("insert", 3.0, rounds),
                table.against_bare("update", 2.0, rounds),
                table.against_bare("delete", 2.0, rounds),
                table.against_bare("update all", None, rounds),
                table.against_bare("delete all", None, rounds),
                table.undo_against_doing("insert", rounds),
                table.undo_against_doing("update", rounds),
                table.undo_against_doing("delete", rounds),
            ]
        finally:
            bare.close()


class _Both:
    """The same table twice: tracked in a library, and bare."""

    def __init__(self, engine: Engine, library: Library, bare: sqlite3.Connection, rows: int) -> None:
        self.engine, self.library, self.bare, self.rows = engine, library, bare, rows
        self.actions: dict[str, Callable[[], Outcome]] = {
            "insert": lambda: self._run("bench.fill", {"count": rows}),
            "update": lambda: self._run("bench.change", {"by_row": True}),
            "delete": lambda: self._run("bench.clear", {"by_row": True}),
            "update all": lambda: self._run("bench.change", {"by_row": False}),
            "delete all": lambda: self._run("bench.clear", {"by_row": False}),
        }
        self.plain: dict[str, Callable[[], object]] = {
            "insert": lambda: bare.executemany(family.INSERT, family.Stock.rows),
            "update": lambda: bare.executemany(family.UPDATE, family.Stock.changes()),
            "delete": lambda: bare.executemany(family.DELETE, family.Stock.keys()),
            "update all": lambda: bare.execute(family.UPDATE_ALL, ("2026-01-03T00:00:00.000Z",)),
            "delete all": lambda: bare.execute(family.DELETE_ALL),
        }

    def against_bare(self, what: str, limit: float | None, rounds: int) -> Result:
        """The action's time over the bare statements' time; both in one transaction."""

        def ours() -> float:
            self._prepare(what)
            return seconds(self.actions[what])

        def theirs() -> float:
            self._prepare_bare(what)

            def write() -> None:
                self.bare.execute("BEGIN IMMEDIATE")
                self.plain[what]()
                self.bare.execute("COMMIT")

            return seconds(write)

        way = "in one statement" if what.endswith("all") else "row by row"
        name = what.removesuffix(" all")
        return compare(
            2,
            f"{name} of {self.rows:,} tracked rows, {way}",
            engine=ours,
            peer=theirs,
            peer_name="bare sqlite3" if limit is None else "bare executemany",
            unit="s",
            rounds=rounds,
            limit=limit,
        )

    def undo_against_doing(self, what: str, rounds: int) -> Result:
        """The undo's time over the time of the step it takes back, of the same round."""
        done: list[Outcome] = []

        def doing() -> float:
            self._prepare(what)
            return seconds(lambda: done.append(self.actions[what]()))

        def undoing() -> float:
            self._prepare(what)
            outcome = self.actions[what]()
            time.sleep(PAUSE)
            return seconds(lambda: self.engine.undo(self.library, [outcome.audit_id], OWNER))

        return compare(
            2,
            f"undo of the {what} of {self.rows:,} rows",
            engine=undoing,
            peer=doing,
            peer_name="doing it",
            unit="s",
            rounds=rounds,
            limit=1.0,
        )

    def _run(self, name: str, params: dict[str, object]) -> Outcome:
        return self.engine.run(self.library, name, params, OWNER)

    def _prepare(self, what: str) -> None:
        with self.library.db.read_raw() as raw:
            (there,) = raw.execute("SELECT count(*) FROM bench_item").fetchone()
        if what == "insert" and there:
            self._run("bench.clear", {"by_row": False})
        elif what != "insert" and not there:
            self._run("bench.fill", {"count": self.rows})
        time.sleep(PAUSE)

    def _prepare_bare(self, what: str) -> None:
        (there,) = self.bare.execute("SELECT count(*) FROM bench_item").fetchone()
        self.bare.execute("BEGIN IMMEDIATE")
        if what == "insert" and there:
            self.bare.execute(family.DELETE_ALL)
        elif what != "insert" and not there:
            self.bare.executemany(family.INSERT, family.Stock.rows)
        self.bare.execute("COMMIT")
