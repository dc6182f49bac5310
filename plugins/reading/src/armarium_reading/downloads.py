"""The job that downloads a model to this machine."""

from __future__ import annotations

from typing import Any

from armarium.api import JobContext, forget_partial
from armarium_reading import local_models
from armarium_reading.schemas.reading import ModelParams


def run_download(ctx: JobContext) -> dict[str, Any]:
    """Download one model. If stopped or killed it resumes where it was; if cancelled it leaves nothing behind."""
    wanted: ModelParams = ctx.args
    mega = 1 << 20

    def report(done: int, total: int | None) -> None:
        ctx.progress(done // mega, max(1, (total or done) // mega))
        if ctx.stop == "cancel":
            forget_partial(local_models.partial_of(ctx.engine, wanted.runtime, wanted.model))
        ctx.check()

    file = local_models.download(ctx.engine, wanted.runtime, wanted.model, report)
    return {"model_id": file.model, "size_bytes": file.size_bytes}
