"""The tables of documents: nodes, pictures, what belongs to them, prototypes, thumbnails."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Float, Index, Integer, MetaData, Table, Text, text

from armarium.api import (
    HIDDEN,
    NAME_KEY,
    Json,
    Structure,
    Tree,
    Whole,
    derived,
    foreign_table,
    operational,
    provenance_columns,
    reference,
    tracked,
)
from armarium_documents.flags import FLAGS

metadata = MetaData()

segment_stub = foreign_table(metadata, "segment")
"""The segment table of a later family: a reading is a representation that names its segment."""

documents = Table(
    "document",
    metadata,
    Column("id", Text, primary_key=True),
    Column("node_kind", Text, nullable=False),
    Column("doc_type", Text, nullable=False),
    Column("file_type", Text),
    Column("name", Text, nullable=False),
    Column("path", Text),
    reference("parent_id", "document.id", required=False, index=False),
    Column("prototype_key", Text),
    # No foreign key: an alias may dangle, and is then reported as dangling.
    Column("alias_target_id", Text),
    # "sources" on the folder that every project has; it cannot be renamed, moved or deleted.
    Column("system_key", Text, info=HIDDEN),
    Column("sequence", Integer),
    Column("page_label", Text),
    Column("sort_order", Integer, nullable=False),
    Column("region", Json),
    Column("page_content", Text),
    Column("attributes", Json, nullable=False),
    Column("metadata", Json, nullable=False),
    Column("source_metadata", Json, nullable=False),
    Column("source_authority", Text, nullable=False),
    Column("language", Text),
    Column("script", Text),
    Column("direction", Text),
    Column("date_original", Text),
    Column("date_iso", Text),
    Column("case_id", Text),
    Column("provenance_chain", Json, nullable=False),
    Column("image_provenance", Json),
    Column("status", Text, nullable=False),
    *(Column(name, Boolean, nullable=False) for name in FLAGS),
    Column("is_locked", Boolean, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
    Column("deleted_at", Text),
    Column("deleted_by", Text),
    # The node whose deletion took this one along (its own id on that node), so that Trash lists items, not
    # rows.
    Column("trash_root_id", Text, info=HIDDEN),
    # On the root of a deletion: reason, from_folder_path and, for a move, where it went.
    Column("trash_info", Json, info=HIDDEN),
    # With deleted_at in the index, the live children of a folder are counted and paged from the index alone.
    Index("ix_document_children", "parent_id", "deleted_at", "sort_order", text(f"{NAME_KEY}(name)"), "id"),
    Index(
        "ix_document_by_name",
        "parent_id",
        text(f"{NAME_KEY}(name)"),
        "id",
        sqlite_where=text("deleted_at IS NULL"),
    ),
    # An import checks for each file whether one of its name is in the folder already.
    Index("ix_document_name", "parent_id", "name", sqlite_where=text("deleted_at IS NULL")),
    Index("ix_document_trash_root", "trash_root_id", sqlite_where=text("trash_root_id IS NOT NULL")),
    Index("ix_document_deleted", "deleted_at", sqlite_where=text("deleted_at IS NOT NULL")),
    Index("ix_document_prototype", "prototype_key", sqlite_where=text("prototype_key IS NOT NULL")),
    Index("ix_document_alias", "alias_target_id", sqlite_where=text("alias_target_id IS NOT NULL")),
    Index("ix_document_system_key", "system_key", unique=True, sqlite_where=text("system_key IS NOT NULL")),
    Index("ix_document_locked", "id", sqlite_where=text("is_locked")),
    info=tracked(
        label="document",
        monotonic=("updated_at",),
        large=("page_content", "attributes", "metadata", "source_metadata", "provenance_chain"),
        document="id",
        tree=Tree(parent="parent_id", locked="is_locked", name="name", order="sort_order"),
        whole=Whole(columns=("page_content",)),
        structure=Structure(("deleted_at",)),
    ),
)
"""Every node: folder, group, file, page, chunk, note, alias. Unique names are not asked for."""

renditions = Table(
    "rendition",
    metadata,
    Column("id", Text, primary_key=True),
    reference("document_id", "document.id"),
    Column("role", Text, nullable=False),
    Column("is_primary", Boolean, nullable=False),
    Column("materialized", Boolean, nullable=False),
    Column("mime_type", Text, nullable=False),
    # Width and height as displayed: after the EXIF orientation that params.exif_orientation names.
    Column("pixel_width", Integer),
    Column("pixel_height", Integer),
    Column("size_bytes", Integer),
    # sha256 of the bytes and their name in the object store; Empty Trash finds the files to remove by `object`.
    Column("checksum", Text, index=True, info={"object": True}),
    Column("transform", Json),
    Column("made_by", Text),
    Column("params", Json, nullable=False),
    Column("created_at", Text, nullable=False),
    Index("ix_rendition_primary", "document_id", sqlite_where=text("is_primary")),
    info=tracked(label="rendition", document="document_id", whole=Whole(columns=("checksum",))),
)
"""One picture of a document in one pixel frame; exactly one of a document's renditions is primary."""

artifacts = Table(
    "artifact",
    metadata,
    Column("id", Text, primary_key=True),
    reference("document_id", "document.id", index=False),
    Column("artifact_type", Text, nullable=False),
    Column("content", Text),
    Column("data", Json, nullable=False),
    Column("ocr_geometry", Json),
    Column("source_artifact_id", Text, index=True),
    Column("version", Integer, nullable=False),
    Column("sequence", Integer, nullable=False),
    Column("confidence", Float),
    Column("reviewed", Boolean, nullable=False),
    Column("run_id", Text, index=True),
    Column("workflow_id", Text),
    Column("step_name", Text),
    Column("provider", Text),
    Column("model", Text),
    Column("geometry_superseded_by_pass_id", Text),
    Column("created_at", Text, nullable=False),
    Index("ix_artifact_document", "document_id", "artifact_type", "sequence"),
    info=tracked(
        label="artifact",
        monotonic=("version",),
        large=("content", "data", "ocr_geometry"),
        document="document_id",
        whole=Whole(),
    ),
)
"""What a step made of a document: a transcription with its boxes, a segmentation, keywords, a score."""

