"""Artifacts over HTTP: list, read, point at their words, edit their boxes (A 4.9)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from armarium.api import REFUSALS, CurrentLibrary, act, json_response, raw_of, written
from armarium_documents.queries import files as queries
from armarium_documents.queries.regions import region
from armarium_documents.schemas.artifacts import ArtifactEdited, ArtifactRegion, RegionEditBody
from armarium_documents.schemas.files import Artifact, ArtifactPage

router = APIRouter(tags=["documents"])


@router.get(
    "/api/documents/{doc_id}/artifacts",
    summary="What steps have made of a document, by type",
    response_model=ArtifactPage,
    responses=REFUSALS(400, 401, 403, 404, 409, 422),
)
def list_artifacts(
    library: CurrentLibrary,
    doc_id: str,
    artifact_type: Annotated[str | None, Query(max_length=100)] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    offset: Annotated[int, Query(ge=0, le=2**62)] = 0,
) -> Response:
    with library.db.read() as conn:
        raw = raw_of(conn)
        return json_response(queries.artifact_page(raw, doc_id, artifact_type, limit=limit, offset=offset))


@router.get(
    "/api/artifacts/{artifact_id}",
    summary="One artifact with its geometry",
    response_model=Artifact,
    responses=REFUSALS(400, 401, 403, 404, 409),
)
def read_artifact(library: CurrentLibrary, artifact_id: str) -> Response:
    with library.db.read() as conn:
        raw = raw_of(conn)
        return json_response(queries.artifact(raw, artifact_id))


@router.get(
    "/api/artifacts/{artifact_id}/region",
    summary="Where on the page an artifact's words stand",
    response_model=ArtifactRegion,
    responses=REFUSALS(400, 401, 403, 404, 409, 422),
)
def artifact_region(
    library: CurrentLibrary,
    artifact_id: str,
    char_start: Annotated[int | None, Query(ge=0, le=2**62)] = None,
    char_end: Annotated[int | None, Query(ge=0, le=2**62)] = None,
    line: Annotated[int | None, Query(ge=0, le=2**62)] = None,
) -> Response:
    with library.db.read() as conn:
        raw = raw_of(conn)
        return json_response(region(raw, artifact_id, char_start=char_start, char_end=char_end, line=line))


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
