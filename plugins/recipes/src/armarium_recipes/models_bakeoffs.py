"""The tables of bake-offs, and of the readers used for single hands."""

from __future__ import annotations

from sqlalchemy import Column, Index, Integer, Table, Text

from armarium.api import Json, operational, provenance_columns, reference, tracked
from armarium_paleography.api import hands
from armarium_recipes.models import metadata

bakeoffs = Table(
    "recipes_bakeoff",
    metadata,
    # The id of its job.
    Column("id", Text, primary_key=True),
    Column("step", Text, nullable=False),
    Column("started_at", Text, nullable=False),
    Column("material", Text, nullable=False),
    Column("volume", Integer, nullable=False),
    Column("pages", Json, nullable=False),
    Column("left_out", Json, nullable=False),
    Column("lines", Integer, nullable=False),
    Column("candidates", Json, nullable=False),
    Column("promote", Integer, nullable=False),
    # The outcome apart from the scores, which are on the models' cards.
    Column("outcome", Json),
    info=operational(),
)
"""Each bake-off as it was started; the row outlives the job, which the queue deletes after 30 days."""

champions = Table(
    "recipes_champion",
    metadata,
    Column("id", Text, primary_key=True),
    reference("hand_id", hands.c.id, index=False),
    Column("card", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("reader", Text, nullable=False),
    Column("model", Text),
    Column("bakeoff_id", Text),
    *provenance_columns(),
    Index("ix_recipes_champion_hand", "hand_id", unique=True),
    info=tracked(label="reader of a hand"),
)
"""Which reader reads the lines of a hand; at most one per hand."""
