"""Reads passes: those of a page, and which of them it is read by."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, func, select

from armarium.api import Conflict, RowLaw, Rows, json_text, project_setting
from armarium_documents.api import representations
from armarium_source_model.counting import IMPORTED, PassBasis, PassFacts, ReadingRule, Working
from armarium_source_model.counting import working_pass as climb
from armarium_source_model.errors import pass_deleted, unknown_pass
from armarium_source_model.models import passes, segments

_LIVE = (segments.c.pass_id == passes.c.id) & segments.c.deleted_at.is_(None)

PASSES = Rows(
    passes,
    missing=unknown_pass,
    segment_count=select(func.count()).select_from(segments).where(_LIVE).scalar_subquery(),
)

_TOUCHED = f"""
SELECT DISTINCT pass_id FROM segment
WHERE document_id IN (SELECT value FROM json_each(:documents)) AND by_hand AND deleted_at IS NULL
UNION
SELECT DISTINCT s.pass_id FROM {representations} r JOIN segment s ON s.id = r.segment_id
WHERE r.document_id IN (SELECT value FROM json_each(:documents)) AND r.provenance_kind = 'human' AND NOT r.retracted
AND s.deleted_at IS NULL
"""

_LIVE_PASSES = """
SELECT document_id, id, provenance_kind, created_at, provider FROM segment_pass
WHERE document_id IN (SELECT value FROM json_each(?)) AND deleted_at IS NULL
"""

_CHOSEN = "SELECT document_id, pass_id FROM segment_pass_choice WHERE document_id IN (SELECT value FROM json_each(?))"


def reading_rule(conn: Connection) -> ReadingRule:
    """Return the project's rule for what counts: strict unless it says relaxed."""
    return "relaxed" if project_setting(conn, "reading_rule") == "relaxed" else "strict"


def get_pass(conn: Connection, pass_id: str) -> Row[Any]:
    """Return the row of a pass, withdrawn or not; NotFound."""
    return PASSES.row(conn, pass_id)


def standing_pass(conn: Connection, pass_id: str) -> Row[Any]:
    """Return the row of a live pass; NotFound, PassDeleted."""
    row = get_pass(conn, pass_id)
    if row.deleted_at is not None:
        raise pass_deleted(pass_id)
    return row


def _twin_stands(raw: sqlite3.Connection, row: Mapping[str, Any]) -> Conflict | None:
    """Raise Conflict if another live pass of the same page was read from the same file as the live *row*."""
    if row["import_checksum"] is None or row["deleted_at"] is not None:
        return None
    twin = raw.execute(
        "SELECT id, name FROM segment_pass WHERE import_checksum = ? AND document_id = ? AND id <> ? "
        "AND deleted_at IS NULL",
        (row["import_checksum"], row["document_id"], row["id"]),
    ).fetchone()
    if twin is None:
        return None
    identity, name = twin
    return Conflict(
        f"The file of pass {row['id']} was imported again as the pass {name!r} ({identity}) of this page; "
        "work on that one, or withdraw it first.",
        code="already_a_pass",
        pass_id=identity,
    )


ONE_PASS_A_FILE = RowLaw("segment_pass", _twin_stands)
"""A file stands as one pass of a page: whatever brings a pass about, or back, never beside its twin."""


_READ_ELSEWHERE = f"""
SELECT p.id, p.name, count(DISTINCT s.id) FROM segment_pass p
JOIN segment s ON s.pass_id = p.id AND s.deleted_at IS NULL
JOIN {representations} r ON r.segment_id = s.id AND r.kind = 'transcription' AND NOT r.retracted AND r.content <> ''
WHERE p.document_id = ?1 AND p.deleted_at IS NULL AND p.id <> ?2
AND (s.kind = 'line' OR NOT EXISTS (SELECT 1 FROM segment l WHERE l.pass_id = p.id AND l.kind = 'line' AND l.deleted_at IS NULL))
GROUP BY p.id ORDER BY p.created_at DESC, p.id DESC
"""

_IS_READ = f"""
SELECT EXISTS (SELECT 1 FROM segment s JOIN {representations} r ON r.segment_id = s.id
WHERE s.pass_id = ? AND s.deleted_at IS NULL AND r.kind = 'transcription' AND NOT r.retracted AND r.content <> '')
"""


