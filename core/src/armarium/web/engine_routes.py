"""GET /api/engine and POST /api/engine/stop: the serving engine, its state, and its end."""

from __future__ import annotations

import os
from typing import Literal

from fastapi import Request, Response

from armarium import __version__
from armarium.actions.rights import refuse_bound
from armarium.engine import Engine
from armarium.engine_card import LOG
from armarium.ids import timestamp
from armarium.messages import Message
from armarium.web.http import REFUSALS, CurrentEngine, CurrentOwner, json_response
from armarium.web.routers import Router

router = Router(tags=["engine"])


class Queue(Message):
    """The background work of a project (`path`), or of the engine itself (null). `goes_on`: continues without a
    person's action.
    """

    path: str | None
    in_hand: list[str]
    running: int
    waiting: int
    goes_on: bool


class EngineStanding(Message):
    """The engine that answers. `goes_in_seconds` after the last request, when nothing keeps it up; null: it stays up."""

    pid: int
    version: str
    started_at: str
    mode: Literal["background", "serving", "embedded"]
    stopping: bool
    stays_because: str
    goes_in_seconds: float | None
    requests: int
    projects: list[str]
    work: list[str]
    queues: list[Queue]
    state_dir: str
    log: str | None
    application: bool
    """Whether a web application is answered at `/`."""


class StopParams(Message):
    """When to stop: `only_when_idle` refuses while work goes on; otherwise the items in progress are finished first."""

    only_when_idle: bool = False


class Stopping(Message):
    """The engine stops. `carry_on` names the projects whose work continues as soon as an engine opens them again."""

    stopping: bool
    in_hand: list[str]
    carry_on: list[str]


@router.get(
    "/api/engine", response_model=EngineStanding, responses=REFUSALS(), summary="The state of the engine"
)
def standing(engine: CurrentEngine, principal: CurrentOwner) -> Response:
    """For the owner: process, version, open projects, work in progress, and why it stays up."""
    refuse_bound(principal, required="read")
    stay = engine.stay
    described = stay.describe(besides=1)
    queues = stay.queues()
    return json_response(
        {
            "pid": os.getpid(),
            "version": __version__,
            "started_at": timestamp_of(engine),
            "mode": "embedded" if not stay.serving else "background" if stay.rest_seconds else "serving",
            "stopping": stay.asked_to_go,
            **described,
            "projects": sorted(str(library.path) for library in engine.libraries.open_now()),
            "queues": [{key: queue[key] for key in Queue.model_fields} for queue in queues],
            "state_dir": str(engine.settings.state_dir),
            "log": str(engine.settings.state_dir / LOG) if stay.rest_seconds else None,
            "application": (site := engine.plugins.site) is not None and site.is_built,
        }
    )


def timestamp_of(engine: Engine) -> str:
    """Return when the engine started."""
    from datetime import UTC, datetime

    return timestamp(datetime.fromtimestamp(engine.started_at, UTC))


@router.post(
    "/api/engine/stop",
    response_model=Stopping,
    responses=REFUSALS(409),
    summary="Stop the engine after the items in progress",
)
def stop(
    request: Request, engine: CurrentEngine, principal: CurrentOwner, body: StopParams | None = None
) -> Response:
    """For the owner. Jobs stop at their next checkpoint and continue when an engine opens their project again."""
    refuse_bound(principal, required="write")
    paths = engine.stay.ask_to_go(only_when_idle=body is not None and body.only_when_idle)
    in_hand = [title for queue in engine.stay.queues() for title in queue["in_hand"]]
    return json_response({"stopping": True, "in_hand": in_hand, "carry_on": paths})
