"""The table of verdicts."""

from __future__ import annotations

from sqlalchemy import Column, MetaData, Table, Text

from armarium.api import Json, reference, tracked
from armarium_documents.api import documents
from armarium_source_model.api import segments

metadata = MetaData()

verdicts = Table(
    "check_verdict",
    metadata,
    Column("id", Text, primary_key=True),
    Column("layer", Text, nullable=False),
    # What was checked: a reading, a statement, an entity. No foreign key, because it may be in any of their
    # tables.
    Column("target_id", Text, nullable=False, index=True),
    reference("document_id", documents.c.id, required=False),
    reference("segment_id", segments.c.id, required=False),
    Column("verdict", Text, nullable=False),
    Column("reasons", Text, nullable=False),
    Column("correction", Text),
    Column("replacement_id", Text),
    Column("checker", Json, nullable=False),
    Column("trust", Text, nullable=False),
    Column("run_id", Text, index=True),
    Column("episode_id", Text),
    Column("audit_id", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    info=tracked(label="verdict", document="document_id", large=("reasons", "correction")),
)
"""One verdict on one proposal. Later ones are added beside it; the newest is listed first."""
