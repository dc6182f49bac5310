"""Transfer between projects over HTTP."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from armarium.api import REFUSALS, CurrentEngine, CurrentLibrary, CurrentPrincipal, act, json_response
from armarium_documents.actions.transfer.copying import plan
from armarium_documents.schemas.transfer import TransferRequest, TransferResult

router = APIRouter(tags=["documents"])


@router.post(
    "/api/documents/transfer",
    summary="Transfer items from another open project: copy or move them; dry_run answers the plan",
    response_model=TransferResult,
    responses=REFUSALS(400, 401, 403, 404, 409, 500, 503),
)
def transfer_documents(
    request: Request,
    engine: CurrentEngine,
    library: CurrentLibrary,
    principal: CurrentPrincipal,
    body: TransferRequest,
) -> Response:
    if body.dry_run:
        return json_response(plan(engine, library, principal, body))
    return act(request, "document.transfer", body.model_dump(exclude={"dry_run"}))
