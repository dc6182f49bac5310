"""Creates, changes, withdraws and restores segments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
from sqlalchemy import Row

from armarium.api import ActionContext, Conflict, Invalid, NotFound, Route, action, json_text, new_id
from armarium_documents.api import is_picture_of, require_document
from armarium_source_model.actions.edits import (
    check_page,
    check_unique,
    check_version,
    editable,
    editable_rows,
    one_pass,
    present_rows,
    set_deleted,
    write_version,
)
from armarium_source_model.actions.facts import StatedFacts
from armarium_source_model.api import segments
from armarium_source_model.errors import OtherPage, SegmentDeleted, refuse_provisional, unknown_segment
from armarium_source_model.geometry import (
    BadGeometry,
    tile_of,
    validate_baseline,
    validate_points,
    validate_polygon,
    validate_rect,
)
from armarium_source_model.notes import add_notes, forward_undo
from armarium_source_model.queries.passes import reading_rule
from armarium_source_model.queries.segments import (
    EDITABLE,
    SegmentRow,
    parsed_answers,
    rows_named,
    segment_versions,
)
from armarium_source_model.schemas.fields import SourceAnchor
from armarium_source_model.schemas.segments import (
    RestoreVersion,
    SegmentCreate,
    SegmentCreateMany,
    SegmentDelete,
    SegmentOut,
    SegmentsOut,
    SegmentUndelete,
    SegmentUpdate,
    TouchedSegments,
)
from armarium_source_model.writes import primary_rendition, writable_pass

NEVER_NULL = ("anchor", "kind", "is_furniture")


@action(
    "segment.create",
    result=SegmentOut,
    summary="Draw one region, line or word.",
    route=Route("POST", "/api/segments"),
    words="Drew on {document_id|a page}",
)
def create(ctx: ActionContext, p: SegmentCreate) -> dict[str, Any]:
    """Raises NotFound, Conflict for a pass or parent of another page, Invalid for an invalid shape."""
    return parsed_answers(ctx.conn, insert_segments(ctx, [p]), reading_rule(ctx.conn))[0]


@action(
    "segment.create_many",
    result=SegmentsOut,
    summary="Draw several segments in one step.",
    route=Route("POST", "/api/segments/bulk"),
    words="Drew on {|a page}",
)
def create_many(ctx: ActionContext, p: SegmentCreateMany) -> dict[str, Any]:
    """As segment.create for each; a refusal names the index, and nothing is written."""
    ids = insert_segments(ctx, p.segments, numbered=True)
    items = parsed_answers(ctx.conn, ids, reading_rule(ctx.conn))
    return {"items": items, "count": len(items)}


def insert_segments(ctx: ActionContext, new: Sequence[SegmentCreate], *, numbered: bool = False) -> list[str]:
    """Check and insert the caller's segments; return their ids. *numbered*: refusals begin with the index."""
    passes_met: dict[tuple[str, str], Row[Any]] = {}
    renditions: dict[str, str | None] = {}
    parents = _parents(
        ctx, {segment.parent_segment_id for segment in new if segment.parent_segment_id is not None}
    )
    provenance = ctx.provenance()
    by_hand = ctx.principal.kind == "person"
    facts = StatedFacts(ctx)
    rows: list[tuple[object, ...]] = []
    for index, segment in enumerate(new):
        try:
            refuse_provisional(segment.pass_id, segment.parent_segment_id, segment.document_id)
            key = (segment.pass_id, segment.document_id)
            if key not in passes_met:
                require_document(ctx.conn, segment.document_id)
                passes_met[key] = writable_pass(ctx, segment.pass_id, segment.document_id)
            if segment.parent_segment_id is not None:
                _check_parent(parents, segment.parent_segment_id, segment.pass_id)
            if segment.document_id not in renditions:
                renditions[segment.document_id] = primary_rendition(ctx, segment.document_id)
            anchor, (x, y, w, h) = anchor_value(
                ctx, segment.anchor, segment.document_id, renditions[segment.document_id]
            )
            if segment.baseline is not None:
                validate_baseline(segment.baseline)
            facts.check(segment.language, segment.script)
        except (Invalid, Conflict, NotFound) as refusal:
            if numbered:
                refusal.detail = f"segments[{index}]: {refusal.detail}"
                refusal.fields["index"] = index
            raise
        rows.append(
            (
                new_id(), segment.document_id, segment.pass_id, segment.kind, segment.kind_raw, json_text(anchor),
                None if segment.baseline is None else orjson.dumps(segment.baseline).decode(), segment.parent_segment_id,
                int(segment.is_furniture), segment.language, segment.script, segment.direction,
                None if segment.cell is None else json_text(segment.cell.model_dump()), segment.anchor.page_index, "{}",
                x, y, w, h, tile_of(x, y, w, h), int(by_hand), 1, *provenance.values(), ctx.now,
            )
        )  # fmt: skip
    ctx.bulk_insert(
        segments,
        (
            "id", "document_id", "pass_id", "kind", "kind_raw", "anchor", "baseline", "parent_segment_id",
            "is_furniture", "language", "script", "direction", "cell", "page_index", "metadata", "bbox_x", "bbox_y",
            "bbox_w", "bbox_h", "tile", "by_hand", "version", *provenance, "updated_at",
        ),
        rows,
    )  # fmt: skip
    ids = [str(row[0]) for row in rows]
    ctx.target(*ids)
    ctx.note_changes(
        segment_ids=ids,
        pass_ids=dict.fromkeys(segment.pass_id for segment in new),
        document_ids=dict.fromkeys(segment.document_id for segment in new),
    )
    return ids


