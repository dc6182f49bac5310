"""The job `page-pictures`: pictures the pages of PDFs and TIFFs that were sent in a request, after the request.

A page whose picture is there is passed over, so that the job can be killed and repeated at any point.
"""

from __future__ import annotations

import time
from typing import Any

from armarium.api import Invalid, JobContext, JobKind, NewJob, json_text, raw_of, tell_failed
from armarium_documents.intake import picture_of_page
from armarium_documents.jobs.imports import BATCH_NODES, BATCH_SECONDS, TEXT_LAYERS
from armarium_documents.pictures import SourceFile, open_source_pages
from armarium_documents.schemas.files import PageJobArgs

_FILES = """
SELECT d.id, d.name, d.file_type, r.checksum, r.mime_type, r.size_bytes FROM document d
JOIN rendition r ON r.document_id = d.id AND r.is_primary
WHERE d.id IN (SELECT value FROM json_each(?)) AND d.deleted_at IS NULL ORDER BY d.id
"""

_WAITING = """
SELECT d.id, json_extract(r.params, '$.page_index') FROM document d
JOIN rendition r ON r.document_id = d.id AND r.is_primary AND NOT r.materialized
WHERE d.parent_id = ? AND d.deleted_at IS NULL AND d.doc_type = 'page' ORDER BY 2
"""


def run_page_pictures(ctx: JobContext) -> dict[str, Any]:
    """Picture what waits in the files named; then have their text layers read."""

    refused: list[dict[str, str]] = []
    with ctx.library.db.read() as conn:
        files = raw_of(conn).execute(_FILES, (json_text(ctx.args.document_ids),)).fetchall()
    for identity, name, _, checksum, mime_type, size in files:
        source = SourceFile(checksum, size, mime_type, 1)
        try:
            _picture_file(ctx, identity, name, source, refused)
        except Invalid as refusal:
            refused.append({"file": name, "why": refusal.detail})
    pdfs = [identity for identity, _, file_type, *_ in files if file_type == "pdf"]
    if pdfs:
        args = {"paths": [], "parent_id": ctx.args.parent_id, "document_ids": pdfs}
        for kind in ctx.engine.kinds.of_stage(TEXT_LAYERS):
            ctx.spawn(NewJob(kind, {**args, "set_id": ctx.args.set_id or ctx.job_id}, "Text layers"))
    named = [{"name": refusal["file"], "why": refusal["why"]} for refusal in refused]
    if named:
        ctx.remark = tell_failed(len(named), max(len(named), len(files)), named, "file")
    return {"refused": refused, "refused_count": len(refused)}


def _picture_file(
    ctx: JobContext, identity: str, name: str, source: SourceFile, refused: list[dict[str, str]]
) -> None:
    with ctx.library.db.read() as conn:
        waiting = raw_of(conn).execute(_WAITING, (identity,)).fetchall()
    if not waiting:
        return
    pictures: list[dict[str, Any]] = []
    since = time.monotonic()
    with open_source_pages(ctx.library, source, max_pixels=ctx.engine.settings.max_image_pixels) as pages:
        for number, (page_id, index) in enumerate(waiting, 1):
            try:
                pictures.append(
                    {
                        "document_id": page_id,
                        **picture_of_page(pages.picture(ctx.library, index, ctx.call_worker)),
                    }
                )
            except Invalid as refusal:
                refused.append({"file": f"{name}, page {index + 1}", "why": refusal.detail})
                ctx.log("warning", f"{name}, page {index + 1}: {refusal.detail}")
            if pictures and (
                number == len(waiting)
                or len(pictures) >= BATCH_NODES
                or time.monotonic() - since > BATCH_SECONDS
                or ctx.stop is not None
            ):
                ctx.act(
                    "document.picture_pages", {"pictures": pictures}, checkpoint={}, set_id=ctx.args.set_id
                )
                pictures, since = [], time.monotonic()
            ctx.progress(number, len(waiting))
            if not pictures:
                ctx.check()


page_pictures = JobKind(
    name="page-pictures",
    lane="images",
    summary="Picture the pages of PDFs and TIFFs that were sent",
    run=run_page_pictures,
    args=PageJobArgs,
    stage="display-pictures",
)
