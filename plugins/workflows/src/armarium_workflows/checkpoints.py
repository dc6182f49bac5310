"""The checkpoint of a run: its pages, and the output of each node for each of them. Rows are written once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Connection, select

from armarium.api import jobs, json_text, now, raw_of, withheld_nodes
from armarium_workflows.models import run_states

MOST_OUTPUT = 8 * 1024 * 1024
"""The most bytes of JSON that a node may pass on for one page."""


@dataclass(frozen=True)
class PageRow:
    """What a node did with a page."""

    page_id: str
    position: int
    state: str
    reason: str | None = None
    output: Any = None
    job_id: str | None = None


def size_fault(node: str, output: Any) -> str | None:
    """Return why *output* cannot be passed on; None if it can."""
    size = len(orjson.dumps(output))
    if size <= MOST_OUTPUT:
        return None
    return f"Node {node} returned {size / 1024 / 1024:.1f} MiB for this page; a node passes on at most 8 MiB."


def lay_out(conn: Connection, thread_id: str, page_ids: Sequence[str], **fields: Any) -> None:
    """Write the pages of a new run, and its state; a run without pages has one item without an id.

    *fields*: `scope_ids` and `inputs` of a step of a chain.
    """
    # The step of a chain is laid out twice: as a run without pages, and when the chain has come to it.
    raw_of(conn).execute("DELETE FROM workflow_page WHERE thread_id = ?", (thread_id,))
    keep(conn, thread_id, "", (PageRow(page_id, n, "waiting") for n, page_id in enumerate(page_ids or [""])))
    set_waiting(conn, thread_id, len(page_ids), **fields)


def set_waiting(conn: Connection, thread_id: str, pages: int = 0, **fields: Any) -> None:
    """Write that a run over so many *pages*, or an execution of a chain, is to begin."""
    counts = dict.fromkeys(("pages_done", "pages_failed", "pages_skipped", "forgotten"), 0)
    row = {"thread_id": thread_id, "status": "waiting", "pages": pages, "outputs": {}, **counts, **fields}
    conn.execute(run_states.delete().where(run_states.c.thread_id == thread_id))
    conn.execute(run_states.insert().values(row))


def keep(conn: Connection, thread_id: str, node_id: str, rows: Iterable[PageRow]) -> None:
    """Write what a node did with pages; writing it again gives the same row."""
    raw_of(conn).executemany(
        "INSERT INTO workflow_page (thread_id, node_id, page_id, position, state, reason, output, job_id) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (thread_id, node_id, page_id) DO UPDATE SET "
        "state = excluded.state, reason = excluded.reason, output = excluded.output, "
        "job_id = COALESCE(excluded.job_id, job_id)",
        [
            (
                thread_id,
                node_id,
                row.page_id,
                row.position,
                row.state,
                row.reason,
                None if row.output is None else json_text(row.output),
                row.job_id,
            )
            for row in rows
        ],
    )


def pages(conn: Connection, thread_id: str, start: int, limit: int) -> list[tuple[str, int]]:
    """Return (page, position) of a run's pages, beginning at position *start*."""
    return list(
        raw_of(conn).execute(
            "SELECT page_id, position FROM workflow_page WHERE thread_id = ? AND node_id = '' AND position >= ? "
            "ORDER BY position LIMIT ?",
            (thread_id, start, limit),
        )
    )


def node_outputs(
    conn: Connection, thread_id: str, node_ids: Sequence[str], page_ids: Sequence[str]
) -> dict[str, dict[str, tuple[str, Any]]]:
    """Return page to node to (state, output)."""
    outputs: dict[str, dict[str, tuple[str, Any]]] = {}
    for page_id, node_id, state, output in raw_of(conn).execute(
        "SELECT p.page_id, p.node_id, p.state, p.output FROM json_each(?) n, json_each(?) g JOIN workflow_page p "
        "ON p.thread_id = ? AND p.node_id = n.value AND p.page_id = g.value",
        (json_text(list(node_ids)), json_text(list(page_ids)), thread_id),
    ):
        outputs.setdefault(page_id, {})[node_id] = (state, None if output is None else orjson.loads(output))
    return outputs


def positions(conn: Connection, thread_id: str, page_ids: Sequence[str]) -> dict[str, int]:
    """Return the position of each page in the run."""
    return dict(
        raw_of(conn).execute(
            "SELECT page_id, position FROM workflow_page WHERE thread_id = ? AND node_id = '' "
            "AND page_id IN (SELECT value FROM json_each(?))",
            (thread_id, json_text(list(page_ids))),
        )
    )


class PageCounts(NamedTuple):
    """How many pages a run covers, and what became of them; those of a run that goes on are in none of the last three."""

    pages: int
    pages_done: int
    pages_failed: int
    pages_skipped: int


_COUNTED = (
    "SELECT count(*), count(*) FILTER (WHERE state = 'done'), count(*) FILTER (WHERE state = 'failed'), "
    "count(*) FILTER (WHERE state = 'skipped') FROM workflow_page WHERE thread_id = ? AND node_id = '' AND page_id <> ''"
)


