"""GET /api/settings/compute and GET /api/runtimes; what changes either is an action with its own route."""

from __future__ import annotations

from dataclasses import asdict

from fastapi import APIRouter, Response
from pydantic import create_model

from armarium.messages import Message
from armarium.runtimes.compute import ComputeSettings, state_of
from armarium.store.rows import listed
from armarium.web.http import REFUSALS, CurrentEngine, CurrentPrincipal, json_response

router = APIRouter(prefix="/api/settings", tags=["engine"])

runtimes = APIRouter(prefix="/api/runtimes", tags=["engine"])


class InstalledRuntime(Message):
    """The isolated environment of a heavy engine, as it is on this machine. `outdated`: it is here in other versions than
    those needed now; `expected_size_mb`: about how much an installation takes, all of it downloaded.
    """

    name: str
    summary: str
    installed: bool
    outdated: bool
    size_bytes: int
    expected_size_mb: int
    installed_at: str | None
    versions: dict[str, str]
    drivers: list[str]


RuntimeList = listed(InstalledRuntime, "RuntimeList")

ComputeSet = create_model("ComputeSettingsSet", __base__=ComputeSettings, audit_id=(str, ...))


@router.get("/compute", response_model=ComputeSettings, responses=REFUSALS(), summary="Compute settings")
def read(engine: CurrentEngine, _: CurrentPrincipal) -> Response:
    """The saved choice, and what applies now with the environment's settings."""
    return json_response(state_of(engine).answer())


@runtimes.get(
    "", response_model=RuntimeList, responses=REFUSALS(), summary="The runtimes and which are installed"
)
def list_runtimes(engine: CurrentEngine, _: CurrentPrincipal) -> Response:
    """Those that the installed drivers need, by name. `POST /api/runtimes/{name}/install` installs one as a job."""
    items = [asdict(one) for one in engine.runtimes.list()]
    return json_response({"items": items, "count": len(items)})