def read_elsewhere(conn: Connection, document_id: str, pass_id: str | None) -> list[dict[str, Any]]:
    """If the pass a page is read by has no text, return its other passes that do, newest first, with lines
    read.
    """
    if pass_id is None or conn.exec_driver_sql(_IS_READ, (pass_id,)).scalar_one():
        return []
    return [
        {"pass_id": row[0], "name": row[1], "lines_read": row[2]}
        for row in conn.exec_driver_sql(_READ_ELSEWHERE, (document_id, pass_id))
    ]


def notice_of_text_elsewhere(conn: Connection, document_id: str, pass_id: str | None) -> str | None:
    """Return a sentence if the pass a page is read by has no text while another does, and how to choose that
    one.
    """
    others = read_elsewhere(conn, document_id, pass_id)
    if pass_id is None or not others:
        return None
    most = max(others, key=lambda row: int(row["lines_read"]))
    lines = f"{most['lines_read']} {'line' if most['lines_read'] == 1 else 'lines'}"
    mine, theirs = get_pass(conn, pass_id), get_pass(conn, str(most["pass_id"]))
    other = f"the pass {theirs.name!r}"
    if mine.name == theirs.name:
        other = f"{'an earlier' if theirs.created_at < mine.created_at else 'another'} pass of this name"
    return (
        f"The working pass of this page, {mine.name!r}, has no text; {other} has "
        f"{lines} read. To work on that one: armarium passes {document_id} --use {most['pass_id']}"
    )


def chosen_pass(conn: Connection, document_id: str) -> str | None:
    """Return the pass a person chose for the page, whether or not it is still live."""
    return _choices_of(conn, json_text([document_id])).get(document_id)


def working(conn: Connection, document_id: str, rule: ReadingRule = "strict") -> Working:
    """Return the pass the page is read by, with its basis; `is_working` is false if only imports exist."""
    return working_passes(conn, [document_id], rule)[document_id]


def working_passes(
    conn: Connection, document_ids: Sequence[str], rule: ReadingRule = "strict"
) -> dict[str, Working]:
    """Return what `working` says of each of these pages, with as many statements as for one."""
    facts: dict[str, list[PassFacts]] = {document_id: [] for document_id in document_ids}
    for page, pass_id, kind, at, provider in conn.exec_driver_sql(
        _LIVE_PASSES, (json_text(list(document_ids)),)
    ):
        facts[page].append(PassFacts(pass_id, kind, at, provider, kind == IMPORTED))
    with_passes = json_text([page for page, own in facts.items() if own])
    chosen = _choices_of(conn, with_passes)
    stands = {
        page for page, own in facts.items() if any(page_pass.id == chosen.get(page) for page_pass in own)
    }
    undecided = json_text([page for page, own in facts.items() if own and page not in stands])
    touched = [row[0] for row in conn.exec_driver_sql(_TOUCHED, {"documents": undecided})]
    return {
        page: climb(own, chosen_id=chosen.get(page), touched=touched, rule=rule)
        for page, own in facts.items()
    }


def _choices_of(conn: Connection, document_ids: str) -> dict[str, str]:
    return {row[0]: row[1] for row in conn.exec_driver_sql(_CHOSEN, (document_ids,))}


def working_pass(
    conn: Connection, document_id: str, rule: ReadingRule = "strict"
) -> tuple[str | None, PassBasis]:
    """Return the pass to read and export the page by, and why: `(None, "none")` if the page has no pass."""
    current = working(conn, document_id, rule)
    return current.pass_id, current.basis


def list_passes(conn: Connection, document_id: str, rule: ReadingRule = "strict") -> list[dict[str, Any]]:
    """Return the live passes of a page, oldest first, each with its number of live segments."""
    here = (passes.c.document_id == document_id, passes.c.deleted_at.is_(None))
    rows = PASSES.all(conn, *here, order=(passes.c.created_at, passes.c.id))
    if not rows:
        return []
    current = working(conn, document_id, rule)
    return [pass_answer(row, current) for row in rows]


def pass_answer(row: dict[str, Any], current: Working) -> dict[str, Any]:
    """Convert a row of `PASSES` to a SegmentPass."""
    is_read_by = current.pass_id == row["id"]
    return {
        **row,
        "provisional": False,
        "working": is_read_by and current.is_working,
        "working_basis": current.basis if is_read_by else None,
    }


def get_pass_answer(conn: Connection, pass_id: str, rule: ReadingRule = "strict") -> dict[str, Any]:
    """Return one pass; NotFound."""
    row = PASSES.require(conn, pass_id)
    return pass_answer(row, working(conn, row["document_id"], rule))
