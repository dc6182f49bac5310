"""Annotations: remarks by a person or a run on a place in a document."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from armarium.api import Color, Message, Params, SourceText, answer_of
from armarium_documents.models import annotation_table
from armarium_documents.schemas.fields import Id, JsonObject
from armarium_documents.schemas.geometry import TOLERANCE, Point, Rect

AnchorKind = Literal["char_range", "bbox", "paragraph", "ink"]
AnnotationKind = Literal[
    "highlight", "note", "rating", "bookmark", "comment", "line", "underline", "strikethrough"
]
Index = Annotated[int, Field(ge=0)]
Tag = Annotated[str, Field(min_length=1, max_length=200)]


class SourceAnchor(Params):
    """Where something is in a document, in fractions of one rendition."""

    document_id: Id | None = None
    page_id: Id | None = None
    page_index: Index | None = None
    rendition_id: Id | None = None
    space: Literal["normalized"] = "normalized"
    rect: Rect | None = None
    polygon: Annotated[list[Point], Field(min_length=3, max_length=10_000)] | None = None
    rotation: Annotated[float, Field(ge=-360, le=360, allow_inf_nan=False)] = 0
    char_start: Index | None = None
    char_end: Index | None = None
    granularity: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    segment_id: Id | None = None
    representation_id: Id | None = None

    @model_validator(mode="after")
    def _encloses(self) -> SourceAnchor:
        if self.polygon is not None:
            if self.rect is None:
                raise ValueError("an anchor with a polygon needs the rect that encloses it")
            x, y, w, h = self.rect
            for px, py in self.polygon:
                if not (
                    x - TOLERANCE <= px <= x + w + TOLERANCE and y - TOLERANCE <= py <= y + h + TOLERANCE
                ):
                    raise ValueError("the rect does not enclose its polygon")
        _span(self.char_start, self.char_end)
        return self


def _span(start: int | None, end: int | None) -> None:
    if (start is None) != (end is None):
        raise ValueError("give both char_start and char_end, or neither")
    if start is not None and end is not None and end <= start:
        raise ValueError("char_end must be greater than char_start")


class AnnotationTarget(Params):
    """A segment, or some characters of its reading."""

    segment_id: Id
    char_start: Index | None = None
    char_end: Index | None = None

    @model_validator(mode="after")
    def _check_whole(self) -> AnnotationTarget:
        _span(self.char_start, self.char_end)
        return self


class AnnotationCreateParams(Params):
    """A new annotation; the required fields depend on its anchor."""

    document_id: Id
    anchor_kind: AnchorKind
    kind: AnnotationKind
    page_id: Id | None = None
    page_index: Index | None = None
    anchor: SourceAnchor | None = None
    targets: Annotated[list[AnnotationTarget], Field(max_length=1000)] = Field(default_factory=list)
    paragraph_index: Index | None = None
    ink_payload: JsonObject | None = None
    text: Annotated[SourceText, Field(max_length=1_000_000)] | None = None
    rating: Annotated[int, Field(ge=1, le=5)] | None = None
    color: Color | None = None
    tags: Annotated[list[Tag], Field(max_length=200)] = Field(default_factory=list)
    metadata: JsonObject = Field(default_factory=dict)
    linked_claim_id: Id | None = None
    linked_entity_id: Id | None = None
    linked_note_id: Id | None = None


class AnnotationUpdateParams(Params):
    """Changes to an annotation: a field left out stays, null clears it."""

    annotation_id: Id
    anchor: SourceAnchor | None = None
    targets: Annotated[list[AnnotationTarget], Field(max_length=1000)] | None = None
    paragraph_index: Index | None = None
    ink_payload: JsonObject | None = None
    kind: AnnotationKind | None = None
    text: Annotated[SourceText, Field(max_length=1_000_000)] | None = None
    rating: Annotated[int, Field(ge=1, le=5)] | None = None
    color: Color | None = None
    tags: Annotated[list[Tag], Field(max_length=200)] | None = None
    metadata: JsonObject | None = None
    linked_claim_id: Id | None = None
    linked_entity_id: Id | None = None
    linked_note_id: Id | None = None


@answer_of(annotation_table)
class Annotation(Message):
    """An annotation."""

    anchor_kind: AnchorKind
    targets: list[dict[str, Any]]
    kind: AnnotationKind
    tags: list[str]


class AnnotationDeleted(Message):
    status: Literal["deleted"] = "deleted"
    id: str
