"""Prototypes, effective attributes and proposed kinds over HTTP (A 4.2)."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from armarium.api import REFUSALS, CurrentLibrary, act, json_response
from armarium_documents.queries import classifications as queries
from armarium_documents.schemas.classifications import (
    Classification,
    ClassificationCreateParams,
    ClassificationDeletedWritten,
    ClassificationList,
    ClassificationUpdateBody,
    ClassificationWritten,
    EffectiveAttributes,
    KindWritten,
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
    with library.db.read_raw() as raw:
        items = queries.classifications(raw)
    return json_response({"items": items, "count": len(items)})


@router.post(
    "/api/classifications",
    summary="Declare a prototype",
    response_model=ClassificationWritten,
    responses=REFUSALS(400, 401, 403, 404, 409, 422),
)
def create_classification(
    request: Request, library: CurrentLibrary, body: ClassificationCreateParams
) -> Response:
    return act(request, "classification.create", body)


@router.get(
    "/api/classifications/resolved/{key}",
    summary="A prototype with all it inherits",
    response_model=Resolved,
    responses=REFUSALS(400, 401, 403, 404, 409, 422),
)
def resolved_classification(library: CurrentLibrary, key: str) -> Response:
    with library.db.read_raw() as raw:
        return json_response(queries.resolved(raw, key))


@router.get(
    "/api/classifications/{key}",
    summary="One prototype as it is stored",
    response_model=Classification,
    responses=REFUSALS(400, 401, 403, 404, 409),
)
def read_classification(library: CurrentLibrary, key: str) -> Response:
    with library.db.read_raw() as raw:
        return json_response(queries.require(raw, key))


@router.patch(
    "/api/classifications/{key}",
    summary="Change a prototype",
    response_model=ClassificationWritten,
    responses=REFUSALS(400, 401, 403, 404, 409, 422),
)
def update_classification(
    request: Request, library: CurrentLibrary, key: str, body: ClassificationUpdateBody
) -> Response:
    return act(request, "classification.update", {"key": key, **body.model_dump(exclude_unset=True)})


@router.delete(
    "/api/classifications/{key}",
    summary="Remove a prototype that nothing uses",
    response_model=ClassificationDeletedWritten,
    responses=REFUSALS(400, 401, 403, 404, 409, 422),
)
def delete_classification(request: Request, library: CurrentLibrary, key: str) -> Response:
    return act(request, "classification.delete", {"key": key})


@router.get(
    "/api/documents/{doc_id}/effective-attributes",
    summary="A document's attributes over its prototype's",
    response_model=EffectiveAttributes,
    responses=REFUSALS(400, 401, 403, 404, 409, 422),
)
def effective_attributes(library: CurrentLibrary, doc_id: str) -> Response:
    with library.db.read_raw() as raw:
        return json_response(queries.effective_attributes(raw, doc_id))


@router.post(
    "/api/documents/{doc_id}/proposed-kind/accept",
    summary="Accept the kind a run proposed",
    response_model=KindWritten,
    responses=REFUSALS(400, 401, 403, 404, 409, 422),
)
def accept_kind(request: Request, library: CurrentLibrary, doc_id: str) -> Response:
    return act(request, "document.accept_kind", {"document_id": doc_id})


@router.post(
    "/api/documents/{doc_id}/proposed-kind/reject",
    summary="Reject the kind a run proposed",
    response_model=KindWritten,
    responses=REFUSALS(400, 401, 403, 404, 409, 422),
)
def reject_kind(request: Request, library: CurrentLibrary, doc_id: str) -> Response:
    return act(request, "document.reject_kind", {"document_id": doc_id})
