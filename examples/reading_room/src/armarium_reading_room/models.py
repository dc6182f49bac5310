"""The table of visits: who looked at which original, on which day."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, MetaData, Table, Text

from armarium.api import tracked
from armarium_documents.api import documents

metadata = MetaData()

visits = Table(
    "reading_room_visit",
    metadata,
    Column("id", Text, primary_key=True),
    Column(
        "document_id",
        Text,
        ForeignKey(documents.c.id, deferrable=True, initially="DEFERRED"),
        nullable=False,
        index=True,
    ),
    Column("visitor", Text, nullable=False),
    Column("day", Text, nullable=False),
    Column("remark", Text),
    info=tracked(label="visit", document="document_id"),
)
