"""Creates, changes and removes annotations."""

from __future__ import annotations

from typing import Any

from armarium.api import ActionContext, Invalid, Route, action, new_id, raw_of
from armarium_documents.api import require_document, require_live
from armarium_documents.models import annotation_table
from armarium_documents.queries.annotations import ANNOTATIONS
from armarium_documents.schemas.annotations import (
    Annotation,
    AnnotationCreateParams,
    AnnotationDeleted,
    AnnotationUpdateParams,
)
from armarium_documents.schemas.fields import Id


@action(
    "annotation.create",
    result=Annotation,
    summary="Annotate a place of a document: a highlight, a note, a rating, ink.",
    route=Route("POST", "/api/annotations"),
    words="Annotated {document_id|a document}",
)
def create(ctx: ActionContext, p: AnnotationCreateParams) -> dict[str, Any]:
    """Raises NotFound for an unknown document or note, Conflict in the Trash, Forbidden by a lock, Invalid for
    an anchor that lacks what its kind needs.
    """
    require_live(ctx.conn, p.document_id)
    row = {"id": new_id(), **p.model_dump(), **ctx.provenance()}
    _check(ctx, row)
    _say(ctx, row["id"], p.document_id)
    return ANNOTATIONS.insert(ctx.conn, row)


@action(
    "annotation.update",
    result=Annotation,
    summary="Change an annotation; a field left out stays, null clears it.",
    route=Route("PATCH", "/api/annotations/{annotation_id}"),
    words="Changed an annotation of {}",
)
def update(ctx: ActionContext, p: AnnotationUpdateParams) -> dict[str, Any]:
    """Raises NotFound, Conflict when the document is in the Trash, Forbidden by a lock, Invalid as `create`."""
    annotation = ANNOTATIONS.require(ctx.conn, p.annotation_id)
    require_live(ctx.conn, annotation["document_id"])
    changes = p.dump_changes("annotation_id", empty={"targets": [], "tags": [], "metadata": {}})
    if changes.get("kind", "") is None:
        raise Invalid(
            "An annotation has a kind; leave `kind` out to keep the current one.", code="kind_required"
        )
    row = annotation | changes
    _check(ctx, row)
    if changes:
        changes = {name: row[name] for name in changes}
        ctx.conn.execute(
            annotation_table.update().where(annotation_table.c.id == p.annotation_id).values(changes)
        )
    _say(ctx, p.annotation_id, annotation["document_id"])
    return ANNOTATIONS.require(ctx.conn, p.annotation_id)


@action(
    "annotation.delete",
    result=AnnotationDeleted,
    summary="Remove an annotation.",
    route=Route("DELETE", "/api/annotations/{annotation_id}"),
    words="Removed an annotation of {}",
)
def delete(ctx: ActionContext, annotation_id: Id) -> dict[str, Any]:
    """Raises NotFound, Conflict when the document is in the Trash, Forbidden by a lock."""
    annotation = ANNOTATIONS.require(ctx.conn, annotation_id)
    require_live(ctx.conn, annotation["document_id"])
    ANNOTATIONS.delete(ctx.conn, annotation_id)
    _say(ctx, annotation_id, annotation["document_id"])
    return {"status": "deleted", "id": annotation_id}


def _say(ctx: ActionContext, annotation_id: str, document_id: str) -> None:
    ctx.target(annotation_id, document_id)
    ctx.note_changes(document_ids=[document_id], annotation_ids=[annotation_id])


def _check(ctx: ActionContext, row: dict[str, Any]) -> None:
    """Refuse an annotation that lacks what its anchor or kind needs; set the rendition of its rectangle."""
    anchor = row["anchor"]
    spans = [anchor or {}, *row["targets"]]
    lacking = {
        "char_range": None
        if any(span.get("char_start") is not None for span in spans)
        else "char_start and char_end",
        "bbox": None if anchor and anchor.get("rect") else "an anchor with a rect",
        "paragraph": None if row["paragraph_index"] is not None else "a paragraph_index",
        "ink": None if row["ink_payload"] else "an ink_payload",
    }[row["anchor_kind"]]
    if lacking is not None:
        raise Invalid(
            f"An annotation anchored by {row['anchor_kind']} needs {lacking}.", code="anchor_incomplete"
        )
    if row["kind"] == "rating" and row["rating"] is None:
        raise Invalid("A rating needs a rating from 1 to 5.", code="rating_required")
    if row["linked_note_id"] is not None:
        require_document(ctx.conn, row["linked_note_id"])
    if anchor is not None:
        if anchor.get("document_id") not in (None, row["document_id"]):
            raise Invalid("The anchor names another document than the annotation.", code="anchor_elsewhere")
        row["anchor"] = {**anchor, "document_id": row["document_id"], "rendition_id": _frame(ctx, row)}


def _frame(ctx: ActionContext, row: dict[str, Any]) -> str | None:
    """Return the rendition a rectangle is measured in: the one named, else the current primary one."""
    raw = raw_of(ctx.conn)
    page_id = row["anchor"].get("page_id") or row["page_id"] or row["document_id"]
    rendition_id = row["anchor"].get("rendition_id")
    if rendition_id is not None:
        if (
            raw.execute(
                "SELECT 1 FROM rendition WHERE id = ? AND document_id = ?", (rendition_id, page_id)
            ).fetchone()
            is None
        ):
            raise Invalid(f"Rendition {rendition_id} does not belong to {page_id}.", code="anchor_elsewhere")
        return str(rendition_id)
    if row["anchor"].get("rect") is None:
        return None
    primary = raw.execute(
        "SELECT id FROM rendition WHERE document_id = ? AND is_primary", (page_id,)
    ).fetchone()
    return None if primary is None else str(primary[0])
