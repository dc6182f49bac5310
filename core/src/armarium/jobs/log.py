"""The log of jobs: lines of one row and of the rows beneath it, in one sequence with the events of runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

import orjson
from sqlalchemy import Connection

from armarium.history.visibility import withheld_nodes
from armarium.ids import now
from armarium.store.database import raw_of
from armarium.store.tables import json_text

Level = Literal["debug", "info", "warning", "error"]
Source = Literal["run", "step", "job"]

LONGEST_MESSAGE = 2000


def write_lines(
    conn: Connection, lines: Iterable[tuple[str, str, str, Mapping[str, Any]]], *, source: Source = "job"
) -> None:
    """Add lines (row id, level, message, data). Neither message nor data may hold page text."""
    at = now()
    raw_of(conn).executemany(
        "INSERT INTO job_log (at, source, row_id, level, message, data) VALUES (?, ?, ?, ?, ?, ?)",
        [
            (at, source, row_id, level, message[:LONGEST_MESSAGE], json_text(dict(data)))
            for row_id, level, message, data in lines
        ],
    )


def log_span(conn: Connection) -> tuple[int, int]:
    """Return the numbers of the oldest and of the newest line there is; 0 for none."""
    raw = raw_of(conn)
    # Two questions, because SQLite reads one end of an index for each; for both together it reads all of it.
    ends = (
        raw.execute(f"SELECT COALESCE({end}(seq), 0) FROM job_log").fetchone()[0] for end in ("min", "max")
    )
    oldest, newest = ends
    return oldest, newest


def thread_lines(
    conn: Connection, thread_id: str, *, after: int, limit: int
) -> list[tuple[int, str, str, str, str, str]]:
    """Return (number, time, row id, level, message, data as JSON) of lines of a run and of its jobs after number *after*."""
    return (
        raw_of(conn)
        .execute(
            "SELECT l.seq, l.at, l.row_id, l.level, l.message, l.data FROM job_log l WHERE l.seq > ?1 AND (l.row_id = ?2 "
            "OR l.row_id IN (SELECT id FROM job WHERE thread_id = ?2)) ORDER BY l.seq LIMIT ?3",
            (after, thread_id, limit),
        )
        .fetchall()
    )


def data_shown(conn: Connection) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return what a caller sees of a line's data: everything; where documents are withheld no numbers, because they
    count those too.
    """
    if not withheld_nodes(conn):
        return lambda data: data
    return lambda data: {
        key: value
        for key, value in data.items()
        if isinstance(value, bool) or not isinstance(value, int | float)
    }


def read_lines(
    conn: Connection, row_ids: Iterable[str], *, limit: int = 500, after: int | None = None
) -> list[dict[str, Any]]:
    """Return lines of *row_ids* and of every row beneath them, newest last.

    The last *limit* lines, or with *after* the first *limit* after that number, so that a reader can continue. A run's
    rows are its own (`<run>`), its steps (`<run>:<step>`) and its jobs.
    """
    raw, show = raw_of(conn), data_shown(conn)
    roots = list(dict.fromkeys(row_ids))
    lines: list[tuple[Any, ...]] = []
    for start in range(0, len(roots), 400):
        part = roots[start : start + 400]
        values = ", ".join("(?)" for _ in part)
        order = "ASC" if after is not None else "DESC"
        lines += raw.execute(
            f"WITH RECURSIVE tree (id) AS (VALUES {values} UNION "
            "SELECT job.id FROM job JOIN tree ON job.parent_id = tree.id) "
            "SELECT seq, at, source, row_id, level, message, data FROM job_log "
            f"WHERE row_id IN (SELECT id FROM tree) AND seq > ? ORDER BY seq {order} LIMIT ?",
            (*part, after or 0, limit),
        ).fetchall()
    lines.sort(key=lambda row: row[0])
    page = lines[:limit] if after is not None else lines[-limit:]
    return [
        {
            "seq": seq,
            "at": at,
            "source": source,
            "row_id": row_id,
            "level": level,
            "message": message,
            "data": show(orjson.loads(data)),
        }
        for seq, at, source, row_id, level, message, data in page
    ]
