"""The dataset query over HTTP: a read, although it uses POST."""

from __future__ import annotations

from fastapi import APIRouter, Response

from armarium.api import REFUSALS, CurrentLibrary, json_response
from armarium_documents.queries.dataset.answer import dataset
from armarium_documents.schemas.dataset import Dataset, DatasetQuery

router = APIRouter(tags=["documents"])


@router.post(
    "/api/documents/dataset/query",
    summary="A folder's documents as a table: filtered, sorted, binned, counted",
    response_model=Dataset,
    responses=REFUSALS(400, 401, 403, 404, 409, 422),
)
def query_dataset(library: CurrentLibrary, body: DatasetQuery) -> Response:
    return json_response(dataset(library, body))
