"""Routes of merging, splitting, matching, carrying and citing (B 4.1)."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from armarium.api import REFUSALS, CurrentEngine, CurrentLibrary, act, json_response
from armarium_documents.api import require_document
from armarium_source_model.queries.locations import reference_of, resolve_location
from armarium_source_model.queries.matches import matches_of
from armarium_source_model.schemas.joins import (
    Carried,
    Carry,
    LocationOut,
    LocationRequest,
    MatchList,
    MatchPropose,
    Merge,
    Merged,
    Reference,
    Split,
    SplitBody,
    WrittenMatch,
)

router = APIRouter(prefix="/api/segments", tags=["segments"])
locations = APIRouter(prefix="/api/locations", tags=["locations"])


@router.post("/merge", summary="Merge segments", response_model=Merged, responses=REFUSALS(404, 409))
def merge(request: Request, body: Merge) -> Response:
    """Absorb the others of one pass into keep_id; their citations lead to it."""
    return act(request, "segment.merge", body)


@router.post("/split", summary="Split a segment", response_model=Split, responses=REFUSALS(404, 409))
def split(request: Request, body: SplitBody) -> Response:
    """Two or more parts; the original id stays on the first."""
    return act(request, "segment.split", body)


@router.post("/matches", summary="Propose a match", response_model=WrittenMatch, responses=REFUSALS(404, 409))
def propose(request: Request, body: MatchPropose) -> Response:
    """Say that two segments of rival passes are the same thing."""
    return act(request, "segment.match_propose", body)


@router.post(
    "/matches/{match_id}/accept",
    summary="Accept a match",
    response_model=WrittenMatch,
    responses=REFUSALS(404, 409),
)
def accept(request: Request, match_id: str) -> Response:
    """Only a person may (422 for a machine)."""
    return act(request, "segment.match_accept", {"match_id": match_id})


@router.post(
    "/matches/{match_id}/reject",
    summary="Reject a match",
    response_model=WrittenMatch,
    responses=REFUSALS(404, 409),
)
def reject(request: Request, match_id: str) -> Response:
    """The proposal stays on record as rejected."""
    return act(request, "segment.match_reject", {"match_id": match_id})


@router.post(
    "/matches/{match_id}/withdraw",
    summary="Withdraw a proposed match",
    response_model=WrittenMatch,
    responses=REFUSALS(404, 409),
)
def withdraw(request: Request, match_id: str) -> Response:
    """Take a proposal back."""
    return act(request, "segment.match_withdraw", {"match_id": match_id})


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


@router.post("/carry", summary="Carry across a match", response_model=Carried, responses=REFUSALS(404, 409))
def carry(request: Request, body: Carry) -> Response:
    """Copies; the originals are never moved. What cannot be carried is listed with why."""
    return act(request, "segment.carry", body)


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
