"""Starts the conversion of older results, and records that a person has seen its report."""

from __future__ import annotations

from typing import Any

from armarium.api import ActionContext, Conflict, Example, Route, action, cancel_with_undo, list_jobs
from armarium_formats.models import conversions_seen
from armarium_formats.queries.conversion import KIND, remaining_conversions, status
from armarium_formats.schemas.conversion import (
    ConversionStarted,
    ConversionStatus,
    SeenConversion,
    StartConversion,
)


def _start_example(ex: Example) -> dict[str, Any]:
    page = ex.run("document.create", {"name": "Letter, first page", "doc_type": "page"})
    box = {"bbox": [0.1, 0.1, 0.8, 0.05], "text": "Dear Sir", "level": "line"}
    ex.run(
        "artifact.create",
        {
            "document_id": page["id"],
            "artifact_type": "transcription",
            "ocr_geometry": {"text": "Dear Sir", "provider": "reader", "boxes": [box]},
        },
    )
    return {}


@action(
    "conversion.start",
    params=StartConversion,
    result=ConversionStarted,
    summary="Turn the boxes of all older results into passes, segments and readings, as a background job.",
    words="Started to convert older results",
    example=_start_example,
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
    run_id = ctx.enqueue(KIND, {}, title=f"Convert {total} older {'result' if total == 1 else 'results'}")
    ctx.target(run_id)
    return {"run_id": run_id, "total": total}


def _seen_example(ex: Example) -> dict[str, Any]:
    started = ex.run("conversion.start", _start_example(ex))
    assert ex.library is not None
    ex.engine.jobs.run_until_idle(ex.library)
    return {"run_id": started["run_id"]}


@action(
    "conversion.seen",
    params=SeenConversion,
    result=ConversionStatus,
    summary="Mark the report of a conversion as seen.",
    route=Route("POST", "/api/conversion/{run_id}/seen"),
    words="MarkWords the report of a conversion as seen",
    person_only=True,
    example=_seen_example,
)
def mark_seen(ctx: ActionContext, p: SeenConversion) -> dict[str, Any]:
    """Raises NotFound for an unknown run, Conflict while it is active. Marking it again changes nothing."""
    found = status(ctx.conn, p.run_id)
    if found["state"] in ("waiting", "running"):
        raise Conflict(
            "The conversion is still running, so its report is not complete; try again when it is done.",
            code="conversion_running",
        )
    if found["seen_at"] is None:
        ctx.conn.execute(
            conversions_seen.insert().values(run_id=p.run_id, seen_at=ctx.now, seen_by=ctx.principal.name)
        )
    ctx.target(p.run_id)
    return status(ctx.conn, p.run_id)
