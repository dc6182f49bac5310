"""The work of fetching a model to this machine."""

from __future__ import annotations

from typing import Any

from armarium.api import JobContext, Unavailable
from armarium_reading import local_models
from armarium_reading.schemas import ModelParams


def run_download(ctx: JobContext) -> dict[str, Any]:
    """Fetch one model; killed at any instant it begins anew and leaves nothing half-fetched."""
    wanted: ModelParams = ctx.args
    mega = 1 << 20

    def report(done: int, total: int | None) -> None:
        ctx.progress(done // mega, max(1, (total or done) // mega))
        ctx.check()

    found = local_models.download(ctx.engine, wanted.runtime, wanted.model, report)
    if found.size_bytes is None:
        raise Unavailable("The model was fetched and has no size; try again.")
    return {"model_id": found.model, "size_bytes": found.size_bytes}
