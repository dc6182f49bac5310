"""Makes renditions of pictures: enhanced, background removed, binarised; a job over many, one step each."""

from __future__ import annotations

from typing import Any

from armarium.api import ActionContext, Engine, Library, action, cancel_with_undo
from armarium_documents.api import add_rendition, pages_under, title_of_work
from armarium_images.errors import nothing_to_treat, too_many_images
from armarium_images.pieces import Piece
from armarium_images.queries import Original, original_of, treated_rendition
from armarium_images.schemas import TreatItemParams, TreatItemResult, TreatParams, TreatResult
from armarium_images.treating import treat_picture

MAX_IMAGES = 100_000
"""Pictures of one job."""

_TITLES = {
    "enhanced": "Enhance pictures",
    "background-removed": "Take the paper out of pictures",
    "binarised": "Binarise pictures",
}


@action(
    "image.treat",
    result=TreatResult,
    summary="Make a rendition of each picture: enhanced, with the background removed, or binarised.",
    words="Started to treat the pictures of {scope_ids|documents}",
    guards_targets=True,
    after_undo=cancel_with_undo,
)
def treat(ctx: ActionContext, p: TreatParams) -> dict[str, Any]:
    """Enqueue the job; its steps share the job's id as their set id, so that one undo reverses all of them.

    Raises NotFound for an unknown node, Forbidden by a lock, Invalid if there is no picture or there are too
    many.
    """
    pages = pages_under(ctx.conn, p.scope_ids)
    if not pages:
        raise nothing_to_treat()
    if len(pages) > MAX_IMAGES:
        raise too_many_images(len(pages), MAX_IMAGES)
    job_id = ctx.enqueue(
        "image-treat",
        {"document_ids": pages, "role": p.role, "contrast": p.contrast},
        title=title_of_work(ctx.conn, _TITLES[p.role], pages),
        total=len(pages),
        subject={"kind": "document", "id": p.scope_ids[0]},
    )
    ctx.target(*p.scope_ids, job_id)
    return {"job_id": job_id, "pictures": len(pages)}


def _piece(engine: Engine, library: Library, original: Original, p: TreatItemParams) -> Piece:
    limit = engine.settings.max_image_pixels
    return treat_picture(library, original.checksum, original.name, p.role, p.contrast, max_pixels=limit)


def _treat_ahead(engine: Engine, library: Library | None, p: TreatItemParams) -> None:
    """Make the file before the writer is taken; the step finds it again."""
    assert library is not None
    with library.db.read() as conn:
        original = original_of(conn, p.document_id)
    _piece(engine, library, original, p)


@action(
    "image.treat_item",
    result=TreatItemResult,
    summary="Make a rendition of one picture from its archival original.",
    words="Treated the picture of {document_id|a document}",
    prepare=_treat_ahead,
)
def treat_item(ctx: ActionContext, p: TreatItemParams) -> dict[str, Any]:
    """Existing renditions are not made again, and the primary picture stays primary.

    Raises NotFound for an unknown document or one without a picture, Conflict in the Trash, Forbidden by a
    lock, Invalid for a damaged picture, Unavailable when the disk is full.
    """
    assert ctx.library is not None
    original = original_of(ctx.conn, p.document_id)
    piece = _piece(ctx.engine, ctx.library, original, p)
    existing = treated_rendition(ctx.conn, p.document_id, p.role, piece.checksum)
    rendition_id = existing or add_rendition(
        ctx,
        p.document_id,
        checksum=piece.checksum,
        mime_type=piece.mime_type,
        role=p.role,
        pixel_width=piece.width,
        pixel_height=piece.height,
        size_bytes=piece.size_bytes,
        transform=original.transform,
        made_by="image.treat",
        params={
            "from_rendition_id": original.rendition_id,
            **({"contrast": p.contrast} if p.role == "enhanced" else {}),
        },
    )
    ctx.target(p.document_id, rendition_id)
    ctx.note_changes(document_ids=[p.document_id])
    return {"document_id": p.document_id, "rendition_id": rendition_id, "made": existing is None}
