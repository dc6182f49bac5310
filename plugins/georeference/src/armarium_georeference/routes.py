"""The files of georeferencing: the map of a pass as HTML, and its control points as a IIIF annotation."""

from __future__ import annotations

from fastapi import Request, Response
from sqlalchemy import select

from armarium.api import REFUSALS, CurrentLibrary, Library, Router, json_response, open_image
from armarium_documents.api import document, page_image, require_live
from armarium_georeference.annotations import write_annotation
from armarium_georeference.errors import no_map, no_picture
from armarium_georeference.mapsheet import LONGEST, map_page
from armarium_georeference.onground import outlines_of
from armarium_georeference.placing import mask_of
from armarium_georeference.points import passes_of
from armarium_georeference.records import GeoreferenceAnnotation
from armarium_georeference.transforms import require_ready, transform_of
from armarium_source_model.api import counting_readings, passes, reading_rule

router = Router(prefix="/api/georeference", tags=["georeference"])

_CLOSED = (
    "default-src 'none'; img-src data:; font-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "sandbox allow-scripts"
)
"""The page loads nothing, and runs isolated from the engine that served it."""


@router.get(
    "/passes/{pass_id}/annotation",
    summary="The control points of a pass as a IIIF georeference annotation",
    response_model=GeoreferenceAnnotation,
    responses=REFUSALS(404, 409),
)
def write_pass_annotation(request: Request, library: CurrentLibrary, pass_id: str) -> Response:
    """Those that count, in the form Allmaps reads; 409 for a page without a picture of known size."""
    with library.db.read() as conn:
        transform = transform_of(conn, pass_id)
        node = document(conn, transform.document_id)
        mask = mask_of(conn, pass_id)
    if transform.size is None:
        raise no_picture(str(node["name"]))
    base = str(request.base_url).rstrip("/")
    canvas = (node.get("metadata") or {}).get(
        "iiif_canvas_id"
    ) or f"{base}/api/iiif/canvas/{transform.document_id}"
    points = [(point["x"], point["y"], point["lon"], point["lat"]) for point in transform.counting]
    return json_response(
        write_annotation({"id": canvas, "type": "Canvas"}, transform.size, points, transform.type, mask)
    )


@router.get(
    "/passes/{pass_id}/map",
    summary="A pass on the ground, as a page that needs no network",
    response_class=Response,
    responses={
        **REFUSALS(404, 409),
        200: {"content": {"text/html": {}}, "description": "One HTML file with everything it shows."},
    },
)
def read_map(library: CurrentLibrary, pass_id: str) -> Response:
    """The picture laid on the ground, coastlines, segments, and each residual as an arrow."""
    return _map(library, pass_id)


@router.get(
    "/documents/{doc_id}/map",
    summary="A page on the ground, by its newest transformation",
    response_class=Response,
    responses={
        **REFUSALS(404, 409),
        200: {"content": {"text/html": {}}, "description": "One HTML file with everything it shows."},
    },
)
def read_page_map(library: CurrentLibrary, doc_id: str) -> Response:
    """Like the map of a pass; 409 in words if none of the page's passes has a usable transformation."""
    with library.db.read() as conn:
        name = require_live(conn, doc_id).name
        tried = [transform_of(conn, pass_id) for pass_id, _ in reversed(passes_of(conn, doc_id))]
    ready = next((transform for transform in tried if transform.fit is not None), None)
    if ready is None:
        raise no_map(name, next((transform.problem for transform in tried if transform.problem), None))
    return _map(library, ready.pass_id)


def _map(library: Library, pass_id: str) -> Response:
    with library.db.read() as conn:
        transform = transform_of(conn, pass_id)
        require_live(conn, transform.document_id)
        require_ready(transform)
        outlines = outlines_of(conn, pass_id)
        texts = counting_readings(conn, pass_id, rule=reading_rule(conn))
        picture = page_image(library, conn, transform.document_id)
        name = conn.execute(select(passes.c.name).where(passes.c.id == pass_id)).scalar_one()
        node = document(conn, transform.document_id)
    with open_image(picture.path, shrink_to=(2 * LONGEST, 2 * LONGEST)) as image:
        image.load()
        page = map_page(transform, f"{node['name']}: {name}", image, outlines, texts)
    return Response(page, media_type="text/html", headers={"Content-Security-Policy": _CLOSED})
