"""The tables of exports: those that are kept, and what each wrote."""

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
"""An export that is written again as the work changes."""

kept_files = Table(
    "export_file",
    metadata,
    Column("export_id", Text, primary_key=True),
    Column("document_id", Text, primary_key=True),
    Column("path", Text, nullable=False),
    # sha256 of the bytes as they were written: a file that has others by now is somebody else's, and is left alone.
    # None: nothing was written, because something else lies there.
    Column("checksum", Text),
    Column("written_at", Text),
    Column("in_the_way", Text),
    info=operational(),
)
"""The file of each page or document of a kept export; its rows stay when the keeping is undone and done again."""

changed_pages = Table(
    "export_changed",
    metadata,
    Column("export_id", Text, primary_key=True),
    Column("document_id", Text, primary_key=True),
    # The step that changed it last: what was changed again while it was being written stays noted.
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
"""A site that was published into a folder; its files stay when that is taken back."""
