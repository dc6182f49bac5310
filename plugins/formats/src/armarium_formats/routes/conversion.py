"""The conversion of older results over HTTP (B 4.6)."""

from __future__ import annotations

from fastapi import APIRouter, Response

from armarium.api import REFUSALS, CurrentLibrary, json_response
from armarium_formats.queries import conversion
from armarium_formats.schemas.conversion import ConversionStatus

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
