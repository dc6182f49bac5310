"""The tables of training: models trained here, and the shards of reading at scale."""

from __future__ import annotations

from sqlalchemy import Column, Index, Integer, MetaData, Table, Text

from armarium.api import Json, operational, provenance_columns, tracked

metadata = MetaData()

trained_models = Table(
    "training_model",
    metadata,
    Column("id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    # The kind of the folder among the project's models that it is in, and the name of its files.
    Column("store", Text, nullable=False),
    Column("file", Text, nullable=False),
    Column("job_id", Text, nullable=False, index=True),
    *provenance_columns(),
    info=tracked(label="trained model", stays_here=True),
)
"""A model that a training added to the project. Its description is on its card, next to its weights."""

shards = Table(
    "training_shard",
    metadata,
    Column("job_id", Text, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("state", Text, nullable=False),
    Column("far_id", Text),
    Column("tries", Integer, nullable=False),
    Column("why", Text),
    Column("last_lines", Json, nullable=False),
    Index("ix_training_shard_state", "job_id", "state"),
    # Of use only beside its job.
    info=operational(stays_here=True),
)
"""The parts of a reading at scale that were begun: packed, sent, read and written to pages. One without a row is still to be begun."""