def anchor_value(
    ctx: ActionContext, anchor: SourceAnchor, document_id: str, primary: str | None
) -> tuple[dict[str, Any], tuple[float, float, float, float]]:
    """Return a checked anchor in stored form, with its rect; the rendition is fixed now if none is named."""
    if anchor.document_id not in (None, document_id):
        raise Invalid(
            f"The anchor names document {anchor.document_id}, the segment {document_id}; they must agree.",
            code="other_document",
        )
    rect = validate_rect(anchor.rect)
    if anchor.polygon is not None:
        validate_polygon(anchor.polygon, rect)
    if anchor.refines is not None:
        if anchor.refines.rect is not None:
            validate_rect(anchor.refines.rect, what="The refining rect")
        if anchor.refines.polygon is not None:
            validate_points(anchor.refines.polygon, least=3, what="The refining polygon")
    if (anchor.char_start is None) != (anchor.char_end is None) or (
        anchor.char_start is not None and anchor.char_end is not None and anchor.char_end < anchor.char_start
    ):
        raise Invalid("char_start and char_end go together, and the end must not be before the start.")
    rendition_id = anchor.rendition_id
    if rendition_id is None:
        rendition_id = primary
    elif rendition_id != primary and not is_picture_of(ctx.conn, document_id, rendition_id):
        raise NotFound(
            f"Document {document_id} has no rendition {rendition_id} to measure on.", id=rendition_id
        )
    value = anchor.model_dump(mode="json", exclude_none=True)
    value |= {"document_id": document_id, "rendition_id": rendition_id}
    return value, rect


def _parents(ctx: ActionContext, ids: set[str]) -> dict[str, SegmentRow]:
    return rows_named(ctx.conn, ids) if ids else {}


def _check_parent(parents: dict[str, SegmentRow], parent_id: str, pass_id: str) -> SegmentRow:
    row = parents.get(parent_id)
    if row is None:
        raise unknown_segment(parent_id)
    if row.pass_id != pass_id:
        raise OtherPage(
            f"Segment {parent_id} belongs to pass {row.pass_id}; a parent is of the same pass ({pass_id}) and page.",
            code="other_pass",
        )
    if row.deleted_at is not None:
        raise SegmentDeleted(parent_id)
    return row


@action(
    "segment.update",
    result=SegmentOut,
    summary="Change a segment's shape or what is stated on it; refused if somebody changed it since.",
    words="Changed a line or region of {segment_id|a page}",
)
def update(ctx: ActionContext, p: SegmentUpdate) -> dict[str, Any]:
    """Raises StaleSegment naming the fields that changed, SegmentDeleted, NotFound, Invalid for an invalid
    shape.
    """
    row = editable(ctx, p.segment_id, p.expected_version)
    fields_sent = p.model_fields_set - {"segment_id", "expected_version"}
    empty = next((name for name in NEVER_NULL if name in fields_sent and getattr(p, name) is None), None)
    if empty is not None:
        raise Invalid(f"{empty} cannot be cleared; leave it out to keep it.", code="invalid_request")
    changes: dict[str, Any] = {}
    if p.anchor is not None:
        frame = row.anchor.get("rendition_id")
        changes["anchor"], rect = anchor_value(ctx, p.anchor, row.document_id, frame)
        changes |= dict(zip(("bbox_x", "bbox_y", "bbox_w", "bbox_h"), rect, strict=True))
        changes["tile"] = tile_of(*rect)
    if "baseline" in fields_sent:
        if p.baseline is not None:
            validate_baseline(p.baseline)
        changes["baseline"] = None if p.baseline is None else [list(point) for point in p.baseline]
    if "parent_segment_id" in fields_sent:
        _check_new_parent(ctx, row, p.parent_segment_id)
        changes["parent_segment_id"] = p.parent_segment_id
    StatedFacts(ctx).check(p.language, p.script)
    if "cell" in fields_sent:
        changes["cell"] = None if p.cell is None else p.cell.model_dump()
    for name in fields_sent & {"kind", "kind_raw", "is_furniture", "language", "script", "direction"}:
        changes[name] = getattr(p, name)
    write_version(ctx, row, changes)
    return parsed_answers(ctx.conn, [row.id], reading_rule(ctx.conn))[0]