def settle(conn: Connection, thread_id: str, steps: int) -> PageCounts:
    """Set the state of each page: done by all *steps*, failed at one, or skipped at one because of the page's
    rights (skipped by a job, not by a branch); return their numbers.
    """
    raw = raw_of(conn)
    raw.execute(
        # The page that was being worked on when the run was cancelled was still finished.
        "UPDATE workflow_page SET state = 'done' WHERE thread_id = ? AND state = 'queued' "
        f"AND EXISTS (SELECT 1 FROM {jobs} j WHERE j.id = workflow_page.job_id AND j.state = 'done')",
        (thread_id,),
    )
    raw.execute(
        "UPDATE workflow_page AS p SET (state, reason) = (SELECT CASE WHEN sum(q.state = 'failed') THEN 'failed' "
        "WHEN sum(q.state = 'skipped' AND q.job_id IS NOT NULL) THEN 'skipped' "
        "WHEN sum(q.state IN ('done', 'skipped')) >= ?2 THEN 'done' ELSE 'waiting' END, "
        "COALESCE(max(CASE WHEN q.state = 'failed' THEN q.reason END), "
        "max(CASE WHEN q.state = 'skipped' AND q.job_id IS NOT NULL THEN q.reason END)) FROM workflow_page q "
        "WHERE q.thread_id = ?1 AND q.page_id = p.page_id AND q.node_id <> '') "
        "WHERE p.thread_id = ?1 AND p.node_id = ''",
        (thread_id, steps),
    )
    counts = PageCounts(*raw.execute(_COUNTED, (thread_id,)).fetchone())
    raw.execute(
        "UPDATE workflow_run_state SET pages_done = ?, pages_failed = ?, pages_skipped = ? WHERE thread_id = ?",
        (*counts[1:], thread_id),
    )
    return counts


def count_stopped(conn: Connection, thread_id: str, ends: Sequence[str]) -> int:
    """Return how many pages count as done though none of the nodes *ends* did anything with them: a branch stopped them."""
    (count,) = (
        raw_of(conn)
        .execute(
            "SELECT count(*) FROM workflow_page p WHERE thread_id = ? AND node_id = '' AND page_id <> '' AND state = 'done' "
            "AND NOT EXISTS (SELECT 1 FROM workflow_page q WHERE q.thread_id = p.thread_id AND q.page_id = p.page_id "
            "AND q.state = 'done' AND q.node_id IN (SELECT value FROM json_each(?)))",
            (thread_id, json_text(list(ends))),
        )
        .fetchone()
    )
    return int(count)


def _pages_where(
    conn: Connection, thread_id: str, condition: str, columns: str = "page_id", limit: str = ""
) -> list[Any]:
    """Return the pages of a run that meet *condition*, in order."""
    return (
        raw_of(conn)
        .execute(
            f"SELECT {columns} FROM workflow_page WHERE thread_id = ? AND node_id = '' AND {condition} "
            f"ORDER BY position {limit}",
            (thread_id,),
        )
        .fetchall()
    )


def first_reason(conn: Connection, thread_id: str, state: str) -> str | None:
    """Return why the first page in *state* (failed or skipped) is in it."""
    rows = _pages_where(conn, thread_id, f"state = '{state}'", "reason", "LIMIT 1")
    return rows[0][0] if rows else None


def not_done(conn: Connection, thread_id: str) -> list[str]:
    """Return the pages that a finished run did not do, in order."""
    return [page for (page,) in _pages_where(conn, thread_id, "page_id <> '' AND state <> 'done'")]


def set_state(conn: Connection, thread_id: str, **values: Any) -> None:
    """Change the state of a run, or of an execution."""
    conn.execute(run_states.update().where(run_states.c.thread_id == thread_id).values(**values))


def set_ended(conn: Connection, thread_id: str, status: str, reason: str | None, **values: Any) -> None:
    """Write that a run, or an execution, has ended."""
    set_state(conn, thread_id, status=status, reason=reason, finished_at=now(), **values)


def forget(conn: Connection, thread_id: str) -> None:
    """Remove the checkpoint of a run; how it ended is kept."""
    raw_of(conn).execute("DELETE FROM workflow_page WHERE thread_id = ?", (thread_id,))
    set_state(conn, thread_id, forgotten=1)


def is_forgotten(conn: Connection, thread_id: str) -> bool:
    """Return whether the checkpoint of a run was removed."""
    query = select(run_states.c.forgotten).where(run_states.c.thread_id == thread_id)
    return conn.execute(query).scalar() not in (0, False)


def page_counts(conn: Connection, thread_id: str) -> PageCounts | None:
    """Return the numbers of a run's pages, as last counted; None if it is not a run. If documents are
    withheld from the caller, only the visible pages are counted.
    """
    raw = raw_of(conn)
    row = raw.execute(
        "SELECT pages, pages_done, pages_failed, pages_skipped FROM workflow_run_state WHERE thread_id = ?",
        (thread_id,),
    ).fetchone()
    if row is not None and withheld_nodes(conn):
        row = raw.execute(_COUNTED, (thread_id,)).fetchone()
    return PageCounts(*row) if row is not None else None


def pages_of(conn: Connection, thread_id: str) -> list[str]:
    """Return the pages of a run, in order."""
    return [page for (page,) in _pages_where(conn, thread_id, "page_id <> ''")]


def pages_done(conn: Connection, thread_id: str) -> list[str]:
    """Return the pages that a finished run processed, in order."""
    return [page for (page,) in _pages_where(conn, thread_id, "page_id <> '' AND state = 'done'")]


def failed_pages(conn: Connection, thread_id: str) -> list[dict[str, Any]]:
    """Return the pages at which a run failed, in order: document_id and reason."""
    rows = _pages_where(conn, thread_id, "page_id <> '' AND state = 'failed'", "page_id, reason")
    return [{"document_id": page, "why": reason} for page, reason in rows]
