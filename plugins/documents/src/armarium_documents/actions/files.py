"""Chooses the primary rendition; adds representations to a document and revisions to a representation."""

from __future__ import annotations

from typing import Any

from sqlalchemy import func, select, update

from armarium.api import ActionContext, Invalid, Route, action, new_id
from armarium_documents.errors import not_materialized
from armarium_documents.frames import IDENTITY, compose, inverse
from armarium_documents.models import renditions, representations, revisions
from armarium_documents.queries.documents import title_of_work
from armarium_documents.queries.files import REPRESENTATIONS, rendition
from armarium_documents.queries.tree import require_live
from armarium_documents.schemas.files import (
    KINDS,
    PrimaryParams,
    Rendition,
    Representation,
    RepresentationParams,
    Revision,
    RevisionParams,
)


@action(
    "rendition.set_primary",
    result=Rendition,
    summary="Choose which of a document's pictures is the primary one.",
    route=Route("POST", "/api/documents/{document_id}/renditions/{rendition_id}/primary"),
    words="Chose the primary picture of {document_id|a document}",
)
def set_primary(ctx: ActionContext, p: PrimaryParams) -> dict[str, Any]:
    """Raises NotFound for an unknown document or rendition, or one without a file; Forbidden by a lock."""
    require_live(ctx.conn, p.document_id)
    row = rendition(ctx.conn, p.document_id, p.rendition_id)
    if not row["materialized"]:
        raise not_materialized(p.rendition_id)
    if not row["is_primary"]:
        _make_primary(ctx, p.document_id, p.rendition_id, row["transform"])
        title = title_of_work(ctx.conn, "Thumbnails", [p.document_id])
        ctx.enqueue(
            "thumbnails", {"document_ids": [p.document_id]}, title=title, subject={"id": p.document_id}
        )
    ctx.target(p.document_id, p.rendition_id)
    ctx.note_changes(document_ids=[p.document_id])
    return rendition(ctx.conn, p.document_id, p.rendition_id)


def _make_primary(
    ctx: ActionContext, document_id: str, rendition_id: str, to_former: list[float] | None
) -> None:
    """Make a rendition primary and rewrite the transforms of the document's other renditions to lead to it.

    *to_former* maps the new primary to the previous one; where it is unknown, so is the position of every
    other rendition on the new one.
    """
    back = inverse(to_former) if to_former is not None else None
    rows = ctx.conn.execute(
        select(renditions.c.id, renditions.c.transform).where(renditions.c.document_id == document_id)
    ).all()
    for row in rows:
        chosen = row.id == rendition_id
        transform = compose(back, row.transform) if back is not None and row.transform is not None else None
        ctx.conn.execute(
            update(renditions)
            .where(renditions.c.id == row.id)
            .values(is_primary=chosen, transform=IDENTITY if chosen else transform)
        )


@action(
    "content_representation.create",
    result=Representation,
    summary="Add a typed text to a document: a translation, a description, a normalised text.",
    words="Added a text to {document_id|a document}",
)
def represent(ctx: ActionContext, p: RepresentationParams) -> dict[str, Any]:
    """Raises NotFound for an unknown document or representation, Conflict in the Trash, Forbidden by a lock,
    Invalid for an unknown kind.
    """
    require_live(ctx.conn, p.document_id)
    if p.kind not in KINDS:
        raise Invalid(
            f"{p.kind!r} is not a kind of representation; the kinds are {', '.join(KINDS)}.",
            code="unknown_kind",
        )
    for other in (p.parent_representation_id, p.derived_from_representation_id):
        if other is not None:
            REPRESENTATIONS.require(ctx.conn, other)
    row = {
        "id": new_id(),
        **p.model_dump(),
        "source_anchor": None,
        "segment_id": None,
        "corrects_representation_id": None,
        "retracted": False,
        "confidence": None,
        "producer_run_id": ctx.run_id,
        **ctx.provenance(),
    }
    ctx.conn.execute(representations.insert().values(row))
    ctx.target(p.document_id, row["id"])
    ctx.note_changes(document_ids=[p.document_id], representation_ids=[row["id"]])
    return row


@action(
    "representation.revise",
    result=Revision,
    summary="Add a reviewer's revision of a representation; the representation itself is unchanged.",
    route=Route("POST", "/api/content-representations/{representation_id}/revisions"),
    words="Reviewed a text of {representation_id|a document}",
)
def revise(ctx: ActionContext, p: RevisionParams) -> dict[str, Any]:
    """Raises NotFound for an unknown representation, Conflict in the Trash, Forbidden by a lock."""
    document_id = REPRESENTATIONS.require(ctx.conn, p.representation_id)["document_id"]
    require_live(ctx.conn, document_id)
    earlier = select(func.max(revisions.c.sequence)).where(
        revisions.c.representation_id == p.representation_id
    )
    last = ctx.conn.execute(earlier).scalar() or 0
    row = {
        "id": new_id(),
        "representation_id": p.representation_id,
        "sequence": last + 1,
        "content": p.content,
        "decision": p.decision,
        "reviewer": ctx.principal.name,
        "created_at": ctx.now,
    }
    ctx.conn.execute(revisions.insert().values(row))
    ctx.target(p.representation_id)
    ctx.note_changes(document_ids=[document_id], representation_ids=[p.representation_id])
    return row
