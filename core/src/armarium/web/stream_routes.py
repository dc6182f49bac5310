"""GET /api/changes/stream: what happens in this engine, as server-sent events that can be resumed."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import Annotated

import orjson
from fastapi import Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from armarium.actions.change_stream import Event
from armarium.engine import Engine
from armarium.history.visibility import ids_in_event
from armarium.jobs.partly_seen import hundredths, reason_seen
from armarium.principals import Principal
from armarium.projects.libraries import Library
from armarium.web.http import REFUSALS, CurrentEngine, CurrentPrincipal, OptionalLibrary
from armarium.web.routers import Router

router = Router(prefix="/api/changes", tags=["events"])

QUIET = 10.0
"""Seconds of silence after which a comment shows that the stream is alive."""

ALIVE = b": alive\n\n"


@router.get(
    "/stream",
    responses={
        **REFUSALS(404, 409),
        200: {
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
            "description": "Events `change`, `job` and `resync`: id is the number, data is JSON.",
        },
    },
    response_class=StreamingResponse,
    summary="The change stream",
)
async def changes(
    request: Request,
    engine: CurrentEngine,
    principal: CurrentPrincipal,
    library: OptionalLibrary,
    after: Annotated[int | None, Query(ge=0, description="Resume after this number.")] = None,
) -> StreamingResponse:
    """Of the named project, else of every project the token reaches. `Last-Event-ID` takes precedence over `?after=`.

    One `resync` event says that the number is too old: reload everything and continue from there.
    """
    last = request.headers.get("last-event-id")
    if last is not None:
        # A number this engine never gave cannot be resumed: 0 is older than any it gave.
        after = int(last) if last.isascii() and last.isdigit() and len(last) < 20 else 0
    return StreamingResponse(
        events(engine, principal, library, after),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


async def events(
    engine: Engine, principal: Principal, library: Library | None, after: int | None
) -> AsyncIterator[bytes]:
    """Yield the framed events *principal* may see; ends when its token does, or with the engine."""
    path = None if library is None else str(library.path)
    yield ALIVE
    sent_at = checked = time.monotonic()
    async for event in engine.events.subscribe(after, quiet=QUIET):
        now = time.monotonic()
        if now - checked >= QUIET:
            checked = now
            if not engine.is_started or not engine.auth.still_valid(principal):
                return
        visible = event
        if visible is not None:
            visible = (
                await as_seen(engine, visible, principal) if concerns(visible, principal, path) else None
            )
        if visible is not None:
            yield frame(visible)
            sent_at = now
        elif now - sent_at >= QUIET - 0.5:
            yield ALIVE
            sent_at = now


def concerns(event: Event, principal: Principal, path: str | None) -> bool:
    """Return whether an event is for this listener: of its project, of one it reaches, or engine-wide for an unbound
    token.
    """
    if event.kind == "resync":
        return True
    if event.kind == "model_delta":
        # Words of a source or of a model: sent only to those who follow the run and ask for them.
        return False
    if event.library_path is None:
        return principal.libraries is None
    return principal.reaches(event.library_path) and (path is None or path == event.library_path)


async def as_seen(engine: Engine, event: Event, principal: Principal) -> Event | None:
    """Return an event as this listener sees it; None where it names something that is withheld.

    Of a job about many pages, a listener from whom some are withheld learns the progress in hundredths, but neither
    how many pages it has nor why it failed.
    """
    library = None if event.library_path is None else engine.libraries.open_at(event.library_path)
    visibility = None if library is None else library.db.visibility
    if visibility is None or visibility.surely_all(principal):
        return event
    if await run_in_threadpool(visibility.find_hidden, principal, ids_in_event(event.body)):
        return None
    if event.kind != "job" or not await run_in_threadpool(visibility.limits, principal):
        return event
    data = event.data
    done, total = hundredths(data["done"], data["total"])
    why = reason_seen(data["state"], data["total"], data["reason"])
    body = orjson.dumps({**data, "done": done, "total": total, "reason": why})
    return Event(event.seq, event.kind, body, event.library_path)


def frame(event: Event) -> bytes:
    """Return an event in the stream's framing; JSON contains no line break, so one data line is enough."""
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (event.seq, event.kind.encode(), event.body)
