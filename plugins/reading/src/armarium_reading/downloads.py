"""The jobs that bring a model to this machine: downloaded, or taken from disk."""

from __future__ import annotations

from typing import Any

from armarium.api import JobContext, forget_partial
from armarium_reading import local_models
from armarium_reading.schemas.reading import AddModelParams, ModelParams
from armarium_reading.taken_models import add_from_disk, download_offer, find_offer


def run_download(ctx: JobContext) -> dict[str, Any]:
    """Download one model. If stopped or killed it resumes where it was; if cancelled it leaves nothing behind."""
    params: ModelParams = ctx.args
    mega = 1 << 20

    def report(done: int, total: int | None) -> None:
        ctx.progress(done // mega, max(1, (total or done) // mega))
        if ctx.stop == "cancel":
            forget_partial(local_models.partial_of(ctx.engine, params.runtime, params.model))
        ctx.check()

    reader = local_models.runner_of(ctx.engine, params.runtime)
    offer = find_offer(reader, params.model)
    if offer is not None and offer.files:
        return download_offer(ctx, reader, offer, report)
    file = local_models.download(ctx.engine, params.runtime, params.model, report)
    return {"model_id": file.model, "size_bytes": file.size_bytes}


def run_add(ctx: JobContext) -> dict[str, Any]:
    """Take in a model from disk; repeated after a kill it starts anew."""
    params: AddModelParams = ctx.args
    assert params.name is not None
    reader = local_models.runner_of(ctx.engine, params.runtime)
    return add_from_disk(ctx, reader, params.path.real, params.name)
