"""The tables of page evidence and of picture signals; proposals and scores are artifacts of their folder."""

from __future__ import annotations

from sqlalchemy import Column, Float, MetaData, Table, Text

from armarium.api import Json, Whole, derived, reference, tracked
from armarium_documents.api import documents

metadata = MetaData()

said = Table(
    "finding_page",
    metadata,
    Column("id", Text, primary_key=True),
    # The artifact; no foreign key, since a page that moves to another project does not take it along.
    Column("proposal_id", Text, nullable=False, index=True),
    reference("document_id", documents.c.id),
    Column("kind", Text),
    Column("kind_weight", Float),
    Column("date", Text),
    Column("parties", Json, nullable=False),
    Column("text_fingerprint", Text, nullable=False),
    Column("run_id", Text),
    info=tracked(label="page of a proposal", document="document_id", large=("parties",), whole=Whole()),
)
"""What a page of a proposal says about its document; hidden whenever the page is."""

pictures = Table(
    "finding_picture",
    metadata,
    Column("document_id", Text, primary_key=True),
    # The bytes from which the thumbnail was made, so that a new primary picture makes the signals stale.
    Column("checksum", Text, nullable=False),
    Column("hash", Text, nullable=False),
    Column("ink", Float, nullable=False),
    info=derived(document="document_id", whole=Whole()),
)
"""How much ink is on a page (0 to 1), and a hash of its picture, 16 hex digits: few different bits mean
similar pictures.
"""
