"""Row 51: the text of a page as of a past step against the text of today: a page with 1,000 changes since, and one with
none in a project that changed.
"""

from __future__ import annotations

from typing import Any

from armarium.api import Engine, Library, find_moment, reading_as_of
from armarium_source_model.api import page_text
from benchmarks.harness import Result, compare, seconds
from benchmarks.places import OWNER, running_engine, scratch_folder

LINES, CHANGES, REPEATS = 40, 1_000, 10


def measure(rounds: int) -> list[Result]:
    """Measure the text of both pages as of the step before the changes."""
    with scratch_folder() as folder, running_engine(folder) as (engine, library):
        changed, untouched = (_page(engine, library, name) for name in ("changed", "untouched"))
        with library.db.read() as conn:
            step = find_moment(conn).audit_id
        for number in range(CHANGES):
            segment = changed[1][number % LINES]
            _run(engine, library, "representation.create", segment_id=segment, text=f"corrected {number}")
        return [
            _compare(
                library, changed[0], step, f"text as of before {CHANGES:,} changes of the page", rounds, 2.0
            ),
            _compare(
                library, untouched[0], step, "text as of then of a page without a change since", rounds, None
            ),
        ]


def _page(engine: Engine, library: Library, name: str) -> tuple[str, list[str]]:
    page = _run(engine, library, "document.create", name=name, doc_type="page")["id"]
    lines = [
        {"key": str(n), "rect": [0.1, 0.02 + 0.024 * n, 0.8, 0.02], "text": f"the text of line {n} as read"}
        for n in range(LINES)
    ]
    made = _run(
        engine,
        library,
        "segment.take_lines",
        document_id=page,
        name="Lines",
        provider="reader",
        model="m",
        lines=lines,
    )
    return str(page), list(made["segment_ids"])


def _run(engine: Engine, library: Library, action: str, /, **params: Any) -> dict[str, Any]:
    return engine.run(library, action, params, OWNER).result or {}


def _compare(library: Library, page: str, step: str, what: str, rounds: int, limit: float | None) -> Result:
    def then() -> None:
        for _ in range(REPEATS):
            with reading_as_of(library.db, step, [page]), library.db.read() as conn:
                page_text(conn, page)

    def now() -> None:
        for _ in range(REPEATS):
            with library.db.read() as conn:
                page_text(conn, page)

    return compare(
        51,
        what,
        engine=lambda: seconds(then),
        peer=lambda: seconds(now),
        peer_name="the text of today",
        unit="s",
        rounds=rounds,
        limit=limit,
    )
