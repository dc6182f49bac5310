"""What other families may use of documents: its tables, the rules of the tree, pictures of pages, pages beneath."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from armarium.api import ActionContext, new_id
from armarium_documents.frames import IDENTITY
from armarium_documents.intake import taken_in
from armarium_documents.models import artifacts, documents, renditions, representations, revisions
from armarium_documents.queries.carrying.carrier import Carrier, Vocabulary
from armarium_documents.queries.documents import document, documents_named
from armarium_documents.queries.files import PageImage, PrimaryRow, page_image, primary_row, thumbnail_path
from armarium_documents.queries.tree import (
    Node,
    find_node,
    folder_path,
    pages_under,
    require_all_live,
    require_document,
    require_live,
    require_parent,
    sources_folder,
    subtree_ids,
)
from armarium_documents.scan import LAYOUT_SUFFIXES, TEXT_SUFFIXES, Found, named_files, walk_folder
from armarium_documents.schemas.fields import clean_name
from armarium_documents.schemas.geometry import TOLERANCE, check_rect, fault_of_rect

__all__ = [
    "IDENTITY",
    "LAYOUT_SUFFIXES",
    "TEXT_SUFFIXES",
    "TOLERANCE",
    "Carrier",
    "Found",
    "Node",
    "PageImage",
    "PrimaryRow",
    "Vocabulary",
    "add_rendition",
    "artifacts",
    "check_rect",
    "clean_name",
    "document",
    "documents",
    "documents_named",
    "fault_of_rect",
    "find_node",
    "folder_path",
    "named_files",
    "page_image",
    "pages_under",
    "primary_row",
    "renditions",
    "representations",
    "require_all_live",
    "require_document",
    "require_live",
    "require_parent",
    "revisions",
    "sources_folder",
    "subtree_ids",
    "taken_in",
    "thumbnail_path",
    "walk_folder",
]


def add_rendition(
    ctx: ActionContext,
    document_id: str,
    *,
    checksum: str | None,
    mime_type: str,
    role: str,
    pixel_width: int | None = None,
    pixel_height: int | None = None,
    size_bytes: int | None = None,
    transform: list[float] | None = None,
    made_by: str | None = None,
    params: Mapping[str, Any] | None = None,
) -> str:
    """Give a document another rendition inside an action; the first one a document gets is primary. Its id.

    *checksum* names bytes already in the object store; None means that the bytes are not made yet. *transform* is
    six numbers from this picture's frame to the primary's (the primary's own are `IDENTITY`), None when that is not
    known.
    """
    first = ctx.conn.execute(
        renditions.select().where(renditions.c.document_id == document_id, renditions.c.is_primary)
    ).first()
    rendition_id = new_id()
    ctx.conn.execute(
        renditions.insert().values(
            id=rendition_id,
            document_id=document_id,
            role=role,
            is_primary=first is None,
            materialized=checksum is not None,
            mime_type=mime_type,
            pixel_width=pixel_width,
            pixel_height=pixel_height,
            size_bytes=size_bytes,
            checksum=checksum,
            transform=IDENTITY if first is None else transform,
            made_by=made_by,
            params=dict(params or {}),
            created_at=ctx.now,
        )
    )
    ctx.changed(document_ids=[document_id])
    return rendition_id
