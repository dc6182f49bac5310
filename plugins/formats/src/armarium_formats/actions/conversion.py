"""Starts the conversion of older results, and records that a person has seen its report."""

from __future__ import annotations

from typing import Any

from armarium.api import ActionContext, Conflict, Route, action, cancel_with_undo, list_jobs
from armarium_formats.models import conversions_seen
from armarium_formats.queries.conversion import KIND, remaining_conversions, status
from armarium_formats.schemas.conversion import (
    ConversionStarted,
    ConversionStatus,
    SeenConversion,
    StartConversion,
)


@action(
    "conversion.start",
    result=ConversionStarted,
    summary="Turn the boxes of all older results into passes, segments and readings, as a background job.",
    words="Started to convert older results",
    after_undo=cancel_with_undo,
)
def start(ctx: ActionContext, p: StartConversion) -> dict[str, Any]:
    """Each page is a step of its own; they share the run's id as their set id. Raises Conflict while a run is
    active, and if there is nothing left to convert.
    """
    for going in list_jobs(ctx.conn, kinds=KIND, limit=1):
        raise Conflict(
            f"A conversion is already running ({going.id}); its status shows the progress.",
            code="already_converting",
            run_id=going.id,
        )
    total = remaining_conversions(ctx.conn)
    if total == 0:
        raise Conflict(
            "No page has older results that are not converted, so there is nothing to do.",
            code="nothing_to_convert",
        )
    title = f"Convert {total} older {'result' if total == 1 else 'results'}"
    run_id = ctx.enqueue(KIND, {}, title=title, total=total)
    ctx.target(run_id)
    return {"run_id": run_id, "total": total}


@action(
    "conversion.seen",
    result=ConversionStatus,
    summary="Mark the report of a conversion as seen.",
    route=Route("POST", "/api/conversion/{run_id}/seen"),
    words="Marked the report of a conversion as seen",
    person_only=True,
)
def mark_seen(ctx: ActionContext, p: SeenConversion) -> dict[str, Any]:
    """Raises NotFound for an unknown run, Conflict while it is active. Marking it again changes nothing."""
    run = status(ctx.conn, p.run_id)
    if run["state"] in ("waiting", "running"):
        raise Conflict(
            "The conversion is still running, so its report is not complete; try again when it is done.",
            code="conversion_running",
        )
    if run["seen_at"] is None:
        ctx.conn.execute(
            conversions_seen.insert().values(run_id=p.run_id, seen_at=ctx.now, seen_by=ctx.principal.name)
        )
    ctx.target(p.run_id)
    return status(ctx.conn, p.run_id)
