"""The tables of knowledge: entities, where they are named, statements and their evidence, interpretations."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Float, Index, Integer, MetaData, Table, Text, text

from armarium.api import HIDDEN, Json, provenance_columns, reference, tracked
from armarium_documents.api import documents, representations
from armarium_source_model.api import segments

metadata = MetaData()

entities = Table(
    "entity",
    metadata,
    Column("id", Text, primary_key=True),
    Column("canonical_name", Text, nullable=False),
    Column("entity_type", Text, nullable=False),
    reference("parent_id", "entity.id", required=False),
    Column("names", Json, nullable=False),
    # Every name without case and diacritics, one per line: the text searched for names, maintained by the
    # actions.
    Column("folded_names", Text, nullable=False, info=HIDDEN),
    Column("description", Text),
    Column("language", Text),
    Column("date_values", Json, nullable=False),
    Column("place_values", Json, nullable=False),
    Column("authority_links", Json, nullable=False),
    Column("curation_state", Text, nullable=False),
    reference("merged_into_id", "entity.id", required=False),
    Column("metadata", Json, nullable=False),
    Column("episode_id", Text, info=HIDDEN),
    *provenance_columns(),
    Column("updated_at", Text, nullable=False),
    Index("ix_entity_type", "entity_type"),
    info=tracked(label="entity", monotonic=("updated_at",), large=("metadata", "place_values")),
)
"""A person, a place or anything else that is named; a merged one remains, and says into which it was merged."""

NOT_MERGED = entities.c.merged_into_id.is_(None)
"""Which entities are listed: a condition without parameters, or SQLite would not use the index of those."""
Index(
    "ix_entity_listed",
    entities.c.canonical_name,
    entities.c.id,
    # So that words are looked for in the index: the rows are many times as wide.
    entities.c.folded_names,
    sqlite_where=NOT_MERGED,
)

mentions = Table(
    "mention",
    metadata,
    Column("id", Text, primary_key=True),
    reference("entity_id", "entity.id", index=False),
    reference("document_id", documents.c.id, index=False),
    reference("segment_id", segments.c.id),
    reference("representation_id", representations.c.id),
    Column("segment_char_start", Integer, nullable=False),
    Column("segment_char_end", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("confidence", Float),
    Column("corrected_by_person", Boolean, nullable=False),
    # Of the reading as it was when somebody last looked at the mention: of this line, not of the page.
    Column("text_fingerprint", Text, nullable=False),
    Column("episode_id", Text),
    *provenance_columns(),
    Index("ix_mention_entity", "entity_id", "document_id"),
    Index("ix_mention_document", "document_id", "entity_id"),
    info=tracked(label="mention", document="document_id"),
)
"""Where an entity is named: characters of one reading of one line. Offsets in the page's text are computed."""

refusals = Table(
    "mention_refusal",
    metadata,
    Column("id", Text, primary_key=True),
    reference("entity_id", "entity.id"),
    reference("document_id", documents.c.id),
    reference("segment_id", segments.c.id),
    reference("representation_id", representations.c.id),
    Column("segment_char_start", Integer, nullable=False),
    Column("segment_char_end", Integer, nullable=False),
    Column("text", Text, nullable=False),
    *provenance_columns(),
    info=tracked(label="refused mention", document="document_id"),
)
"""Characters that somebody stated do not name an entity: no machine may name it there again."""

claims = Table(
    "claim",
    metadata,
    Column("id", Text, primary_key=True),
    Column("text", Text, nullable=False),
    Column("claim_type", Text, nullable=False),
    Column("epistemic_status", Text, nullable=False),
    Column("curation_state", Text, nullable=False),
    reference("subject_entity_id", "entity.id", required=False),
    Column("subject_canonical", Text, nullable=False),
    Column("predicate_verb", Text, nullable=False),
    Column("object_phrase", Text, nullable=False),
    reference("object_entity_id", "entity.id", required=False),
    Column("source_type", Text, nullable=False),
    Column("source_anchor", Json),
    Column("time_start", Text),
    Column("time_end", Text),
    Column("time_precision", Text, nullable=False),
    Column("date_values", Json, nullable=False),
    Column("grounds", Text),
    Column("warrant", Text),
    Column("backing", Text),
    Column("qualifier", Text),
    Column("rebuttal", Text),
    Column("quotation_kind", Text),
    Column("page_layer", Text),
    Column("confidence", Float, nullable=False),
    reference("merged_into_id", "claim.id", required=False),
    Column("provider", Text),
    Column("model", Text),
    Column("folded_text", Text, nullable=False, info=HIDDEN),
    Column("episode_id", Text),
    *provenance_columns(),
    Column("updated_at", Text, nullable=False),
    Index("ix_claim_listed", "created_at", "id", sqlite_where=text("merged_into_id IS NULL")),
    info=tracked(
        label="statement",
        monotonic=("updated_at",),
        large=("text", "grounds", "warrant", "backing", "rebuttal", "source_anchor"),
        through=("claim_source", "claim_id"),
    ),
)
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
"""The evidence of a statement: characters of a line (one row per line), a document as a whole, or another
statement.
"""

interpretations = Table(
    "interpretation",
    metadata,
    Column("id", Text, primary_key=True),
    reference("document_id", documents.c.id),
    Column("framework_id", Text, nullable=False),
    Column("framework_name", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("key_insights", Json, nullable=False),
    Column("predicate", Text),
    Column("text_fingerprint", Text, nullable=False),
    Column("episode_id", Text),
    *provenance_columns(),
    info=tracked(label="interpretation", document="document_id", large=("text", "key_insights")),
)
"""What a document says when interpreted through a framework."""

matches = Table(
    "entity_match",
    metadata,
    Column("id", Text, primary_key=True),
    reference("survivor_entity_id", "entity.id"),
    reference("candidate_entity_id", "entity.id"),
    Column("score", Float, nullable=False),
    Column("method", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("reason", Text),
    Column("decided_by", Text),
    Column("decided_by_person", Boolean, nullable=False, info=HIDDEN),
    Column("decided_at", Text),
    Column("created_at", Text, nullable=False),
    Index("ix_entity_match_state", "state", text("score DESC")),
    info=tracked(label="match of entities"),
)
"""Two entities that may be the same; only a person decides that they are."""

reviews = Table(
    "prediction_review",
    metadata,
    Column("id", Text, primary_key=True),
    # The run of the model that predicted, as stated by the sender: not the run that wrote this row.
    Column("run_id", Text),
    reference("source_entity_id", "entity.id"),
    Column("relation", Text, nullable=False),
    reference("target_entity_id", "entity.id"),
    Column("score", Float, nullable=False),
    Column("rank", Integer),
    Column("model_id", Text),
    Column("model_config_snapshot", Json, nullable=False),
    Column("state", Text, nullable=False),
    Column("note", Text),
    reference("resulting_claim_id", "claim.id", required=False),
    Column("reviewed_by", Text),
    Column("reviewed_at", Text),
    Column("created_at", Text, nullable=False),
    Index("ix_prediction_review_state", "state", "created_at"),
    info=tracked(label="review of a prediction"),
)
"""A relation that a model predicted, and what was decided about it."""

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
