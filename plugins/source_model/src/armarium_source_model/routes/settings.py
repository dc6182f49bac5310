"""Routes of source settings (B 4.3)."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from armarium.api import REFUSALS, CurrentLibrary, Invalid, act, json_response, written
from armarium_source_model.errors import refuse_provisional
from armarium_source_model.queries.settings import resolve_settings
from armarium_source_model.schemas.settings import ResolvedSettings, SettingPut

router = APIRouter(prefix="/api/source-settings", tags=["source settings"])


@router.get(
    "/resolve",
    summary="What one selection is written in",
    response_model=ResolvedSettings,
    responses=REFUSALS(404),
)
def resolve(
    library: CurrentLibrary, segment_id: str | None = None, document_id: str | None = None
) -> Response:
    """Language, script, direction and encoding, each with the rung that answered. One selection, not a list."""
    if (segment_id is None) == (document_id is None):
        raise Invalid("Name a segment_id, or a document_id for the page: exactly one.", code="one_selection")
    refuse_provisional(segment_id)
    with library.db.read() as conn:
        found = resolve_settings(library, conn, document_id=document_id, segment_id=segment_id)
    return json_response(found)


@router.put(
    "",
    summary="State a fact, or clear it",
    response_model=written(ResolvedSettings),
    responses=REFUSALS(404, 409),
)
def put(request: Request, body: SettingPut) -> Response:
    """An empty value clears. Facts of a segment belong to the segment's own update."""
    if not body.value:
        return act(request, "source_setting.clear", body.model_dump(exclude={"value"}))
    return act(request, "source_setting.set", body)
