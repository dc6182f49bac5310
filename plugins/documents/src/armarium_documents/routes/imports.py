"""Start an import over HTTP; the job is followed at /api/activity/jobs."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from armarium.api import REFUSALS, CurrentLibrary, act
from armarium_documents.schemas.files import ImportParams, ImportWritten

router = APIRouter(tags=["documents"])


@router.post(
    "/api/documents/import",
    summary="Copy a folder or files of this machine into the project, as a background job",
    response_model=ImportWritten,
    responses=REFUSALS(400, 401, 403, 404, 409, 422),
)
def import_documents(request: Request, library: CurrentLibrary, body: ImportParams) -> Response:
    return act(request, "document.import", body)
