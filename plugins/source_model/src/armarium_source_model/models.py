"""The tables of the source model: passes and segments, and which reading or pass a person chose."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Float, Index, Integer, MetaData, Table, Text, text

from armarium.api import (
    HIDDEN,
    Choice,
    Json,
    Structure,
    Whole,
    append_only,
    derived,
    provenance_columns,
    reference,
    tracked,
)
from armarium_documents.api import documents, representations

metadata = MetaData()

passes = Table(
    "segment_pass",
    metadata,
    Column("id", Text, primary_key=True),
    reference("document_id", documents.c.id),
    Column("name", Text, nullable=False),
    Column("provider", Text),
    Column("model", Text),
    Column("source_artifact_id", Text, index=True),
    Column("artifact_type", Text),
    Column("import_file", Text),
    Column("import_checksum", Text, index=True),
    Column("import_format", Text),
    Column("has_original", Boolean, nullable=False),
    Column("ground_truth", Boolean, nullable=False),
    Column("transformation", Json),
    *provenance_columns(),
    Column("deleted_at", Text),
    # What the file that the pass was read from states about its page; a statement on the page itself takes
    # precedence.
    Column("language", Text, info=HIDDEN),
    Column("script", Text, info=HIDDEN),
    Column("direction", Text, info=HIDDEN),
    # How the lines of the page follow each other (tb, bt, lr, rl), where the file says so.
    Column("line_order", Text, info=HIDDEN),
    # The width of the file's page divided by its height, for a page without a picture.
    Column("proportion", Float, info=HIDDEN),
    # In how many columns its lines stand, where somebody has said so.
    Column("column_count", Integer, info=HIDDEN),
    info=tracked(label="pass", document="document_id", structure=Structure(("deleted_at",))),
)
"""One laying-out of a page: a model's, an import's or a person's. Rival passes stand side by side."""

pass_choices = Table(
    "segment_pass_choice",
    metadata,
    reference("document_id", documents.c.id, index=False, primary_key=True),
    reference("pass_id", "segment_pass.id"),
    *provenance_columns(),
    info=tracked(label="choice of the working pass", document="document_id"),
)
"""The pass a person chose to work on; where there is no row the ladder decides."""

segments = Table(
    "segment",
    metadata,
    Column("id", Text, primary_key=True),
    reference("document_id", documents.c.id, index=False),
    reference("pass_id", "segment_pass.id", index=False),
    Column("kind", Text, nullable=False),
    Column("kind_raw", Text),
    # The whole SourceAnchor as sent and checked; the box columns and the tile are derived from its rect.
    Column("anchor", Json, nullable=False),
    Column("baseline", Json),
    reference("parent_segment_id", "segment.id", required=False),
    Column("is_furniture", Boolean, nullable=False),
    Column("language", Text),
    Column("script", Text),
    Column("direction", Text),
    Column("cell", Json),
    Column("confidence", Float),
    Column("source_artifact_id", Text),
    Column("box_index", Integer),
    Column("page_index", Integer),
    Column("metadata", Json, nullable=False),
    Column("bbox_x", Float, nullable=False),
    Column("bbox_y", Float, nullable=False),
    Column("bbox_w", Float, nullable=False),
    Column("bbox_h", Float, nullable=False),
    Column("tile", Integer, nullable=False),
    # A person made or edited it, which ranks its pass as human-touched. Undo resets it with the edit.
    Column("by_hand", Boolean, nullable=False, info=HIDDEN),
    Column("version", Integer, nullable=False),
    *provenance_columns(),
    Column("updated_at", Text, nullable=False),
    Column("deleted_at", Text),
    # The step that last joined it with others or split it.
    Column("joined_or_split_in", Text, info=HIDDEN),
    Index("ix_segment_pass", "pass_id", "id"),
    Index("ix_segment_document", "document_id", "id"),
    Index("ix_segment_by_hand", "document_id", "pass_id", sqlite_where=text("by_hand")),
    # Positions of live segments, page by page, without their long rows: an area query needs nothing else.
    Index(
        "ix_segment_area",
        "document_id",
        "bbox_y",
        "bbox_x",
        "bbox_w",
        "bbox_h",
        sqlite_where=text("deleted_at IS NULL"),
    ),
    info=tracked(
        label="segment",
        monotonic=("version", "updated_at"),
        large=("anchor", "baseline", "metadata"),
        document="document_id",
        structure=Structure(("deleted_at", "joined_or_split_in"), step="joined_or_split_in"),
    ),
)
"""A region, line or word on a page; it never moves to another pass or document (that is a merge)."""

