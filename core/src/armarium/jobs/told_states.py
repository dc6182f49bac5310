"""Which jobs an event is published of, and in which state: what a pause or its end changes above and below a job is told
too.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable
from typing import Any

import orjson

from armarium.jobs.decisions import paused_ids

MOST_TOLD = 1_000
"""Jobs of one tree of which a pause is told; whoever shows more than these asks for the list again."""

_AROUND = """
WITH RECURSIVE
below(id) AS (SELECT value FROM json_each(?1) UNION SELECT j.id FROM job j JOIN below b ON j.parent_id = b.id),
above(id) AS (SELECT value FROM json_each(?1) UNION
  SELECT j.parent_id FROM job j JOIN above a ON j.id = a.id WHERE j.parent_id IS NOT NULL)
SELECT id FROM above UNION ALL
SELECT id FROM (SELECT j.id FROM below b JOIN job j ON j.id = b.id
  WHERE j.state IN ('waiting', 'running') AND j.id NOT IN (SELECT id FROM above) ORDER BY j.seq LIMIT ?2)
"""
_ROWS = (
    "SELECT id, state, done, total, reason, body_done FROM job WHERE id IN (SELECT value FROM json_each(?))"
)


def told_states(
    raw: sqlite3.Connection, ids: Iterable[str], executing: Collection[str], *, with_relatives: bool = False
) -> list[dict[str, Any]]:
    """Return the data of an event for each of the jobs *ids* that exists, in the state that lists show.

    *executing*: the jobs whose body is at work. With *with_relatives*, the jobs above and below are told too; without it
    those above what rests under a pause, which rest with it.
    """
    wanted = list(dict.fromkeys(ids))
    held = paused_ids(raw)
    if with_relatives:
        wanted = _around(raw, wanted, MOST_TOLD)
    elif held:
        wanted += [one for one in _around(raw, wanted, 0) if one in held and one not in wanted]
    busy = set(_around(raw, executing, 0)) if held else set()
    found = []
    for job_id, state, done, total, reason, body_done in raw.execute(_ROWS, (_json(wanted),)).fetchall():
        rests = state == "waiting" or (state == "running" and body_done and job_id not in busy)
        shown = "paused" if rests and job_id in held else state
        found.append({"id": job_id, "state": shown, "done": done, "total": total, "reason": reason})
    return found


def _around(raw: sqlite3.Connection, ids: Iterable[str], below: int) -> list[str]:
    return [row[0] for row in raw.execute(_AROUND, (_json(ids), below))]


def _json(ids: Iterable[str]) -> str:
    return orjson.dumps(list(ids)).decode()
