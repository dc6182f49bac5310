"""The table of reading: the episode ledger, one row a call of a model, never changed (A 4.10)."""

from __future__ import annotations

from sqlalchemy import Column, Float, Integer, MetaData, Table, Text

from armarium.api import Json, append_only

metadata = MetaData()

episodes = Table(
    "episode",
    metadata,
    Column("seq", Integer, primary_key=True, autoincrement=True),
    Column("id", Text, nullable=False, unique=True),
    Column("at", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("use_case", Text, nullable=False),
    Column("node", Text),
    Column("thread_id", Text, index=True),
    Column("workflow_id", Text),
    Column("job_id", Text, index=True),
    Column("attempt", Integer, nullable=False, default=1),
    Column("subject_kind", Text, nullable=False),
    Column("document_id", Text, nullable=False, index=True),
    Column("segment_id", Text),
    Column("target_id", Text),
    Column("provider", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("model_version", Text),
    Column("exchange", Json, nullable=False),
    Column("started_at", Text, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("cost", Json, nullable=False),
    Column("corrects_episode_id", Text),
    Column("caused_by_episode_id", Text, index=True),
    Column("stale_artifact_ids", Json, nullable=False),
    Column("actor", Text, nullable=False),
    info=append_only(document="document_id"),
)
"""No foreign keys: the ledger outlives what it speaks of until that is purged."""
