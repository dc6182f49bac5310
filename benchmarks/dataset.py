"""Row 8: the dataset query (filter, sort, two facets, a date bin) against DuckDB and against Datasette's table page."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from armarium.api import Engine, Library
from benchmarks.bench_documents import Letter, add_letters, letters, plugins
from benchmarks.harness import Result, compare, seconds
from benchmarks.places import OWNER, running_engine, scratch_folder

SIZES = (10_000, 100_000, 1_000_000)
COMPARED = 100_000
PAGE = 100

CONDITION = "hand IN ('A', 'B', 'C') AND pages BETWEEN 50 AND 350 AND date >= '1550-01-01'"


def query(folder: str) -> dict[str, Any]:
    """Return the question that the peers get as SQL."""
    return {
        "parent_id": folder,
        "filters": [
            {"attr": "hand", "op": "lte", "value": "C"},
            {"attr": "pages", "op": "between", "value": 50, "value2": 350, "type": "number"},
            {"attr": "date", "op": "gte", "value": "1550", "type": "date"},
        ],
        "sort": {"attr": "price", "direction": "desc", "type": "number"},
        "limit": PAGE,
        "facets": ["place", "hand"],
        "bins": {"attr": "date", "granularity": "month"},
    }


def measure(rounds: int) -> list[Result]:
    """Measure DuckDB at each size, Datasette at 100,000; the first query on a new project and the one after a change."""
    found: list[Result] = []
    for size in SIZES:
        with scratch_folder() as folder, running_engine(folder, plugins()) as (engine, library):
            found += _measure_size(folder, engine, library, size, rounds)
    return found


def _measure_size(folder: Path, engine: Engine, library: Library, size: int, rounds: int) -> list[Result]:
    new_letters = list(letters(size))
    box = add_letters(engine, library, new_letters)
    ours = _engine(library, box)
    duck = _duckdb(new_letters)
    assert ours()["total"] == duck()[0], "engine and DuckDB answer the same question"
    limit = 3.0 if size == COMPARED else None
    results = [
        compare(
            8,
            f"dataset query over {size:,} documents",
            engine=lambda: seconds(ours),
            peer=lambda: seconds(duck),
            peer_name="DuckDB, a table of typed columns",
            unit="s",
            rounds=rounds,
            limit=limit,
            note="Both answer total, page, two facets and months." if limit else "",
        ),
        compare(
            8,
            f"the first dataset query over {size:,} documents, without the columns' file",
            engine=lambda: seconds(_cold(library, ours, file=False)),
            peer=lambda: seconds(duck),
            peer_name="DuckDB, warm",
            unit="s",
            rounds=min(rounds, 3),
            note="At most 2.5 s: the columns are read from the database and written." if limit else "",
        ),
        compare(
            8,
            f"the first dataset query over {size:,} documents, with the columns' file",
            engine=lambda: seconds(_cold(library, ours, file=True)),
            peer=lambda: seconds(ours),
            peer_name="the same query, warm",
            unit="s",
            rounds=rounds,
            note="At most 0.15 s more than warm." if limit else "",
        ),
        compare(
            8,
            f"dataset query over {size:,} documents after each change of one",
            engine=_after_a_change(engine, library, new_letters[0].id, ours),
            peer=lambda: seconds(duck),
            peer_name="DuckDB, unchanged",
            unit="s",
            rounds=rounds,
        ),
    ]
    if size == COMPARED:
        results.append(_against_datasette(folder, new_letters, ours, rounds))
    return results


def _engine(library: Library, box: str) -> Callable[[], dict[str, Any]]:
    import orjson

    from armarium_documents.queries.dataset.answer import dataset
    from armarium_documents.schemas.dataset import DatasetQuery

    asked = query(box)

    def ask() -> dict[str, Any]:
        found = dataset(library, DatasetQuery.model_validate(asked))
        # To bytes, as it is sent.
        orjson.dumps(found)
        return found

    return ask


def _cold(library: Library, ours: Callable[[], object], *, file: bool) -> Callable[[], object]:
    """Measure the first query after the project was opened."""
    library.held.clear()
    if not file:
        shutil.rmtree(library.derived_folder / "dataset", ignore_errors=True)
    return ours


def _after_a_change(
    engine: Engine, library: Library, document_id: str, ours: Callable[[], object]
) -> Callable[[], float]:
    times = iter(range(1_000_000))

    def once() -> float:
        place = f"Nowhere {next(times)}"
        engine.run(
            library, "document.update", {"document_id": document_id, "attributes": {"place": place}}, OWNER
        )
        return seconds(ours)

    return once


def _duckdb(made: list[Letter]) -> Callable[[], tuple[Any, ...]]:
    import duckdb
    import numpy as np

    conn = duckdb.connect()
    columns = {
        name: np.array([getattr(item, name) for item in made]) for name in ("id", "name", "pages", "price")
    }
    columns |= {
        name: np.array([getattr(item, name) for item in made], object) for name in ("place", "hand", "date")
    }
    conn.register("given", columns)
    conn.execute("CREATE TABLE letter AS SELECT * REPLACE (CAST(date AS DATE) AS date) FROM given")
    where = f"FROM letter WHERE {CONDITION}"

    def ask() -> tuple[Any, ...]:
        (total,) = conn.execute(f"SELECT count(*) {where}").fetchone() or (0,)
        page = conn.execute(
            f"SELECT * {where} ORDER BY price DESC NULLS LAST, name, id LIMIT {PAGE}"
        ).fetchall()
        facets = [
            conn.execute(
                f"SELECT {name}, count(*) {where} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 1000"
            ).fetchall()
            for name in ("place", "hand")
        ]
        months = conn.execute(
            f"SELECT date_trunc('month', date), count(*) {where} GROUP BY 1 ORDER BY 1"
        ).fetchall()
        return total, page, facets, months

    return ask


def _against_datasette(folder: Path, made: list[Letter], ours: Callable[[], object], rounds: int) -> Result:
    page = _datasette(folder, made)
    return compare(
        8,
        f"dataset query over {len(made):,} documents",
        engine=lambda: seconds(ours),
        peer=lambda: seconds(page),
        peer_name="Datasette's table as JSON with the same filters, sort and facets",
        unit="s",
        rounds=rounds,
        limit=0.2,
        note="Datasette has typed and indexed columns and facets of exact days; it is asked in process.",
    )


def _datasette(folder: Path, made: list[Letter]) -> Callable[[], object]:
    from datasette.app import Datasette

    place = folder / "letters.db"
    conn = sqlite3.connect(place)
    conn.execute(
        "CREATE TABLE letter (id TEXT PRIMARY KEY, name TEXT, place TEXT, hand TEXT, pages INTEGER, price REAL, date TEXT)"
    )
    conn.executemany(
        "INSERT INTO letter VALUES (?, ?, ?, ?, ?, ?, ?)",
        ((item.id, item.name, item.place, item.hand, item.pages, item.price, item.date) for item in made),
    )
    for column in ("place", "hand", "pages", "price", "date"):
        conn.execute(f"CREATE INDEX ix_letter_{column} ON letter ({column})")
    conn.execute("ANALYZE")
    conn.commit()
    conn.close()
    served = Datasette(
        [str(place)],
        settings={
            "facet_time_limit_ms": 60_000,
            "sql_time_limit_ms": 60_000,
            "facet_suggest_time_limit_ms": 1,
        },
    )
    path = (
        f"/letters/letter.json?hand__lte=C&pages__gte=50&pages__lte=350&date__gte=1550-01-01&_sort_desc=price"
        f"&_size={PAGE}&_facet=place&_facet=hand&_facet_date=date&_facet_size=1000&_nosuggest=1"
    )
    loop = asyncio.new_event_loop()

    def ask() -> object:
        answer = loop.run_until_complete(served.client.get(path))
        answer.raise_for_status()
        return answer.json()

    return ask
