"""Where the citation of a segment leads now: the notes of merges, splits, deletions and restorings, followed."""

from __future__ import annotations

from typing import Any

import orjson
from sqlalchemy import Connection

from armarium.api import versions
from armarium_source_model.models import segments

_KEYS = (
    "sequence",
    "id",
    "document_id",
    "old_segment_id",
    "kind",
    "new_segment_ids",
    "actor",
    "audit_id",
    "reason",
    "created_at",
)


def notes_about(conn: Connection, segment_id: str) -> list[dict[str, Any]]:
    """The notes on one segment, oldest first."""
    return [
        _note(row)
        for row in conn.exec_driver_sql(
            f"SELECT {', '.join(_KEYS)} FROM segment_forwarding WHERE old_segment_id = ? ORDER BY sequence",
            (segment_id,),
        )
    ]


def notes_of_step(conn: Connection, audit_id: str) -> list[dict[str, Any]]:
    """The notes one step wrote, oldest first."""
    return [
        _note(row)
        for row in conn.exec_driver_sql(
            f"SELECT {', '.join(_KEYS)} FROM segment_forwarding WHERE audit_id = ? ORDER BY sequence",
            (audit_id,),
        )
    ]


def _note(row: Any) -> dict[str, Any]:
    note = dict(zip(_KEYS, row, strict=True))
    note["new_segment_ids"] = orjson.loads(note["new_segment_ids"])
    return note


def follow(conn: Connection, segment_id: str) -> tuple[list[dict[str, Any]], list[str]]:
    """The trail from *segment_id* (oldest note first) and the ids that are live at its end.

    The newest note on an id decides where it went; the parts of a split stay parts of what was cited whatever became
    of the first one since, so they are followed too. An id met twice is not followed again, so a ring (a part merged back
    into the whole, say) ends as well.
    """
    trail: dict[int, dict[str, Any]] = {}
    live: dict[str, None] = {}
    seen: set[str] = set()
    waiting = [segment_id]
    while waiting:
        current = waiting.pop(0)
        if current in seen:
            continue
        seen.add(current)
        notes = notes_about(conn, current)
        for note in notes:
            trail[note["sequence"]] = note
        if _is_live(conn, current):
            live[current] = None
        if notes and notes[-1]["kind"] == "merged":
            waiting.extend(notes[-1]["new_segment_ids"])
        waiting.extend(part for note in notes if note["kind"] == "split" for part in note["new_segment_ids"])
    return [trail[number] for number in sorted(trail)], list(live)


def home_of_taken_back(conn: Connection, segment_id: str) -> str | None:
    """The page of a segment whose making was taken back, out of its history; None where there never was such a one."""
    states = versions(conn, segments, segment_id)
    return states[-1]["values"]["document_id"] if states else None


def _is_live(conn: Connection, segment_id: str) -> bool:
    row = conn.exec_driver_sql(
        "SELECT s.deleted_at, p.deleted_at FROM segment s JOIN segment_pass p ON p.id = s.pass_id WHERE s.id = ?",
        (segment_id,),
    ).one_or_none()
    return row is not None and row[0] is None and row[1] is None
