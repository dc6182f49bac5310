"""Import of several files at once over HTTP."""

from __future__ import annotations

from typing import Any, cast, get_args

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from armarium.api import REFUSALS, CurrentLibrary, Invalid, act, takes_upload, written
from armarium_formats.batches.disk import scratch
from armarium_formats.placing import Beyond
from armarium_formats.receiving import receive
from armarium_formats.schemas.batches import (
    MAX_FILES,
    IngestBatch,
    Ingested,
    SentFile,
)

router = APIRouter(tags=["formats"])

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
