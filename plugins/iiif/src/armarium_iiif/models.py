"""The tables of IIIF: manifests imported by reference, and the picture address of each of their canvases."""

from __future__ import annotations

from sqlalchemy import Column, Integer, MetaData, Table, Text

from armarium.api import Json, Whole, operational, reference, tracked
from armarium_documents.api import documents

metadata = MetaData()

manifests = Table(
    "iiif_manifest",
    metadata,
    # The folder made of it.
    reference("document_id", documents.c.id, index=False, primary_key=True),
    # Its own id, and the address it was fetched from (null for a file).
    Column("manifest_id", Text),
    Column("url", Text),
    Column("version", Integer, nullable=False),
    # sha256 of the file and its name in the object store: the manifest byte for byte.
    Column("original", Text, nullable=False, index=True, info={"object": True}),
    Column("canvas_count", Integer, nullable=False),
    Column("notes", Json, nullable=False),
    Column("created_at", Text, nullable=False),
    info=tracked(label="imported manifest", large=("notes",), document="document_id", whole=Whole()),
)
"""One row an imported manifest."""

canvases = Table(
    "iiif_canvas",
    metadata,
    reference("document_id", documents.c.id, index=False, primary_key=True),
    Column("canvas_id", Text),
    # The picture as the manifest paints it, and the service that offers it in other sizes.
    Column("image", Text),
    Column("format", Text),
    Column("image_width", Integer),
    Column("image_height", Integer),
    Column("service", Text),
    Column("service_version", Integer),
    # The level of compliance it claims; null where it claims none.
    Column("service_level", Integer),
    Column("created_at", Text, nullable=False),
    info=tracked(label="referenced canvas", document="document_id"),
)
"""One row a canvas of an imported manifest; its label, order and size stand on its document."""

remotes = Table(
    "iiif_remote",
    metadata,
    Column("document_id", Text, primary_key=True),
    # sha256 of the manifest as it was published when it was last asked for, and what the server said to ask by again.
    Column("digest", Text, nullable=False),
    Column("etag", Text),
    Column("last_modified", Text),
    Column("checked_at", Text, nullable=False),
    info=operational(),
)
"""One row an imported manifest that was asked for again."""
