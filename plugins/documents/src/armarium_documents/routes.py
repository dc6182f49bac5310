"""The HTTP routes of documents that are neither one query nor one action: files, tables, Web Annotations, the most frequent
read.
"""

from __future__ import annotations

from typing import Annotated, Any

import orjson
from fastapi import Query, Request, Response
from fastapi.responses import FileResponse
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse

from armarium.api import (
    REFUSALS,
    STORED_FILE,
    AskedAsOf,
    CurrentEngine,
    CurrentLibrary,
    CurrentPrincipal,
    Library,
    Router,
    act,
    json_response,
    paged,
    raw_of,
    reading_past,
    stored_file,
    withheld_nodes,
    written,
)
from armarium_documents.actions.transfer.copying import plan
from armarium_documents.errors import unknown_document
from armarium_documents.hookspecs import armarium_documents_earlier_segments
from armarium_documents.pictures import draw_thumbnail
from armarium_documents.queries import annotations as marks
from armarium_documents.queries import files
from armarium_documents.queries.dataset.answer import dataset, matching_ids
from armarium_documents.queries.documents import document_bytes
from armarium_documents.queries.metadata.planning import attributes_of, plan_import
from armarium_documents.queries.metadata.table import metadata_table
from armarium_documents.schemas.annotations import Annotation
from armarium_documents.schemas.artifacts import ArtifactEdited, RegionEditBody
from armarium_documents.schemas.dataset import Dataset, DatasetQuery
from armarium_documents.schemas.documents import DeleteResult, Document
from armarium_documents.schemas.fields import Id
from armarium_documents.schemas.metadata import MetadataParams, MetadataPlan
from armarium_documents.schemas.transfer import TransferRequest, TransferResult
from armarium_documents.sheets import TableFormat

router = Router(tags=["documents"])


@router.get(
    "/api/documents/{doc_id}",
    summary="One document",
    response_model=Document,
    responses=REFUSALS(400, 401, 403, 404, 409),
)
async def read_document(library: CurrentLibrary, doc_id: str, as_of: AskedAsOf = None) -> Response:
    if as_of is not None:
        body = await run_in_threadpool(_read_past, library, doc_id, as_of)
    else:
        # The hot path: one statement on an open connection, well under a millisecond, so it stays on the event loop.
        with library.db.read() as conn:
            body = document_bytes(raw_of(conn), doc_id)
    if body is None:
        raise unknown_document(doc_id)
    return Response(body, media_type="application/json")


def _read_past(library: Library, doc_id: str, as_of: str) -> bytes | None:
    with reading_past(library, as_of, [doc_id]), library.db.read() as conn:
        return document_bytes(raw_of(conn), doc_id)


@router.delete(
    "/api/documents/{doc_id}",
    summary="Send a document to the Trash",
    response_model=written(DeleteResult),
    responses=REFUSALS(400, 401, 403, 404, 409),
)
def delete_document(request: Request, library: CurrentLibrary, doc_id: str) -> Response:
    return act(request, "document.delete", {"ids": [doc_id]})


@router.get(
    "/api/documents/{document_id}/renditions/{rendition_id}/content",
    summary="The bytes of a rendition",
    response_class=FileResponse,
    responses={
        200: {"content": {"image/*": {}, "application/pdf": {}, "audio/*": {}}, "description": "The bytes"},
        **STORED_FILE,
        **REFUSALS(400, 401, 403, 404, 409),
    },
)
def rendition_content(
    request: Request, library: CurrentLibrary, document_id: str, rendition_id: str
) -> Response:
    file = files.rendition_file(library, document_id, rendition_id)
    return stored_file(request, file.path, file.mime_type, file.checksum, name=file.name)


@router.get(
    "/api/documents/{doc_id}/thumbnail",
    summary="A document's thumbnail, a JPEG of at most 512 pixels a side",
    response_class=FileResponse,
    responses={
        200: {"content": {"image/jpeg": {}}, "description": "The thumbnail"},
        **STORED_FILE,
        **REFUSALS(400, 401, 403, 404, 409),
    },
)
def thumbnail(request: Request, library: CurrentLibrary, engine: CurrentEngine, doc_id: str) -> Response:
    path, checksum = files.thumbnail_file(library, doc_id)
    if not path.is_file():
        draw_thumbnail(library, checksum, doc_id, engine.settings.max_image_pixels)
    return stored_file(request, path, "image/jpeg", f"{checksum}-{files.THUMBNAIL_SIDE}")


