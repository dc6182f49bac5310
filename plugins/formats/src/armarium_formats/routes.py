"""The HTTP routes of formats that are neither one query nor one action: files that are sent, checked, exported."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Annotated, Any, cast, get_args

from fastapi import File, Form, Query, Request, Response, UploadFile
from starlette.concurrency import run_in_threadpool
from starlette.responses import FileResponse

from armarium.api import (
    REFUSALS,
    STORED_FILE,
    AskedAsOf,
    CurrentEngine,
    CurrentLibrary,
    Invalid,
    Router,
    act,
    json_response,
    reading_past,
    stored_file,
    takes_upload,
    written,
)
from armarium_formats.batches.disk import scratch
from armarium_formats.inspecting import check_on_disk
from armarium_formats.opening import MAX_COMPANION_BYTES, MAX_FILE_BYTES
from armarium_formats.placing import Beyond
from armarium_formats.queries import exchange as queries
from armarium_formats.queries.mets import original_mets as original_of_mets
from armarium_formats.receiving import receive
from armarium_formats.schemas.batches import MAX_FILES, IngestBatch, Ingested, SentFile
from armarium_formats.schemas.exchange import CheckedFile, CheckFile, Exported, FormatList, Imported
from armarium_formats.schemas.verifying import VerifiedFile, VerifyFile
from armarium_formats.verifying import verify_on_disk

router = Router(tags=["formats"])


_BYTES: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/octet-stream": {}}, "description": "The bytes"},
    **STORED_FILE,
    **REFUSALS(404),
}


@router.get(
    "/api/formats",
    summary="The formats this build reads and writes",
    response_model=FormatList,
    responses=REFUSALS(),
)
def list_formats(engine: CurrentEngine) -> Response:
    return json_response(queries.list_formats(engine))


@router.post(
    "/api/formats/check",
    summary="What a file is, whether it is valid, and what each format would lose of it; nothing is stored",
    response_model=CheckedFile,
    responses=REFUSALS(),
)
def check_file(engine: CurrentEngine, body: CheckFile) -> Response:
    return json_response(check_on_disk(engine, body.path, asked=body.format))


@router.post(
    "/api/formats/verify",
    summary="Whether an exported file is what the project said at the step it names, and where not",
    response_model=VerifiedFile,
    responses=REFUSALS(404),
)
def verify_file(engine: CurrentEngine, library: CurrentLibrary, body: VerifyFile) -> Response:
    return json_response(verify_on_disk(engine, library, body))


@router.post(
    "/api/documents/{doc_id}/import",
    summary="Read a layout file into a page as a new pass",
    response_model=written(Imported),
    responses=REFUSALS(404, 409),
)
def import_file(
    request: Request,
    doc_id: str,
    file: Annotated[UploadFile, File(description="PAGE XML or another format that can be read here")],
    format: Annotated[str | None, Form(max_length=100)] = None,
    name: Annotated[str | None, Form(max_length=500)] = None,
    pages: Annotated[str | None, Form(max_length=200)] = None,
    companions: Annotated[
        list[UploadFile] | None, File(description="Files that belong to it, such as class names")
    ] = None,
    beyond: Annotated[
        str,
        Form(
            max_length=20,
            description="Shapes that extend beyond the page: clip (a shape entirely beyond it refuses the "
            "file), keep (such a shape is imported without a place of its own) or refuse",
        ),
    ] = "clip",
) -> Response:
    return act(
        request,
        "format.import",
        {
            "document_id": doc_id,
            "file": file.file.read(MAX_FILE_BYTES + 1),
            "filename": file.filename or "file",
            "format": format or None,
            "name": name or None,
            "pages": pages or None,
            "beyond": beyond or "clip",
            "companions": [
                {
                    "filename": companion.filename or "file",
                    "file": companion.file.read(MAX_COMPANION_BYTES + 1),
                }
                for companion in companions or []
            ],
        },
    )


@router.get(
    "/api/documents/{doc_id}/export/{format_name}",
    summary="A page as a file, with what the format cannot express",
    response_model=Exported,
    responses=REFUSALS(404, 409, 500),
)
def export(
    engine: CurrentEngine,
    library: CurrentLibrary,
    doc_id: str,
    format_name: str,
    pass_id: str | None = None,
    order_id: str | None = None,
    reading_kind: Annotated[str, Query(max_length=100)] = "transcription",
    as_of: AskedAsOf = None,
) -> Response:
    with reading_past(library, as_of, [doc_id]) if as_of is not None else nullcontext():
        return json_response(
            queries.export_page(
                engine,
                library,
                doc_id,
                format_name,
                pass_id=pass_id,
                order_id=order_id,
                reading_kind=reading_kind,
            )
        )


@router.get(
    "/api/segments/passes/{pass_id}/original",
    summary="The file an imported pass was read from, byte for byte",
    response_class=FileResponse,
    responses=_BYTES,
)
def original(request: Request, library: CurrentLibrary, pass_id: str) -> Response:
    return _send(request, queries.original_of(library, pass_id))


def _send(request: Request, file: queries.Original) -> Response:
    kind = "application/octet-stream"
    return stored_file(request, file.path, kind, file.checksum, name=file.filename, save=True)


@router.get(
    "/api/documents/{doc_id}/mets/{mets_id}/original",
    summary="A METS file with which pages were imported, byte for byte",
    response_class=FileResponse,
    responses=_BYTES,
)
def original_mets(request: Request, library: CurrentLibrary, doc_id: str, mets_id: str) -> Response:
    return _send(request, original_of_mets(library, doc_id, mets_id))


_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["files"],
                    "properties": {
                        "files": {
                            "type": "array",
                            "minItems": 1,
                            "maxItems": MAX_FILES,
                            "items": {"type": "string", "format": "binary"},
                            "description": "Pictures, PDFs, layout files, METS, ZIP archives of these",
                        },
                        "parent_id": {
                            "type": "string",
                            "description": "The folder to put them in; default: Sources",
                        },
                        "beyond": {
                            "type": "string",
                            "enum": ["clip", "keep", "refuse"],
                            "default": "clip",
                            "description": "What to do with shapes that extend beyond their page",
                        },
                    },
                }
            }
        },
    }
}
"""Written out, because the body is received file by file and not by the framework, which would hold all of them open."""


@router.post(
    "/api/documents/import-batch",
    summary="Import files that were dropped together, with layout files paired with their pictures",
    response_model=written(Ingested),
    responses=REFUSALS(404, 409),
    openapi_extra=_BODY,
)
@takes_upload
async def import_batch(request: Request, library: CurrentLibrary) -> Response:
    with scratch(library) as folder:
        received = await receive(request, folder, "files", max_files=MAX_FILES)
        if not received.files:
            raise Invalid("No file was sent; send each as the field `files`.", code="no_files")
        unknown = sorted(set(received.fields) - {"parent_id", "beyond"})
        if unknown:
            raise Invalid(
                f"There is no field {unknown[0][:80]!r}; the fields are files, parent_id and beyond.",
                code="invalid_request",
            )
        beyond = received.fields.get("beyond", "").strip() or "clip"
        if beyond not in get_args(Beyond):
            raise Invalid(
                f"beyond is {beyond[:80]!r}; it must be one of {', '.join(get_args(Beyond))}.",
                code="invalid_request",
            )
        params = IngestBatch(
            beyond=cast("Beyond", beyond),
            files=[SentFile.lying_at(name, path) for name, path in received.files],
            parent_id=received.fields.get("parent_id", "").strip()[:64] or None,
        )
        return await run_in_threadpool(act, request, "ingest.batch", params)
