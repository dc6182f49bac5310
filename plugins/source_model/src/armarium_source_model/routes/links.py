"""Routes of links (B 4.4)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from armarium.api import REFUSALS, CurrentEngine, CurrentLibrary, json_response
from armarium_source_model.queries.links import link_types, links_of, naming, require_end
from armarium_source_model.schemas.links import (
    LinksOf,
    LinkTypes,
    Naming,
)

router = APIRouter(prefix="/api/links", tags=["links"])


@router.get("/types", summary="The link vocabulary", response_model=LinkTypes, responses=REFUSALS())
def list_types(library: CurrentLibrary) -> Response:
    """Every type with its label from either end, and the aliases."""
    return json_response(link_types())


@router.get("/naming", summary="What names a place", response_model=Naming, responses=REFUSALS())
def list_naming(
    library: CurrentLibrary,
    uri: Annotated[str | None, Query(description="the place; left out: every place", max_length=2000)] = None,
) -> Response:
    """Every segment that names a place same_as a URI, directly or by an entity."""
    with library.db.read() as conn:
        return json_response(naming(conn, uri))


@router.get(
    "/of/{end_id:path}", summary="The links of a thing", response_model=LinksOf, responses=REFUSALS(404)
)
def list_links(
    engine: CurrentEngine, library: CurrentLibrary, end_id: str, include_deleted: bool = False
) -> Response:
    """Every link that touches it, from either side; end_id may be a percent-encoded URI."""
    with library.db.read() as conn:
        found = links_of(conn, end_id, include_deleted=include_deleted)
        if not found:
            require_end(engine, conn, end_id)
    return json_response({"end_id": end_id, "links": found})
