"""Merges and splits segments; citations of what was absorbed or split lead on."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from armarium.api import ActionContext, Conflict, Invalid, Route, action, json_text, new_id, raw_of
from armarium_source_model.actions.edits import (
    check_unique,
    editable,
    editable_rows,
    one_pass,
    set_deleted,
    write_version,
)
from armarium_source_model.actions.filling import place_beside
from armarium_source_model.actions.readings import write_correction, write_reading
from armarium_source_model.actions.segments import anchor_value
from armarium_source_model.api import segments
from armarium_source_model.errors import forwarding_would_loop, refuse_provisional
from armarium_source_model.geometry import (
    MAX_POINTS,
    convex_hull,
    rect_columns,
    rect_of,
    union_rect,
    validate_baseline,
)
from armarium_source_model.hookspecs import armarium_source_model_merged, armarium_source_model_split
from armarium_source_model.notes import add_notes, forward_undo, live_after
from armarium_source_model.order import Shape, reading_sequence
from armarium_source_model.queries.passes import reading_rule
from armarium_source_model.queries.readings import counting_of_segment, counting_of_segments
from armarium_source_model.queries.segments import SegmentRow, get_segment, parsed_answers, rows_named
from armarium_source_model.queries.shapes import writing_of_pass
from armarium_source_model.schemas.joins import Merge, Merged, Split, SplitBody

STATED = (
    "document_id", "pass_id", "kind", "kind_raw", "parent_segment_id", "is_furniture", "language", "script", "direction",
    "page_index",
)  # fmt: skip
"""What is said of the whole and holds for each of its parts."""


@action(
    "segment.merge",
    result=Merged,
    summary="Absorb segments of one pass into one of them; citations of the others lead to it.",
    route=Route("POST", "/api/segments/merge"),
    words="Joined lines or regions of {segment_ids|a page}",
    after_undo=forward_undo,
)
def merge(ctx: ActionContext, p: Merge) -> dict[str, Any]:
    """Raises ForwardingWouldLoop, StaleSegment, SegmentDeleted, OtherPage, NotFound, Invalid; and Conflict if
    a machine's joined text would not count because a person's reading does.
    """
    check_unique(p.segment_ids)
    refuse_provisional(p.keep_id, *p.segment_ids)
    if p.expected_versions and len(p.expected_versions) != len(p.segment_ids):
        raise Invalid(
            f"{len(p.segment_ids)} segment_ids and {len(p.expected_versions)} expected_versions; "
            "send one version for each id, or none.",
            code="uneven_lists",
        )
    absorbed_ids = [segment_id for segment_id in p.segment_ids if segment_id != p.keep_id]
    if not absorbed_ids:
        raise Invalid("Name at least one segment besides the one to keep.", code="nothing_to_merge")
    kept_row = get_segment(ctx.conn, p.keep_id)
    if kept_row.deleted_at is not None:
        leads = set(live_after(ctx, p.keep_id)).intersection(absorbed_ids)
        if leads:
            raise forwarding_would_loop(p.keep_id, min(leads))
    expected = dict(zip(p.segment_ids, p.expected_versions, strict=False))
    segment_ids = [p.keep_id, *absorbed_ids]
    keep, *absorbed = editable_rows(
        ctx, segment_ids, [expected.get(segment_id) for segment_id in segment_ids]
    )
    one_pass([keep, *absorbed])
    ordered = _in_order(ctx, [keep, *absorbed])
    changes: dict[str, Any] = {**_joined_shape(keep, ordered), "joined_or_split_in": ctx.audit_id}
    if keep.parent_segment_id in absorbed_ids:
        changes["parent_segment_id"] = _parent_outside(ctx, keep, set(absorbed_ids))
    _move_children(ctx, absorbed_ids, keep.id)
    write_version(ctx, keep, changes)
    _join_texts(ctx, keep, ordered)
    set_deleted(ctx, absorbed, ctx.now, joined=True)
    for row in absorbed:
        place_beside(ctx, row.id, keep.document_id, [keep.id])
    add_notes(ctx, [(row.document_id, row.id, "merged", (keep.id,), p.reason) for row in absorbed])
    merged = [row.id for row in ordered if row.id != keep.id]
    ctx.engine.points.ask(armarium_source_model_merged, ctx, merged, keep.id)
    ctx.target(keep.id)
    answer = parsed_answers(ctx.conn, [keep.id], reading_rule(ctx.conn))[0]
    return {**answer, "absorbed_ids": absorbed_ids}


def _in_order(ctx: ActionContext, rows: Sequence[SegmentRow]) -> list[SegmentRow]:
    shapes = [
        Shape(row.id, "line", *rect_of(row), direction=row.direction, script=row.script) for row in rows
    ]
    page = writing_of_pass(ctx.conn, rows[0].document_id, rows[0].pass_id, reading_rule(ctx.conn))
    parents = {row.parent_segment_id for row in rows}
    way = page.way(parents.pop() if len(parents) == 1 else None)
    by_id = {row.id: row for row in rows}
    sequence = reading_sequence(shapes, aspect=page.page.aspect, lean=page.lean, within=lambda _: way)
    return [by_id[identity] for identity in sequence]


def _joined_shape(keep: SegmentRow, ordered: Sequence[SegmentRow]) -> dict[str, Any]:
    """Return the union of the rects, the hull if all have polygons, one baseline if they stand in a row.

    A hull with too many points is left out; a baseline with too many stays that of the kept segment.
    """
    rect = union_rect([rect_of(row) for row in ordered])
    anchor = {name: value for name, value in keep.anchor.items() if name != "polygon"}
    anchor["rect"] = list(rect)
    polygons = [row.anchor.get("polygon") for row in ordered]
    if all(polygons):
        hull = convex_hull([point for polygon in polygons for point in polygon or ()])
        if len(hull) <= MAX_POINTS:
            anchor["polygon"] = hull
    changes: dict[str, Any] = {"anchor": anchor, **rect_columns(rect)}
    if all(row.baseline for row in ordered) and _in_a_row(ordered):
        baseline = [point for row in ordered for point in row.baseline or ()]
        if len(baseline) <= MAX_POINTS:
            changes["baseline"] = baseline
    return changes


def _in_a_row(ordered: Sequence[SegmentRow]) -> bool:
    """Return whether each piece is beside the previous one rather than below it."""
    return all(
        min(segment.bbox_y + segment.bbox_h, following.bbox_y + following.bbox_h)
        - max(segment.bbox_y, following.bbox_y)
        > 0.5 * min(segment.bbox_h, following.bbox_h)
        for segment, following in pairwise(ordered)
    )


def _parent_outside(ctx: ActionContext, row: SegmentRow, inside: set[str]) -> str | None:
    parent: str | None = row.parent_segment_id
    while parent is not None and parent in inside:
        parent = get_segment(ctx.conn, parent).parent_segment_id
    return parent


def _move_children(ctx: ActionContext, parents: Sequence[str], keep_id: str) -> None:
    inside = {*parents, keep_id}
    for child in _children(ctx, parents):
        if child.id not in inside:
            write_version(ctx, child, {"parent_segment_id": keep_id})


def _children(ctx: ActionContext, parents: Sequence[str]) -> list[SegmentRow]:
    """Return the live segments inside *parents*, in the order they were made."""
    cursor = raw_of(ctx.conn).execute(
        "SELECT c.id FROM json_each(?) j CROSS JOIN segment c ON c.parent_segment_id = j.value "
        "WHERE c.deleted_at IS NULL ORDER BY c.id",
        (json_text(list(parents)),),
    )
    ids = [row[0] for row in cursor.fetchall()]
    rows = rows_named(ctx.conn, ids)
    return [rows[child_id] for child_id in ids]


def _join_texts(ctx: ActionContext, keep: SegmentRow, ordered: Sequence[SegmentRow]) -> None:
    """Join the counting transcriptions of the pieces, by newline in reading order, into one new reading."""
    rule = reading_rule(ctx.conn)
    texts = counting_of_segments(ctx.conn, [row.id for row in ordered], rule=rule)
    joined = "\n".join(texts[row.id].text for row in ordered if row.id in texts and texts[row.id].text)
    if joined and (keep.id not in texts or texts[keep.id].text != joined):
        counting = counting_of_segment(ctx.conn, keep.id, "transcription", rule)
        reading_id, _ = write_correction(ctx, keep, joined, counting)
        if counting_of_segment(ctx.conn, keep.id, "transcription", rule).representation_id != reading_id:
            raise Conflict(
                f"A person has read segment {keep.id}, and a machine's joined text would not count there: the words of "
                "the others would be missing from the page. Let a person merge them.",
                code="needs_a_person",
                segment_id=keep.id,
            )


@action(
    "segment.split",
    result=Split,
    summary="Cut a segment into parts; the original id stays on the first.",
    route=Route("POST", "/api/segments/split"),
    words="Split a line or region of {segment_id|a page}",
    after_undo=forward_undo,
)
def split(ctx: ActionContext, p: SplitBody) -> dict[str, Any]:
    """Raises StaleSegment, SegmentDeleted, NotFound, Invalid for an invalid shape (the part is named)."""
    row = editable(ctx, p.segment_id, p.expected_version)
    frame = row.anchor.get("rendition_id")
    shapes = []
    for index, part in enumerate(p.parts):
        try:
            shapes.append(anchor_value(ctx, part.anchor, row.document_id, frame))
            if part.baseline is not None:
                validate_baseline(part.baseline)
        except Invalid as refusal:
            refusal.detail = f"parts[{index}]: {refusal.detail}"
            refusal.fields["index"] = index
            raise
    ids = [row.id] + [new_id() for _ in p.parts[1:]]
    drawn: list[dict[str, Any]] = [
        {
            "anchor": anchor,
            **rect_columns(rect),
            "baseline": None if part.baseline is None else [list(point) for point in part.baseline],
        }
        for part, (anchor, rect) in zip(p.parts, shapes, strict=True)
    ]
    changes = drawn[0]
    if p.parts[0].text or any(getattr(row, name) != value for name, value in changes.items()):
        # A whole that keeps its shape and text is not touched, so that a later step on it does not stand in the way of undo.
        changes["joined_or_split_in"] = ctx.audit_id
    write_version(ctx, row, changes)
    stated = {name: getattr(row, name) for name in STATED}
    maker = {"by_hand": ctx.principal.kind == "person", **ctx.provenance(), "updated_at": ctx.now}
    new = {**stated, **maker, "metadata": {}, "version": 1, "joined_or_split_in": ctx.audit_id}
    ctx.conn.execute(
        segments.insert(),
        [{**new, "id": identity, **shape} for identity, shape in zip(ids[1:], drawn[1:], strict=True)],
    )
    _deal_children(ctx, row.id, ids, [rect for _, rect in shapes])
    place_beside(ctx, row.id, row.document_id, ids[1:])
    add_notes(ctx, [(row.document_id, row.id, "split", ids, p.reason)])
    if p.parts[0].text:
        counting = counting_of_segment(ctx.conn, row.id, "transcription", reading_rule(ctx.conn))
        write_correction(ctx, row, p.parts[0].text, counting)
    for identity, part in zip(ids[1:], p.parts[1:], strict=True):
        if part.text:
            write_reading(ctx, row._replace(id=identity), part.text)
    ctx.engine.points.ask(armarium_source_model_split, ctx, row.id, ids)
    ctx.target(*ids)
    ctx.note_changes(segment_ids=ids, pass_ids=[row.pass_id], document_ids=[row.document_id])
    items = parsed_answers(ctx.conn, ids, reading_rule(ctx.conn))
    return {"segment_ids": ids, "items": items}


def _deal_children(
    ctx: ActionContext, parent_id: str, ids: Sequence[str], rects: Sequence[tuple[float, float, float, float]]
) -> None:
    """Move each child to the part that contains its centre; a child in none stays with the first."""
    for child in _children(ctx, [parent_id]):
        x, y = child.bbox_x + child.bbox_w / 2, child.bbox_y + child.bbox_h / 2
        for identity, (left, top, width, height) in zip(ids, rects, strict=True):
            if left <= x <= left + width and top <= y <= top + height:
                if identity != parent_id and child.id not in ids:
                    write_version(ctx, child, {"parent_segment_id": identity})
                break
