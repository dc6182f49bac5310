"""The conversion of older results over HTTP (B 4.6)."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from armarium.api import REFUSALS, CurrentLibrary, act, json_response
from armarium_formats.queries import conversion
from armarium_formats.schemas.conversion import ConversionStatus, SeenAnswer

router = APIRouter(tags=["formats"])


@router.get(
    "/api/conversion/status",
    summary="What the conversion of older results has done, is doing and has left",
    response_model=ConversionStatus,
    responses=REFUSALS(),
)
def conversion_status(library: CurrentLibrary) -> Response:
    with library.db.read() as conn:
        return json_response(conversion.status(conn))


@router.post(
    "/api/conversion/{run_id}/seen",
    summary="A person has seen the report of a conversion",
    response_model=SeenAnswer,
    responses=REFUSALS(404, 409),
)
def conversion_seen(request: Request, library: CurrentLibrary, run_id: str) -> Response:
    return act(request, "conversion.seen", {"run_id": run_id})
