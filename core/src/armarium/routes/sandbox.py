"""POST /api/sandbox/security-scoped-access: the owner opens a folder to the engine (part A 4.1)."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from armarium.auth.schemas import SandboxGranted, SandboxGrantParams
from armarium.http import REFUSALS, CurrentOwner, act

router = APIRouter(prefix="/api/sandbox", tags=["registry"])


class Granted(SandboxGranted):
    """A grant, with its audit row."""

    audit_id: str


@router.post(
    "/security-scoped-access",
    response_model=Granted,
    responses=REFUSALS(),
    summary="Let the engine use a folder (sandbox.grant)",
)
def grant(request: Request, body: SandboxGrantParams, _: CurrentOwner) -> Response:
    """400 for a malformed bookmark, a system folder, `..` or a folder that is not there; owner only."""
    return act(request, "sandbox.grant", body)
