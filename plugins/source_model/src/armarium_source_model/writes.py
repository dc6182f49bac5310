"""The rows an action writes: passes, many segments, many readings, forwarding notes; called only inside an action.

Other families use these through `armarium_source_model.api`, so that an import or a reader is one step of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Row

from armarium.api import ActionContext, Conflict, json_text, new_id, raw_of
from armarium_documents.api import representations, require_live, require_unlocked
from armarium_source_model.counting import HUMAN, IMPORTED
from armarium_source_model.errors import NoSuchPass, NoSuchSegment, OtherPage, PassDeleted, refuse_provisional
from armarium_source_model.geometry import (
    BadGeometry,
    Points,
    Rect,
    SoundPoints,
    refuse_outside,
    sound_baseline,
    sound_polygon,
    tile_of,
    validate_rect,
)
from armarium_source_model.models import passes, segments
from armarium_source_model.queries.passes import get_pass

USER = "user"
"""The provider of what a person drew by hand."""


@dataclass(slots=True)
class NewSegment:
    """A segment to be added. Shapes are fractions of the rendition, origin top left; a shape that was checked before
    (`sound_polygon`, `sound_baseline`) is not checked again.

    key: the caller's own id, by which another segment of the same call names it as `parent_key`.
    """

    key: str
    kind: str
    rect: Rect
    polygon: Points | SoundPoints | None = None
    baseline: Points | SoundPoints | None = None
    parent_key: str | None = None
    kind_raw: str | None = None
    is_furniture: bool = False
    language: str | None = None
    script: str | None = None
    direction: str | None = None
    confidence: float | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    cell: Mapping[str, int] | None = None
    granularity: str | None = None
    page_index: int | None = None
    source_artifact_id: str | None = None
    box_index: int | None = None

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        # As a dataclass with slots is pickled by itself, it takes five times as long.
        return type(self), _FIELDS(self)


_FIELDS = attrgetter(*(one.name for one in fields(NewSegment)))


@dataclass(slots=True)
class NewReading:
    """A reading to be added to a segment; the words are kept exactly as given."""

    segment_id: str
    text: str
    kind: str = "transcription"
    level: str | None = None
    confidence: float | None = None
    producer_tool: str | None = None
    producer_model: str | None = None
    producer_run_id: str | None = None
    language: str | None = None
    script: str | None = None


_PASS_COLUMNS = (
    "id", "document_id", "name", "provider", "model", "source_artifact_id", "artifact_type", "import_file",
    "import_checksum", "import_format", "has_original", "ground_truth", "transformation", "provenance_kind",
    "created_by", "run_id", "created_at",
)  # fmt: skip


def create_pass(
    ctx: ActionContext,
    document_id: str,
    name: str,
    *,
    provider: str | None = None,
    model: str | None = None,
    run_id: str | None = None,
    source_artifact_id: str | None = None,
    artifact_type: str | None = None,
    import_file: str | None = None,
    import_checksum: str | None = None,
    import_format: str | None = None,
    has_original: bool = False,
    transformation: Mapping[str, Any] | None = None,
) -> str:
    """A new pass of a live, unlocked page; its id. Who made it follows from what is said (B 2.1), never a body:
    an import is external_import, a machine caller is what it is, a model or run is workflow, else a person."""
    require_live(ctx.conn, document_id)
    require_unlocked(ctx, document_id)
    provenance = ctx.provenance()
    if import_format is not None or import_file is not None:
        provenance["provenance_kind"] = IMPORTED
    elif provenance["provenance_kind"] == HUMAN and (run_id or model or provider not in (None, USER)):
        provenance["provenance_kind"] = "workflow"
    if run_id is not None:
        provenance["run_id"] = run_id
    pass_id = new_id()
    ctx.bulk_insert(
        passes,
        _PASS_COLUMNS,
        [
            (
                pass_id,
                document_id,
                name,
                provider,
                model,
                source_artifact_id,
                artifact_type,
                import_file,
                import_checksum,
                import_format,
                int(has_original),
                0,
                json_text(dict(transformation)) if transformation is not None else None,
                provenance["provenance_kind"],
                provenance["created_by"],
                provenance["run_id"],
                provenance["created_at"],
            )
        ],
    )
    ctx.target(pass_id)
    ctx.changed(pass_ids=[pass_id], document_ids=[document_id])
    return pass_id


def writable_pass(ctx: ActionContext, pass_id: str, document_id: str | None = None) -> Row[Any]:
    """The row of a pass that may be written to; the refusals say why it may not (404, 409, 403, 422)."""
    refuse_provisional(pass_id)
    row = get_pass(ctx.conn, pass_id)
    _refuse_unwritable(ctx, pass_id, row, document_id)
    return row


class _Maker(NamedTuple):
    """What `add_segments` asks of a pass; read without SQLAlchemy, for an import writes many small passes."""

    document_id: str
    deleted_at: str | None
    provenance_kind: str
    run_id: str | None


def _maker(ctx: ActionContext, pass_id: str, document_id: str) -> _Maker:
    refuse_provisional(pass_id)
    row = (
        raw_of(ctx.conn)
        .execute(
            "SELECT document_id, deleted_at, provenance_kind, run_id FROM segment_pass WHERE id = ?",
            (pass_id,),
        )
        .fetchone()
    )
    if row is None:
        raise NoSuchPass(pass_id)
    maker = _Maker(*row)
    _refuse_unwritable(ctx, pass_id, maker, document_id)
    return maker


def _refuse_unwritable(
    ctx: ActionContext, pass_id: str, row: Row[Any] | _Maker, document_id: str | None
) -> None:
    if document_id is not None and row.document_id != document_id:
        raise OtherPage(
            f"Pass {pass_id} belongs to document {row.document_id}, not to {document_id}; name a pass of that page.",
            code="other_document",
        )
    if row.deleted_at is not None:
        raise PassDeleted(pass_id)
    require_live(ctx.conn, row.document_id)
    require_unlocked(ctx, row.document_id)


_COLUMNS = (
    "id", "document_id", "pass_id", "kind", "kind_raw", "anchor", "baseline", "parent_segment_id",
    "is_furniture", "language", "script", "direction", "cell", "confidence", "source_artifact_id",
    "box_index", "page_index", "metadata", "bbox_x", "bbox_y", "bbox_w", "bbox_h", "tile", "by_hand",
    "version", "provenance_kind", "created_by", "run_id", "created_at", "updated_at",
)  # fmt: skip


def add_segments(
    ctx: ActionContext,
    pass_id: str,
    document_id: str,
    rendition_id: str | None,
    new: Sequence[NewSegment],
    *,
    provenance_kind: str | None = None,
) -> list[str]:
    """Add many segments to a pass with one executemany; their ids in the order given.

    rendition_id: the picture they were measured on; None means the page's primary one now. provenance_kind: who
    made them where that is not the pass's maker (a machine caller never makes a person's). Every shape is checked;
    BadGeometry names the segment's key and nothing is written.
    """
    row = _maker(ctx, pass_id, document_id)
    provenance = row_provenance(ctx, row, provenance_kind)
    if rendition_id is None:
        rendition_id = primary_rendition(ctx, document_id)
    ids = {one.key: new_id() for one in new}
    if len(ids) != len(new):
        raise Conflict("Two of the new segments carry the same key; give each its own.", code="same_key")
    dumps, fragment = orjson.dumps, orjson.Fragment
    frame: dict[str, Any] = {"document_id": document_id, "rendition_id": rendition_id, "space": "normalized"}
    # The same for every row of the call: made once.
    tail = (provenance["created_by"], provenance["run_id"], provenance["created_at"], ctx.now)
    kind_of_maker = provenance["provenance_kind"]
    by_hand = kind_of_maker == HUMAN

    def rows() -> Iterable[tuple[object, ...]]:
        for one in new:
            try:
                x, y, w, h = validate_rect(one.rect)
                polygon, baseline = one.polygon, one.baseline
                if polygon is not None:
                    if not isinstance(polygon, SoundPoints):
                        polygon = sound_polygon(polygon)
                    refuse_outside(polygon.box, (x, y, w, h))
                if baseline is not None and not isinstance(baseline, SoundPoints):
                    baseline = sound_baseline(baseline)
            except BadGeometry as refusal:
                raise BadGeometry(
                    f"Segment {one.key}: {refusal.detail}", code="bad_geometry", key=one.key
                ) from None
            anchor = {**frame, "rect": (x, y, w, h), "rotation": 0}
            if polygon is not None:
                anchor["polygon"] = fragment(polygon.text)
            if one.granularity is not None:
                anchor["granularity"] = one.granularity
            parent = one.parent_key
            if parent is not None and parent not in ids:
                raise Conflict(f"Segment {one.key} names the parent {parent}, which is not in this call.")
            yield (
                ids[one.key],
                document_id,
                pass_id,
                one.kind,
                one.kind_raw,
                dumps(anchor).decode(),
                None if baseline is None else baseline.text,
                None if parent is None else ids[parent],
                int(one.is_furniture),
                one.language,
                one.script,
                one.direction,
                None if one.cell is None else json_text(dict(one.cell)),
                one.confidence,
                one.source_artifact_id,
                one.box_index,
                one.page_index,
                json_text(dict(one.metadata)) if one.metadata else "{}",
                x,
                y,
                w,
                h,
                tile_of(x, y, w, h),
                by_hand,
                1,
                kind_of_maker,
                *tail,
            )

    if new:
        ctx.bulk_insert(segments, _COLUMNS, rows())
    made = list(ids.values())
    ctx.target(pass_id)
    ctx.changed(segment_ids=made, pass_ids=[pass_id], document_ids=[document_id])
    return made


def row_provenance(
    ctx: ActionContext, pass_row: _Maker, provenance_kind: str | None = None
) -> dict[str, Any]:
    """Who made a row of a pass: the one said, else the pass's maker; a machine never makes a person's row."""
    provenance = ctx.provenance()
    said = provenance_kind or pass_row.provenance_kind
    if said != HUMAN or provenance["provenance_kind"] == HUMAN:
        provenance["provenance_kind"] = said
    if provenance["run_id"] is None:
        provenance["run_id"] = pass_row.run_id
    return provenance


def primary_rendition(ctx: ActionContext, document_id: str) -> str | None:
    """The rendition that is a document's primary one at this moment, or None where it has no picture."""
    row = ctx.conn.exec_driver_sql(
        "SELECT id FROM rendition WHERE document_id = ? AND is_primary", (document_id,)
    ).one_or_none()
    return row[0] if row else None


