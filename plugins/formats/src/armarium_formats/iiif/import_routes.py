"""Importing manifests of others over HTTP: from a file, from an address, and the pictures of their canvases."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, File, Form, Request, Response, UploadFile

from armarium.api import REFUSALS, act, written
from armarium_formats.iiif.errors import ManifestTooLarge
from armarium_formats.iiif.manifest_reader import MAX_BYTES
from armarium_formats.iiif.schemas import ManifestImported

router = APIRouter(tags=["iiif"])


@router.post(
    "/api/iiif/manifests",
    summary="Import a IIIF manifest by reference: a folder with a page for each canvas; nothing is fetched",
    response_model=written(ManifestImported),
    responses=REFUSALS(404, 409),
)
def import_manifest(
    request: Request,
    file: Annotated[UploadFile, File(description="The manifest, Presentation 2 or 3")],
    parent_id: Annotated[str | None, Form(max_length=100)] = None,
    name: Annotated[str | None, Form(min_length=1, max_length=500)] = None,
) -> Response:
    filename = (file.filename or "manifest.json")[:500]
    data = file.file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ManifestTooLarge(filename, MAX_BYTES)
    return act(
        request,
        "iiif.import",
        {"file": data, "filename": filename, "parent_id": parent_id or None, "name": name or None},
    )