reading_choices = Table(
    "reading_choice",
    metadata,
    Column("id", Text, primary_key=True),
    reference("document_id", documents.c.id, index=False),
    reference("segment_id", "segment.id", index=False),
    Column("kind", Text, nullable=False),
    reference("representation_id", representations.c.id),
    *provenance_columns(),
    Column("superseded_at", Text),
    Index("ix_reading_choice_segment", "segment_id", "kind"),
    Index("ix_reading_choice_document", "document_id", sqlite_where=text("superseded_at IS NULL")),
    info=tracked(
        label="choice of a reading",
        document="document_id",
        rivals=("segment_id", "kind"),
        ended="superseded_at",
        choice=Choice("representation_id", text="content"),
    ),
)
"""Which reading a person said counts; earlier choices stay with `superseded_at`, at most one stands per kind."""

letter_places = Table(
    "segment_letter_places",
    metadata,
    reference("representation_id", representations.c.id, index=False, primary_key=True),
    reference("document_id", documents.c.id),
    # The picture on which they were measured.
    Column("rendition_id", Text),
    # x and y of the corner of the line's area, its side along the line and its side across, in fractions of the picture.
    Column("frame", Json, nullable=False),
    # {letters: five ten-thousandths for each (start, end, top, bottom, probability), others: {number: [[letter, probability]]}}
    Column("places", Json, nullable=False),
    Column("fit", Float),
    # Tells whether the segment has another shape now.
    Column("shape", Text, nullable=False),
    info=tracked(label="places of letters", large=("places",), document="document_id"),
)
"""Where the letters of a reading stand, as the reader that made it said; a reading without a row says nothing of it."""

reading_kinds = Table(
    "reading_kind",
    metadata,
    Column("key", Text, primary_key=True),
    Column("label", Text, nullable=False),
    Column("builtin", Boolean, nullable=False),
    Column("created_at", Text, nullable=False),
    info=tracked(
        label="kind of reading", used_by=((representations.name, "kind"), ("reading_choice", "kind"))
    ),
)
"""The kinds a reading may have: an open table, seeded, from which nothing is removed."""

forwardings = Table(
    "segment_forwarding",
    metadata,
    Column("sequence", Integer, primary_key=True),
    Column("id", Text, nullable=False, unique=True),
    # No foreign keys: a note outlives a part that an undo removes, so that its citation still resolves, and
    # does not keep an undo from removing the page.
    Column("document_id", Text, nullable=False, index=True),
    Column("old_segment_id", Text, nullable=False, index=True),
    Column("kind", Text, nullable=False),
    Column("new_segment_ids", Json, nullable=False),
    Column("actor", Text),
    # An undo looks up the notes that its step wrote.
    Column("audit_id", Text, nullable=False, index=True),
    Column("reason", Text),
    Column("created_at", Text, nullable=False),
    info=append_only(document="document_id"),
)
"""Where a citation of a segment leads now: notes of kind merged, split, deleted and restored; the newest decides."""

matches = Table(
    "segment_match",
    metadata,
    Column("id", Text, primary_key=True),
    reference("document_id", documents.c.id),
    reference("from_segment_id", "segment.id"),
    reference("to_segment_id", "segment.id"),
    Column("state", Text, nullable=False),
    Column("certainty", Float),
    Column("note", Text),
    Column("proposed_by_kind", Text, nullable=False),
    Column("proposed_by", Text),
    Column("accepted_by", Text),
    Column("accepted_at", Text),
    Column("created_at", Text, nullable=False),
    Column("withdrawn_at", Text, info=HIDDEN),
    info=tracked(label="match", document="document_id"),
)
"""A word that two segments of rival passes are the same thing on the page; only a person accepts it."""

