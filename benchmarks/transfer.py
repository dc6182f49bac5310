"""Row 11: the transfer of 1,000 pages with their segments and readings, against copying the rows with bare SQL."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

from sqlalchemy import Table
from sqlalchemy.schema import CreateIndex, CreateTable

from armarium.api import ActionContext, Engine, Library
from benchmarks.harness import Result, compare, seconds
from benchmarks.places import OWNER, bare_database, running_engine, scratch_folder

PAGES = 1_000
LINES = 30
TABLES = ("document", "segment_pass", "segment", "content_representation")


def measure(rounds: int) -> list[Result]:
    """Measure a copy and a move, each into a project created for the round; and the copy against SQL that never leaves
    SQLite.
    """
    with scratch_folder() as folder, running_engine(folder) as (engine, library):
        box = fill(engine, library, PAGES, LINES)
        bench = _Bench(engine, library, box, folder)
        return [
            bench.against_rows(rounds, "copy"),
            bench.against_rows(rounds, "move"),
            bench.against_select(rounds),
        ]


def fill(engine: Engine, library: Library, pages: int, lines: int) -> str:
    """Create a folder of *pages* pages with *lines* lines each, every line read; return its id."""
    from armarium_source_model.api import (
        NewPass,
        NewReading,
        NewSegment,
        add_readings,
        add_segments,
        create_pass,
    )

    box = str((engine.run(library, "document.create", {"name": "Box"}, OWNER).result or {})["id"])
    found = []
    for n in range(lines):
        top = 0.02 + 0.9 * n / lines
        outline = [[0.1 + 0.8 * k / 9, top] for k in range(10)]
        outline += [[0.9 - 0.8 * k / 9, top + 0.02] for k in range(10)]
        base = [[0.1, top + 0.015], [0.9, top + 0.015]]
        found.append(NewSegment(f"l{n}", "line", [0.1, top, 0.8, 0.02], outline, base))

    for number in range(pages):

        def write(ctx: ActionContext) -> None:
            page = str(next(iter(ctx.target_ids)))
            pass_id = create_pass(ctx, NewPass(page, "Lines", provider="reader", model="sample"))
            ids = add_segments(ctx, pass_id, page, None, found)
            text = "your letter of the third has come to hand"
            add_readings(ctx, [NewReading(identity, text, producer_tool="reader") for identity in ids])

        page = {"name": f"{number:04}", "doc_type": "page", "parent_id": box}
        engine.run(library, "document.create", page, OWNER, in_transaction=write)
    return box


class _Bench:
    """The full project, and projects to copy it to."""

    def __init__(self, engine: Engine, library: Library, box: str, folder: Path) -> None:
        self.engine, self.library, self.box, self.folder = engine, library, box, folder
        self.made = 0
        self.rows = PAGES * (2 + 2 * LINES) + 1

    def _place(self, suffix: str) -> Path:
        self.made += 1
        return self.folder / f"{self.made}.{suffix}"

    def _transfer(self, mode: str) -> float:
        place = self._place("library")
        self.engine.run(None, "library.create", {"path": str(place)}, OWNER)
        target = self.engine.libraries.get(place)
        params = {"source_library": str(self.library.path), "items": [self.box], "mode": mode}
        outcomes = []
        taken_seconds = seconds(
            lambda: outcomes.append(self.engine.run(target, "document.transfer", params, OWNER))
        )
        if mode == "move":
            self.engine.undo(target, [outcomes[0].audit_id], OWNER)
        self.engine.libraries.release(place)
        return taken_seconds

    def _bare(self, copy: Callable[[sqlite3.Connection, Sequence[Table]], None]) -> float:
        """Return the seconds to copy the same rows into the same tables with the same indexes and keys, without
        triggers.
        """
        tables = [self.engine.library_schema.by_name[name] for name in TABLES]
        bare = bare_database(self._place("sqlite"), "PRAGMA foreign_keys=ON")
        try:
            for table in tables:
                bare.execute(str(CreateTable(table)))
                for index in table.indexes:
                    bare.execute(str(CreateIndex(index)))
            bare.execute("ATTACH ? AS source", (str(self.library.db.path),))
            return seconds(lambda: copy(bare, tables))
        finally:
            bare.close()

    def against_rows(self, rounds: int, mode: str) -> Result:
        """Measure a transfer against the same rows read and written by bare statements."""
        return compare(
            11,
            f"{mode} of {PAGES:,} pages with {LINES} read lines each ({self.rows:,} rows)",
            engine=lambda: self._transfer(mode),
            peer=lambda: self._bare(_by_rows),
            peer_name="SELECT and executemany between two bare databases",
            unit="s",
            rounds=rounds,
            limit=4.0,
            note="The bare copy keeps the ids, has no history and reads nothing back.",
        )

    def against_select(self, rounds: int) -> Result:
        """Measure the same against rows that never leave SQLite; only stated, since half of the time is the history's."""
        return compare(
            11,
            "the copy, against rows that never leave SQLite",
            engine=lambda: self._transfer("copy"),
            peer=lambda: self._bare(_by_select),
            peer_name="INSERT … SELECT between two bare databases",
            unit="s",
            rounds=rounds,
        )


def _by_rows(bare: sqlite3.Connection, tables: Sequence[Table]) -> None:
    bare.execute("BEGIN")
    for table in tables:
        names = ", ".join(f'"{column.name}"' for column in table.columns)
        marks = ", ".join("?" * len(table.columns))
        rows = bare.execute(f"SELECT {names} FROM source.{table.name}")
        bare.executemany(f"INSERT INTO main.{table.name} ({names}) VALUES ({marks})", rows)
    bare.execute("COMMIT")


def _by_select(bare: sqlite3.Connection, tables: Sequence[Table]) -> None:
    bare.execute("BEGIN")
    for table in tables:
        names = ", ".join(f'"{column.name}"' for column in table.columns)
        bare.execute(f"INSERT INTO main.{table.name} ({names}) SELECT {names} FROM source.{table.name}")
    bare.execute("COMMIT")
