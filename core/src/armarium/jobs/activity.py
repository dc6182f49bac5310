"""The event log of activity: what runs, batches and the system did, append-only; stored apart from the runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

import orjson
from sqlalchemy import Column, Connection, Index, Integer, Table, Text

from armarium.errors import Invalid
from armarium.history.visibility import withheld_nodes
from armarium.ids import new_id, now
from armarium.jobs.log import Level, data_shown, write_lines
from armarium.jobs.models import jobs_metadata
from armarium.jobs.partly_seen import WITHHELD_WHY
from armarium.store.database import raw_of
from armarium.store.tables import Json, append_only, json_text

ActivityType = Literal[
    "workflow_started",
    "workflow_completed",
    "workflow_failed",
    "workflow_paused",
    "workflow_resumed",
    "workflow_cancelled",
    "workflow_deleted",
    "node_started",
    "node_completed",
    "node_failed",
    "batch_created",
    "batch_started",
    "batch_item_completed",
    "batch_item_failed",
    "batch_completed",
    "system_info",
]
"""The types of events."""

ACTIVITY_TYPES: frozenset[str] = frozenset(get_args(ActivityType))

activity = Table(
    "activity",
    jobs_metadata,
    Column("seq", Integer, primary_key=True),
    Column("id", Text, nullable=False, unique=True),
    Column("type", Text, nullable=False),
    Column("level", Text, nullable=False),
    Column("timestamp", Text, nullable=False),
    Column("message", Text, nullable=False),
    Column("workflow_id", Text),
    Column("batch_id", Text),
    Column("thread_id", Text),
    Column("node_id", Text),
    Column("metadata", Json, nullable=False),
    Column("duration_ms", Integer),
    Column("error", Text),
    info=append_only(),
)
Index("ix_activity_type", activity.c.type)
Index("ix_activity_timestamp", activity.c.timestamp)
for _column in (activity.c.workflow_id, activity.c.batch_id, activity.c.thread_id):
    Index(f"ix_activity_{_column.name}", _column, sqlite_where=_column.isnot(None))

_COLUMNS = "id, type, level, timestamp, message, workflow_id, batch_id, thread_id, node_id, metadata, duration_ms, error"


def record_activity(
    conn: Connection,
    type: ActivityType,
    message: str,
    *,
    level: Level = "info",
    workflow_id: str | None = None,
    batch_id: str | None = None,
    thread_id: str | None = None,
    node_id: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    duration_ms: int | None = None,
    error: str | None = None,
) -> str:
    """Append one event; return its id. Never page text: ids, names, numbers and our own words.

    An event of a run (*thread_id*) also becomes a line in the log of the run's row, one of a node in its step's.
    """
    if type not in ACTIVITY_TYPES:
        raise Invalid(
            f"{type!r} is not a type of activity; the types are {', '.join(sorted(ACTIVITY_TYPES))}.",
            code="unknown_activity_type",
        )
    event_id = new_id()
    raw_of(conn).execute(
        f"INSERT INTO activity ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            event_id,
            type,
            level,
            now(),
            message,
            workflow_id,
            batch_id,
            thread_id,
            node_id,
            json_text(dict(metadata or {})),
            duration_ms,
            error,
        ),
    )
    if thread_id is not None:
        step = node_id is not None
        row_id = f"{thread_id}:{node_id}" if step else thread_id
        data = {**(metadata or {}), "type": type, **({"error": error} if error else {})}
        write_lines(conn, [(row_id, level, message, data)], source="step" if step else "run")
    return event_id


def read_activity(
    conn: Connection,
    *,
    types: Sequence[str] = (),
    levels: Sequence[str] = (),
    workflow_id: str | None = None,
    batch_id: str | None = None,
    thread_ids: Iterable[str] | None = None,
    since: str | None = None,
    until: str | None = None,
    search: str | None = None,
    limit: int = 100,
    offset: int = 0,
) -> tuple[list[dict[str, Any]], int]:
    """Return the events that match every filter given, newest first, and the total. *search* applies to the message."""
    wheres: list[str] = []
    values: list[Any] = []
    for column, words in (("type", types), ("level", levels)):
        if words:
            wheres.append(f"{column} IN ({', '.join('?' * len(words))})")
            values += words
    for clause, value in (
        ("workflow_id = ?", workflow_id),
        ("batch_id = ?", batch_id),
        (
            "thread_id IN (SELECT value FROM json_each(?))",
            None if thread_ids is None else json_text(list(thread_ids)),
        ),
        ("timestamp >= ?", since),
        ("timestamp <= ?", until),
        ("instr(activity_folded(message), ?) > 0", None if search is None else search.casefold()),
    ):
        if value is not None:
            wheres.append(clause)
            values.append(value)
    condition = f" WHERE {' AND '.join(wheres)}" if wheres else ""
    raw = raw_of(conn)
    # SQLite's own lower() only handles ASCII letters.
    raw.create_function("activity_folded", 1, str.casefold, deterministic=True)
    (total,) = raw.execute(f"SELECT count(*) FROM activity{condition}", values).fetchone()
    names = [name.strip() for name in _COLUMNS.split(",")]
    items = [
        dict(zip(names, row, strict=True))
        for row in raw.execute(
            f"SELECT {_COLUMNS} FROM activity{condition} ORDER BY seq DESC LIMIT ? OFFSET ?",
            (*values, limit, offset),
        )
    ]
    show, limited = data_shown(conn), bool(withheld_nodes(conn))
    for item in items:
        item["metadata"] = show(orjson.loads(item["metadata"]))
        if limited and item["error"]:
            item["message"] = item["message"].replace(item["error"], WITHHELD_WHY)
            item["error"] = WITHHELD_WHY
    return items, int(total)
