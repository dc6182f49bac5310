"""Row 9: a page of 200 children of a folder that has 100,000, against bare SQL for the same columns."""

from __future__ import annotations

import sqlite3
from typing import Any

import orjson

from armarium.api import NAME_KEY, raw_of
from armarium.store.name_order import register_name_key
from armarium_documents.api import documents
from benchmarks.bench_documents import add_letters, letters, plugins
from benchmarks.harness import Result, compare, seconds
from benchmarks.places import running_engine, scratch_folder

CHILDREN = 100_000
PAGE = 200
REPEATS = 10


def measure(rounds: int) -> list[Result]:
    """Measure the first page and one from the middle."""
    with scratch_folder() as folder, running_engine(folder, plugins()) as (engine, library):
        box = add_letters(engine, library, list(letters(CHILDREN)))
        bare = sqlite3.connect(f"file:{library.path / 'library.sqlite'}?mode=ro", uri=True)
        register_name_key(bare)
        try:
            return [_page(library, bare, box, offset, rounds) for offset in (0, CHILDREN // 2)]
        finally:
            bare.close()


def _page(library: Any, bare: sqlite3.Connection, box: str, offset: int, rounds: int) -> Result:
    from armarium_documents.queries.documents import children_page

    names = [str(column.name) for column in documents.columns]
    statement = (
        f"SELECT {', '.join(names)} FROM document WHERE parent_id = ? AND deleted_at IS NULL"
        f" ORDER BY sort_order, {NAME_KEY}(name), id LIMIT ? OFFSET ?"
    )

    def ours() -> bytes:
        with library.db.read() as conn:
            raw = raw_of(conn)
            items, total = children_page(raw, box, limit=PAGE, offset=offset)
        return orjson.dumps(
            {"items": items, "count": len(items), "total": total, "limit": PAGE, "offset": offset}
        )

    def theirs() -> bytes:
        rows = bare.execute(statement, (box, PAGE, offset)).fetchall()
        (total,) = bare.execute(
            "SELECT count(*) FROM document WHERE parent_id = ? AND deleted_at IS NULL", (box,)
        ).fetchone()
        return orjson.dumps({"items": [dict(zip(names, row, strict=True)) for row in rows], "total": total})

    assert orjson.loads(ours())["total"] == orjson.loads(theirs())["total"] == CHILDREN
    return compare(
        9,
        f"{PAGE} children after the first {offset:,} of a folder of {CHILDREN:,}",
        engine=lambda: seconds(lambda: [ours() for _ in range(REPEATS)]) / REPEATS,
        peer=lambda: seconds(lambda: [theirs() for _ in range(REPEATS)]) / REPEATS,
        peer_name="bare SQL and orjson",
        unit="s",
        rounds=rounds,
        limit=3.0,
        note="The peer selects the same columns and the same total." if offset == 0 else "",
    )
