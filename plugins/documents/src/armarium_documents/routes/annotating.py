"""Annotations over HTTP, and as W3C Web Annotations."""

from __future__ import annotations

from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Query, Response
from starlette.responses import JSONResponse

from armarium.api import REFUSALS, CurrentEngine, CurrentLibrary, json_response, paged
from armarium_documents.hookspecs import armarium_documents_earlier_segments
from armarium_documents.queries import annotations as queries
from armarium_documents.schemas.annotations import Annotation

router = APIRouter(tags=["documents"])


@router.get(
    "/api/annotations",
    summary="Annotations of a document or a segment, oldest first",
    response_model=paged(Annotation),
    responses=REFUSALS(400, 401, 403, 404, 409, 422),
)
def list_annotations(
    engine: CurrentEngine,
    library: CurrentLibrary,
    document_id: Annotated[str | None, Query(max_length=64)] = None,
    segment_id: Annotated[str | None, Query(max_length=64)] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    offset: Annotated[int, Query(ge=0, le=2**62)] = 0,
) -> Response:
    """List annotations; for a segment also those made on segments that it has since absorbed."""
    with library.db.read() as conn:
        ids = None if segment_id is None else [segment_id]
        if ids and segment_id:
            for earlier in engine.points.ask(armarium_documents_earlier_segments, conn, segment_id):
                ids += earlier
        found = queries.annotation_page(
            conn, document_id=document_id, segment_ids=ids, limit=limit, offset=offset
        )
    return json_response(found)


class JsonLd(JSONResponse):
    """JSON-LD of the Web Annotation vocabulary."""

    media_type = "application/ld+json"

    def render(self, content: Any) -> bytes:
        return orjson.dumps(content)


@router.get(
    "/api/documents/{doc_id}/annotations.jsonld",
    summary="A document's annotations as a W3C AnnotationPage",
    response_class=JsonLd,
    response_model=dict[str, Any],
    responses=REFUSALS(400, 401, 403, 404, 409),
)
def web_annotations(library: CurrentLibrary, doc_id: str) -> Response:
    with library.db.read() as conn:
        page = queries.web_annotations(conn, doc_id)
    return JsonLd(page, media_type='application/ld+json; profile="http://www.w3.org/ns/anno.jsonld"')
