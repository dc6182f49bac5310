"""GET and PUT /api/settings/compute."""

from __future__ import annotations

from fastapi import APIRouter, Response
from pydantic import create_model

from armarium.runtimes.compute import ComputeSettings, state_of
from armarium.web.http import REFUSALS, CurrentEngine, CurrentPrincipal, json_response

router = APIRouter(prefix="/api/settings", tags=["engine"])

ComputeSet = create_model("ComputeSettingsSet", __base__=ComputeSettings, audit_id=(str, ...))


@router.get("/compute", response_model=ComputeSettings, responses=REFUSALS(), summary="Compute settings")
def read(engine: CurrentEngine, _: CurrentPrincipal) -> Response:
    """The saved choice, and what applies now with the environment's settings."""
    return json_response(state_of(engine).answer())