representations = Table(
    "content_representation",
    metadata,
    Column("id", Text, primary_key=True),
    reference("document_id", "document.id", index=False),
    Column("kind", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("language", Text),
    Column("script", Text),
    Column("source_anchor", Json),
    reference("segment_id", "segment.id", required=False, index=False),
    Column("level", Text),
    reference("parent_representation_id", "content_representation.id", required=False),
    reference("derived_from_representation_id", "content_representation.id", required=False),
    reference("corrects_representation_id", "content_representation.id", required=False),
    Column("retracted", Boolean, nullable=False),
    Column("producer_run_id", Text),
    Column("producer_tool", Text),
    Column("producer_model", Text),
    Column("review_state", Text, nullable=False),
    # The confidence of the machine that read it, 0 to 1; null for a person's reading.
    Column("confidence", Float),
    *provenance_columns(),
    Index("ix_representation_document", "document_id", "kind"),
    Index("ix_representation_segment", "segment_id", "kind", sqlite_where=text("segment_id IS NOT NULL")),
    info=tracked(
        label="representation",
        large=("content",),
        document="document_id",
        whole=Whole(unless="segment_id"),
        rivals=("segment_id", "kind"),
        structure=Structure(("retracted",)),
    ),
)
"""A typed text of a document or of one of its segments: with a segment it is a reading."""

revisions = Table(
    "content_representation_revision",
    metadata,
    Column("id", Text, primary_key=True),
    reference("representation_id", "content_representation.id", index=False),
    Column("sequence", Integer, nullable=False),
    Column("content", Text, nullable=False),
    Column("decision", Text),
    Column("reviewer", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Index("ix_revision_representation", "representation_id", "sequence"),
    info=tracked(label="revision"),
)
"""What a reviewer would have a representation say; no action changes a row once it stands."""

annotation_table = Table(
    "annotation",
    metadata,
    Column("id", Text, primary_key=True),
    reference("document_id", "document.id"),
    Column("page_id", Text),
    Column("page_index", Integer),
    Column("anchor", Json),
    Column("anchor_kind", Text, nullable=False),
    Column("targets", Json, nullable=False),
    Column("paragraph_index", Integer),
    Column("ink_payload", Json),
    Column("kind", Text, nullable=False),
    Column("text", Text),
    Column("rating", Integer),
    Column("color", Text),
    Column("tags", Json, nullable=False),
    Column("metadata", Json, nullable=False),
    Column("linked_claim_id", Text),
    Column("linked_entity_id", Text),
    Column("linked_note_id", Text),
    *provenance_columns(),
    # Few annotations name segments; those are found without reading the rest.
    Index("ix_annotation_targets", "id", sqlite_where=text("targets <> '[]'")),
    info=tracked(label="annotation", large=("text", "ink_payload"), document="document_id"),
)
"""A remark on a place of a document: by characters, a rectangle, a paragraph, or ink."""

classifications = Table(
    "classification",
    metadata,
    Column("key", Text, primary_key=True),
    Column("label", Text, nullable=False),
    # No foreign key: a chain that no longer resolves is reported when it is read, not prevented.
    Column("parent_key", Text, index=True),
    Column("icon", Text),
    Column("color", Text),
    Column("applies_to", Json, nullable=False),
    Column("declarations", Json, nullable=False),
    Column("defaults", Json, nullable=False),
    Column("builtin", Boolean, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
    info=tracked(
        label="prototype",
        monotonic=("updated_at",),
        used_by=(("document", "prototype_key"), ("classification", "parent_key")),
    ),
)
"""Prototypes: what a document of a kind declares about itself, inherited along `parent_key`."""

thumbnails = Table(
    "thumbnail",
    metadata,
    Column("document_id", Text, primary_key=True),
    # The object that was drawn last; what is shown is the primary picture (`thumbnail_sources`).
    Column("checksum", Text, nullable=False),
    Column("width", Integer, nullable=False),
    Column("height", Integer, nullable=False),
    Column("size_bytes", Integer, nullable=False),
    Column("made_at", Text, nullable=False),
    info=derived(document="document_id", whole=Whole(), carried=True),
)
"""Which documents have a thumbnail; the pictures themselves lie in the package's `derived` folder."""

transfers = Table(
    "document_transfer",
    metadata,
    Column("id", Text, primary_key=True),
    Column("transfer_id", Text, nullable=False),
    Column("side", Text, nullable=False),
    Column("other_path", Text, nullable=False),
    Column("other_uuid", Text, nullable=False),
    Column("mode", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("audit_id", Text),
    Column("reason", Text),
    # [{source_id, id}] of the chosen items, in the order given.
    Column("items", Json, nullable=False),
    # Who requested it, so that an interrupted move is finished on their behalf.
    Column("actor", Json, nullable=False),
    # On the source's side: the position of each table's history when the copy was made.
    Column("marks", Json, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
    Index("ix_document_transfer", "transfer_id", "side", unique=True),
    Index("ix_document_transfer_audit", "audit_id", sqlite_where=text("audit_id IS NOT NULL")),
    info=operational(stays_here=True),
)
"""The journal of transfers (TransferRecord): one row on each side, so that a move cut short can be finished."""
