"""Edits of an artifact's boxes over HTTP: the body is one of four kinds of edit."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from armarium.api import REFUSALS, CurrentLibrary, act, written
from armarium_documents.schemas.artifacts import ArtifactEdited, RegionEditBody

router = APIRouter(tags=["documents"])


@router.put(
    "/api/artifacts/{artifact_id}/regions",
    summary="Move, delete, add or combine boxes of an artifact",
    response_model=written(ArtifactEdited),
    responses=REFUSALS(400, 401, 403, 404, 409, 422),
)
def edit_regions(
    request: Request, library: CurrentLibrary, artifact_id: str, body: RegionEditBody
) -> Response:
    return act(request, "artifact.edit_regions", {"artifact_id": artifact_id, "edit": body.root.model_dump()})
