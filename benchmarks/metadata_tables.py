"""Row 54: descriptions of documents taken in from a table, in one audited step, and undone."""

from __future__ import annotations

import base64
import os

from armarium.api import Engine, Library, Outcome
from armarium_documents.queries.metadata.planning import plan_import
from armarium_documents.schemas.metadata import MetadataParams
from benchmarks.bench_documents import add_letters, letters, plugins
from benchmarks.harness import Result, seconds
from benchmarks.places import OWNER, running_engine, scratch_folder

ROWS = int(os.environ.get("ARMARIUM_BENCH_ROWS", "100000"))
ASKED = 5_000
"""Rows a second, at least."""


def measure(rounds: int) -> list[Result]:
    """Measure the import of a table of `ARMARIUM_BENCH_ROWS` rows (100,000), each of which changes six values of one document."""
    with scratch_folder() as folder, running_engine(folder, plugins()) as (engine, library):
        new_letters = list(letters(ROWS))
        box = add_letters(engine, library, new_letters)
        rows = "".join(
            f"{item.id};{item.place} bis;{item.hand};{item.pages + 1};{item.date};f. {item.pages}r;{item.date}\r\n"
            for item in new_letters
        )
        heading = "document.id;place;hand;pages;date;document.page_label;document.date_iso\r\n"
        table = base64.b64encode(f"\ufeff{heading}{rows}".encode()).decode()
        best = min(_once(engine, library, box, table) for _ in range(min(rounds, 3)))
    rate = ROWS / best
    what = f"import of a table of {ROWS:,} rows, each of which changes 6 values of a document, in one audited step"
    return [Result(54, what, "rows a second", rate, ASKED, "asked for", rate / ASKED, "at least", 1.0)]


def _once(engine: Engine, library: Library, box: str, table: str) -> float:
    params = {"table": table, "parent_id": box}

    def take() -> None:
        made.append(engine.run(library, "document.import_metadata", params, OWNER))

    made: list[Outcome] = []
    took = seconds(take)
    asked = MetadataParams.model_validate(params)
    with library.db.read() as conn:
        assert plan_import(conn, asked, hidden=(), lists={}, owner=True).counts["equal"] == ROWS, (
            "all of it was written"
        )
    engine.undo(library, [item.audit_id for item in made if item.audit_id], OWNER)
    return took
