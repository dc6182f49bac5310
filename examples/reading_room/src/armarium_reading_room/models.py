"""The table of visits: who looked at which original, on which day."""

from __future__ import annotations

from sqlalchemy import Column, MetaData, Table, Text

from armarium.api import reference, tracked
from armarium_documents.api import documents

metadata = MetaData()

visits = Table(
    "reading_room_visit",
    metadata,
    Column("id", Text, primary_key=True),
    reference("document_id", documents.c.id),
    Column("visitor", Text, nullable=False),
    Column("day", Text, nullable=False),
    Column("remark", Text),
    info=tracked(label="visit", document="document_id"),
)
