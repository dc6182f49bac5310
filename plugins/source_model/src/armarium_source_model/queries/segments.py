"""Reads segments: the list of a page as ready bytes, one segment with its successors, its versions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Connection, Row, select

from armarium.api import Rows, is_shadowed, list_steps, versions
from armarium_source_model.counting import ReadingRule
from armarium_source_model.errors import unknown_segment
from armarium_source_model.models import segments
from armarium_source_model.queries.readings import CountingText, counting_of_document, counting_of_segments
from armarium_source_model.schemas.fields import SegmentKind

SEGMENTS = Rows(segments, missing=unknown_segment)
_SHOWN = tuple(str(column.name) for column in SEGMENTS.select.selected_columns)

EDITABLE = (
    "kind", "kind_raw", "anchor", "baseline", "parent_segment_id", "is_furniture", "language", "script",
    "direction", "cell",
)  # fmt: skip
"""The fields a SegmentVersion keeps and a stale edit names, besides `deleted`."""

Area = tuple[float, float, float, float]


def list_segments(
    conn: Connection,
    document_id: str,
    *,
    pass_id: str | None = None,
    artifact_id: str | None = None,
    kind: str | None = None,
    area: Area | None = None,
    rule: ReadingRule = "strict",
) -> list[dict[str, Any]]:
    """Return the live segments of a page's live passes, in the order they were made.

    JSON columns are orjson Fragments of what is stored: dump the list with orjson. artifact_id selects the
    passes made from that artifact; area [x, y, w, h] what intersects it.
    """
    conditions = ["s.document_id = :document", "s.deleted_at IS NULL", "p.deleted_at IS NULL"]
    values: dict[str, Any] = {"document": document_id}
    if pass_id is not None:
        conditions.append("s.pass_id = :pass")
        values["pass"] = pass_id
    if artifact_id is not None:
        conditions.append("p.source_artifact_id = :artifact")
        values["artifact"] = artifact_id
    if kind is not None:
        conditions.append("s.kind = :kind")
        values["kind"] = kind
    found_in = "segment s"
    if area is not None:
        x, y, w, h = area
        # Without the hint, SQLite reads the page's rows in order instead of comparing boxes in the index.
        if not is_shadowed(conn, segments):
            found_in = "segment s INDEXED BY ix_segment_area"
        conditions.append(
            "s.bbox_x <= :right AND s.bbox_x + s.bbox_w >= :left AND s.bbox_y <= :bottom AND s.bbox_y + s.bbox_h >= :top"
        )
        values |= {"left": x, "right": x + w, "top": y, "bottom": y + h}
    listed = ", ".join(f"s.{name}" for name in _SHOWN)
    rows = (
        conn.connection.cursor()
        .execute(
            f"SELECT {listed} FROM {found_in} JOIN segment_pass p ON p.id = s.pass_id "
            f"WHERE {' AND '.join(conditions)} ORDER BY s.id",
            values,
        )
        .fetchall()
    )
    if area is None and pass_id is None and artifact_id is None and kind is None:
        texts = counting_of_document(conn, document_id, rule=rule) if rows else {}
    else:
        texts = counting_of_segments(conn, [row[0] for row in rows], rule=rule)
    return answers(rows, texts)


def answers(rows: Iterable[Any], texts: dict[str, CountingText]) -> list[dict[str, Any]]:
    """Convert rows of the shown columns to segments, with stored JSON unparsed."""
    items = []
    fragment = orjson.Fragment
    for row in rows:
        answer = dict(zip(_SHOWN, row, strict=False))
        answer["anchor"], answer["metadata"] = fragment(answer["anchor"]), fragment(answer["metadata"])
        if answer["baseline"] is not None:
            answer["baseline"] = fragment(answer["baseline"])
        if answer["cell"] is not None:
            answer["cell"] = fragment(answer["cell"])
        answer["is_furniture"] = bool(answer["is_furniture"])
        counting = texts.get(answer["id"])
        answer["text"] = None if counting is None else counting[1]
        answer["provisional"] = False
        items.append(answer)
    return items


def parsed_answers(
    conn: Connection, ids: Iterable[str], rule: ReadingRule = "strict"
) -> list[dict[str, Any]]:
    """Return the segments *ids*, including deleted ones, with parsed JSON, in the order given."""
    ordered_ids = list(ids)
    rows = (
        conn.connection.cursor()
        .execute(
            f"SELECT {', '.join(_SHOWN)} FROM segment WHERE id IN (SELECT value FROM json_each(?))",
            (orjson.dumps(ordered_ids).decode(),),
        )
        .fetchall()
    )
    by_id = {row[0]: row for row in rows}
    missing = next((identity for identity in ordered_ids if identity not in by_id), None)
    if missing is not None:
        raise unknown_segment(missing)
    texts = counting_of_segments(conn, ordered_ids, rule=rule)
    parsed: list[dict[str, Any]] = orjson.loads(
        orjson.dumps(answers([by_id[identity] for identity in ordered_ids], texts))
    )
    return parsed


def find_segment(conn: Connection, segment_id: str) -> Row[Any] | None:
    """Return the typed row of a segment, deleted or not, or None."""
    return conn.execute(select(segments).where(segments.c.id == segment_id)).one_or_none()


def get_segment(conn: Connection, segment_id: str) -> Row[Any]:
    """Return the typed row of a segment, deleted or not; NotFound."""
    return SEGMENTS.row(conn, segment_id)


class SegmentRow(NamedTuple):
    """A segment as an edit reads it: the columns of its row, with JSON and booleans as Python values."""

    id: str
    document_id: str
    pass_id: str
    kind: SegmentKind
    kind_raw: str | None
    anchor: dict[str, Any]
    baseline: list[list[float]] | None
    parent_segment_id: str | None
    is_furniture: bool
    language: str | None
    script: str | None
    direction: str | None
    cell: dict[str, int] | None
    confidence: float | None
    source_artifact_id: str | None
    box_index: int | None
    page_index: int | None
    version: int
    metadata: dict[str, Any]
    bbox_x: float
    bbox_y: float
    bbox_w: float
    bbox_h: float
    tile: int
    provenance_kind: str
    created_by: str | None
    run_id: str | None
    created_at: str
    updated_at: str
    deleted_at: str | None
    by_hand: bool
    joined_or_split_in: str | None = None


_ROWS = f"SELECT {', '.join(SegmentRow._fields)} FROM segment"


def rows_named(conn: Connection, ids: Iterable[str]) -> dict[str, SegmentRow]:
    """Return the existing segments among *ids*, including deleted ones, by id. Raw SQL: every edit begins
    here.
    """
    return _read_rows(conn, "id IN (SELECT value FROM json_each(?))", orjson.dumps(list(ids)).decode())


def rows_of_pass(conn: Connection, pass_id: str) -> dict[str, SegmentRow]:
    """Return the live segments of a pass by id, in the order they were made."""
    return _read_rows(conn, "pass_id = ? AND deleted_at IS NULL", pass_id)


def _read_rows(conn: Connection, where: str, value: str) -> dict[str, SegmentRow]:
    rows_by_id = {}
    for row in conn.connection.cursor().execute(f"{_ROWS} WHERE {where} ORDER BY id", (value,)).fetchall():
        values = list(row)
        for at in _JSON:
            if values[at] is not None:
                values[at] = orjson.loads(values[at])
        for at in _BOOLEAN:
            values[at] = bool(values[at])
        rows_by_id[row[0]] = SegmentRow._make(values)
    return rows_by_id


_JSON = tuple(SegmentRow._fields.index(name) for name in ("anchor", "baseline", "cell", "metadata"))
_BOOLEAN = tuple(SegmentRow._fields.index(name) for name in ("is_furniture", "by_hand"))


def segments_of(conn: Connection, pass_id: str, kind: str | None = None) -> list[Row[Any]]:
    """Return the typed rows of a pass's live segments, in the order they were made."""
    query = select(segments).where(segments.c.pass_id == pass_id, segments.c.deleted_at.is_(None))
    if kind is not None:
        query = query.where(segments.c.kind == kind)
    return list(conn.execute(query.order_by(segments.c.id)))


