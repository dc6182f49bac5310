"""Converts new segments to table rows: validated once, in any process; an action adds ids and makers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, NamedTuple

import orjson

from armarium.api import Conflict, json_text, new_id
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


@dataclass(slots=True)
class NewSegment:
    """A segment to be added. Shapes are fractions of the rendition, origin top left; shapes already validated
    (`sound_polygon`, `sound_baseline`) are not validated again.

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
        # As a dataclass with slots it would take five times as long to pickle.
        return type(self), _FIELDS(self)


_FIELDS = attrgetter(*(attribute.name for attribute in fields(NewSegment)))

_OWN = (
    "kind", "kind_raw", "baseline", "is_furniture", "language", "script", "direction", "cell", "confidence",
    "source_artifact_id", "box_index", "page_index", "metadata", "bbox_x", "bbox_y", "bbox_w", "bbox_h", "tile",
)  # fmt: skip

COLUMNS = (
    "id", "parent_segment_id", "anchor", *_OWN, "document_id", "pass_id", "by_hand", "version", "provenance_kind",
    "created_by", "run_id", "created_at", "updated_at",
)  # fmt: skip
"""Of the rows that `rows_of` gives."""


class ReadySegments(NamedTuple):
    """Validated segments of one call, one entry each: rows without their ids, page and maker.

    Plain values, so that a process which reads files transfers them cheaply.
    """

    keys: list[str]
    parents: list[int | None]
    """Where in the call the parent stands."""
    anchors: list[str]
    """The anchor's JSON from `space` on: page and picture go before it."""
    rows: list[tuple[object, ...]]
    """The values of `_OWN`."""


def ready_segments(new: Sequence[NewSegment]) -> ReadySegments:
    """Validate segments; BadGeometry naming the key, Conflict if two share one or a parent is missing."""
    numbers = {segment.key: number for number, segment in enumerate(new)}
    if len(numbers) != len(new):
        raise Conflict("Two of the new segments carry the same key; give each its own.", code="same_key")
    ready = ReadySegments(list(numbers), [], [], [])
    parents, anchors, rows = ready.parents, ready.anchors, ready.rows
    dumps, fragment = orjson.dumps, orjson.Fragment
    for segment in new:
        try:
            x, y, w, h = validate_rect(segment.rect)
            polygon, baseline = segment.polygon, segment.baseline
            if polygon is not None:
                if not isinstance(polygon, SoundPoints):
                    polygon = sound_polygon(polygon)
                refuse_outside(polygon.box, (x, y, w, h))
            if baseline is not None and not isinstance(baseline, SoundPoints):
                baseline = sound_baseline(baseline)
        except BadGeometry as refusal:
            raise BadGeometry(
                f"Segment {segment.key}: {refusal.detail}", code="bad_geometry", key=segment.key
            ) from None
        anchor: dict[str, Any] = {"space": "normalized", "rect": (x, y, w, h), "rotation": 0}
        if polygon is not None:
            anchor["polygon"] = fragment(polygon.text)
        if segment.granularity is not None:
            anchor["granularity"] = segment.granularity
        parent = segment.parent_key
        if parent is None:
            parents.append(None)
        elif parent in numbers:
            parents.append(numbers[parent])
        else:
            raise Conflict(f"Segment {segment.key} names the parent {parent}, which is not in this call.")
        anchors.append(dumps(anchor)[1:].decode())
        rows.append(
            (
                segment.kind,
                segment.kind_raw,
                None if baseline is None else baseline.text,
                int(segment.is_furniture),
                segment.language,
                segment.script,
                segment.direction,
                None if segment.cell is None else json_text(dict(segment.cell)),
                segment.confidence,
                segment.source_artifact_id,
                segment.box_index,
                segment.page_index,
                json_text(dict(segment.metadata)) if segment.metadata else "{}",
                x,
                y,
                w,
                h,
                tile_of(x, y, w, h),
            )
        )
    return ready


@dataclass(frozen=True, slots=True)
class Belonging:
    """The page, pass and maker shared by all rows of a call."""

    document_id: str
    pass_id: str
    rendition_id: str | None
    """The picture that they were measured on."""
    by_hand: bool
    provenance: Mapping[str, Any]
    now: str


def new_ids(ready: ReadySegments) -> list[str]:
    """Return an id for each, in order."""
    return [new_id() for _ in ready.keys]


def rows_of(ready: ReadySegments, ids: Sequence[str], to: Belonging) -> Iterator[tuple[object, ...]]:
    """Return the rows of the segments with these *ids*, in the order of `COLUMNS`."""
    head = json_text({"document_id": to.document_id, "rendition_id": to.rendition_id})[:-1] + ","
    provenance = to.provenance
    tail = (
        to.document_id,
        to.pass_id,
        to.by_hand,
        1,
        provenance["provenance_kind"],
        provenance["created_by"],
        provenance["run_id"],
        provenance["created_at"],
        to.now,
    )
    for identity, parent, anchor, own in zip(ids, ready.parents, ready.anchors, ready.rows, strict=True):
        yield (identity, None if parent is None else ids[parent], head + anchor, *own, *tail)
