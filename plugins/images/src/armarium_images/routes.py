"""The HTTP of images: cut, take back, and how a batch stands."""

from __future__ import annotations

from fastapi import APIRouter, Response

from armarium.api import REFUSALS, CurrentLibrary, json_response, raw_of
from armarium_images import schemas
from armarium_images.queries import batch_answer

router = APIRouter(prefix="/api/images", tags=["images"])
WRITES = REFUSALS(400, 401, 403, 404, 409, 422)


@router.get(
    "/batch-apply/{batch_id}",
    summary="How a batch stands, picture by picture",
    response_model=schemas.BatchAnswer,
    responses=REFUSALS(400, 401, 403, 404, 409),
)
def read_batch(library: CurrentLibrary, batch_id: str) -> Response:
    with library.db.read() as conn:
        raw = raw_of(conn)
        return json_response(batch_answer(raw, batch_id))
