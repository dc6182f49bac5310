"""Crops and splits pictures into derived children, one source or many, and undoes that."""

from __future__ import annotations

from typing import Any

from armarium.api import ActionContext, Engine, Library, Route, ServiceError, action
from armarium_documents.api import documents_named, require_document
from armarium_images.actions.children import hang_children, kept_by_source, remove_children
from armarium_images.cutting import cut_pieces
from armarium_images.errors import nothing_to_take_back, taken_back_before
from armarium_images.planning import Plan, cut_ahead, plan_crop, plan_region, plan_split
from armarium_images.queries import live_cuts, was_taken_back
from armarium_images.schemas import (
    BatchCropParams,
    BatchCropResult,
    CropParams,
    CropResult,
    SplitParams,
    SplitResult,
    TakeBackParams,
    UnsplitResult,
)


def _crop_ahead(engine: Engine, library: Library | None, p: CropParams) -> None:
    cut_ahead(engine, library, lambda conn: plan_crop(conn, p.document_id, p))


@action(
    "image.crop",
    result=CropResult,
    summary="Cut one rectangle of a picture out as a derived child; the source stays as it is.",
    route=Route("POST", "/api/images/{document_id}/crop", answer="ImageCropResponse"),
    words="Cropped {document_id|a picture}",
    prepare=_crop_ahead,
)
def crop(ctx: ActionContext, p: CropParams) -> dict[str, Any]:
    """Raises NotFound for an unknown document or one without a picture, Conflict in the Trash, Forbidden by a
    lock, Invalid outside the picture or for a damaged one.
    """
    plan = plan_crop(ctx.conn, p.document_id, p)
    ids = hang_children(ctx, [plan])
    (child,) = documents_named(ctx.conn, ids)
    ctx.target(plan.frame.source_id, *ids)
    return {
        "document_id": plan.frame.source_id,
        "child": child,
        "child_ids": ids,
        "removed_ids": [],
        "region": child["region"]["rect"],
    }


@action(
    "image.uncrop",
    result=CropResult,
    summary="Send a source's crops, or one of them, to the Trash.",
    route=Route("POST", "/api/images/{document_id}/uncrop", answer="ImageCropResponse"),
    words="Removed the crops of {document_id|a picture}",
)
def uncrop(ctx: ActionContext, p: TakeBackParams) -> dict[str, Any]:
    """Raises NotFound, Conflict if there is none to remove, Forbidden by a lock."""
    source_id, removed = _take_back(ctx, p.document_id, "crop")
    return {
        "document_id": source_id,
        "child": None,
        "child_ids": [],
        "removed_ids": removed,
        "region": None,
    }


def _take_back(ctx: ActionContext, document_id: str, kind: str) -> tuple[str, list[str]]:
    node = require_document(ctx.conn, document_id)
    source_id, children = live_cuts(ctx.conn, document_id, kind)
    if not children:
        refusal = taken_back_before if was_taken_back(ctx.conn, document_id, kind) else nothing_to_take_back
        raise refusal(node.name, f"{kind}s" if kind == "crop" else "parts of a split")
    remove_children(ctx, children)
    ctx.target(source_id, *children)
    ctx.note_changes(document_ids=[source_id])
    return source_id, children


def _split_ahead(engine: Engine, library: Library | None, p: SplitParams) -> None:
    cut_ahead(engine, library, lambda conn: plan_split(conn, p.document_id, p))


@action(
    "image.split",
    result=SplitResult,
    summary="Cut a picture into adjacent parts, each a page under the source.",
    route=Route("POST", "/api/images/{document_id}/split", answer="ImageSplitResponse"),
    words="Split {document_id|a picture}",
    prepare=_split_ahead,
)
def split(ctx: ActionContext, p: SplitParams) -> dict[str, Any]:
    """Raises what `image.crop` does, and Invalid for regions that overlap or are smaller than a pixel."""
    plan = plan_split(ctx.conn, p.document_id, p)
    kept_pieces = kept_by_source(ctx, plan)
    ids = hang_children(ctx, [plan])
    ctx.target(plan.frame.source_id, *ids)
    return {
        "document_id": plan.frame.source_id,
        "children": documents_named(ctx.conn, ids),
        "child_ids": ids,
        "left_out": kept_pieces,
    }


@action(
    "image.unsplit",
    result=UnsplitResult,
    summary="Send the parts a source was split into, or one of them, to the Trash.",
    route=Route("POST", "/api/images/{document_id}/unsplit", answer="ImageUnsplitResponse"),
    words="Removed the parts of {document_id|a picture}",
)
def unsplit(ctx: ActionContext, p: TakeBackParams) -> dict[str, Any]:
    """Raises NotFound, Conflict if there is none to remove, Forbidden by a lock."""
    source_id, removed = _take_back(ctx, p.document_id, "split")
    return {"document_id": source_id, "removed_ids": removed}


def _crop_batch_ahead(engine: Engine, library: Library | None, p: BatchCropParams) -> None:
    for at in p.document_ids:
        cut_ahead(
            engine,
            library,
            lambda conn, at=at: plan_region(conn, at, p.region, auto_orient=p.auto_orient),  # type: ignore[misc]
        )


@action(
    "image.crop_batch",
    result=BatchCropResult,
    summary="Cut the same rectangle out of many pictures in one step.",
    route=Route("POST", "/api/images/crops/batch", answer="ImageBatchCropResponse"),
    words="Cropped {document_ids|pictures}",
    prepare=_crop_batch_ahead,
)
def crop_batch(ctx: ActionContext, p: BatchCropParams) -> dict[str, Any]:
    """A picture that cannot be cut is reported in `failed` and does not stop the others; Unavailable stops
    all.
    """
    plans: list[Plan] = []
    failed: list[dict[str, str]] = []
    for document_id in p.document_ids:
        try:
            plan = plan_region(ctx.conn, document_id, p.region, auto_orient=p.auto_orient)
            refuse_uncuttable(ctx, plan)
        except ServiceError as refusal:
            if refusal.status >= 500:
                raise
            failed.append({"document_id": document_id, "why": refusal.detail})
        else:
            plans.append(plan)
    ids = hang_children(ctx, plans)
    ctx.target(*(plan.frame.source_id for plan in plans), *ids)
    return {"children": documents_named(ctx.conn, ids), "failed": failed}


def refuse_uncuttable(ctx: ActionContext, plan: Plan) -> None:
    """Raise what creating the children of *plan* would raise, before any row is written."""
    ctx.refuse_locked(plan.frame.source_id)
    cut_pieces(ctx.project, plan.frame, plan.boxes, max_pixels=ctx.engine.settings.max_image_pixels)
