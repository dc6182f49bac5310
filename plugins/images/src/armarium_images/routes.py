"""The HTTP of images: cut, take back, and how a batch stands."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from armarium.api import REFUSALS, CurrentLibrary, act, json_response
from armarium_images import schemas
from armarium_images.queries import batch_answer

router = APIRouter(prefix="/api/images", tags=["images"])
WRITES = REFUSALS(400, 401, 403, 404, 409, 422)


@router.post(
    "/crops/batch",
    summary="Crop many pictures alike",
    response_model=schemas.ImageBatchCropResponse,
    responses=WRITES,
)
def crop_many(
    request: Request,
    library: CurrentLibrary,
    body: schemas.BatchCropParams,
) -> Response:
    return act(request, "image.crop_batch", body)


@router.post(
    "/batch-apply",
    summary="Crop or split every picture of a folder, as a background job",
    response_model=schemas.BatchResponse,
    responses=WRITES,
)
def apply_batch(request: Request, library: CurrentLibrary, body: schemas.BatchApplyParams) -> Response:
    return act(request, "image.batch_apply", body)


@router.get(
    "/batch-apply/{batch_id}",
    summary="How a batch stands, picture by picture",
    response_model=schemas.BatchAnswer,
    responses=REFUSALS(400, 401, 403, 404, 409),
)
def read_batch(library: CurrentLibrary, batch_id: str) -> Response:
    with library.db.read_raw() as raw:
        return json_response(batch_answer(raw, batch_id))


@router.post(
    "/batch-apply/{batch_id}/undo",
    summary="Take back what a batch cut",
    response_model=schemas.BatchImageUndoResponse,
    responses=WRITES,
)
def undo_batch(request: Request, library: CurrentLibrary, batch_id: str) -> Response:
    return act(request, "image.batch_undo", {"batch_id": batch_id})


@router.post(
    "/{document_id}/crop",
    summary="Crop a picture into a derived child",
    response_model=schemas.ImageCropResponse,
    responses=WRITES,
)
def crop(
    request: Request,
    library: CurrentLibrary,
    document_id: str,
    body: schemas.CropBody,
) -> Response:
    return act(request, "image.crop", {"document_id": document_id, **body.model_dump()})


@router.post(
    "/{document_id}/uncrop",
    summary="Take crops back",
    response_model=schemas.ImageCropResponse,
    responses=WRITES,
)
def uncrop(request: Request, library: CurrentLibrary, document_id: str) -> Response:
    return act(request, "image.uncrop", {"document_id": document_id})


@router.post(
    "/{document_id}/split",
    summary="Split a picture into parts",
    response_model=schemas.ImageSplitResponse,
    responses=WRITES,
)
def split(
    request: Request,
    library: CurrentLibrary,
    document_id: str,
    body: schemas.SplitBody,
) -> Response:
    return act(request, "image.split", {"document_id": document_id, **body.model_dump()})


@router.post(
    "/{document_id}/unsplit",
    summary="Take the parts of a split back",
    response_model=schemas.ImageUnsplitResponse,
    responses=WRITES,
)
def unsplit(request: Request, library: CurrentLibrary, document_id: str) -> Response:
    return act(request, "image.unsplit", {"document_id": document_id})
