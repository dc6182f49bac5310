"""What the conversion of older results has done, is doing and has left (B 4.6).

A run is its job: what it made is read from the steps of its set, so that an undone page is counted as left again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

import orjson
from sqlalchemy import Connection

from armarium.api import NotFound, raw_of

KIND = "convert-older-results"

OLD = (
    "FROM artifact a JOIN document d ON d.id = a.document_id WHERE a.ocr_geometry IS NOT NULL"
    " AND a.geometry_superseded_by_pass_id IS NULL AND d.deleted_at IS NULL"
)
"""Older results of live pages that are not converted yet."""

MAX_PROBLEMS = 1000

_STATES = {"waiting": "waiting", "paused": "waiting", "running": "running", "done": "done"}

_RUN = (
    "SELECT id, state, checkpoint, reason, started_at, finished_at, total FROM job WHERE kind = ?"
    " {which} ORDER BY seq DESC LIMIT 1"
)

_MADE = (
    "SELECT p.id, p.source_artifact_id, p.document_id FROM segment_pass p WHERE p.id IN"
    " (SELECT t.target_id FROM audit_target t JOIN audit u ON u.seq = t.seq WHERE u.set_id = ?)"
    " AND p.source_artifact_id IS NOT NULL AND p.deleted_at IS NULL"
)


def left(conn: Connection) -> int:
    """How many older results of live pages are not converted."""
    return int(raw_of(conn).execute(f"SELECT count(*) {OLD}").fetchone()[0])


def status(conn: Connection, run_id: str | None = None) -> dict[str, Any]:
    """The newest run, or the one named; NotFound for a run there never was."""
    raw = raw_of(conn)
    which, values = ("AND id = ?", (KIND, run_id)) if run_id is not None else ("", (KIND,))
    row = raw.execute(_RUN.format(which=which), values).fetchone()
    if row is None and run_id is not None:
        raise NotFound(
            f"There is no conversion {run_id[:64]}; the status of conversions names the newest.",
            code="unknown_conversion",
        )
    answer: dict[str, Any] = {
        "state": "none",
        "run_id": None,
        "done": 0,
        "total": 0,
        "left": left(conn),
        "counts": {"passes": 0, "segments": 0, "readings": 0},
        "problems": [],
        "started_at": None,
        "finished_at": None,
        "seen_at": None,
        "seen_by": None,
    }
    return answer if row is None else answer | _run(raw, row)


def _run(raw: sqlite3.Connection, row: Sequence[Any]) -> dict[str, Any]:
    identity, state, checkpoint, reason, started, finished, total = row
    kept = orjson.loads(checkpoint) if checkpoint else {}
    made = raw.execute(_MADE, (identity,)).fetchall()
    problems = [dict(one) for one in kept.get("problems", ())]
    if state in ("failed", "cancelled") and reason:
        problems.append({"artifact_id": "", "document_id": "", "why": reason})
    problems += _left_out(raw, identity)
    seen = raw.execute(
        "SELECT seen_at, seen_by FROM conversion_seen WHERE run_id = ?", (identity,)
    ).fetchone()
    return {
        "state": _STATES.get(state, "failed"),
        "run_id": identity,
        "done": len(made),
        "total": kept.get("total", total),
        "counts": _counts(raw, identity, len(made)),
        "problems": problems[:MAX_PROBLEMS],
        "started_at": started,
        "finished_at": finished,
        "seen_at": seen[0] if seen else None,
        "seen_by": seen[1] if seen else None,
    }


def _counts(raw: sqlite3.Connection, run_id: str, passes: int) -> dict[str, int]:
    made = f"(SELECT id FROM ({_MADE}))"
    (segments,) = raw.execute(
        f"SELECT count(*) FROM segment WHERE deleted_at IS NULL AND pass_id IN {made}", (run_id,)
    ).fetchone()
    (readings,) = raw.execute(
        "SELECT count(*) FROM content_representation WHERE segment_id IN"
        f" (SELECT id FROM segment WHERE deleted_at IS NULL AND pass_id IN {made})",
        (run_id,),
    ).fetchone()
    return {"passes": passes, "segments": segments, "readings": readings}


def _left_out(raw: sqlite3.Connection, run_id: str) -> list[dict[str, str]]:
    """Results of which some boxes hold no rectangle and stayed behind in the artifact."""
    rows = raw.execute(
        f"SELECT p.source_artifact_id, p.document_id, json_array_length(a.ocr_geometry, '$.boxes') AS boxes,"
        " (SELECT count(*) FROM segment s WHERE s.pass_id = p.id AND s.box_index IS NOT NULL) AS kept"
        f" FROM ({_MADE}) p JOIN artifact a ON a.id = p.source_artifact_id WHERE boxes > kept",
        (run_id,),
    )
    return [
        {
            "artifact_id": artifact,
            "document_id": document,
            "why": f"{boxes - kept} of its {boxes} boxes hold no rectangle; they stay in the artifact only.",
        }
        for artifact, document, boxes, kept in rows
    ]
