"""The tables of a canvas: positions, and the items that exist only on a canvas."""

from __future__ import annotations

from sqlalchemy import Column, Float, Index, Integer, MetaData, Table, Text

from armarium.api import Json, reference, tracked
from armarium_documents.api import documents

metadata = MetaData()

places = Table(
    "canvas_place",
    metadata,
    # `folder::item`: one row for each thing on a canvas.
    Column("id", Text, primary_key=True),
    reference("folder_id", documents.c.id),
    # A document or a canvas item; no foreign key, because it may be either, and a place outlives a move.
    Column("item_id", Text, nullable=False),
    Column("x", Float, nullable=False),
    Column("y", Float, nullable=False),
    Column("z", Float, nullable=False),
    Column("w", Float),
    Column("h", Float),
    Column("d", Float),
    Column("angle", Float, nullable=False),
    Column("z_index", Integer, nullable=False),
    Column("style", Text),
    Column("updated_at", Text, nullable=False),
    Index("ix_canvas_place_item", "item_id"),
    info=tracked(label="place on a canvas", monotonic=("updated_at",), document="folder_id"),
)
"""Where one thing lies on the canvas of a folder: its centre, in card units."""

items = Table(
    "canvas_item",
    metadata,
    Column("id", Text, primary_key=True),
    reference("folder_id", documents.c.id),
    Column("kind", Text, nullable=False),
    Column("text", Text),
    Column("source_item_id", Text, index=True),
    Column("target_item_id", Text, index=True),
    Column("payload", Json, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
    info=tracked(
        label="canvas item",
        monotonic=("updated_at",),
        large=("text", "payload"),
        document="folder_id",
        names=("payload",),
    ),
)
"""A note, quote, work note, text or link that only the canvas of its folder has."""