@router.put(
    "/api/artifacts/{artifact_id}/regions",
    summary="Move, delete, add or combine boxes of an artifact",
    response_model=written(ArtifactEdited),
    responses=REFUSALS(400, 401, 403, 404, 409, 422),
)
def edit_regions(
    request: Request, library: CurrentLibrary, artifact_id: str, body: RegionEditBody
) -> Response:
    return act(request, "artifact.edit_regions", {"artifact_id": artifact_id, "edit": body.root.model_dump()})


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
        page = marks.annotation_page(
            conn, document_id=document_id, segment_ids=ids, limit=limit, offset=offset
        )
    return json_response(page)


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
        page = marks.web_annotations(conn, doc_id)
    return JsonLd(page, media_type='application/ld+json; profile="http://www.w3.org/ns/anno.jsonld"')


_MEDIA = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
_FILE: dict[int | str, dict[str, Any]] = {
    200: {"content": {media: {} for media in _MEDIA.values()}, "description": "The table, a file"}
}
Format = Annotated[TableFormat, Query(description="csv (UTF-8, as Excel opens it too) or xlsx")]


def _file(
    library: CurrentLibrary, format_name: TableFormat, parent_id: str | None, ids: list[str] | None = None
) -> Response:
    with library.db.read() as conn:
        data = b"".join(metadata_table(conn, format_name, parent_id, ids))
    headers = {
        "Content-Disposition": f'attachment; filename="documents.{format_name}"',
        "Cache-Control": "no-store",
    }
    return Response(data, media_type=_MEDIA[format_name], headers=headers)


@router.get(
    "/api/documents/metadata",
    summary="Descriptions of a folder's documents as a table to be edited and imported again",
    response_class=Response,
    responses={**_FILE, **REFUSALS(404, 409, 422)},
)
def export_metadata(
    library: CurrentLibrary,
    parent_id: Annotated[Id | None, Query(description="Left out: the project")] = None,
    format: Format = "csv",
) -> Response:
    """A row for each document, folder and page that the caller may see, in the order of the tree; a column for each attribute and
    for each own field that is stated. What looks like a formula is written so that no spreadsheet computes it.
    """
    return _file(library, format, parent_id)


@router.post(
    "/api/documents/dataset/table",
    summary="What a dataset query finds, as a table",
    response_class=Response,
    responses={**_FILE, **REFUSALS(400, 404, 409, 422)},
)
def export_dataset(library: CurrentLibrary, body: DatasetQuery, format: Format = "csv") -> Response:
    """All rows in the order of the query, whatever its page; the columns are those of `GET /api/documents/metadata`."""
    return _file(library, format, None, matching_ids(library, body))


@router.post(
    "/api/documents/metadata/plan",
    summary="What an import of a table would change, and what of it cannot be taken",
    response_model=MetadataPlan,
    responses=REFUSALS(404, 409, 422),
)
def plan_metadata(
    library: CurrentLibrary, principal: CurrentPrincipal, body: MetadataParams
) -> dict[str, Any]:
    """Nothing is written. Documents that the caller may not see count as absent."""
    with library.db.read() as conn:
        lists, owner = attributes_of(conn), principal.may("owner")
        return plan_import(conn, body, hidden=withheld_nodes(conn), lists=lists, owner=owner).answer()


@router.post(
    "/api/documents/dataset/query",
    summary="A folder's documents as a table: filtered, sorted, binned, counted",
    response_model=Dataset,
    responses=REFUSALS(400, 401, 403, 404, 409, 422),
)
def query_dataset(library: CurrentLibrary, body: DatasetQuery) -> Response:
    return json_response(dataset(library, body))


@router.post(
    "/api/documents/transfer",
    summary="Transfer items from another open project: copy or move them; dry_run answers the plan",
    response_model=TransferResult,
    responses=REFUSALS(400, 401, 403, 404, 409, 500, 503),
)
def transfer_documents(
    request: Request,
    engine: CurrentEngine,
    library: CurrentLibrary,
    principal: CurrentPrincipal,
    body: TransferRequest,
) -> Response:
    if body.dry_run:
        return json_response(plan(engine, library, principal, body))
    return act(request, "document.transfer", body.model_dump(exclude={"dry_run"}))
