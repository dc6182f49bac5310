"""Reads of passes: the passes of a page, and which of them it is read by."""

from __future__ import annotations

from typing import Any

import orjson
from sqlalchemy import Connection, Row, bindparam, select

from armarium.api import Library
from armarium_source_model.counting import IMPORTED, PassBasis, PassFacts, ReadingRule, Working
from armarium_source_model.counting import working_pass as climb
from armarium_source_model.errors import NoSuchPass, PassDeleted
from armarium_source_model.models import passes

_LIST = """
SELECT p.*, (SELECT count(*) FROM segment s WHERE s.pass_id = p.id AND s.deleted_at IS NULL) AS segment_count
FROM segment_pass p WHERE p.document_id = ? AND p.deleted_at IS NULL ORDER BY p.created_at, p.id
"""

_TOUCHED = """
SELECT DISTINCT pass_id FROM segment WHERE document_id = :document AND by_hand AND deleted_at IS NULL
UNION
SELECT DISTINCT s.pass_id FROM content_representation r JOIN segment s ON s.id = r.segment_id
WHERE r.document_id = :document AND r.provenance_kind = 'human' AND NOT r.retracted AND s.deleted_at IS NULL
"""


def reading_rule(library: Library) -> ReadingRule:
    """The project's rule for what counts: strict unless it says relaxed."""
    return "relaxed" if library.setting("reading_rule") == "relaxed" else "strict"


_BY_ID = select(passes).where(passes.c.id == bindparam("identity"))


def get_pass(conn: Connection, pass_id: str) -> Row[Any]:
    """The row of a pass, withdrawn or not; NoSuchPass."""
    row = conn.execute(_BY_ID, {"identity": pass_id}).one_or_none()
    if row is None:
        raise NoSuchPass(pass_id)
    return row


def standing_pass(conn: Connection, pass_id: str) -> Row[Any]:
    """The row of a pass that stands; NoSuchPass, PassDeleted."""
    row = get_pass(conn, pass_id)
    if row.deleted_at is not None:
        raise PassDeleted(pass_id)
    return row


def chosen_pass(conn: Connection, document_id: str) -> str | None:
    """The pass a person chose for the page, whether or not it still stands."""
    row = conn.exec_driver_sql(
        "SELECT pass_id FROM segment_pass_choice WHERE document_id = ?", (document_id,)
    ).one_or_none()
    return row[0] if row else None


def working(conn: Connection, document_id: str, rule: ReadingRule = "strict") -> Working:
    """The pass the page is read by, with its basis; `is_working` is false where only imports exist (B 4.2)."""
    facts = [
        PassFacts(row[0], row[1], row[2], row[3], row[1] == IMPORTED)
        for row in conn.exec_driver_sql(
            "SELECT id, provenance_kind, created_at, provider FROM segment_pass "
            "WHERE document_id = ? AND deleted_at IS NULL",
            (document_id,),
        )
    ]
    if not facts:
        return Working(None, "none")
    chosen = chosen_pass(conn, document_id)
    if chosen is not None and any(one.id == chosen for one in facts):
        return Working(chosen, "chosen")
    touched = [row[0] for row in conn.exec_driver_sql(_TOUCHED, {"document": document_id})]
    return climb(facts, touched=touched, rule=rule)


def working_pass(
    conn: Connection, document_id: str, rule: ReadingRule = "strict"
) -> tuple[str | None, PassBasis]:
    """The pass to read and export the page by, and why: `(None, "none")` where the page has no pass."""
    found = working(conn, document_id, rule)
    return found.pass_id, found.basis


def list_passes(conn: Connection, document_id: str, rule: ReadingRule = "strict") -> list[dict[str, Any]]:
    """The live passes of a page as answered, oldest first, each with its number of live segments."""
    rows = conn.exec_driver_sql(_LIST, (document_id,)).mappings().all()
    if not rows:
        return []
    found = working(conn, document_id, rule)
    return [pass_answer(dict(row), found, row["segment_count"]) for row in rows]


def pass_answer(row: dict[str, Any], found: Working, segment_count: int) -> dict[str, Any]:
    """A row of `segment_pass` as a SegmentPass (B 2.1); *row* may hold raw or typed values."""
    is_read_by = found.pass_id == row["id"]
    transformation = row["transformation"]
    return {
        "id": row["id"],
        "provisional": False,
        "document_id": row["document_id"],
        "name": row["name"],
        "provenance_kind": row["provenance_kind"],
        "created_by": row["created_by"],
        "run_id": row["run_id"],
        "created_at": row["created_at"],
        "provider": row["provider"],
        "model": row["model"],
        "source_artifact_id": row["source_artifact_id"],
        "artifact_type": row["artifact_type"],
        "import_file": row["import_file"],
        "import_checksum": row["import_checksum"],
        "import_format": row["import_format"],
        "has_original": bool(row["has_original"]),
        "ground_truth": bool(row["ground_truth"]),
        "working": is_read_by and found.is_working,
        "working_basis": found.basis if is_read_by else None,
        "transformation": orjson.loads(transformation) if isinstance(transformation, str) else transformation,
        "segment_count": segment_count,
        "deleted_at": row["deleted_at"],
    }


def get_pass_answer(conn: Connection, pass_id: str, rule: ReadingRule = "strict") -> dict[str, Any]:
    """One pass as answered; NoSuchPass."""
    row = dict(get_pass(conn, pass_id)._mapping)
    count = conn.exec_driver_sql(
        "SELECT count(*) FROM segment WHERE pass_id = ? AND deleted_at IS NULL", (pass_id,)
    ).scalar_one()
    return pass_answer(row, working(conn, row["document_id"], rule), count)
