"""What background work was done on documents, over HTTP (A 4.2)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from armarium.api import REFUSALS, CurrentLibrary, json_response, raw_of
from armarium_documents.queries.runs import run_history
from armarium_documents.schemas.runs import RunHistory

router = APIRouter(tags=["documents"])


@router.get(
    "/api/documents/run-history",
    summary="The work done on documents, newest first",
    response_model=RunHistory,
    responses=REFUSALS(400, 401, 403, 404, 409, 422),
)
def read_run_history(
    library: CurrentLibrary, ids: Annotated[list[str], Query(min_length=1, max_length=500)]
) -> Response:
    with library.db.read() as conn:
        raw = raw_of(conn)
        return json_response(run_history(raw, ids))
