"""The tables of paleography: campaigns, editorial facts, hands, signs, letterforms, and proposals by
similarity.
"""

from __future__ import annotations

from sqlalchemy import Column, Float, Index, Integer, LargeBinary, MetaData, Table, Text, text

from armarium.api import Json, derived, provenance_columns, reference, tracked
from armarium_documents.api import documents, representations
from armarium_source_model.api import segments

metadata = MetaData()

LIVE = text("withdrawn_at IS NULL")

hands = Table(
    "hand",
    metadata,
    Column("id", Text, primary_key=True),
    Column("label", Text, nullable=False),
    Column("scribe", Text),
    Column("date", Text),
    Column("place", Text),
    Column("style", Text),
    Column("notes", Text),
    *provenance_columns(),
    Column("withdrawn_at", Text),
    Index("ix_hand_label", "label"),
    info=tracked(label="hand"),
)
"""A hand of the project: the writing of one scribe, wherever it occurs."""

attributions = Table(
    "hand_attribution",
    metadata,
    Column("id", Text, primary_key=True),
    reference("hand_id", "hand.id", index=False),
    reference("segment_id", segments.c.id),
    reference("document_id", documents.c.id),
    Column("certainty", Float),
    Column("note", Text),
    *provenance_columns(),
    Column("withdrawn_at", Text),
    Index("ix_hand_attribution_hand", "hand_id", "id", sqlite_where=LIVE),
    info=tracked(label="attribution to a hand", document="document_id"),
)
"""One judgement that a segment is in a hand; rival judgements may exist side by side."""

campaigns = Table(
    "campaign",
    metadata,
    Column("id", Text, primary_key=True),
    reference("document_id", documents.c.id),
    Column("name", Text, nullable=False),
    Column("sequence", Integer, nullable=False),
    reference("hand_id", "hand.id", required=False),
    Column("date", Text),
    Column("notes", Text),
    *provenance_columns(),
    Column("withdrawn_at", Text),
    info=tracked(label="campaign", document="document_id"),
)
"""A campaign of writing on a source: what was written in one go. The first one has sequence 1."""

members = Table(
    "campaign_member",
    metadata,
    Column("id", Text, primary_key=True),
    reference("segment_id", segments.c.id, index=False),
    reference("campaign_id", "campaign.id"),
    reference("document_id", documents.c.id),
    *provenance_columns(),
    Column("superseded_at", Text),
    Index("ix_campaign_member_segment", "segment_id", sqlite_where=text("superseded_at IS NULL")),
    info=tracked(label="membership of a campaign", document="document_id"),
)
"""Membership of a segment in a campaign: at most one per segment is current, earlier ones remain as
superseded.
"""

reading_members = Table(
    "campaign_reading",
    metadata,
    Column("id", Text, primary_key=True),
    reference("representation_id", representations.c.id, index=False),
    reference("campaign_id", "campaign.id"),
    reference("document_id", documents.c.id),
    *provenance_columns(),
    Column("superseded_at", Text),
    Index("ix_campaign_reading_of", "representation_id", sqlite_where=text("superseded_at IS NULL")),
    info=tracked(label="campaign of a reading", document="document_id"),
)
"""A campaign whose writing a reading gives; a reading may give several."""

facts = Table(
    "editorial_fact",
    metadata,
    Column("id", Text, primary_key=True),
    reference("segment_id", segments.c.id),
    reference("document_id", documents.c.id),
    Column("kind", Text, nullable=False),
    reference("representation_id", representations.c.id, required=False),
    Column("char_start", Integer),
    Column("char_end", Integer),
    Column("extent", Text),
    Column("extent_quantity", Float),
    Column("extent_unit", Text),
    Column("reason", Text),
    Column("place", Text),
    Column("certainty", Float),
    Column("source", Text),
    *provenance_columns(),
    Column("withdrawn_at", Text),
    info=tracked(label="editorial fact", document="document_id"),
)
"""What an editor sees on a line: unclear, lost, restored, supplied, superfluous, deleted, added; of a span or
the whole line.
"""

signs = Table(
    "sign",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    # Null only if the picture remained in another project.
    reference("picture_segment_id", segments.c.id, required=False),
    Column("code_point", Text),
    Column("list_references", Json, nullable=False),
    reference("variant_of", "sign.id", required=False),
    Column("variant", Text),
    Column("notes", Text),
    *provenance_columns(),
    Column("withdrawn_at", Text),
    Index("ix_sign_code_point", "code_point", sqlite_where=LIVE),
    info=tracked(label="sign"),
)
"""A sign of the project, with its picture; a code point belongs to one live sign."""

instances = Table(
    "sign_instance",
    metadata,
    Column("id", Text, primary_key=True),
    reference("sign_id", "sign.id", index=False),
    reference("segment_id", segments.c.id),
    reference("document_id", documents.c.id),
    Column("certainty", Float),
    *provenance_columns(),
    Column("withdrawn_at", Text),
    Index("ix_sign_instance_sign", "sign_id", "id", sqlite_where=LIVE),
    info=tracked(label="instance of a sign", document="document_id"),
)
"""An instance: a segment that shows a sign."""

allographs = Table(
    "letterform_allograph",
    metadata,
    Column("id", Text, primary_key=True),
    Column("character", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("notes", Text),
    *provenance_columns(),
    Column("withdrawn_at", Text),
    info=tracked(label="allograph"),
)
"""One way to write a character: a long s, an open g."""

letterforms = Table(
    "letterform",
    metadata,
    Column("id", Text, primary_key=True),
    reference("segment_id", segments.c.id, index=False),
    reference("document_id", documents.c.id),
    Column("character", Text, nullable=False),
    reference("allograph_id", "letterform_allograph.id", required=False),
    reference("hand_id", "hand.id", required=False),
    Column("features", Json, nullable=False),
    *provenance_columns(),
    Column("withdrawn_at", Text),
    Index("ix_letterform_segment", "segment_id", sqlite_where=LIVE),
    Index("ix_letterform_character", "character", "id", sqlite_where=LIVE),
    info=tracked(label="letterform", document="document_id"),
)
"""How the character of a segment is written, in free terms; a segment has one live description."""

proposals = Table(
    "likeness_proposal",
    metadata,
    Column("id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    reference("hand_id", "hand.id", required=False),
    reference("sign_id", "sign.id", required=False),
    reference("segment_id", segments.c.id),
    reference("like_segment_id", segments.c.id),
    reference("document_id", documents.c.id),
    Column("score", Float, nullable=False),
    Column("state", Text, nullable=False),
    Column("decided_by", Text),
    Column("decided_at", Text),
    # The attribution or instance that was made when it was accepted.
    Column("resulting_id", Text),
    *provenance_columns(),
    Index("ix_likeness_proposal_state", "state", "kind", "id"),
    info=tracked(label="proposal", document="document_id"),
)
"""A hand or sign proposed for a segment because it looks like a judged one; no judgement until a person
accepts it.
"""

vectors = Table(
    "likeness_vector",
    metadata,
    Column("segment_id", Text, primary_key=True),
    Column("document_id", Text, nullable=False, index=True),
    # Of the picture and shape it was made from: when these change, the vector is made again.
    Column("fingerprint", Text, nullable=False),
    Column("vector", LargeBinary, nullable=False),
    info=derived(document="document_id"),
)
"""What the picture of a segment looks like, as a vector of unit length (float16)."""

EXPORTED = (
    hands,
    attributions,
    campaigns,
    members,
    reading_members,
    facts,
    signs,
    instances,
    allographs,
    letterforms,
)
"""Tables whose rows leave a project as records; proposals are not among them, the other project makes its
own.
"""
