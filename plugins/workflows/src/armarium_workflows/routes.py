"""The one handwritten route of workflows: the stream of a run."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from armarium.api import REFUSALS, CurrentEngine, CurrentLibrary, CurrentPrincipal, Router
from armarium_workflows.queries import run_row
from armarium_workflows.stream import RunStream

router = Router(tags=["workflows"])


@router.get(
    "/api/workflow-execution/threads/{thread_id}/stream",
    responses={
        **REFUSALS(404),
        200: {
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
            "description": "Events of the run: `snapshot` first, `end` last; id is the number, data is JSON.",
        },
    },
    response_class=StreamingResponse,
    summary="The stream of a run",
)
async def follow_run(
    request: Request,
    engine: CurrentEngine,
    library: CurrentLibrary,
    principal: CurrentPrincipal,
    thread_id: Annotated[str, Path(max_length=64)],
    after: Annotated[int | None, Query(ge=0, le=2**62, description="Resume after this number.")] = None,
    deltas: Annotated[bool, Query(description="Include pieces of models' answers as they arrive.")] = False,
) -> StreamingResponse:
    """It may be opened before the run starts. `Last-Event-ID` takes precedence over `?after=`; `resync` if it
    is too old.
    """
    last = request.headers.get("last-event-id")
    if last is not None:
        after = int(last) if last.isascii() and last.isdigit() and len(last) < 19 else 0

    def there() -> None:
        with library.db.read() as conn:
            run_row(conn, thread_id)

    await run_in_threadpool(there)
    stream = RunStream(engine, library, principal, thread_id, after, deltas)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(stream.events(), media_type="text/event-stream", headers=headers)
