"""The tables of exports: kept exports, and what each wrote."""

from __future__ import annotations

from sqlalchemy import Column, Integer, MetaData, Table, Text

from armarium.api import operational, provenance_columns, tracked

metadata = MetaData()

kept_exports = Table(
    "export_kept",
    metadata,
    Column("id", Text, primary_key=True),
    Column("folder", Text, nullable=False),
    Column("format", Text, nullable=False),
    Column("per", Text, nullable=False),
    *provenance_columns(),
    info=tracked(label="kept export"),
)
"""An export that is updated as the work changes."""

kept_files = Table(
    "export_file",
    metadata,
    Column("export_id", Text, primary_key=True),
    Column("document_id", Text, primary_key=True),
    Column("path", Text, nullable=False),
    # SHA-256 of the bytes as written: a file with other bytes belongs to somebody else and is left alone.
    # None: nothing was written, because something else is there.
    Column("checksum", Text),
    Column("written_at", Text),
    Column("in_the_way", Text),
    info=operational(),
)
"""The file of each page or document of a kept export; its rows remain when keeping it is undone and redone."""

changed_pages = Table(
    "export_changed",
    metadata,
    Column("export_id", Text, primary_key=True),
    Column("document_id", Text, primary_key=True),
    # The step that changed it last: what changes again while it is being written remains recorded.
    Column("seq", Integer, nullable=False),
    info=operational(),
)
"""The documents that have changed since a kept export was last written."""

sites = Table(
    "export_site",
    metadata,
    Column("id", Text, primary_key=True),
    Column("folder", Text, nullable=False),
    Column("site_title", Text, nullable=False),
    Column("document_count", Integer, nullable=False),
    *provenance_columns(),
    info=tracked(label="published site"),
)
"""A site that was published to a folder; an undo does not delete its files."""
