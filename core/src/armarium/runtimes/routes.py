"""GET /api/settings/compute and GET /api/runtimes; what changes either is an action with its own route."""

from __future__ import annotations

from fastapi import Response

from armarium.runtimes.compute import ComputeSettings, state_of
from armarium.runtimes.registry import InstalledRuntime
from armarium.store.rows import listed
from armarium.web.http import REFUSALS, CurrentEngine, CurrentPrincipal, json_response
from armarium.web.routers import Router

router = Router(prefix="/api/settings", tags=["engine"])

runtimes = Router(prefix="/api/runtimes", tags=["engine"])


RuntimeList = listed(InstalledRuntime, "RuntimeList")


@router.get("/compute", response_model=ComputeSettings, responses=REFUSALS(), summary="Compute settings")
def read(engine: CurrentEngine, _: CurrentPrincipal) -> Response:
    """The saved choice, and what applies now with the environment's settings."""
    return json_response(state_of(engine).model_dump())


@runtimes.get(
    "", response_model=RuntimeList, responses=REFUSALS(), summary="The runtimes and which are installed"
)
def list_runtimes(engine: CurrentEngine, _: CurrentPrincipal) -> Response:
    """Those that the installed drivers need, by name. `POST /api/runtimes/{name}/install` installs one as a job."""
    items = [runtime.model_dump() for runtime in engine.runtimes.list()]
    return json_response({"items": items, "count": len(items)})
