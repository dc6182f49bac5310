"""The table of control points: what their world-point readings and links do not contain themselves."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Float, Index, MetaData, Table, Text

from armarium.api import HIDDEN, provenance_columns, reference, tracked
from armarium_documents.api import documents, representations
from armarium_source_model.api import links, passes, segments

metadata = MetaData()

points = Table(
    "georeference_control_point",
    metadata,
    Column("id", Text, primary_key=True),
    reference("document_id", documents.c.id),
    reference("pass_id", passes.c.id, index=False),
    reference("segment_id", segments.c.id),
    # Its place on the ground is the counting reading of the kind world-point on its segment; this is the
    # point's own.
    reference("representation_id", representations.c.id),
    reference("link_id", links.c.id),
    # The place as the source states it; the reading contains the conversion.
    Column("original_crs", Text),
    Column("original_x", Float),
    Column("original_y", Float),
    Column("enabled", Boolean, nullable=False),
    Column("note", Text),
    # Whether its segment was drawn only for it, and is removed with it.
    Column("is_mark", Boolean, nullable=False, info=HIDDEN),
    *provenance_columns(),
    Column("updated_at", Text, nullable=False),
    Index("ix_georeference_control_point_pass", "pass_id", "segment_id"),
    info=tracked(label="control point", monotonic=("updated_at",), large=("note",), document="document_id"),
)
"""A place in a picture whose place on the ground is known: the middle of a segment, and its world-point
reading.
"""
