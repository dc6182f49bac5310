"""Trainings of vision models: what is refused before anything is queued or sent, and in which order."""

from __future__ import annotations

from typing import Any

from armarium.api import ActionContext, NameOrMaterialPath, Route, action
from armarium_documents.api import pages_under
from armarium_reading.api import hub_key
from armarium_training import errors
from armarium_training.arms import shared_lines
from armarium_training.compute import GROUP as COMPUTE
from armarium_training.compute import Compute
from armarium_training.flavors import cheapest, memory_needed_gb
from armarium_training.queries.job_rows import HERE, TRAIN
from armarium_training.schemas.training import StartedFar, TrainArgs
from armarium_training.schemas.vision import VisionArgs, VisionParams
from armarium_training.starting import args_from, check_timeout, lines_to_teach, pages_of, vision_base_of
from armarium_training.trainers import converter_of, trainer_named, trainer_of

CARD = "vision-lora"
HUB, LOCAL = "hub", "local"


@action(
    "training.start_vision_lora",
    result=StartedFar,
    summary="Train a vision model on lines that were read and corrected.",
    route=Route("POST", "/api/training/vision-lora", refusals=(403, 404, 409, 412)),
    words="Started to train a vision model on {scope_ids|pages}",
    undoable=False,
    guards_targets=True,
)
def start_vision_lora(ctx: ActionContext, p: VisionParams) -> dict[str, Any]:
    """Train at the model hub, or with the flavor `local` on this machine, where nothing is sent and nothing
    costs money.

    Refused in the order: scope, base and lines (422), leave (403), token (412), what has to be installed
    first (409).
    """
    pages = pages_of(ctx.conn, p.scope_ids)
    check_timeout(p.timeout)
    is_here = p.flavor == LOCAL
    flavor = p.flavor if p.flavor is not None else cheapest(p.base_repo)
    if flavor is None:
        raise errors.no_flavor(memory_needed_gb(p.base_repo))
    if is_here:
        vision_base_of(ctx.engine, ctx.project, p.base_repo)
    elif "/" not in p.base_repo:
        raise errors.no_repository(p.base_repo)
    held_out = pages_under(ctx.conn, p.held_out_ids)
    count = _lines(ctx, p, pages, held_out, is_here)
    if not is_here:
        errors.refuse_to_leave(ctx.project, "A training at the model hub", pages_may_leave=p.pages_may_leave)
        if hub_key(ctx.engine) is None:
            raise errors.NeedsToken()
    trainer = trainer_of(ctx.engine, CARD) if is_here else trainer_named(ctx.engine, CARD)
    converter_of(ctx.engine)
    args = args_from(
        TrainArgs,
        p,
        card="vision-lora",
        page_ids=pages,
        held_out_ids=held_out,
        base=NameOrMaterialPath(p.base_repo),
        trainer=trainer.name,
        place=None if is_here else HUB,
        flavor=flavor,
        vision=args_from(VisionArgs, p).model_dump(),
        request=p.model_dump(mode="json"),
    )
    lines = f"{count} {'line' if count == 1 else 'lines'}"
    title = f"Train {p.display_name or p.name} on {lines}{'' if is_here else ' at the model hub'}"
    kind = HERE if is_here else TRAIN
    job_id = ctx.enqueue(kind, args.model_dump(mode="json"), title=title, model=p.base_repo, total=p.epochs)
    ctx.target(*p.scope_ids, job_id)
    compute: type[Compute] = ctx.engine.drivers.load(COMPUTE, LOCAL if is_here else HUB)
    return {
        "job_id": job_id,
        "flavor": flavor,
        "timeout": p.timeout,
        "price_per_hour_usd": compute.price_per_hour_usd(flavor),
    }


def _lines(ctx: ActionContext, p: VisionParams, pages: list[str], held_out: list[str], is_here: bool) -> int:
    """Return how many lines the arm would be trained on; Invalid if there is none."""
    training_set = lines_to_teach(
        ctx, p.teacher, pages, held_out, "local-model" if is_here else "cloud-model"
    )
    shared = shared_lines(
        ctx.conn, training_set.lines, arm=p.arm, max_trace_cer=p.max_trace_cer, all_lines=p.all_lines
    )
    if not shared.lines:
        raise errors.nothing_reasoned(p.arm)
    return len(shared.lines)
