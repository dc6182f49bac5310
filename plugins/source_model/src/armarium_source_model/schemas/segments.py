"""Requests and answers about passes and segments."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from armarium.api import Message, Params, SourceText, answer_of, listed
from armarium_source_model.models import forwardings, passes, segments
from armarium_source_model.schemas.fields import (
    Cell,
    Direction,
    Fraction,
    Id,
    Ids,
    Language,
    Name,
    Points,
    Rect,
    Script,
    SegmentKind,
    SourceAnchor,
    Version,
    Word,
)
from armarium_source_model.schemas.readings import PlacesIn

MAX_BULK = 20_000
"""Segments in one bulk call."""

Reason = Annotated[str, StringConstraints(max_length=500)]


class PassCreate(Params):
    """SegmentPassCreateParams."""

    document_id: Id
    name: Name
    run_id: Id | None = None
    source_artifact_id: Id | None = None


class GroundTruth(Params):
    pass_id: Id
    ground_truth: bool


class PassChoose(Params):
    """working true chooses the pass, false releases the choice so that the rules decide again."""

    pass_id: Id
    working: bool = True


class SegmentCreate(Params):
    """SegmentCreateParams: id, version, box columns and maker are set by the engine."""

    document_id: Id
    pass_id: Id
    kind: SegmentKind
    anchor: SourceAnchor
    baseline: Points | None = None
    parent_segment_id: Id | None = None
    kind_raw: Word | None = None
    language: Language | None = None
    script: Script | None = None
    direction: Direction | None = None
    is_furniture: bool = False
    cell: Cell | None = None


class SegmentCreateMany(Params):
    segments: Annotated[list[SegmentCreate], Field(min_length=1, max_length=MAX_BULK)]


class SegmentUpdate(Params):
    """SegmentUpdateParams: a field left out stays, null clears; document and pass never change."""

    segment_id: Id
    expected_version: Version
    anchor: SourceAnchor | None = None
    baseline: Points | None = None
    kind: SegmentKind | None = None
    kind_raw: Word | None = None
    parent_segment_id: Id | None = None
    is_furniture: bool | None = None
    language: Language | None = None
    script: Script | None = None
    direction: Direction | None = None
    cell: Cell | None = None


class SegmentDelete(Params):
    segment_ids: Ids
    expected_versions: Annotated[list[Version], Field(max_length=10_000)]
    reason: Reason | None = None


class SegmentUndelete(Params):
    segment_ids: Ids


class RestoreVersion(Params):
    segment_id: Id
    version: Version
    expected_version: Version


Measured = Annotated[float, Field(allow_inf_nan=True)]
"""A number that a program measured: one that is none is kept apart with the reason, and the page goes on."""


Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class FoundLineIn(Params):
    """One line (or region, or word) that a reader found. `key` is the reader's own id, for `parent_key`."""

    key: str
    rect: Rect
    polygon: list[tuple[Measured, Measured]] | None = None
    baseline: list[tuple[Measured, Measured]] | None = None
    kind: SegmentKind = "line"
    parent_key: str | None = None
    kind_raw: Word | None = None
    is_furniture: bool = False
    confidence: Fraction | None = None
    direction: Direction | None = None
    text: SourceText | None = None
    places: PlacesIn | None = None
    """Where the letters of the text stand."""
    start_seconds: Seconds | None = None
    """When what the line says begins in a recording; `rect` then has its share of the recording's length as x and w."""
    end_seconds: Seconds | None = None


class TakeLines(Params):
    """A reader's lines of one page (or a transcriber's of one recording) as a new pass."""

    document_id: Id
    rendition_id: Id | None = None
    name: Name
    provider: Word
    model: Word | None = None
    run_id: Id | None = None
    lines: Annotated[list[FoundLineIn], Field(max_length=50_000)]


@answer_of(segments)
class SegmentOut(Message):
    """A segment."""

    provisional: bool
    baseline: list[list[float]] | None
    cell: dict[str, int] | None
    text: str | None
    # A provisional one has none.
    version: int | None
    updated_at: str | None


@answer_of(passes)
class PassOut(Message):
    """A pass."""

    provisional: bool
    working: bool
    working_basis: str | None
    segment_count: int


class SegmentListResponse(Message):
    """notice: that the working pass has no text while another has lines read, and how to choose it."""

    document_id: str
    passes: list[PassOut]
    segments: list[SegmentOut]
    notice: str | None


class DeletedPass(PassOut):
    """A pass that was withdrawn; it can be restored."""

    status: Literal["deleted"] = "deleted"


SegmentsOut = listed(SegmentOut, "SegmentsOut")


class TouchedSegments(Message):
    segment_ids: list[str]


@answer_of(forwardings)
class ForwardingOut(Message):
    kind: Literal["merged", "split", "deleted", "restored"]
    new_segment_ids: list[str]


class SegmentView(Message):
    """One segment by its id; if it was merged, split or deleted, its successors."""

    segment: SegmentOut | None
    resolved_from_forwarding: bool
    trail: list[ForwardingOut]
    live_segment_ids: list[str]
    deleted: bool


class SegmentVersionOut(Message):
    segment_id: str
    version: int
    kind: str
    kind_raw: str | None
    anchor: dict[str, Any]
    baseline: list[list[float]] | None
    parent_segment_id: str | None
    is_furniture: bool
    language: str | None
    script: str | None
    direction: str | None
    cell: dict[str, int] | None
    deleted: bool
    actor: str | None
    provenance_kind: str
    audit_id: str | None
    reason: str | None
    created_at: str


class SegmentVersionList(Message):
    segment_id: str
    items: list[SegmentVersionOut]
    count: int


class TakenLines(Message):
    pass_id: str
    segment_ids: list[str]


class ConvertedPass(Message):
    artifact_id: str
    pass_id: str
    segments: int
    readings: int
    left_out: int


class ConvertedPage(Message):
    """The result for each of the page's older blobs; left_out counts boxes without a usable rect."""

    document_id: str
    passes: list[ConvertedPass]
