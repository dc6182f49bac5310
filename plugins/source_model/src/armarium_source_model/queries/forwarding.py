"""Follows the notes of merges, splits, deletions and restorations to where the citation of a segment leads
now.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, func, select

from armarium.api import Rows, first_of_chain, versions
from armarium_source_model.models import forwardings, segments

_NOTES = Rows(forwardings)


def notes_about(conn: Connection, segment_id: str) -> list[dict[str, Any]]:
    """Return the notes on one segment, oldest first."""
    return _NOTES.all(conn, forwardings.c.old_segment_id == segment_id, order=(forwardings.c.sequence,))


def notes_of_step(conn: Connection, audit_id: str) -> list[dict[str, Any]]:
    """Return the notes that one step wrote, oldest first."""
    return _NOTES.all(conn, forwardings.c.audit_id == audit_id, order=(forwardings.c.sequence,))


def follow(conn: Connection, segment_id: str, arrival: int = 0) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the trail from *segment_id* (oldest note first) and the ids that are live at its end; what was
    split from it up to the note *arrival* does not count.

    The newest note on an id decides where it went. The parts of a split remain parts of what was cited
    whatever became of the first one, so they are followed too; but only for a split later than what is
    followed: what a segment absorbed later was never in the parts split from it before. An id is visited
    again only where an earlier path led to it, so that cycles end (a part merged back into the whole, say).
    """
    trail: dict[int, dict[str, Any]] = {}
    live: dict[str, None] = {}
    arrivals: dict[str, int] = {}
    waiting = [(segment_id, arrival)]
    while waiting:
        current, arrival = waiting.pop(0)
        if arrivals.get(current, arrival + 1) <= arrival:
            continue
        arrivals[current] = arrival
        notes = notes_about(conn, current)
        later = [note for note in notes if note["sequence"] > arrival]
        trail.update((note["sequence"], note) for note in later)
        if _is_live(conn, current):
            live[current] = None
        if notes and notes[-1]["kind"] == "merged":
            absorbed = max(arrival, _absorbed_since(conn, notes))
            waiting.extend((keeper, absorbed) for keeper in notes[-1]["new_segment_ids"])
        # A split that was undone and redone is named by two notes and happened when the first of them was
        # written.
        cuts = {
            tuple(note["new_segment_ids"]): note["sequence"]
            for note in reversed(notes)
            if note["kind"] == "split"
        }
        waiting.extend((part, at) for parts, at in cuts.items() if at > arrival for part in parts)
    return [trail[number] for number in sorted(trail)], list(live)


def live_segments(conn: Connection, segment_id: str, since: str | None = None) -> list[str]:
    """Return the live segments that a citation of *segment_id* leads to; of one made at the moment *since*,
    without what was split from the segment before.
    """
    arrival = 0
    if since is not None:
        before = select(func.max(forwardings.c.sequence)).where(
            forwardings.c.old_segment_id == segment_id, forwardings.c.created_at <= since
        )
        arrival = conn.execute(before).scalar_one() or 0
    return follow(conn, segment_id, arrival)[1]


def split_segments(conn: Connection, document_id: str) -> frozenset[str]:
    """Return the segments of a page that were ever split."""
    split = select(forwardings.c.old_segment_id).where(
        forwardings.c.document_id == document_id, forwardings.c.kind == "split"
    )
    return frozenset(conn.execute(split).scalars())


_LED_ON = """
SELECT f.old_segment_id, j.value FROM segment s
JOIN segment_forwarding f ON f.document_id = s.document_id, json_each(f.new_segment_ids) j
WHERE s.id = ? AND f.kind IN ('merged', 'split')
"""


def absorbed_into(conn: Connection, segment_id: str) -> list[str]:
    """Return the ids that are no longer live and whose citations lead to *segment_id*: statements about them
    apply to it.
    """
    before: dict[str, list[str]] = {}
    for old, new in conn.exec_driver_sql(_LED_ON, (segment_id,)):
        before.setdefault(new, []).append(old)
    absorbed: dict[str, None] = {}
    waiting = [segment_id]
    while waiting:
        for old in before.get(waiting.pop(), ()):
            if old not in absorbed and old != segment_id:
                absorbed[old] = None
                waiting.append(old)
    return [old for old in absorbed if not _is_live(conn, old) and segment_id in follow(conn, old)[1]]


def _absorbed_since(conn: Connection, notes: list[dict[str, Any]]) -> int:
    """Return the sequence of the merge that the newest of *notes* (on one segment) stands for.

    If an absorbed segment was restored and that was undone, the undo repeats the merge note: the merge itself
    is the older one, and what its keeper was split into since belongs to the absorbed segment as well.
    """
    at = len(notes) - 1
    while True:
        note = notes[at]
        # When the step at the beginning of the chain of undos brought the segment back, if that is what it did.
        first = first_of_chain(conn, note["audit_id"])
        back = [n for n in range(at) if (notes[n]["audit_id"], notes[n]["kind"]) == (first, "restored")]
        before = range(back[0]) if back and first != note["audit_id"] else range(0)
        if not before or notes[before[-1]]["kind"] != "merged":
            return int(note["sequence"])
        at = before[-1]


def home_of_taken_back(conn: Connection, segment_id: str) -> str | None:
    """Return the page of a segment whose creation was undone, from its history; None if there never was
    one.
    """
    states = versions(conn, segments, segment_id)
    return states[-1]["values"]["document_id"] if states else None


def _is_live(conn: Connection, segment_id: str) -> bool:
    row = conn.exec_driver_sql(
        "SELECT s.deleted_at, p.deleted_at FROM segment s JOIN segment_pass p ON p.id = s.pass_id WHERE s.id = ?",
        (segment_id,),
    ).one_or_none()
    return row is not None and row[0] is None and row[1] is None
