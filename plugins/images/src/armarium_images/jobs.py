"""The job `image-batch`: cut the waiting pictures of a batch, one step each, so that a kill loses and doubles nothing.

The state of every picture is kept in the batch's rows, written in the very step that cuts it; the bytes are cut before
the step and found again after a kill.
"""

from __future__ import annotations

from typing import Any

from armarium.api import JobContext, JobKind, NotFound, raw_of
from armarium_images.actions.batches import SPEC
from armarium_images.planning import cut_ahead, plan_spec
from armarium_images.queries import batch_answer, batch_row, waiting_items
from armarium_images.schemas import BatchJobArgs

_CHUNK = 200


def run_batch(ctx: JobContext) -> dict[str, Any]:
    """Cut what waits; pictures that are refused are told in the result and stop no other."""
    batch_id = str(ctx.args.batch_id)
    try:
        with ctx.library.db.read_raw() as raw:
            spec = SPEC.validate_python(batch_row(raw, batch_id)[2])
            (total,) = raw.execute(
                "SELECT count(*) FROM image_batch_item WHERE batch_id = ?", (batch_id,)
            ).fetchone()
    except NotFound:
        return {"batch_id": batch_id, "done": 0, "failed": 0}
    at = 0
    while chunk := _waiting(ctx, batch_id, at):
        for sequence, document_id in chunk:
            ctx.check()
            cut_ahead(
                ctx.engine,
                ctx.library,
                lambda conn, document_id=document_id: plan_spec(conn, document_id, spec),  # type: ignore[misc]
            )
            ctx.act(
                "image.batch_item",
                {"batch_id": batch_id, "document_id": document_id},
                checkpoint={"sequence": sequence},
                done=sequence,
                total=total,
            )
            at = sequence
    with ctx.library.db.read() as conn:
        answer = batch_answer(raw_of(conn), batch_id)
    failed = [
        {"document_id": item["document_id"], "why": item["reason"]}
        for item in answer["items"]
        if item["state"] == "failed"
    ]
    return {"batch_id": batch_id, "done": answer["done"], "failed": failed}


def _waiting(ctx: JobContext, batch_id: str, after: int) -> list[tuple[int, str]]:
    with ctx.library.db.read_raw() as raw:
        return waiting_items(raw, batch_id, after, _CHUNK)


image_batch = JobKind(
    name="image-batch",
    lane="images",
    summary="Cut the pictures of a folder alike",
    run=run_batch,
    args=BatchJobArgs,
)