def _check_new_parent(ctx: ActionContext, row: SegmentRow, parent_id: str | None) -> None:
    """Check that a parent is of the same pass and not inside the segment itself."""
    refuse_provisional(parent_id)
    above = parent_id
    while above is not None:
        if above == row.id:
            raise Conflict(
                f"Segment {row.id} cannot be inside itself or inside a segment that it contains.",
                code="parent_ring",
            )
        above = _check_parent(_parents(ctx, {above}), above, row.pass_id).parent_segment_id


@action(
    "segment.delete",
    result=TouchedSegments,
    summary="Withdraw segments of one pass; they can be restored, and their citations say what became of them.",
    route=Route("POST", "/api/segments/delete"),
    words="Deleted lines or regions of {segment_ids|a page}",
    after_undo=forward_undo,
)
def delete(ctx: ActionContext, p: SegmentDelete) -> dict[str, Any]:
    """Raises Invalid for uneven lists or an id named twice, Conflict for other passes, stale or deleted ones."""
    if len(p.segment_ids) != len(p.expected_versions):
        raise Invalid(
            f"{len(p.segment_ids)} segment_ids and {len(p.expected_versions)} expected_versions; "
            "send one version for each id.",
            code="uneven_lists",
        )
    rows = editable_rows(ctx, check_unique(p.segment_ids), p.expected_versions)
    one_pass(rows)
    set_deleted(ctx, rows, ctx.now)
    add_notes(ctx, [(row.document_id, row.id, "deleted", (), p.reason) for row in rows])
    return {"segment_ids": [row.id for row in rows]}


@action(
    "segment.undelete",
    result=TouchedSegments,
    summary="Restore withdrawn segments.",
    route=Route("POST", "/api/segments/undelete"),
    words="Restored lines or regions of {segment_ids|a page}",
    after_undo=forward_undo,
)
def undelete(ctx: ActionContext, p: SegmentUndelete) -> dict[str, Any]:
    """Raises NotFound, Conflict for a segment that is not deleted, Invalid for a provisional id."""
    rows = present_rows(ctx, check_unique(p.segment_ids))
    checked: set[str] = set()
    for row in rows:
        if row.deleted_at is None:
            raise Conflict(
                f"Segment {row.id} is not deleted, so there is nothing to restore.", code="not_deleted"
            )
        check_page(ctx, row, checked)
    set_deleted(ctx, rows, None)
    add_notes(ctx, [(row.document_id, row.id, "restored", (row.id,), None) for row in rows])
    return {"segment_ids": [row.id for row in rows]}


@action(
    "segment.restore_version",
    result=SegmentOut,
    summary="Restore an earlier version of a segment as its newest one; a withdrawn segment is restored with it.",
    route=Route("POST", "/api/segments/{segment_id}/restore-version"),
    words="Restored an earlier version of a line or region of {segment_id|a page}",
    after_undo=forward_undo,
)
def restore_version(ctx: ActionContext, p: RestoreVersion) -> dict[str, Any]:
    """Works on a segment in any state: a deleted or merged one continues as that version, and its citations
    lead to it again. Raises NotFound for a version never recorded, StaleSegment.
    """
    (row,) = present_rows(ctx, [p.segment_id])
    check_page(ctx, row, set())
    check_version(ctx, row, p.expected_version)
    recorded = {version["version"]: version for version in segment_versions(ctx.conn, row.id)}
    if p.version not in recorded:
        versions = ", ".join(map(str, recorded)) or "none, it never changed"
        raise NotFound(
            f"Segment {row.id} has no version {p.version}; recorded: {versions}.", code="unknown_version"
        )
    old = recorded[p.version]
    changes = {name: old[name] for name in EDITABLE}
    if changes["parent_segment_id"] != row.parent_segment_id:
        _check_new_parent(ctx, row, changes["parent_segment_id"])
    try:
        rect = validate_rect(changes["anchor"]["rect"])
    except BadGeometry as refusal:
        raise Conflict(
            f"Version {p.version} has a shape that is no longer accepted: {refusal.detail}"
        ) from None
    changes |= dict(zip(("bbox_x", "bbox_y", "bbox_w", "bbox_h"), rect, strict=True))
    changes["tile"] = tile_of(*rect)
    write_version(ctx, row, changes | {"deleted_at": None})
    if row.deleted_at is not None:
        add_notes(ctx, [(row.document_id, row.id, "restored", (row.id,), None)])
    return parsed_answers(ctx.conn, [row.id], reading_rule(ctx.conn))[0]
