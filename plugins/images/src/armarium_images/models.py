"""The tables of images: where each derived child was cut, and batches with the state of each item."""

from __future__ import annotations

from sqlalchemy import Column, Index, Integer, MetaData, Table, Text, text

from armarium.api import Json, reference, tracked
from armarium_documents.api import documents

metadata = MetaData()

cuts = Table(
    "image_cut",
    metadata,
    reference("child_id", documents.c.id, index=False, primary_key=True),
    reference("source_id", documents.c.id, index=False),
    Column("kind", Text, nullable=False),
    Column("rendition_id", Text, nullable=False),
    # [left, top, width, height] in pixels of the upright source.
    Column("box", Json, nullable=False),
    # Six numbers that map the child's fractions to the source's.
    Column("transform", Json, nullable=False),
    Column("batch_id", Text),
    Column("created_at", Text, nullable=False),
    Index("ix_image_cut_source", "source_id", "kind"),
    Index("ix_image_cut_batch", "batch_id", "source_id", sqlite_where=text("batch_id IS NOT NULL")),
    info=tracked(label="crop", document="child_id"),
)
"""A derived child and its rectangle in the source's picture; `kind` is crop or split."""

batches = Table(
    "image_batch",
    metadata,
    Column("id", Text, primary_key=True),
    Column("job_id", Text, nullable=False),
    Column("folder_id", Text, nullable=False),
    Column("spec", Json, nullable=False),
    Column("created_at", Text, nullable=False),
    info=tracked(label="batch over images"),
)
"""One crop or split laid over the pictures of a folder."""

items = Table(
    "image_batch_item",
    metadata,
    reference("batch_id", "image_batch.id", index=False, primary_key=True),
    Column("document_id", Text, primary_key=True),
    Column("sequence", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("reason", Text),
    Index("ix_image_batch_item", "batch_id", "sequence"),
    Index("ix_image_batch_item_document", "document_id"),
    # Also how a locked picture fared.
    info=tracked(label="picture of a batch", document="document_id", heeds_locks=False),
)
"""One picture of a batch: waiting, done, failed, skipped or undone."""
