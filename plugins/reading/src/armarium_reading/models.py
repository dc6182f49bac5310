"""The tables of reading: the episode ledger, one row per call of a model, never changed; and, in the engine's
own database, providers and their models.
"""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Float, Index, Integer, MetaData, Table, Text

from armarium.api import HIDDEN, Json, Whole, append_only, reference, tracked

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
    info=append_only(document="document_id", whole=Whole(unless="segment_id")),
)
"""No foreign keys: a row of the ledger outlives what it refers to, until that is purged."""

engine_metadata = MetaData()

providers = Table(
    "provider",
    engine_metadata,
    Column("id", Text, primary_key=True),
    # To a user, two names that differ only in case would be the same.
    Column("name", Text(collation="NOCASE"), nullable=False, unique=True),
    Column("provider_type", Text, nullable=False),
    Column("api_base", Text),
    Column("enabled", Boolean, nullable=False),
    Column("sort_order", Integer, nullable=False),
    # The name under which the key is stored (`providers/keys.py`); the key itself is never in a database.
    Column("key_name", Text, info=HIDDEN),
    info=tracked(label="provider"),
)
"""Services and servers whose models may be asked."""

provider_models = Table(
    "provider_model",
    engine_metadata,
    Column("id", Text, primary_key=True),
    reference("provider_id", providers.c.id),
    Column("name", Text, nullable=False),
    Column("model_id", Text, nullable=False),
    Column("capabilities", Json, nullable=False),
    Column("is_default", Boolean, nullable=False),
    Column("enabled", Boolean, nullable=False),
    Column("sort_order", Integer, nullable=False),
    Column("input_cost", Float),
    Column("output_cost", Float),
    Index("ix_provider_model", "provider_id", "model_id", unique=True),
    info=tracked(label="model of a provider"),
)
"""The models a provider may be asked with; costs in USD per million tokens, null if no price is known."""
