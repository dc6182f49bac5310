"""The job `thumbnails`: makes missing thumbnails of a batch of documents in the `derived` folder."""

from __future__ import annotations

from typing import Any

from armarium.api import JobContext, JobKind, ServiceError, now, raw_of
from armarium_documents.pictures import draw_thumbnail
from armarium_documents.queries.files import primary_row, thumbnail_path
from armarium_documents.schemas.files import ThumbnailJobArgs

BATCH = 32
"""Thumbnails noted in one transaction."""


def run_thumbnails(ctx: JobContext) -> dict[str, Any]:
    """Draw missing thumbnails; repeatable. A document that no longer exists is skipped."""
    ids: list[str] = ctx.args.document_ids
    start = int(ctx.checkpoint.get("done", 0))
    failed: list[dict[str, str]] = list(ctx.checkpoint.get("failed", []))
    rows: list[tuple[object, ...]] = []
    for number, document_id in enumerate(ids[start:], start=start + 1):
        try:
            row = _row(ctx, document_id)
            if row is not None:
                rows.append(row)
        except ServiceError as refusal:
            failed.append({"document_id": document_id, "why": refusal.detail})
            ctx.log("warning", refusal.detail, document_id=document_id)
        if len(rows) >= BATCH or number == len(ids):
            _note(ctx, rows)
            rows = []
            ctx.save({"done": number, "failed": failed}, done=number, total=len(ids))
            ctx.check()
    return {"made": len(ids) - len(failed), "failed": failed}


def _row(ctx: JobContext, document_id: str) -> tuple[object, ...] | None:
    library = ctx.library
    with library.db.read() as conn:
        row = raw_of(conn).execute("SELECT 1 FROM document WHERE id = ?", (document_id,)).fetchone()
        if row is None:
            return None
        picture = primary_row(conn, document_id)
    path = thumbnail_path(library, picture.checksum)
    if path.is_file():
        from PIL import Image

        with Image.open(path) as thumbnail:
            width, height = thumbnail.size
        size = path.stat().st_size
    else:
        limit = ctx.engine.settings.max_image_pixels
        width, height, size = draw_thumbnail(library, picture.checksum, document_id, limit)
    return (document_id, picture.checksum, width, height, size, now())


def _note(ctx: JobContext, rows: list[tuple[object, ...]]) -> None:
    with ctx.library.db.write() as conn:
        raw_of(conn).executemany(
            "INSERT INTO thumbnail (document_id, checksum, width, height, size_bytes, made_at)"
            " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (document_id) DO UPDATE SET checksum = excluded.checksum,"
            " width = excluded.width, height = excluded.height, size_bytes = excluded.size_bytes,"
            " made_at = excluded.made_at",
            rows,
        )


thumbnails = JobKind(
    name="thumbnails",
    history="pictures",
    lane="images",
    summary="Draw thumbnails of pictures",
    run=run_thumbnails,
    args=ThumbnailJobArgs,
    first=True,
    stage="thumbnails",
)