_READING_COLUMNS = (
    "id", "document_id", "kind", "content", "language", "script", "segment_id", "level",
    "corrects_representation_id", "retracted", "producer_run_id", "producer_tool", "producer_model",
    "review_state", "confidence", "provenance_kind", "created_by", "run_id", "created_at",
)  # fmt: skip


def add_readings(
    ctx: ActionContext, new: Sequence[NewReading], *, provenance_kind: str | None = None
) -> list[str]:
    """Add many readings with one executemany; their ids in the order given. NoSuchSegment names an unknown one.

    provenance_kind: external_import for an import; else a reading with a tool or model is workflow (or agent), and
    one without is the caller's own. A machine never makes a person's reading.
    """
    if not new:
        return []
    where = {
        row[0]: row[1]
        for row in raw_of(ctx.conn).execute(
            "SELECT s.id, s.document_id FROM json_each(?) j JOIN segment s ON s.id = j.value",
            (orjson.dumps(list({one.segment_id for one in new})).decode(),),
        )
    }
    for one in new:
        if one.segment_id not in where:
            refuse_provisional(one.segment_id)
            raise NoSuchSegment(one.segment_id)
    documents = sorted(set(where.values()))
    for document_id in documents:
        require_live(ctx.conn, document_id)
        require_unlocked(ctx, document_id)
    provenance = ctx.provenance()
    caller = provenance["provenance_kind"]

    def maker(one: NewReading) -> str:
        if provenance_kind is not None and not (provenance_kind == HUMAN and caller != HUMAN):
            return provenance_kind
        if caller == HUMAN and (one.producer_tool or one.producer_model or one.producer_run_id):
            return "workflow"
        return str(caller)

    ids = [new_id() for _ in new]
    ctx.bulk_insert(
        representations,
        _READING_COLUMNS,
        (
            (
                identity,
                where[one.segment_id],
                one.kind,
                one.text,
                one.language,
                one.script,
                one.segment_id,
                one.level,
                None,
                0,
                one.producer_run_id,
                one.producer_tool,
                one.producer_model,
                "source",
                one.confidence,
                maker(one),
                provenance["created_by"],
                provenance["run_id"],
                ctx.now,
            )
            for identity, one in zip(ids, new, strict=True)
        ),
    )
    ctx.changed(representation_ids=ids, segment_ids=where, document_ids=documents)
    return ids
