"""The tables of formats: what an imported pass stores of its file besides segments and readings; reports
seen.
"""

from __future__ import annotations

from sqlalchemy import Column, Integer, MetaData, Table, Text

from armarium.api import HIDDEN, Json, Whole, reference, tracked
from armarium_documents.api import documents
from armarium_source_model.api import passes

metadata = MetaData()

format_imports = Table(
    "format_import",
    metadata,
    reference("pass_id", passes.c.id, index=False, primary_key=True),
    reference("document_id", documents.c.id),
    Column("format", Text, nullable=False),
    Column("version", Text),
    Column("filename", Text, nullable=False),
    # sha256 of the file and its name in the object store.
    Column("original", Text, nullable=False, index=True, info={"object": True}),
    # The size in pixels that the file declares, null where it declares none.
    Column("page_width", Integer),
    Column("page_height", Integer),
    # Image name, order and extras of the page, as `queries.pages` writes and reads them.
    Column("page", Json, nullable=False),
    # Counts of what is in extras: [{what, count}]. (`kept` is a word of the history tables.)
    Column("kept_counts", Json, nullable=False),
    Column("notes", Json, nullable=False),
    Column("created_at", Text, nullable=False),
    info=tracked(label="imported file", large=("page",), document="document_id", whole=Whole()),
)
"""One row an imported pass: where its original lies, and the parts of it that the source model has no field for."""

mets_files = Table(
    "format_mets",
    metadata,
    Column("id", Text, primary_key=True),
    # The folder that its pages lie in.
    reference("document_id", documents.c.id),
    Column("filename", Text, nullable=False),
    # sha256 of the file and its name in the object store.
    Column("original", Text, nullable=False, index=True, info={"object": True, **HIDDEN}),
    Column("title", Text),
    # LABEL, TYPE and OBJID of the file, and what its MODS or Dublin Core says of the work, by name.
    Column("described", Json, nullable=False),
    # [{number, label, document_ids}]: the pages that are here, in order, each with its pictures, best first.
    Column("pages", Json, nullable=False),
    # The logical structure: nested {type, label, order_label, pages, parts}, pages by their numbers.
    Column("parts", Json, nullable=False),
    # Counts of what stays in the original alone: [{what, count}].
    Column("kept_counts", Json, nullable=False, info=HIDDEN),
    Column("notes", Json, nullable=False),
    Column("created_at", Text, nullable=False),
    info=tracked(label="METS file", large=("pages", "parts"), document="document_id", whole=Whole()),
)
"""METS files that pages came in by: what each says beyond order, labels and pairs, and where its original lies."""

conversions_seen = Table(
    "conversion_seen",
    metadata,
    # The run is a job, and finished jobs are forgotten after a while: no foreign key.
    Column("run_id", Text, primary_key=True),
    Column("seen_at", Text, nullable=False),
    Column("seen_by", Text, nullable=False),
    info=tracked(label="seen report of a conversion"),
)
"""Which reports of a conversion of older results a person has seen."""
