"""The table of rights records."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Index, MetaData, Table, Text, text

from armarium.api import HIDDEN, Json, provenance_columns, reference, tracked
from armarium_documents.api import documents
from armarium_source_model.api import segments

metadata = MetaData()

records = Table(
    "rights_record",
    metadata,
    Column("id", Text, primary_key=True),
    Column("target_kind", Text, nullable=False),
    # The target: the segment, or else the document, or else the project. A segment's record names its
    # document too.
    reference("document_id", documents.c.id, required=False, info=HIDDEN),
    reference("segment_id", segments.c.id, required=False, info=HIDDEN),
    Column("holders", Json, nullable=False),
    Column("consent", Json),
    Column("conditions", Text),
    Column("labels", Json, nullable=False),
    Column("restricted", Boolean, nullable=False),
    Column("readers", Json, nullable=False),
    Column("model_use", Text),
    *provenance_columns(),
    Column("withdrawn_at", Text),
    Index("ix_rights_record_limits", "id", sqlite_where=text("withdrawn_at IS NULL")),
    info=tracked(label="rights record", document="document_id"),
)
"""A statement of the rights in the project, a document or a segment; a record is withdrawn, never changed."""