def segment_versions(conn: Connection, segment_id: str) -> list[dict[str, Any]]:
    """Return the versions of a segment from its history, oldest first; empty if it never changed."""
    states = versions(conn, segments, segment_id)
    if len(states) < 2:
        return []
    steps = {
        step.id: step for step in list_steps(conn, "params", numbers=[state["audit_seq"] for state in states])
    }
    by_number: dict[int, dict[str, Any]] = {}
    for state in states:
        if state["deleted"]:
            # Not a withdrawal but the undo of its creation: there was no segment then.
            continue
        values = state["values"]
        step = steps.get(state["audit_id"])
        kind = "unknown"
        if step is not None:
            kind = "human" if step.actor_kind == "person" else "workflow" if step.run_id else "agent"
        reason = step.params.get("reason") if step is not None else None
        # The first state is as the segment was made: its own row names the maker (an import, say).
        first = values["version"] == 1
        by_number[values["version"]] = {
            "segment_id": segment_id,
            "version": values["version"],
            **{
                name: orjson.loads(values[name])
                if name in ("anchor", "baseline", "cell") and values[name] is not None
                else values[name]
                for name in EDITABLE
            },
            "is_furniture": bool(values["is_furniture"]),
            "deleted": values["deleted_at"] is not None,
            "actor": step.actor_name if step is not None else values["created_by"],
            "provenance_kind": values["provenance_kind"] if first else kind,
            "audit_id": state["audit_id"],
            "reason": reason if isinstance(reason, str) else None,
            "created_at": step.created_at if step is not None else values["created_at"],
        }
    return [by_number[number] for number in sorted(by_number)]


def moved_fields(conn: Connection, row: SegmentRow, since: int) -> list[str]:
    """Return the fields in which a segment differs from its version *since* (all if it was never
    recorded).
    """
    recorded = {version["version"]: version for version in segment_versions(conn, row.id)}
    then, after = recorded.get(since), recorded.get(row.version)
    if then is None or after is None:
        return [] if since > row.version else list(EDITABLE)
    moved = [name for name in EDITABLE if then[name] != after[name]]
    return moved + ["deleted"] * (then["deleted"] != after["deleted"])
