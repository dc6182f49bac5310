"""Takes what changed in a published manifest into the folder made of it, without losing what was done here."""

from __future__ import annotations

import hashlib
from typing import Any

from sqlalchemy import func, select

from armarium.api import ActionContext, NotFound, Route, action, cancel_with_undo, new_id
from armarium_documents.api import documents, replace_metadata, require_live, title_of_work
from armarium_iiif.actions.importing import PUBLISHED, keep_canvases, page_node, published, transcribe
from armarium_iiif.manifest_reader import ReferencedCanvas, read_manifest
from armarium_iiif.models import canvases, manifests
from armarium_iiif.queries.remotes import remotes_of
from armarium_iiif.schemas import CheckManifests, JobStarted, ManifestUpdated, UpdateManifest


@action(
    "iiif.update",
    result=ManifestUpdated,
    summary="Take what changed in a published manifest: new pages, labels and addresses that nobody changed here, new texts.",
    words="Updated {document_id|a folder} from its IIIF manifest",
)
def update_manifest(ctx: ActionContext, p: UpdateManifest) -> dict[str, Any]:
    """Compare three: as imported, as published now, as it is here. Pages are never removed, a page that was moved or deleted
    here does not come back, and texts become further passes. NotFound for a folder of no manifest; NotAManifest.
    """
    folder = require_live(ctx.conn, p.document_id)
    row = ctx.conn.execute(select(manifests).where(manifests.c.document_id == folder.id)).one_or_none()
    if row is None:
        raise NotFound(f"{folder.name} was not made of a IIIF manifest.", code="no_manifest")
    data = p.file.encode() if isinstance(p.file, str) else p.file
    digest = hashlib.sha256(data).hexdigest()
    new = read_manifest(data, folder.name)
    old = read_manifest(ctx.project.objects.path(row.original).read_bytes(), folder.name)
    before: dict[str | None, ReferencedCanvas] = {
        canvas.canvas_id: canvas for canvas in old.canvases if canvas.canvas_id
    }
    ctx.project.objects.put_bytes(data)
    pages = _pages_of(ctx, folder.id)
    document = documents.c
    metadata, source_metadata = ctx.conn.execute(
        select(document.metadata, document.source_metadata).where(document.id == folder.id)
    ).one()
    nodes: list[dict[str, Any]] = []
    fresh: list[tuple[str, ReferencedCanvas]] = []
    texts: list[tuple[str, ReferencedCanvas]] = []
    changed = 0
    for number, canvas in enumerate(new.canvases, 1):
        earlier = before.get(canvas.canvas_id)
        page = pages.get(canvas.canvas_id)
        if canvas.canvas_id is None:
            continue
        if earlier is None and page is None:
            identity = new_id()
            nodes.append(page_node(identity, folder.id, number, canvas, metadata.get("iiif_manifest")))
            fresh.append((identity, canvas))
            texts.append((identity, canvas))
        elif page is not None and page.deleted_at is None and earlier is not None:
            changed += _change_page(ctx, page, earlier, canvas)
            if canvas.texts != earlier.texts:
                texts.append((page.id, canvas))
    if nodes:
        ctx.run("document.add_files", {"nodes": nodes})
        keep_canvases(ctx, fresh)
    merged = {
        name: value
        for name, value in source_metadata.items()
        if value != old.described.get(name) or name in new.described
    }
    for name, value in new.described.items():
        if source_metadata.get(name) == old.described.get(name):
            merged[name] = value
    renaming = {"name": new.label} if new.label and folder.name == old.label != new.label else {}
    if renaming or merged != source_metadata:
        ctx.run("document.update", {"document_id": folder.id, **renaming, "source_metadata": merged})
    fields = {
        "version": new.version,
        "original": digest,
        "canvas_count": len(new.canvases),
        "notes": new.notes,
    }
    ctx.conn.execute(manifests.update().where(manifests.c.document_id == folder.id).values(fields))
    canvases_gone = before.keys() - {canvas.canvas_id for canvas in new.canvases}
    new.canvases = [canvas for _, canvas in texts]
    passes = transcribe(ctx, [identity for identity, _ in texts], new, digest, folder.name)
    ctx.target(folder.id)
    return {
        "document_id": folder.id, "added": len(nodes), "changed": changed, "gone": len(canvases_gone), "passes": passes,
        "notes": fields["notes"],
    }  # fmt: skip


def _pages_of(ctx: ActionContext, folder_id: str) -> dict[str | None, Any]:
    """Return the pages of a manifest's canvases by their ids, also those moved or deleted here; those in the folder first."""
    document, canvas = documents.c, canvases.c
    manifest_id = func.json_extract(document.metadata, "$.iiif_manifest")
    address = select(manifest_id).where(document.id == folder_id).scalar_subquery()
    rows = ctx.conn.execute(
        select(
            document.id,
            document.name,
            document.page_label,
            document.metadata,
            document.deleted_at,
            canvas.canvas_id,
        )
        .join_from(canvases, documents, document.id == canvas.document_id)
        .where((document.parent_id == folder_id) | (manifest_id == address))
        .order_by((document.parent_id == folder_id).asc())
    )
    return {row.canvas_id: row for row in rows}


def _change_page(ctx: ActionContext, page: Any, old: ReferencedCanvas, new: ReferencedCanvas) -> bool:
    """Write what changed of a canvas where the page is still as it was imported."""
    changes = {}
    if new.label != old.label:
        changes = {key: new.label for key in ("name", "page_label") if getattr(page, key) == old.label}
    if changes:
        ctx.run("document.update", {"document_id": page.id, **changes})
    moved = published(new) != published(old)
    if moved:
        values = dict(zip(PUBLISHED, published(new), strict=True))
        ctx.conn.execute(canvases.update().where(canvases.c.document_id == page.id).values(values))
    sized = (new.width, new.height) != (old.width, old.height) and new.width is not None
    if sized:
        replace_metadata(ctx, page.id, {**page.metadata, "width": new.width, "height": new.height})
    if moved or sized:
        ctx.note_changes(document_ids=[page.id])
    return bool(changes) or moved or sized


@action(
    "iiif.check_manifests",
    result=JobStarted,
    summary="Ask whether imported manifests changed where they are published, and take what did on request, as a background job.",
    route=Route("POST", "/api/iiif/manifests/check"),
    words="Asked whether imported IIIF manifests changed",
    guards_targets=True,
    after_undo=cancel_with_undo,
)
def check_manifests(ctx: ActionContext, p: CheckManifests) -> dict[str, Any]:
    """Enqueue the job. NotFound for an unknown document."""
    for document_id in p.document_ids:
        require_live(ctx.conn, document_id)
    folder_ids = [remote.document_id for remote in remotes_of(ctx.conn, p.document_ids)]
    args = {"document_ids": folder_ids, "take": p.take}
    title = title_of_work(ctx.conn, "Ask after IIIF manifests", folder_ids, "manifest")
    job_id = ctx.enqueue("iiif-check", args, title=title, total=len(folder_ids))
    ctx.target(*folder_ids[:100], job_id)
    return {"job_id": job_id, "state": "waiting", "set_id": job_id}
