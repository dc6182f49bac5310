"""The jobs `image-batch` (cut the pictures of a batch) and `image-treat` (make renditions): one step per
picture.

A kill neither loses nor duplicates anything: the progress of a job is recorded in the step that handles a
picture, and files prepared by the step's action are found again after a kill.
"""

from __future__ import annotations

from typing import Any

from armarium.api import JobContext, JobKind, NotFound, ServiceError, name_document, note_failed, tell_failed
from armarium_images.queries import BATCHES, batch_answer, count_items, waiting_items
from armarium_images.schemas import BatchJobArgs, TreatJobArgs

_CHUNK = 200


def run_batch(ctx: JobContext) -> dict[str, Any]:
    """Cut what is waiting; refused pictures are reported in the result and stop no other."""
    batch_id = str(ctx.args.batch_id)
    try:
        with ctx.library.db.read() as conn:
            BATCHES.require(conn, batch_id)
            total = count_items(conn, batch_id)
    except NotFound:
        return {"batch_id": batch_id, "done": 0, "failed": 0}
    at = 0
    while chunk := _list_waiting(ctx, batch_id, at):
        for sequence, document_id in chunk:
            ctx.check()
            ctx.act(
                "image.batch_item",
                {"batch_id": batch_id, "document_id": document_id},
                checkpoint={"sequence": sequence},
                done=sequence,
                total=total,
            )
            at = sequence
    with ctx.library.db.read() as conn:
        answer = batch_answer(conn, batch_id)
    failed = [
        {
            "document_id": item["document_id"],
            "name": name_document(ctx, item["document_id"]),
            "why": item["reason"],
        }
        for item in answer["items"]
        if item["state"] == "failed"
    ]
    if failed:
        # Not a failure of the job, which a retry would begin again: the batch keeps what became of each picture.
        ctx.remark = tell_failed(len(failed), len(answer["items"]), failed, "picture")
    return {"batch_id": batch_id, "done": answer["done"], "failed": failed}


def _list_waiting(ctx: JobContext, batch_id: str, after: int) -> list[tuple[int, str]]:
    with ctx.library.db.read() as conn:
        return waiting_items(conn, batch_id, after, _CHUNK)


def run_treat(ctx: JobContext) -> dict[str, Any]:
    """Make what is missing; return how many pictures have it now. A refused picture is reported in the result
    and stops no other.
    """
    ids: list[str] = ctx.args.document_ids
    treated_now = int(ctx.checkpoint.get("pictures", 0))
    failed: list[dict[str, str | None]] = list(ctx.checkpoint.get("failed", []))
    params = {"role": ctx.args.role, "contrast": ctx.args.contrast}
    for number in range(int(ctx.checkpoint.get("done", 0)), len(ids)):
        ctx.check()
        try:
            ctx.act(
                "image.treat_item",
                {"document_id": ids[number], **params},
                checkpoint={"done": number + 1, "pictures": treated_now + 1, "failed": failed},
                done=number + 1,
                total=len(ids),
            )
            treated_now += 1
        except ServiceError as refusal:
            if refusal.status >= 500:
                raise
            name = name_document(ctx, ids[number])
            failed.append({"document_id": ids[number], "name": name, "why": refusal.detail})
            ctx.log("warning", refusal.detail, document_id=ids[number])
            ctx.save(
                {"done": number + 1, "pictures": treated_now, "failed": failed},
                done=number + 1,
                total=len(ids),
            )
    if not treated_now:
        # A retry, once the cause is mended, should treat all of them.
        ctx.save({})
    note_failed(ctx, len(failed), len(ids), failed, "picture")
    return {"pictures": treated_now, "failed": failed}


image_treat = JobKind(
    name="image-treat",
    history="pictures",
    lane="images",
    summary="Make enhanced, background-removed or binarised renditions",
    run=run_treat,
    args=TreatJobArgs,
)

image_batch = JobKind(
    name="image-batch",
    history="pictures",
    lane="images",
    summary="Cut the pictures of a folder alike",
    run=run_batch,
    args=BatchJobArgs,
)