carries = Table(
    "segment_carry",
    metadata,
    Column("id", Text, primary_key=True),
    reference("match_id", "segment_match.id"),
    Column("carried_kind", Text, nullable=False),
    Column("original_id", Text, nullable=False, index=True),
    Column("copy_id", Text, nullable=False, index=True),
    Column("audit_id", Text, nullable=False),
    info=tracked(label="carried copy"),
)
"""What was copied across an accepted match; the original is never moved."""

reading_orders = Table(
    "reading_order",
    metadata,
    Column("id", Text, primary_key=True),
    reference("document_id", documents.c.id),
    reference("pass_id", "segment_pass.id"),
    Column("name", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("certainty", Float),
    *provenance_columns(),
    Column("deleted_at", Text),
    # Most orders are of one page alone; the few that continue over others are looked up from each of them.
    Index("ix_reading_order_flow", "document_id", sqlite_where=text("kind = 'flow'")),
    info=tracked(label="reading order", document="document_id", structure=Structure(("deleted_at",))),
)
"""An order in which somebody reads a pass; only a flow goes on over the segments of other passes and pages."""

order_entries = Table(
    "reading_order_entry",
    metadata,
    Column("id", Text, primary_key=True),
    reference("order_id", "reading_order.id", index=False),
    reference("segment_id", "segment.id"),
    reference("document_id", documents.c.id),
    reference("parent_entry_id", "reading_order_entry.id", required=False),
    # Each insertion halves the gap between neighbours; renumbering restores whole steps.
    Column("position", Float, nullable=False),
    Column("version", Integer, nullable=False),
    Column("created_at", Text, nullable=False),
    Index("ix_reading_order_entry_level", "order_id", "parent_entry_id", "position"),
    Index("ix_reading_order_entry_segment_of", "order_id", "segment_id", unique=True),
    info=tracked(label="order entry", monotonic=("version",), document="document_id"),
)
"""A segment's place in an order; entries nest, and a segment stands in an order once."""

source_settings = Table(
    "source_setting",
    metadata,
    Column("key", Text, primary_key=True),
    Column("value", Text, nullable=False),
    *provenance_columns(),
    info=tracked(label="source setting"),
)
"""What a project states of its sources as a whole; what a page or a line states stands on those themselves."""

links = Table(
    "link",
    metadata,
    Column("id", Text, primary_key=True),
    Column("from_kind", Text, nullable=False),
    Column("from_id", Text, nullable=False),
    Column("to_kind", Text, nullable=False),
    Column("to_id", Text, nullable=False),
    Column("link_type", Text, nullable=False),
    Column("certainty", Float),
    Column("note", Text),
    # The page of the end that is on one (the first if both are), so that a page's links go with it.
    reference("document_id", documents.c.id, required=False),
    *provenance_columns(),
    Column("deleted_at", Text),
    Index("ix_link_from", "from_id"),
    Index("ix_link_to", "to_id"),
    Index("ix_link_type", "link_type"),
    info=tracked(label="link", document="document_id"),
)
"""A statement about two things; its ends are of many families, so they are ids with a kind and no foreign keys."""

page_texts = Table(
    "source_model_page_text",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("document_id", Text, nullable=False, unique=True),
    Column("pass_id", Text, nullable=False),
    Column("text", Text, nullable=False),
    # [[segment_id, char_start, char_end], …] of the lines (or words) in reading order, in code points.
    Column("spans", Json, nullable=False),
    # The text prepared for search (`folding`): its words, and the halves of hyphenated ones.
    Column("words", Text, nullable=False),
    Column("halves", Text, nullable=False),
    Column("fingerprint", Text, nullable=False),
    # Which pages have a text is asked of all pages at once, without their texts.
    Index("ix_source_model_page_text_state", "document_id", "fingerprint"),
    info=derived(document="document_id", whole=Whole()),
)
"""What counts on each page that has a text, line by line: kept in every step that changes it, in the step's transaction."""

due_pages = Table(
    "source_model_page_due",
    metadata,
    Column("document_id", Text, primary_key=True),
    info=derived(document="document_id"),
)
"""The pages whose row in `page_texts` may not be what counts: too many changed at once, and a job goes through them."""

page_words = Table(
    "source_model_word",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("word", Text, nullable=False, unique=True),
    info=derived(),
)
"""Every folded word that stands in `page_texts`, or stood there; the number of a later one is greater."""
