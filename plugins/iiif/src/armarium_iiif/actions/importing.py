"""The writes of IIIF: a manifest becomes a folder of referenced pages; pictures are fetched later on request."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import fields
from operator import attrgetter
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import select

from armarium.api import (
    ActionContext,
    Conflict,
    Egress,
    NotFound,
    Route,
    action,
    cancel_with_undo,
    new_id,
)
from armarium_documents.api import (
    add_rendition,
    documents,
    pages_under,
    renditions,
    replace_metadata,
    require_live,
    require_parent,
    sources_folder,
    title_of_work,
)
from armarium_formats.api import Format, PageModel, PageSegment, PageText, keep_models
from armarium_iiif.errors import NothingToFetch, already_imported, not_a_canvas
from armarium_iiif.manifest_reader import ReferencedCanvas, ReferencedManifest, read_manifest
from armarium_iiif.models import canvases, manifests
from armarium_iiif.queries.references import folder_of_manifest, references
from armarium_iiif.schemas import (
    AttachImage,
    FetchImages,
    FetchManifest,
    ImageAttached,
    ImportManifest,
    JobStarted,
    ManifestImported,
)
from armarium_source_model.api import corners_of

_BATCH = 500

PUBLISHED = tuple(field.name for field in fields(ReferencedCanvas) if field.name in canvases.c)
published = attrgetter(*PUBLISHED)
"""What is kept of a canvas: where its picture is."""


@action(
    "iiif.import",
    result=ManifestImported,
    summary="Import a IIIF manifest as a folder with a page for each canvas; nothing is fetched.",
    words="Imported a IIIF manifest as {|a folder}",
)
def import_manifest(ctx: ActionContext, p: ImportManifest) -> dict[str, Any]:
    """Import in one step: the folder, its pages, and the manifest byte for byte in the object store.

    Raises NotAManifest, ManifestTooLarge, TooManyCanvases, already_imported, NotFound for an unknown parent.
    """
    parent = sources_folder(ctx.conn) if p.parent_id is None else require_live(ctx.conn, p.parent_id)
    require_parent(ctx.conn, parent.id, "folder")
    data = p.file.encode() if isinstance(p.file, str) else p.file
    manifest = read_manifest(data, p.filename)
    digest = hashlib.sha256(data).hexdigest()
    existing_folder = folder_of_manifest(ctx.conn, parent.id, digest)
    if existing_folder is not None:
        raise already_imported(existing_folder[1], existing_folder[0])
    ctx.project.objects.put_bytes(data)
    address = p.url or manifest.manifest_id
    folder_id = new_id()
    folder_name = p.name or manifest.label or p.filename
    ids = [new_id() for _ in manifest.canvases]
    nodes: list[dict[str, Any]] = [
        {
            "id": folder_id,
            "parent_id": parent.id,
            "doc_type": "folder",
            "name": folder_name,
            "metadata": _source(address),
        },
        *(
            page_node(node_id, folder_id, number, canvas, address)
            for number, (node_id, canvas) in enumerate(zip(ids, manifest.canvases, strict=True), 1)
        ),
    ]
    for start in range(0, len(nodes), _BATCH):
        ctx.run("document.add_files", {"nodes": nodes[start : start + _BATCH]})
    _describe(ctx, folder_id, manifest)
    _keep(ctx, folder_id, ids, manifest, digest, p.url)
    transcribed = transcribe(ctx, ids, manifest, digest, p.filename)
    ctx.target(folder_id)
    return {
        "document_id": folder_id,
        "name": folder_name,
        "version": manifest.version,
        "canvases": len(ids),
        "passes": transcribed,
        "notes": manifest.notes,
    }


class IiifAnnotations(Format):
    """Annotations of a manifest; they are read with it, so this is not among the drivers."""

    name = "iiif-annotations"
    label = "Annotations"


def transcribe(
    ctx: ActionContext, ids: list[str], manifest: ReferencedManifest, digest: str, filename: str
) -> int:
    """Write the transcriptions that the manifest itself contains as passes of their pages; return how many."""
    pages = [
        (document_id, _as_page(canvas))
        for document_id, canvas in zip(ids, manifest.canvases, strict=True)
        if canvas.texts
    ]
    keep_models(ctx, pages, IiifAnnotations(), filename[:500], digest)
    return len(pages)


def _as_page(canvas: ReferencedCanvas) -> PageModel:
    """Return a canvas with its texts: a text of one line is a line; one of several is a region of them."""
    page = PageModel(canvas.width or 0, canvas.height or 0)
    for number, annotated in enumerate(canvas.texts, 1):
        points: list[tuple[float, float]] = []
        if annotated.box is not None and page.width:
            points = [*corners_of(annotated.box)]
        lines = [
            PageSegment(f"line-{number}-{place}", "line", texts=[PageText(text)], language=annotated.language)
            for place, text in enumerate(annotated.lines, 1)
        ]
        if len(lines) == 1:
            lines[0].points = points
            page.segments.append(lines[0])
        else:
            page.segments.append(PageSegment(f"text-{number}", "region", points=points, children=lines))
    return page


def _source(address: str | None) -> dict[str, Any]:
    return {"source_type": "iiif", **({"iiif_manifest": address} if address else {})}


def page_node(
    node_id: str, folder_id: str, number: int, canvas: ReferencedCanvas, address: str | None
) -> dict[str, Any]:
    metadata = _source(address)
    if canvas.canvas_id is not None:
        metadata["iiif_canvas_id"] = canvas.canvas_id
    if canvas.width is not None:
        metadata |= {"width": canvas.width, "height": canvas.height}
    return {
        "id": node_id,
        "parent_id": folder_id,
        "doc_type": "page",
        "file_type": "image",
        "name": canvas.label,
        "sequence": number,
        "page_label": canvas.label,
        "metadata": metadata,
    }


def _describe(ctx: ActionContext, folder_id: str, manifest: ReferencedManifest) -> None:
    changes: dict[str, Any] = {}
    if manifest.described:
        changes["source_metadata"] = dict(manifest.described)
    if manifest.direction is not None:
        changes["direction"] = manifest.direction
    if changes:
        ctx.run("document.update", {"document_id": folder_id, **changes})


def _keep(
    ctx: ActionContext,
    folder_id: str,
    ids: list[str],
    manifest: ReferencedManifest,
    digest: str,
    url: str | None,
) -> None:
    ctx.conn.execute(
        manifests.insert().values(
            document_id=folder_id,
            manifest_id=manifest.manifest_id,
            url=url,
            version=manifest.version,
            original=digest,
            canvas_count=len(ids),
            notes=manifest.notes,
            created_at=ctx.now,
        )
    )
    keep_canvases(ctx, zip(ids, manifest.canvases, strict=True))


def keep_canvases(ctx: ActionContext, pages: Iterable[tuple[str, ReferencedCanvas]]) -> None:
    """Keep of pages, by their ids, where the pictures of their canvases are."""
    rows = [(node_id, *published(canvas), ctx.now) for node_id, canvas in pages]
    ctx.bulk_insert(canvases, ("document_id", *PUBLISHED, "created_at"), rows)


@action(
    "iiif.fetch_manifest",
    result=JobStarted,
    summary="Fetch a IIIF manifest by its address and import it, as a background job.",
    route=Route("POST", "/api/iiif/manifests/fetch"),
    words="Started to fetch a IIIF manifest",
    # An address of this machine: if the job runs, the network gate refuses it and nothing is contacted.
    guards_targets=True,
    after_undo=cancel_with_undo,
)
def fetch_manifest(ctx: ActionContext, p: FetchManifest) -> dict[str, Any]:
    """Enqueue the job after checking the address. Forbidden and BadRequest of the network gate, NotFound."""
    Egress(local_only=ctx.engine.settings.local_only).check_url(p.url)
    parent = sources_folder(ctx.conn) if p.parent_id is None else require_live(ctx.conn, p.parent_id)
    require_parent(ctx.conn, parent.id, "folder")
    job_id = ctx.enqueue(
        "iiif-manifest",
        {"url": p.url, "parent_id": parent.id, "name": p.name},
        title=f"Import a IIIF manifest from {urlsplit(p.url).hostname}",
        subject={"kind": "document", "id": parent.id},
    )
    ctx.target(parent.id, job_id)
    return {"job_id": job_id, "state": "waiting", "set_id": job_id}


@action(
    "iiif.fetch_images",
    result=JobStarted,
    summary="Fetch the pictures of imported canvases, as a background job.",
    route=Route("POST", "/api/iiif/images/fetch"),
    words="Started to fetch the pictures of {document_ids|imported pages}",
    guards_targets=True,
    after_undo=cancel_with_undo,
)
def fetch_images(ctx: ActionContext, p: FetchImages) -> dict[str, Any]:
    """Enqueue the job for the canvases at and below the nodes named that lack their picture.

    Raises NotFound for an unknown document, NothingToFetch.
    """
    for document_id in p.document_ids:
        require_live(ctx.conn, document_id)
    pages = [
        reference
        for reference in references(ctx.conn, pages_under(ctx.conn, p.document_ids))
        if not reference.has_picture
    ]
    page_ids = [page.document_id for page in pages if page.addresses()]
    if not page_ids:
        raise NothingToFetch
    title = title_of_work(ctx.conn, "Fetch pictures", page_ids)
    job_id = ctx.enqueue("iiif-images", {"document_ids": page_ids}, title=title, total=len(page_ids))
    ctx.target(*p.document_ids[:100], job_id)
    return {"job_id": job_id, "state": "waiting", "set_id": job_id, "pages": len(page_ids)}


@action(
    "iiif.attach_image",
    result=ImageAttached,
    summary="Attach the fetched picture of a referenced canvas, which is already stored in the project.",
    words="Fetched the picture of {document_id|a page}",
)
def attach_image(ctx: ActionContext, p: AttachImage) -> dict[str, Any]:
    """Raises NotFound (document or object), not_a_canvas, Conflict if it has a picture, Forbidden."""
    node = require_live(ctx.conn, p.document_id)
    matches = references(ctx.conn, [node.id])
    if not matches:
        raise not_a_canvas(node.name)
    if ctx.conn.execute(select(renditions.c.id).where(renditions.c.document_id == node.id)).first():
        raise Conflict(f"{node.name} already has its picture.", code="has_picture")
    if not ctx.project.objects.has(p.checksum):
        raise NotFound(
            f"The file {p.checksum[:12]}… is not among the project's files. Store it first.",
            code="object_missing",
        )
    rendition_id = add_rendition(
        ctx,
        node.id,
        checksum=p.checksum,
        mime_type=p.mime_type,
        role="archival-original",
        pixel_width=p.pixel_width,
        pixel_height=p.pixel_height,
        size_bytes=p.size_bytes,
        made_by="iiif",
        params={"exif_orientation": p.exif_orientation} if p.exif_orientation != 1 else {},
    )
    row = ctx.conn.execute(select(documents.c.metadata).where(documents.c.id == node.id)).scalar_one()
    metadata = {
        **row,
        "width": row.get("width", p.pixel_width),
        "height": row.get("height", p.pixel_height),
        "source_url": p.source_url,
        "checksum": p.checksum,
        "file_size": p.size_bytes,
    }
    replace_metadata(ctx, node.id, metadata)
    title = title_of_work(ctx.conn, "Thumbnails", [node.id])
    ctx.enqueue("thumbnails", {"document_ids": [node.id]}, title=title, subject={"id": node.id})
    ctx.target(node.id, rendition_id)
    return {"document_id": node.id, "rendition_id": rendition_id}
