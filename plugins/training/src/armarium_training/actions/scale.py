"""Reading at scale: start, resend failed shards, cancel, and write what was read of a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import func, select

from armarium.api import ActionContext, Route, action, require_job
from armarium_documents.api import title_of_work
from armarium_reading.api import hub_key, installed_readers
from armarium_source_model.api import (
    BadGeometry,
    NewPass,
    NewReading,
    NewSegment,
    SoundPoints,
    add_readings,
    add_segments,
    create_pass,
    passes,
    refuse_provider,
    sound_pixels,
)
from armarium_training import errors
from armarium_training.compute import GROUP as COMPUTE
from armarium_training.compute import Compute
from armarium_training.models import shards
from armarium_training.planning import find_reader, readers_of
from armarium_training.queries.job_rows import SCALE
from armarium_training.schemas.scale import LandedPage, LandPage, ScaleArgs, ScaleParams, StartedScale
from armarium_training.schemas.training import JobParams, StateOf
from armarium_training.starting import args_from, cancel_job, check_timeout, pages_of

FORMAT = "import"
HUB = "hub"


def place_named(flavor: str) -> str:
    """Return the place of compute that a flavor names before its colon; a flavor without one belongs to the
    model hub.
    """
    return flavor.partition(":")[0] if flavor == "local" or ":" in flavor else HUB


@action(
    "reading.start_at_scale",
    result=StartedScale,
    summary="Read very many pages in shards, on this machine or on others.",
    route=Route("POST", "/api/reading-at-scale", refusals=(403, 404, 409, 412)),
    words="Started to read {scope_ids|pages} at scale",
    undoable=False,
    guards_targets=True,
)
def start_at_scale(ctx: ActionContext, p: ScaleParams) -> dict[str, Any]:
    """Enqueue the reading. Results are written as imported passes next to existing ones. Refused in the
    order: reader and scope, leave, token.
    """
    pages = pages_of(ctx.conn, p.scope_ids)
    check_timeout(p.timeout)
    driver = _driver(ctx, p)
    flavor = p.flavor if "flavor" in p.model_fields_set else ctx.project.setting("compute_place", p.flavor)
    place = place_named(flavor)
    compute = _compute(ctx, p.card, place, flavor)
    is_here = compute.stays_here(flavor)
    if not is_here:
        errors.refuse_to_leave(ctx.project, "Reading at scale", pages_may_leave=p.pages_may_leave)
        if compute.needs_hub_token and hub_key(ctx.engine) is None:
            raise errors.NeedsToken()
    args = args_from(ScaleArgs, p, driver=driver, page_ids=pages, place=place, flavor=flavor)
    lane = "local-model" if is_here else None
    title = title_of_work(ctx.conn, "Read at scale", pages)
    job_id = ctx.enqueue(SCALE, args.model_dump(mode="json"), title=title, total=len(pages), lane=lane)
    ctx.target(*p.scope_ids, job_id)
    return {"job_id": job_id}


def _compute(ctx: ActionContext, card: str, place: str, flavor: str) -> type[Compute]:
    """Return the place of compute that the flavor names; Invalid if there is none, or nothing can be sent there."""
    known_names = ctx.engine.drivers.names(COMPUTE)
    if place not in known_names:
        why = f"No place of compute called {place!r} is installed; installed are: {', '.join(known_names)}. The flavor names it, as in local."
        raise errors.cannot_leave(card, why)
    compute: type[Compute] = ctx.engine.drivers.load(COMPUTE, place)
    if why_not := compute.why_not(flavor):
        raise errors.cannot_leave(card, why_not)
    return compute


def _driver(ctx: ActionContext, p: ScaleParams) -> str:
    """Return the named reader; Invalid if it cannot do this."""
    readers = readers_of(installed_readers(ctx.engine), "vision" if p.reader == "vlm" else "linereader")
    found, why = find_reader(ctx.engine, ctx.project, readers, p.card)
    if found is None:
        raise errors.cannot_leave(p.card, why)
    return found.name


@action(
    "reading.resend_failed",
    result=StateOf,
    summary="Send only the failed shards of a reading at scale again.",
    route=Route("POST", "/api/reading-at-scale/jobs/{job_id}/resend-failed"),
    words="Sent failed shards again",
    undoable=False,
)
def resend_failed(ctx: ActionContext, p: JobParams) -> dict[str, Any]:
    """Enqueue them. Conflict while the run is not finished, and if none failed."""
    if require_job(ctx.conn, p.job_id, SCALE, errors.unknown_reading).is_going:
        raise errors.still_going()
    failed = (shards.c.job_id == p.job_id) & (shards.c.state == "failed")
    if not ctx.conn.execute(select(func.count()).select_from(shards).where(failed)).scalar():
        raise errors.nothing_failed()
    ctx.conn.execute(shards.update().where(failed).values(state="pending", far_id=None))
    retried = ctx.run("job.retry", {"job_id": p.job_id})
    ctx.target(p.job_id)
    return {"job_id": p.job_id, "state": retried["state"]}


@action(
    "reading.cancel_at_scale",
    result=StateOf,
    summary="Cancel a reading at scale, also on the machines it runs on.",
    route=Route("POST", "/api/reading-at-scale/jobs/{job_id}/cancel"),
    words="Cancelled a reading at scale",
    undoable=False,
)
def cancel_at_scale(ctx: ActionContext, p: JobParams) -> dict[str, Any]:
    """Cancel the job; pages already written remain. NotFound for an id that is not a reading at scale."""
    return cancel_job(ctx, p.job_id, SCALE, errors.unknown_reading)


@action(
    "training.land_page",
    result=LandedPage,
    summary="Write what was read of a page elsewhere as an imported pass; once per result.",
    words="Added a reading of {document_id|a page}",
)
def land_page(ctx: ActionContext, p: LandPage) -> dict[str, Any]:
    """Write the pass. A result whose bytes were already written to the page adds nothing. Shapes are in
    pixels of *width* by *height*. Refused for a provider that would rank the reading above those of readers.
    """
    refuse_provider(p.provider)
    known_row = ctx.conn.execute(
        select(passes.c.id).where(
            passes.c.document_id == p.document_id,
            passes.c.import_checksum == p.checksum,
            passes.c.deleted_at.is_(None),
        )
    ).scalar()
    if known_row is not None:
        return {"pass_id": known_row, "already": True}
    fields = p.document_id, p.name, p.provider, p.model, ctx.run_id
    pass_id = create_pass(ctx, NewPass(*fields, import_checksum=p.checksum, import_format=FORMAT))
    size = p.width, p.height
    new, texts = [], []
    for number, line in enumerate(p.lines):
        x, y, w, h = line.rect
        left, top = min(max(x / p.width, 0.0), 1.0), min(max(y / p.height, 0.0), 1.0)
        right, bottom = min((x + w) / p.width, 1.0), min((y + h) / p.height, 1.0)
        if right <= left or bottom <= top:
            continue
        new.append(
            NewSegment(
                key=f"line-{number}",
                kind="line",
                rect=(left, top, right - left, bottom - top),
                polygon=_check_shape(line.polygon, size, area=True),
                baseline=_check_shape(line.baseline, size, area=False),
                confidence=line.confidence,
            )
        )
        texts.append((line.text, line.confidence))
    ids = add_segments(ctx, pass_id, p.document_id, p.rendition_id, new)
    add_readings(
        ctx,
        [
            NewReading(
                segment_id,
                text,
                confidence=confidence,
                producer_tool=p.provider,
                producer_model=p.model,
                producer_run_id=ctx.run_id,
            )
            for segment_id, (text, confidence) in zip(ids, texts, strict=True)
            if text
        ],
    )
    ctx.target(p.document_id)
    return {"pass_id": pass_id, "already": False}


def _check_shape(
    points: Sequence[Sequence[float]] | None, size: tuple[int, int], *, area: bool
) -> SoundPoints | None:
    """Return a shape that can be stored; None for one that cannot: its line keeps only its box."""
    if not points:
        return None
    try:
        return sound_pixels([(float(x), float(y)) for x, y in points], size, None, area=area)
    except (BadGeometry, ValueError):
        return None
