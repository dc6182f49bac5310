"""Routes of merging, splitting, matching, carrying and citing (B 4.1)."""

from __future__ import annotations

from fastapi import APIRouter, Response

from armarium.api import REFUSALS, CurrentEngine, CurrentLibrary, json_response
from armarium_documents.api import require_document
from armarium_source_model.queries.locations import reference_of, resolve_location
from armarium_source_model.queries.matches import matches_of
from armarium_source_model.schemas.joins import (
    LocationOut,
    LocationRequest,
    MatchList,
    Reference,
)

router = APIRouter(prefix="/api/segments", tags=["segments"])
locations = APIRouter(prefix="/api/locations", tags=["locations"])


@router.get(
    "/document/{doc_id}/matches",
    summary="The matches on a page",
    response_model=MatchList,
    responses=REFUSALS(404),
)
def list_matches(library: CurrentLibrary, doc_id: str) -> Response:
    """Proposed, accepted and rejected ones, oldest first."""
    with library.db.read() as conn:
        require_document(conn, doc_id)
        items = matches_of(conn, doc_id)
    return json_response({"document_id": doc_id, "items": items, "count": len(items)})


@router.get(
    "/{segment_id}/reference",
    summary="The citation of a segment",
    response_model=Reference,
    responses=REFUSALS(404),
)
def reference(library: CurrentLibrary, segment_id: str) -> Response:
    """A string to print in a footnote; worked out on request, never stored."""
    with library.db.read() as conn:
        return json_response(reference_of(library, conn, segment_id))


@locations.post("/resolve", summary="Find a place", response_model=LocationOut, responses=REFUSALS(404))
def resolve(engine: CurrentEngine, library: CurrentLibrary, body: LocationRequest) -> Response:
    """Where an id or a citation leads now; forwarding of segments is followed first."""
    with library.db.read() as conn:
        return json_response(resolve_location(engine, library, conn, body))
