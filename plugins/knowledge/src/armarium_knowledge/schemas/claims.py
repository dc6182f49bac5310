"""Requests and answers about statements, interpretations and the graph."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from armarium.api import Message, Params, answer_of, paged
from armarium_knowledge.models import claims, interpretations
from armarium_knowledge.schemas.entities import Entity
from armarium_knowledge.schemas.fields import (
    ClaimState,
    ClaimType,
    Dates,
    EpistemicStatus,
    Fraction,
    Id,
    Ids,
    IsoDate,
    JsonObject,
    Offset,
    PageLayer,
    QuotationKind,
    ShortText,
    SourceType,
    Text,
    TimePrecision,
    Word,
)

Sources = Annotated[list[Id], Field(max_length=1_000)]


class ClaimCreate(Params):
    """A new statement."""

    text: Annotated[Text, Field(min_length=1)]
    claim_type: ClaimType = "fact"
    epistemic_status: EpistemicStatus = "tentative"
    subject_entity_id: Id | None = None
    subject_canonical: ShortText = ""
    predicate_verb: ShortText = ""
    object_phrase: ShortText = ""
    object_entity_id: Id | None = None
    entity_ids: Ids = []
    source_type: SourceType | None = Field(default=None, description="Left out: determined from the sources.")
    source_document_id: Id | None = None
    source_ids: Annotated[Sources, Field(description="Documents and statements that it rests on")] = []
    source_char_start: Offset | None = Field(default=None, description="In the text of source_document_id")
    source_char_end: Offset | None = None
    source_anchor: JsonObject | None = None
    time_start: IsoDate | None = None
    time_end: IsoDate | None = None
    time_precision: TimePrecision = "unknown"
    date_values: Dates = []
    grounds: Text | None = None
    warrant: Text | None = None
    backing: Text | None = None
    qualifier: ShortText | None = None
    rebuttal: Text | None = None
    quotation_kind: QuotationKind | None = None
    page_layer: PageLayer | None = None
    confidence: Fraction = 0.5


class ClaimUpdate(ClaimCreate):
    """Changes of a statement: what is left out stays, null clears; only a person curates it."""

    claim_id: Id
    text: Annotated[Text, Field(min_length=1)] = "-"
    curation_state: ClaimState = "unreviewed"


class ClaimId(Params):
    claim_id: Id


class FoundStatement(Params):
    """A statement found on a page, with the lines that it rests on."""

    text: Annotated[Text, Field(min_length=1)]
    subject: ShortText = ""
    predicate_verb: ShortText = ""
    object: ShortText = ""
    segment_ids: Annotated[list[Id], Field(min_length=1, max_length=1_000)]
    claim_type: ClaimType = "fact"
    quotation_kind: QuotationKind | None = None
    time_start: IsoDate | None = None
    time_end: IsoDate | None = None
    time_precision: TimePrecision = "unknown"
    confidence: Fraction = 0.5


class TakeStatements(Params):
    """The statements found on one page."""

    document_id: Id
    provider: Word
    model: Word
    episode_id: Id | None = None
    statements: Annotated[list[FoundStatement], Field(max_length=5_000)]


class TakenStatements(Message):
    """What was written, and how many statements already existed."""

    claim_ids: list[str]
    left_out: int


class Evidence(Message):
    """The evidence of a statement, with its characters if these are on a line."""

    id: str
    document_id: str | None
    source_claim_id: str | None
    segment_id: str | None
    representation_id: str | None
    segment_char_start: int | None
    segment_char_end: int | None
    excerpt: str | None
    text_fingerprint: str | None
    stale: bool


@answer_of(claims)
class Claim(Message):
    """A statement."""

    date_values: list[dict[str, Any]]
    entity_ids: list[str]
    source_document_id: str | None
    source_ids: list[str]
    source_excerpt: str | None
    source_char_start: Annotated[int | None, Field(description="In the page's text; null where not placed")]
    source_char_end: int | None
    source_page_labels: list[str]
    source_languages: list[str]
    text_fingerprint: Annotated[
        str | None, Field(description="Of the first line it rests on; all of them are in its evidence")
    ]
    evidence: list[Evidence]
    stale: Annotated[bool, Field(description="Whether a line that it rests on has changed")]


ClaimPage = paged(Claim)


class InterpretationCreate(Params):
    """What a document says when interpreted through a framework."""

    document_id: Id
    framework_id: Word
    framework_name: Word
    text: Annotated[Text, Field(min_length=1)]
    key_insights: Annotated[list[ShortText], Field(max_length=200)] = []
    predicate: ShortText | None = None


class InterpretationId(Params):
    interpretation_id: Id


@answer_of(interpretations)
class Interpretation(Message):
    """What a document says when interpreted through a framework."""

    key_insights: list[str]
    stale: bool


InterpretationPage = paged(Interpretation)


class GraphNode(Message):
    """An entity in a neighbourhood, and how many steps away it is."""

    id: str
    canonical_name: str
    entity_type: str
    curation_state: str
    depth: int


class GraphEdge(Message):
    """What statements say about two entities with one verb."""

    source: str
    target: str
    predicate: str
    claim_ids: list[str]


class Neighbourhood(Message):
    """The entities around one, nearest first."""

    entity_id: str
    nodes: list[GraphNode]
    edges: list[GraphEdge]
    truncated: bool


class GraphSearch(Message):
    """Entities and statements in which words occur."""

    query: str
    entities: list[Entity]
    claims: list[Claim]
    count: int
