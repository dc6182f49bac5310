"""Stores a reader's output in one step: the lines of a page as a new pass, or the readings of its lines."""

from __future__ import annotations

import math
from typing import Any

import orjson

from armarium.api import ActionContext, action
from armarium_documents.api import is_picture_of
from armarium_source_model.actions.readings import require_kind
from armarium_source_model.api import (
    NewPass,
    NewReading,
    NewSegment,
    add_readings,
    add_segments,
    confirmed_lines,
    create_pass,
)
from armarium_source_model.errors import OtherPage, SegmentDeleted, refuse_provisional, unknown_segment
from armarium_source_model.geometry import BadGeometry, Points, clip_points, rect_around, sound_geometry
from armarium_source_model.schemas.readings import TakenReadings, TakeReadings
from armarium_source_model.schemas.segments import FoundLineIn, TakeLines, TakenLines
from armarium_source_model.writes import refuse_provider, writable_pass


@action(
    "segment.take_lines",
    result=TakenLines,
    summary="Store the lines a reader found on a page as a new pass, in one step.",
    words="Found the lines of {document_id|a page}",
)
def take_lines(ctx: ActionContext, p: TakeLines) -> dict[str, Any]:
    """Raises NotFound, Conflict, and BadGeometry for a line without any usable rect.

    Shapes that reach a little beyond the image's edge are clipped; other invalid parts are left out, with the
    reason in the segment's metadata. Texts that come with lines become readings.
    """
    refuse_provider(p.provider)
    rendition_id = _rendition(ctx, p.document_id, p.rendition_id)
    new = NewPass(p.document_id, p.name, p.provider, p.model, p.run_id or ctx.run_id)
    pass_id = create_pass(ctx, new)
    ids = add_segments(ctx, pass_id, p.document_id, rendition_id, [_new_line(line) for line in p.lines])
    read = [
        NewReading(
            segment_id,
            line.text,
            confidence=line.confidence,
            producer_tool=p.provider,
            producer_model=p.model,
            producer_run_id=p.run_id or ctx.run_id,
            places=line.places,
        )
        for segment_id, line in zip(ids, p.lines, strict=True)
        if line.text is not None
    ]
    add_readings(ctx, read)
    return {"pass_id": pass_id, "segment_ids": ids}


def _rendition(ctx: ActionContext, document_id: str, rendition_id: str | None) -> str | None:
    if rendition_id is not None and not is_picture_of(ctx.conn, document_id, rendition_id):
        raise OtherPage(
            f"Rendition {rendition_id} is not a picture of document {document_id}; lines are measured on one of its own.",
            code="other_document",
        )
    return rendition_id


def _new_line(line: FoundLineIn) -> NewSegment:
    polygon = None if line.polygon is None else _clip_points(line.polygon)
    baseline = None if line.baseline is None else _clip_points(line.baseline)
    sound = sound_geometry(polygon, baseline, _rect_within(line.rect))
    if sound.rect is None:
        raise BadGeometry(f"Line {line.key}: {sound.problem}", code="bad_geometry", key=line.key)
    return NewSegment(
        key=line.key,
        kind=line.kind,
        rect=sound.rect,
        polygon=sound.polygon,
        baseline=sound.baseline,
        parent_key=line.parent_key,
        kind_raw=line.kind_raw,
        is_furniture=line.is_furniture,
        direction=line.direction,
        confidence=line.confidence,
        metadata=_collect_stated(line, sound.problem),
    )


def _collect_stated(line: FoundLineIn, problem: str | None) -> dict[str, Any]:
    """Return what is stored beside the shape: when the line is spoken, and what was wrong with its shape."""
    facts = {
        "start_seconds": line.start_seconds,
        "end_seconds": line.end_seconds,
        "geometry_problem": problem,
    }
    return {name: value for name, value in facts.items() if value is not None}


def _clip_points(points: Points) -> Points:
    """Clip points to the image if all are numbers; other values are left for the check to refuse."""
    return clip_points(points) if all(math.isfinite(x) and math.isfinite(y) for x, y in points) else points


def _rect_within(rect: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    x, y, w, h = rect
    if not all(map(math.isfinite, rect)) or w <= 0 or h <= 0 or x >= 1 or y >= 1 or x + w <= 0 or y + h <= 0:
        return rect
    return rect_around(clip_points([(x, y), (x + w, y + h)]))


@action(
    "reading.take",
    result=TakenReadings,
    summary="Store a reader's readings of the lines of a page, in one step.",
    words="Read the lines of {document_id|a page}",
)
def take_readings(ctx: ActionContext, p: TakeReadings) -> dict[str, Any]:
    """Raises NotFound, SegmentDeleted, and Conflict for a segment of another pass than the one named.

    A line whose reading a person confirmed keeps it: a machine's newer one, which would count in its place, is left out.
    """
    for provider in {
        p.provider,
        *(reading.provider for reading in p.readings if reading.provider is not None),
    }:
        refuse_provider(provider)
    writable_pass(ctx, p.pass_id, p.document_id)
    require_kind(ctx, p.kind)
    segment_ids = [reading.segment_id for reading in p.readings]
    refuse_provisional(*segment_ids)
    rows_by_id = {
        row[0]: row
        for row in ctx.conn.exec_driver_sql(
            "SELECT s.id, s.pass_id, s.deleted_at FROM json_each(?) j JOIN segment s ON s.id = j.value",
            (orjson.dumps(segment_ids).decode(),),
        )
    }
    for segment_id in segment_ids:
        row = rows_by_id.get(segment_id)
        if row is None:
            raise unknown_segment(segment_id)
        if row[1] != p.pass_id:
            raise OtherPage(
                f"Segment {segment_id} belongs to pass {row[1]}, not to {p.pass_id}; readings of one call are of one pass.",
                code="other_pass",
            )
        if row[2] is not None:
            raise SegmentDeleted(segment_id)
    confirmed = confirmed_lines(ctx.engine, ctx.conn, segment_ids) if p.kind == "transcription" else set()
    ids = add_readings(
        ctx,
        [
            NewReading(
                reading.segment_id,
                reading.text,
                kind=p.kind,
                level=p.level,
                confidence=reading.confidence,
                producer_tool=reading.provider or p.provider,
                producer_model=p.model if reading.provider is None else reading.model,
                producer_run_id=p.run_id or ctx.run_id,
                places=reading.places,
            )
            for reading in p.readings
            if reading.segment_id not in confirmed
        ],
    )
    ctx.target(p.pass_id)
    return {"representation_ids": ids}
