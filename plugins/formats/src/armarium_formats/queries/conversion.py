"""The state of the conversion of older results: done, active, remaining.

A run is its job: what it made is read from the steps of its set, so that an undone page counts as remaining
again.
"""

from __future__ import annotations

import sqlite3
from typing import Any

from sqlalchemy import Connection

from armarium.api import JobRow, json_text, list_jobs, query, raw_of, targets_of_set
from armarium_documents.api import artifacts, documents, representations
from armarium_formats.errors import unknown_conversion
from armarium_formats.schemas.conversion import ConversionStatus
from armarium_source_model.api import passes, segments

KIND = "convert-older-results"

OLD = (
    f"FROM {artifacts} a JOIN {documents} d ON d.id = a.document_id WHERE a.ocr_geometry IS NOT NULL"
    " AND a.geometry_superseded_by_pass_id IS NULL AND d.deleted_at IS NULL"
)
"""Older results of live pages that are not converted yet."""

MAX_PROBLEMS = 1000

_STATES = {"waiting": "waiting", "paused": "waiting", "running": "running", "done": "done"}

_MADE = (
    f"SELECT p.id, p.source_artifact_id, p.document_id FROM {passes} p"
    " WHERE p.id IN (SELECT value FROM json_each(?)) AND p.source_artifact_id IS NOT NULL AND p.deleted_at IS NULL"
)


def remaining_conversions(conn: Connection) -> int:
    """Return how many older results of live pages are not converted."""
    return int(raw_of(conn).execute(f"SELECT count(*) {OLD}").fetchone()[0])


@query(
    "/api/conversion/status",
    summary="What the conversion of older results has done, is doing and has yet to do",
    answer=ConversionStatus,
    refusals=(),
    name="conversion_status",
)
def newest(conn: Connection) -> dict[str, Any]:
    return status(conn)


def status(conn: Connection, run_id: str | None = None) -> dict[str, Any]:
    """Return the newest run, or the one named; NotFound for an unknown run."""
    jobs = list_jobs(conn, "checkpoint", kinds=KIND, ids=run_id, states=None, newest=True, limit=1)
    if not jobs and run_id is not None:
        raise unknown_conversion(run_id[:64])
    answer: dict[str, Any] = {
        "state": "none",
        "run_id": None,
        "done": 0,
        "total": 0,
        "left": remaining_conversions(conn),
        "counts": {"passes": 0, "segments": 0, "readings": 0},
        "problems": [],
        "started_at": None,
        "finished_at": None,
        "seen_at": None,
        "seen_by": None,
    }
    return answer | _run(conn, jobs[0]) if jobs else answer


def _run(conn: Connection, job: JobRow) -> dict[str, Any]:
    raw = raw_of(conn)
    touched = json_text(targets_of_set(conn, job.id))
    new_passes = raw.execute(_MADE, (touched,)).fetchall()
    problems = [dict(problem) for problem in job.checkpoint.get("problems", ())]
    if job.state in ("failed", "cancelled") and job.reason:
        problems.append({"artifact_id": "", "document_id": "", "why": job.reason})
    problems += _left_out(raw, touched)
    row = raw.execute("SELECT seen_at, seen_by FROM conversion_seen WHERE run_id = ?", (job.id,)).fetchone()
    return {
        "state": _STATES.get(job.state, "failed"),
        "run_id": job.id,
        "done": len(new_passes),
        "total": job.checkpoint.get("total", job.total),
        "counts": _counts(raw, touched, len(new_passes)),
        "problems": problems[:MAX_PROBLEMS],
        "started_at": job.started_at,
        "finished_at": job.finished_at,
        "seen_at": row[0] if row else None,
        "seen_by": row[1] if row else None,
    }


def _counts(raw: sqlite3.Connection, touched: str, passes: int) -> dict[str, int]:
    pass_ids = f"(SELECT id FROM ({_MADE}))"
    (shapes,) = raw.execute(
        f"SELECT count(*) FROM {segments} WHERE deleted_at IS NULL AND pass_id IN {pass_ids}", (touched,)
    ).fetchone()
    (readings,) = raw.execute(
        f"SELECT count(*) FROM {representations} WHERE segment_id IN"
        f" (SELECT id FROM {segments} WHERE deleted_at IS NULL AND pass_id IN {pass_ids})",
        (touched,),
    ).fetchone()
    return {"passes": passes, "segments": shapes, "readings": readings}


def _left_out(raw: sqlite3.Connection, touched: str) -> list[dict[str, str]]:
    """Return results of which some boxes had no rectangle and stayed in the artifact."""
    rows = raw.execute(
        f"SELECT p.source_artifact_id, p.document_id, json_array_length(a.ocr_geometry, '$.boxes') AS boxes,"
        f" (SELECT count(*) FROM {segments} s WHERE s.pass_id = p.id AND s.box_index IS NOT NULL) AS kept"
        f" FROM ({_MADE}) p JOIN {artifacts} a ON a.id = p.source_artifact_id WHERE boxes > kept",
        (touched,),
    )
    return [
        {
            "artifact_id": artifact,
            "document_id": document,
            "why": f"{boxes - converted} of its {boxes} boxes contain no rectangle; they stay in the artifact "
            "only.",
        }
        for artifact, document, boxes, converted in rows
    ]
