"""Requests and answers about merging, splitting, matching, carrying and citing segments."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from armarium.api import Message, Params, answer_of
from armarium_source_model.models import matches
from armarium_source_model.schemas.fields import (
    Count,
    Fraction,
    Frozen,
    Id,
    Ids,
    PartText,
    Points,
    SourceAnchor,
    Version,
)
from armarium_source_model.schemas.segments import ForwardingOut, SegmentOut

Note = Annotated[str, StringConstraints(max_length=500)]
CarriedKind = Literal["reading", "annotation", "claim_evidence"]
CARRIED_KINDS: tuple[CarriedKind, ...] = ("reading", "annotation", "claim_evidence")


class Merge(Params):
    """Absorb the other segments of one pass into keep_id, which may or may not be listed with them."""

    segment_ids: Ids
    keep_id: Id
    expected_versions: Annotated[list[Version], Field(max_length=10_000)] = []
    reason: Note | None = None


class Part(Frozen):
    anchor: SourceAnchor
    baseline: Points | None = None
    text: PartText | None = None


class SplitBody(Params):
    """The original id stays on the first part."""

    segment_id: Id
    expected_version: Version
    parts: Annotated[list[Part], Field(min_length=2, max_length=1000)]
    reason: Note | None = None


class MatchPropose(Params):
    """from_segment_id is the older one, to_segment_id the newer, in two passes of one page."""

    from_segment_id: Id
    to_segment_id: Id
    certainty: Fraction | None = None
    note: Note | None = None


class Carry(Params):
    match_id: Id
    kinds: Annotated[list[CarriedKind], Field(min_length=1)] = list(CARRIED_KINDS)


class Merged(SegmentOut):
    """The kept segment, and what it absorbed."""

    absorbed_ids: list[str]


class Split(Message):
    """The parts, the one with the original id first."""

    segment_ids: list[str]
    items: list[SegmentOut]


@answer_of(matches)
class MatchOut(Message):
    state: Literal["proposed", "accepted", "rejected"]


class MatchList(Message):
    document_id: str
    items: list[MatchOut]
    count: int


class CarriedItem(Message):
    kind: str
    original_id: str
    copy_id: str


class NotCarriedItem(Message):
    kind: str
    original_id: str | None = None
    why: str


class Carried(Message):
    carried: list[CarriedItem]
    not_carried: list[NotCarriedItem]


class MomentOut(Message):
    """A project after a step: the step's id and time, and the digest of the log of steps up to it."""

    step: str
    at: str
    digest: str


class ChangingStep(Message):
    """A step that changed what is cited; `undone`: it is no longer in effect."""

    audit_id: str
    action: str
    actor: str
    at: str
    undone: bool


class Reference(Message):
    reference: str
    dated_reference: str
    as_of: MomentOut
    segment_id: str
    library_uuid: str


class LocationRequest(Params):
    """The ids of something to locate; at least one."""

    documentId: Id | None = None
    segmentId: Annotated[str, Field(min_length=1, max_length=400)] | None = None
    artifactId: Id | None = None
    annotationId: Id | None = None
    claimId: Id | None = None
    charStart: Count | None = None
    charEnd: Count | None = None
    anchor: SourceAnchor | None = None
    asOf: Annotated[
        str | None,
        Field(min_length=1, max_length=40, description="A step or a time, where the citation names no step"),
    ] = None


class PathStep(Message):
    id: str
    name: str


class LocationOut(Message):
    documentId: str
    pageId: str | None
    path: list[PathStep]
    anchor: dict[str, Any] | None
    renditionId: str | None
    charStart: int | None
    charEnd: int | None
    liveSegmentIds: list[str]
    resolvedSegmentId: str | None
    segmentForwarding: list[ForwardingOut]
    segmentDeleted: bool
    asOf: MomentOut | None
    textThen: Annotated[str | None, Field(description="null: the segment was not there then")]
    textNow: Annotated[str | None, Field(description="Of all parts the segment lives in; null: of none")]
    changedBy: list[ChangingStep]
