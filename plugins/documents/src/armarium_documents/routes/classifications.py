"""Prototypes, effective attributes and proposed kinds over HTTP (A 4.2)."""

from __future__ import annotations

from fastapi import APIRouter, Response

from armarium.api import REFUSALS, CurrentLibrary, json_response, raw_of
from armarium_documents.queries import classifications as queries
from armarium_documents.schemas.classifications import (
    Classification,
    ClassificationList,
    EffectiveAttributes,
    Resolved,
)

router = APIRouter(tags=["documents"])


@router.get(
    "/api/classifications",
    summary="The prototypes of the project",
    response_model=ClassificationList,
    responses=REFUSALS(400, 401, 403, 404, 409),
)
def list_classifications(library: CurrentLibrary) -> Response:
    with library.db.read() as conn:
        raw = raw_of(conn)
        items = queries.classifications(raw)
    return json_response({"items": items, "count": len(items)})


@router.get(
    "/api/classifications/resolved/{key}",
    summary="A prototype with all it inherits",
    response_model=Resolved,
    responses=REFUSALS(400, 401, 403, 404, 409, 422),
)
def resolved_classification(library: CurrentLibrary, key: str) -> Response:
    with library.db.read() as conn:
        raw = raw_of(conn)
        return json_response(queries.resolved(raw, key))


@router.get(
    "/api/classifications/{key}",
    summary="One prototype as it is stored",
    response_model=Classification,
    responses=REFUSALS(400, 401, 403, 404, 409),
)
def read_classification(library: CurrentLibrary, key: str) -> Response:
    with library.db.read() as conn:
        raw = raw_of(conn)
        return json_response(queries.require(raw, key))


@router.get(
    "/api/documents/{doc_id}/effective-attributes",
    summary="A document's attributes over its prototype's",
    response_model=EffectiveAttributes,
    responses=REFUSALS(400, 401, 403, 404, 409, 422),
)
def effective_attributes(library: CurrentLibrary, doc_id: str) -> Response:
    with library.db.read() as conn:
        raw = raw_of(conn)
        return json_response(queries.effective_attributes(raw, doc_id))
