"""Applies one crop or split to every picture of a folder, one by one, and undoes a whole batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import Connection, func, select

from armarium.api import (
    ActionContext,
    Engine,
    Library,
    Route,
    ServiceError,
    action,
    cancel_with_undo,
    is_among,
    list_steps,
    new_id,
    steps_since,
)
from armarium_documents.api import documents, renditions, require_live
from armarium_images.actions.children import hang_children, kept_by_source, remove_children, work_on
from armarium_images.errors import batch_taken_back, no_images, not_a_folder, too_many_images
from armarium_images.models import batches, cuts, items
from armarium_images.planning import Plan, check_apart, cut_ahead, plan_spec
from armarium_images.queries import BATCHES, batch_answer, has_cut, item_state, live_children, pictures_in
from armarium_images.schemas import (
    BatchAnswer,
    BatchApplyParams,
    BatchItem,
    BatchItemParams,
    BatchUndoParams,
    BatchUndoResult,
    CropSpec,
    Spec,
    SplitSpec,
)

MAX_IMAGES = 10_000
"""Pictures of one batch."""

SPEC: TypeAdapter[CropSpec | SplitSpec] = TypeAdapter(Spec)

_TO_TRASH_AND_BACK = ("document.delete", "document.restore")


@action(
    "image.batch_apply",
    result=BatchAnswer,
    summary="Cut every picture of a folder alike, as a background job that reports the state of each one.",
    route=Route("POST", "/api/images/batch-apply", answer="BatchResponse"),
    words="Started to cut the pictures in {folder_id|a folder}",
    guards_targets=True,
    after_undo=cancel_with_undo,
)
def batch_apply(ctx: ActionContext, p: BatchApplyParams) -> dict[str, Any]:
    """Enqueue the job; its steps share the job's id as their set id; `image.batch_undo` removes what was cut.

    Raises NotFound for an unknown folder, Conflict in the Trash, Forbidden by a lock, Invalid for a node that
    is not a folder, a folder without pictures or with too many, or regions that overlap.
    """
    folder = require_live(ctx.conn, p.folder_id)
    if folder.doc_type not in ("folder", "group"):
        raise not_a_folder(folder.name)
    if isinstance(p.spec, SplitSpec):
        check_apart(p.spec.regions)
    pictures = pictures_in(ctx.conn, folder.id, recursive=p.recursive)
    if not pictures:
        raise no_images(folder.name, recursive=p.recursive)
    if len(pictures) > MAX_IMAGES:
        raise too_many_images(len(pictures), MAX_IMAGES)
    batch_id = new_id()
    verb = "Crop" if p.spec.kind == "crop" else "Split"
    job_id = ctx.enqueue(
        "image-batch",
        {"batch_id": batch_id},
        title=f"{verb} the pictures in {folder.name}",
        total=len(pictures),
        subject={"kind": "document", "id": folder.id},
    )
    ctx.conn.execute(
        batches.insert().values(
            id=batch_id,
            job_id=job_id,
            folder_id=folder.id,
            spec=p.spec.model_dump(mode="json"),
            created_at=ctx.now,
        )
    )
    ctx.bulk_insert(
        items,
        ("batch_id", "document_id", "sequence", "state", "reason"),
        [(batch_id, document_id, number, "waiting", None) for number, document_id in enumerate(pictures, 1)],
    )
    ctx.target(folder.id, batch_id, job_id)
    return batch_answer(ctx.conn, batch_id)


def _cut_item_ahead(engine: Engine, library: Library | None, p: BatchItemParams) -> None:
    def plan(conn: Connection) -> Plan:
        spec = BATCHES.require(conn, p.batch_id)["spec"]
        return plan_spec(conn, p.document_id, SPEC.validate_python(spec))

    cut_ahead(engine, library, plan)


@action(
    "image.batch_item",
    result=BatchItem,
    summary="Cut one waiting picture of a batch: a step of its job.",
    words="Cut {document_id|a picture} like the others of its folder",
    prepare=_cut_item_ahead,
)
def batch_item(ctx: ActionContext, p: BatchItemParams) -> dict[str, Any]:
    """Cut the picture if it is still waiting; a refusal is stored as the item's reason and stops no other.

    Raises NotFound for an unknown batch or a picture that is not in it, Unavailable when the disk is full.
    """
    spec = BATCHES.require(ctx.conn, p.batch_id)["spec"]
    stored = item_state(ctx.conn, p.batch_id, p.document_id)
    if stored is None:
        require_live(ctx.conn, p.document_id)
        stored = "skipped"
    children: list[str] = []
    reason: str | None = None
    if stored == "waiting":
        stored, reason, children = _cut_item(ctx, p, SPEC.validate_python(spec))
        item = (items.c.batch_id == p.batch_id, items.c.document_id == p.document_id)
        ctx.conn.execute(items.update().where(*item).values(state=stored, reason=reason))
    ctx.target(p.batch_id, p.document_id, *children)
    return {"document_id": p.document_id, "state": stored, "child_ids": children, "reason": reason}


def _cut_item(
    ctx: ActionContext, p: BatchItemParams, spec: CropSpec | SplitSpec
) -> tuple[str, str | None, list[str]]:
    try:
        plan = plan_spec(ctx.conn, p.document_id, spec)
        if has_cut(ctx.conn, plan.frame.source_id, plan.kind, plan.boxes):
            return "skipped", "It has already been cut this way.", []
        ctx.refuse_locked(plan.frame.source_id)
        kept_pieces = kept_by_source(ctx, plan)
        return (
            "done",
            kept_pieces[0]["why"] if kept_pieces else None,
            hang_children(ctx, [plan], batch_id=p.batch_id),
        )
    except ServiceError as refusal:
        if refusal.status >= 500:
            raise
        passed_by = refusal.code in ("document_in_trash", "document_not_found", "already_split")
        return "skipped" if passed_by else "failed", refusal.detail, []


@action(
    "image.batch_undo",
    result=BatchUndoResult,
    summary="Send what a batch cut to the Trash, except children that were worked on since.",
    route=Route("POST", "/api/images/batch-apply/{batch_id}/undo", answer="BatchImageUndoResponse"),
    words="Sent what was cut of the pictures in {|a folder} to the Trash",
)
def batch_undo(ctx: ActionContext, p: BatchUndoParams) -> dict[str, Any]:
    """Undo a batch; waiting items of a running one are skipped.

    Raises NotFound for an unknown or non-image batch, Conflict if there is nothing to undo, Forbidden by a
    lock.
    """
    folder_id = BATCHES.require(ctx.conn, p.batch_id)["folder_id"]
    cut = live_children(
        cuts.c.child_id, cuts.c.source_id, documents.c.name, where=(cuts.c.batch_id == p.batch_id,)
    )
    rows = ctx.conn.execute(cut).all()
    own = items.update().where(items.c.batch_id == p.batch_id)
    passed_over = {"state": "skipped", "reason": "The batch was undone before it."}
    stopped = ctx.conn.execute(own.where(items.c.state == "waiting").values(passed_over)).rowcount
    if not rows and not stopped:
        raise batch_taken_back()
    work = _later_work(ctx, [row[0] for row in rows])
    removed = [row[0] for row in rows if row[0] not in work]
    kept_children = [
        {"document_id": child_id, "why": f"“{name}” has later work: {', '.join(work[child_id])}."}
        for child_id, _, name in rows
        if child_id in work
    ]
    remove_children(ctx, removed)
    busy = {source_id for child_id, source_id, _ in rows if child_id in work}
    undone = [source_id for source_id in dict.fromkeys(row[1] for row in rows) if source_id not in busy]
    ctx.conn.execute(own.where(is_among(items.c.document_id, undone)).values(state="undone"))
    ctx.target(folder_id, p.batch_id, *removed)
    ctx.note_changes(document_ids=list(dict.fromkeys(row[1] for row in rows)))
    return {"batch_id": p.batch_id, "undone": len(undone), "removed_ids": removed, "kept": kept_children}


def _later_work(ctx: ActionContext, children: Sequence[str]) -> dict[str, list[str]]:
    """Return by child the words for later work on it: rows of any family that belong to it, or changes to it."""
    node, rendition = documents.c, renditions.c
    touched = select(node.id).where(node.updated_at != node.created_at, is_among(node.id, children))
    work = {
        child_id: ["its own fields"]
        for child_id in ctx.conn.execute(touched).scalars()
        if _was_changed(ctx, child_id)
    }
    statements = [
        (
            "something beneath it",
            select(node.parent_id)
            .where(node.deleted_at.is_(None), is_among(node.parent_id, children))
            .distinct(),
        ),
        (
            "another picture",
            select(rendition.document_id)
            .where(is_among(rendition.document_id, children))
            .group_by(rendition.document_id)
            .having(func.count() > 1),
        ),
    ]
    statements += work_on(ctx, children)
    for word, statement in statements:
        for child_id in ctx.conn.execute(statement).scalars():
            work.setdefault(child_id, []).append(word)
    return work


def _was_changed(ctx: ActionContext, child_id: str) -> bool:
    """Return whether a step in effect changed the child; the Trash and back, or an undo, leave it as it was."""
    later = steps_since(ctx.conn, 0, [(documents, "id", [child_id])])[1:]
    return any(
        step.inverse_of is None and not step.undone and step.action_name not in _TO_TRASH_AND_BACK
        for step in list_steps(ctx.conn, numbers=later)
    )
