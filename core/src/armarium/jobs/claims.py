"""Which job runs next: the one place that turns the order of jobs into queries.

The order: watched by a person, then kinds marked first before heavy ones, then work for the loaded model, then age.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields
from datetime import timedelta

from armarium.ids import now, parse_timestamp, timestamp
from armarium.jobs.decisions import HELD
from armarium.jobs.kinds import JobKind
from armarium.network.limits import LONGEST_WAIT

PATIENCE = 32
"""How often in a row the oldest job of a lane may be passed over; then it is its turn, whatever is preferred."""


@dataclass(slots=True)
class Claim:
    """A job picked up from the queue, with what its body needs; JSON is still text."""

    seq: int
    id: str
    kind: str
    title: str
    args: str
    checkpoint: str | None
    model: str | None
    parent_id: str | None
    attempts: int
    own_done: int
    interruptions: int
    body_done: int
    principal: str | None
    started_by: str | None
    thread_id: str | None
    not_before: str | None
    handed_in_by: str | None
    subject: str | None
    started_at: str | None
    """When its body first began; a retry begins anew."""


_COLUMNS = ", ".join(field.name for field in fields(Claim))


def select(
    raw: sqlite3.Connection,
    kind: JobKind,
    lane: str,
    *,
    limit: int,
    model: str | None = None,
    same_model: bool = False,
    watched: Collection[str] = (),
    any_holds: bool = True,
) -> list[Claim]:
    """Return the oldest waiting jobs of *kind* that may start now in *lane*, at most *limit*.

    *model* with *same_model* selects jobs for that model (None: for no model); *watched* selects jobs that have one of
    these ids or are at most two levels beneath.
    """
    moment = now()
    far = timestamp(parse_timestamp(moment) + timedelta(seconds=LONGEST_WAIT))
    wheres = [
        "state = 'waiting'",
        "kind = ?",
        # Rows without a lane belong to the kind's usual one.
        "(lane IS NULL OR lane = ?)" if kind.lane == lane else "lane = ?",
        "(not_before IS NULL OR not_before <= ? OR not_before > ?)",
        "(after_id IS NULL OR (SELECT d.state FROM job d WHERE d.id = job.after_id) = 'done')",
    ]
    values: list[object] = [kind.name, lane, moment, far]
    if any_holds:
        wheres.append(f"id NOT IN ({HELD} SELECT id FROM held)")
    if same_model:
        wheres.append("model IS ?")
        values.append(model)
    if watched:
        marks = ", ".join("?" * len(watched))
        wheres.append(
            f"(id IN ({marks}) OR parent_id IN ({marks}) "
            f"OR parent_id IN (SELECT c.id FROM job c WHERE c.parent_id IN ({marks})))"
        )
        values += [*watched, *watched, *watched]
    rows = raw.execute(
        f"SELECT {_COLUMNS} FROM job WHERE {' AND '.join(wheres)} ORDER BY seq LIMIT ?", (*values, limit)
    )
    return [Claim(*row) for row in rows]


def any_holds(raw: sqlite3.Connection) -> bool:
    """Return whether any job is paused by a person; if none is, the queries can skip that condition."""
    return raw.execute("SELECT 1 FROM job_hold WHERE paused = 1 LIMIT 1").fetchone() is not None


def kinds_waiting(raw: sqlite3.Connection, names: Iterable[str]) -> set[str]:
    """Return those of the kinds *names* that have a waiting job, paused or not."""
    return {
        name
        for name in names
        if raw.execute("SELECT 1 FROM job WHERE state = 'waiting' AND kind = ? LIMIT 1", (name,)).fetchone()
    }


def next_due(raw: sqlite3.Connection) -> float | None:
    """Return the seconds until the first postponed job is due; None when there is none."""
    (first,) = raw.execute(
        "SELECT min(not_before) FROM job WHERE state = 'waiting' AND not_before IS NOT NULL"
    ).fetchone()
    if first is None:
        return None
    seconds = (parse_timestamp(first) - parse_timestamp(now())).total_seconds()
    return min(max(seconds, 0.0), LONGEST_WAIT)
