"""Trainings at the model hub: what is refused before anything is sent, and in which order."""

from __future__ import annotations

from typing import Any

from armarium.api import ActionContext, Route, action
from armarium_documents.api import pages_under
from armarium_reading.api import hub_key
from armarium_training import errors
from armarium_training.compute import GROUP as COMPUTE
from armarium_training.compute import Compute
from armarium_training.queries.job_rows import TRAIN
from armarium_training.schemas.training import RemoteParams, StartedFar, TrainArgs
from armarium_training.starting import args_from, check_timeout, far_base_of, lines_to_teach, pages_of

HUB = "hub"


@action(
    "training.start",
    result=StartedFar,
    summary="Train a line reader at the model hub, on lines that were read and corrected.",
    route=Route("POST", "/api/training/linereader", refusals=(403, 404, 409, 412)),
    words="Started to train a reader on {scope_ids|pages} at the model hub",
    undoable=False,
    guards_targets=True,
)
def start(ctx: ActionContext, p: RemoteParams) -> dict[str, Any]:
    """Enqueue the training. Pages leave only if that was allowed and their rights permit it; held-out pages
    never leave.
    """
    pages = pages_of(ctx.conn, p.scope_ids)
    check_timeout(p.timeout)
    base = far_base_of(ctx.engine, ctx.project, p.base)
    held_out = pages_under(ctx.conn, p.held_out_ids)
    training_set = lines_to_teach(ctx, p.teacher, pages, held_out, "cloud-model")
    errors.refuse_to_leave(ctx.project, "A training at the model hub", pages_may_leave=p.pages_may_leave)
    if hub_key(ctx.engine) is None:
        raise errors.NeedsToken()
    hub: type[Compute] = ctx.engine.drivers.load(COMPUTE, HUB)
    args = args_from(
        TrainArgs,
        p,
        page_ids=pages,
        held_out_ids=held_out,
        trainer=base.trainer.name,
        place=HUB,
        request=p.model_dump(mode="json"),
    )
    title = f"Train {p.display_name or p.name} on {len(training_set.lines)} lines at the model hub"
    job_id = ctx.enqueue(TRAIN, args.model_dump(mode="json"), title=title)
    ctx.target(*p.scope_ids, job_id)
    return {
        "job_id": job_id,
        "flavor": p.flavor,
        "timeout": p.timeout,
        "price_per_hour_usd": hub.price_per_hour_usd(p.flavor),
    }
