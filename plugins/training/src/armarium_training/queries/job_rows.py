"""Rows of this family's jobs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import orjson
from sqlalchemy import Connection

from armarium.api import Engine, Library, NotFound, raw_of, shown_state

HERE, TRAIN = "train-on-this-machine", "train-a-model"
GATHER, COMPARE, EVALUATE, SCALE = "gather-reasons", "reasons-ab", "evaluate-models", "read-at-scale"
TRAININGS = (HERE, TRAIN)
FINISHED = frozenset({"done", "failed", "cancelled"})

_COLUMNS = "id, kind, state, reason, args, checkpoint, result, created_at, started_at, finished_at"


def job_row(
    conn: Connection, job_id: str, kinds: Sequence[str], unknown: Callable[[str], NotFound]
) -> dict[str, Any]:
    """Return the row of a job of one of *kinds*, with its JSON decoded; the refusal *unknown* for another id."""
    row = raw_of(conn).execute(f"SELECT {_COLUMNS} FROM job WHERE id = ?", (job_id,)).fetchone()
    if row is None or row[1] not in kinds:
        raise unknown(job_id)
    found = dict(zip(_COLUMNS.split(", "), row, strict=True))
    for name in ("args", "checkpoint", "result"):
        found[name] = orjson.loads(found[name]) if found[name] else {}
    return found


def shown_row(
    conn: Connection,
    engine: Engine,
    library: Library,
    job_id: str,
    kinds: Sequence[str],
    unknown: Callable[[str], NotFound],
) -> dict[str, Any]:
    """As `job_row`, with the state and the reason that the list of jobs shows: whether it is paused, why it waits."""
    row = job_row(conn, job_id, kinds, unknown)
    row["state"], row["reason"] = shown_state(engine, library, conn, job_id)
    return row


def training_answer(row: dict[str, Any]) -> dict[str, Any]:
    """Return a training's row in the form of its answer."""
    kept, state = row["checkpoint"], row["state"]
    history = [{"phase": "waiting", "at": row["created_at"]}, *kept.get("history", ())]
    if state in FINISHED and row["finished_at"]:
        history.append({"phase": state, "at": row["finished_at"]})
    phase = history[-1]["phase"]
    if state in FINISHED:
        phase = state
    elif state in ("waiting", "paused"):
        phase = "waiting"
    if state == "running" and phase == "waiting":
        phase = "preparing"
    request = row["args"].get("request") or {
        key: value for key, value in row["args"].items() if key not in ("page_ids", "request")
    }
    landed = kept.get("landed")
    ended = state in FINISHED
    return {
        "id": row["id"],
        "state": state,
        "reason": row["reason"],
        "phase": phase,
        "history": history,
        "card": row["args"].get("card") or "linereader",
        "flavor": kept.get("flavor"),
        "far_id": kept.get("far_id"),
        "price_per_hour_usd": kept.get("price_per_hour_usd"),
        "reader_id": landed if landed and landed.startswith("linereader-") else None,
        "model_id": landed if landed and not landed.startswith("linereader-") else None,
        "training_set": kept.get("training_set"),
        "last_lines": kept.get("lines", [])[-20:] if ended else [],
        "request": request,
        "measured": kept.get("measured"),
        "curve": kept.get("curve", []),
        "created_at": row["created_at"],
        "updated_at": history[-1]["at"],
    }
