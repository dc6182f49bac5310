"""Statements with their evidence, interpretations, findings of runs and the graph: what is sent, stored and answered."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from sqlalchemy import Column, Index, Integer, Table, Text, text

from armarium.api import (
    HIDDEN,
    Computed,
    Json,
    Message,
    Params,
    Record,
    missing,
    paged,
    provenance_columns,
    record,
    reference,
    tracked,
)
from armarium_documents.api import documents, representations
from armarium_knowledge.records.entities import Entity
from armarium_knowledge.records.ground import metadata
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
    LongText,
    Offset,
    PageLayer,
    QuotationKind,
    ShortText,
    SourceType,
    TimePrecision,
    Word,
)
from armarium_source_model.api import segments

Sources = Annotated[list[Id], Field(max_length=1_000)]


class ClaimFields(Params):
    """What is sent of a statement and stored as it is."""

    text: Annotated[LongText, Field(min_length=1)]
    claim_type: ClaimType = "fact"
    epistemic_status: EpistemicStatus = "tentative"
    subject_entity_id: Id | None = None
    subject_canonical: ShortText = ""
    predicate_verb: ShortText = ""
    object_phrase: ShortText = ""
    object_entity_id: Id | None = None
    source_anchor: JsonObject | None = None
    time_start: IsoDate | None = None
    time_end: IsoDate | None = None
    time_precision: TimePrecision = "unknown"
    date_values: Dates = []
    grounds: LongText | None = None
    warrant: LongText | None = None
    backing: LongText | None = None
    qualifier: ShortText | None = None
    rebuttal: LongText | None = None
    quotation_kind: QuotationKind | None = None
    page_layer: PageLayer | None = None
    confidence: Fraction = 0.5


class ClaimCreate(ClaimFields):
    """A new statement."""

    entity_ids: Ids = []
    source_type: SourceType | None = Field(default=None, description="Left out: determined from the sources.")
    source_document_id: Id | None = None
    source_ids: Annotated[Sources, Field(description="Documents and statements that it rests on")] = []
    source_char_start: Offset | None = Field(default=None, description="In the text of source_document_id")
    source_char_end: Offset | None = None


class ClaimUpdate(ClaimCreate):
    """Changes of a statement: what is left out stays, null clears; only a person curates it."""

    claim_id: Id
    text: Annotated[LongText, Field(min_length=1)] = "-"
    curation_state: ClaimState = "unreviewed"


class FoundStatement(Params):
    """A statement found on a page, with the lines that it rests on."""

    text: Annotated[LongText, Field(min_length=1)]
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


@record(
    metadata,
    "claim",
    tracked(
        label="statement",
        monotonic=("updated_at",),
        large=("text", "grounds", "warrant", "backing", "rebuttal", "source_anchor"),
        through=("claim_source", "claim_id"),
    ),
    Column("claim_type", Text, nullable=False),
    Column("epistemic_status", Text, nullable=False),
    Column("curation_state", Text, nullable=False),
    reference("subject_entity_id", "entity.id", required=False),
    reference("object_entity_id", "entity.id", required=False),
    Column("source_type", Text, nullable=False),
    Column("time_precision", Text, nullable=False),
    Column("quotation_kind", Text),
    Column("page_layer", Text),
    Index("ix_claim_listed", "created_at", "id", sqlite_where=text("merged_into_id IS NULL")),
    last=(
        reference("merged_into_id", "claim.id", required=False),
        Column("provider", Text),
        Column("model", Text),
        Column("folded_text", Text, nullable=False, info=HIDDEN),
        Column("episode_id", Text),
        *provenance_columns(),
        Column("updated_at", Text, nullable=False),
    ),
    refusal=missing("statement", "List the statements to find the right id.", code="claim_not_found"),
)
class Claim(ClaimFields, Record):
    """A statement."""

    entity_ids: Computed[list[str]]
    source_document_id: Computed[str | None]
    source_ids: Computed[list[str]]
    source_excerpt: Computed[str | None]
    source_char_start: Computed[
        Annotated[int | None, Field(description="In the page's text; null where not placed")]
    ]
    source_char_end: Computed[int | None]
    source_page_labels: Computed[list[str]]
    source_languages: Computed[list[str]]
    text_fingerprint: Computed[
        Annotated[
            str | None, Field(description="Of the first line it rests on; all of them are in its evidence")
        ]
    ]
    evidence: Computed[list[Evidence]]
    stale: Computed[Annotated[bool, Field(description="Whether a line that it rests on has changed")]]


ClaimPage = paged(Claim)
claims = Claim.table
"""A statement: a subject, a verb and an object, with how certain it is."""

claim_entities = Table(
    "claim_entity",
    metadata,
    Column("id", Text, primary_key=True),
    reference("claim_id", "claim.id"),
    reference("entity_id", "entity.id"),
    info=tracked(label="entity of a statement"),
)
"""The entities that a statement names, including its subject and object."""

claim_sources = Table(
    "claim_source",
    metadata,
    Column("id", Text, primary_key=True),
    reference("claim_id", "claim.id"),
    Column("position", Integer, nullable=False),
    reference("document_id", documents.c.id, required=False),
    reference("source_claim_id", "claim.id", required=False),
    reference("segment_id", segments.c.id, required=False),
    reference("representation_id", representations.c.id, required=False),
    Column("segment_char_start", Integer),
    Column("segment_char_end", Integer),
    Column("excerpt", Text),
    Column("text_fingerprint", Text),
    *provenance_columns(),
    Index("ix_claim_source_page", "document_id", "claim_id"),
    info=tracked(label="evidence", document="document_id"),
)
"""The evidence of a statement: characters of a line (one row per line), a document as a whole, or another statement."""


class InterpretationCreate(Params):
    """What a document says when interpreted through a framework."""

    document_id: Id
    framework_id: Word
    framework_name: Word
    text: Annotated[LongText, Field(min_length=1)]
    key_insights: Annotated[list[ShortText], Field(max_length=200)] = []
    predicate: ShortText | None = None


@record(
    metadata,
    "interpretation",
    tracked(label="interpretation", document="document_id", large=("text", "key_insights")),
    reference("document_id", documents.c.id),
    last=(
        Column("text_fingerprint", Text, nullable=False),
        Column("episode_id", Text),
        *provenance_columns(),
    ),
    hint="List the interpretations of the document to find the right id.",
)
class Interpretation(InterpretationCreate, Record):
    """What a document says when interpreted through a framework."""

    stale: Computed[bool]


InterpretationPage = paged(Interpretation)
interpretations = Interpretation.table


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


findings = Table(
    "knowledge_finding",
    metadata,
    Column("id", Text, primary_key=True),
    Column("run_id", Text, nullable=False),
    reference("document_id", documents.c.id),
    Column("kind", Text, nullable=False),
    # The key by which two runs are compared: a name with its type, or the words of a statement, folded.
    Column("key", Text, nullable=False),
    Column("item", Json, nullable=False),
    Index("ix_knowledge_finding_run", "run_id", "document_id"),
    info=tracked(label="finding of a run", document="document_id"),
)
"""What a run found on a page, even if it already existed: two runs are compared by it."""
