"""GET and PUT /api/settings/compute (part C 4.7)."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from pydantic import create_model

from armarium.auth.compute import state_of
from armarium.auth.schemas import ComputeParams, ComputeSettings
from armarium.http import REFUSALS, CurrentEngine, CurrentOwner, CurrentPrincipal, act, json_response

router = APIRouter(prefix="/api/settings", tags=["engine"])

ComputeSet = create_model("ComputeSettingsSet", __base__=ComputeSettings, audit_id=(str, ...))


@router.get("/compute", response_model=ComputeSettings, responses=REFUSALS(), summary="Compute settings")
def read(engine: CurrentEngine, _: CurrentPrincipal) -> Response:
    """The saved choice, and what applies now with the environment's settings over it."""
    return json_response(state_of(engine).answer())


@router.put("/compute", response_model=ComputeSet, responses=REFUSALS(), summary="Set compute (compute.set)")
def change(request: Request, body: ComputeParams, _: CurrentOwner) -> Response:
    """Owner only; a GPU where there is none is 422. Work in hand finishes as it began."""
    return act(request, "compute.set", body)
