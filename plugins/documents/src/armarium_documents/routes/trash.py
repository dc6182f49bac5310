"""The Trash over HTTP: what is in it, back from it, out of it for good (A 4.4)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from armarium.api import REFUSALS, CurrentLibrary, json_response, raw_of
from armarium_documents.queries import trash as queries
from armarium_documents.schemas.trash import EmptyPlan, TrashList

router = APIRouter(tags=["documents"])


@router.get(
    "/api/documents/trash",
    summary="What is in the Trash, newest first",
    response_model=TrashList,
    responses=REFUSALS(400, 401, 403, 404, 409, 422),
)
def list_trash(
    library: CurrentLibrary,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    offset: Annotated[int, Query(ge=0, le=2**62)] = 0,
) -> Response:
    with library.db.read() as conn:
        raw = raw_of(conn)
        return json_response(queries.entries(raw, limit=limit, offset=offset))


@router.get(
    "/api/documents/trash/empty",
    summary="What Empty Trash would remove, and the question to ask",
    response_model=EmptyPlan,
    responses=REFUSALS(400, 401, 403, 404, 409),
)
def plan_empty_trash(library: CurrentLibrary) -> Response:
    with library.db.read() as conn:
        raw = raw_of(conn)
        return json_response(queries.plan(raw))
