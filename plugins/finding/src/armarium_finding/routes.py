"""The routes by which a person corrects a proposal (one action, so one name in the log), and the contact sheet."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query, Request, Response

from armarium.api import REFUSALS, CurrentLibrary, Router, act, written
from armarium_finding import sheet
from armarium_finding.queries import read_proposal
from armarium_finding.schemas import Adjusted, JoinBody, MovePageBody, SplitBody

router = Router(tags=["finding"])

_ROUTE: dict[str, Any] = {"response_model": written(Adjusted), "responses": REFUSALS(404, 409)}


def _adjust(
    request: Request, proposal_id: str, op: str, body: SplitBody | JoinBody | MovePageBody
) -> Response:
    change = {"op": op, **body.model_dump()}
    return act(request, "finddocs.adjust", {"proposal_id": proposal_id, "change": change})


@router.post(
    "/api/find-documents/proposals/{proposal_id}/split",
    summary="Split a document of a proposal (finddocs.adjust)",
    **_ROUTE,
)
def split_found_document(request: Request, _: CurrentLibrary, proposal_id: str, body: SplitBody) -> Response:
    """Split it at the page that starts the second document."""
    return _adjust(request, proposal_id, "split", body)


@router.post(
    "/api/find-documents/proposals/{proposal_id}/join",
    summary="Join a document of a proposal to the next one (finddocs.adjust)",
    **_ROUTE,
)
def join_found_documents(request: Request, _: CurrentLibrary, proposal_id: str, body: JoinBody) -> Response:
    """Join the two; the last document has no next one."""
    return _adjust(request, proposal_id, "join", body)


@router.post(
    "/api/find-documents/proposals/{proposal_id}/move-page",
    summary="Move a page of a proposal to the adjacent document (finddocs.adjust)",
    **_ROUTE,
)
def move_found_page(request: Request, _: CurrentLibrary, proposal_id: str, body: MovePageBody) -> Response:
    """Move the first page to the previous document, or the last to the next one."""
    return _adjust(request, proposal_id, "move-page", body)


@router.get(
    "/api/find-documents/proposals/{proposal_id}/sheet",
    response_class=Response,
    responses={**REFUSALS(404, 409), 200: {"content": {"image/png": {}}}},
    summary="A contact sheet of a proposal: documents, pages, reasons",
)
def proposal_sheet(
    library: CurrentLibrary,
    proposal_id: str,
    first: Annotated[
        int, Query(ge=0, le=1_000_000, description="The document with which the sheet begins")
    ] = 0,
) -> Response:
    """Return a PNG file; the header X-Service-Next names the document with which the next sheet begins, if
    there is one.
    """
    with library.db.read() as conn:
        proposal = read_proposal(conn, proposal_id)
    documents, following = sheet.documents_from(proposal, first)
    headers = {} if following is None else {"X-Service-Next": str(following)}
    return Response(sheet.draw_sheet(library, proposal, documents), media_type="image/png", headers=headers)
