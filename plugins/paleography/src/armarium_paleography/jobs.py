"""The job that looks at the lines and words of pages, page by page."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

from sqlalchemy import Connection, select

from armarium.api import (
    JobContext,
    JobKind,
    ServiceError,
    find_withheld,
    json_text,
    name_document,
    note_failed,
)
from armarium_documents.api import page_image, still_image
from armarium_paleography.actions.likeness import LOOK
from armarium_paleography.queries.likeness import kept_fingerprints, worker_target
from armarium_paleography.records.likeness import LookArgs, vectors
from armarium_source_model.api import passes, segments

NUMBER = 2
"""Bytes per number of a stored vector."""


def look_at(job: JobContext) -> dict[str, Any]:
    """Look at the pages, one step per page. Killed at any point and run again, it looks at the rest."""
    args: LookArgs = job.args
    progress: dict[str, Any] = {"next": 0, "looked_at": 0, "left_out": 0, "failed": [], **job.checkpoint}
    target = worker_target()
    for number in range(progress["next"], len(args.page_ids)):
        job.check()
        page_id = args.page_ids[number]
        rows: list[dict[str, Any]] = []
        progress = {**progress, "next": number + 1}
        refused = find_withheld(job.library, job.principal, [page_id], "local-model")
        if page_id in refused:
            job.log("warning", refused[page_id], document_id=page_id)
            progress["left_out"] += 1
        else:
            try:
                rows = _look_at_page(job, target, page_id)
                progress["looked_at"] += len(rows)
            except ServiceError as refusal:
                job.log("warning", refusal.detail, document_id=page_id)
                progress["left_out"] += 1
                failure = {"name": name_document(job, page_id), "why": refusal.detail}
                progress["failed"] = [*progress["failed"], failure]
        job.save(progress, done=number + 1, total=len(args.page_ids), along=_make_writer(rows))
    if len(progress["failed"]) == len(args.page_ids):
        # A retry looks at all of them again.
        job.save({})
    note_failed(job, len(progress["failed"]), len(args.page_ids), progress["failed"])
    return {name: progress[name] for name in ("looked_at", "left_out")}


def _make_writer(rows: list[dict[str, Any]]) -> Any:
    def along(conn: Connection) -> None:
        if rows:
            conn.execute(vectors.insert().prefix_with("OR REPLACE"), rows)

    return along


def _look_at_page(job: JobContext, target: str, page_id: str) -> list[dict[str, Any]]:
    """Return vectors of the page's lines and words that were drawn or moved since they were last looked at."""
    with job.library.db.read() as conn:
        picture = page_image(job.library, conn, page_id)
        fingerprints = kept_fingerprints(conn, page_id)
        drawn = (
            select(segments)
            .join(passes, passes.c.id == segments.c.pass_id)
            .where(
                segments.c.document_id == page_id,
                segments.c.deleted_at.is_(None),
                passes.c.deleted_at.is_(None),
                segments.c.kind.in_(("line", "word")),
            )
        )
        rows = conn.execute(drawn).all()
    lines: dict[str, dict[str, Any]] = {}
    marks: dict[str, str] = {}
    for row in rows:
        if row.anchor.get("rendition_id") != picture.rendition_id:
            continue
        shape = {
            "rect": [row.bbox_x * picture.width, row.bbox_y * picture.height,
                     row.bbox_w * picture.width, row.bbox_h * picture.height],
            "polygon": [[x * picture.width, y * picture.height] for x, y in row.anchor.get("polygon") or ()],
            "baseline": [[x * picture.width, y * picture.height] for x, y in row.baseline or ()],
        }  # fmt: skip
        marks[row.id] = hashlib.sha256(f"{target} {picture.checksum} {json_text(shape)}".encode()).hexdigest()
        if fingerprints.get(row.id) != marks[row.id]:
            lines[row.id] = shape
    if not lines:
        return []
    limit = job.engine.settings.max_image_pixels
    with still_image(job.library, picture) as path:
        params = {"image": str(path), "max_pixels": limit, "lines": list(lines.values())}
        answer = job.call_worker(None, target, "look", params)
    data, size = base64.b64decode(answer["vectors"]), NUMBER * int(answer["length"])
    return [
        {
            "segment_id": identity,
            "document_id": page_id,
            "fingerprint": marks[identity],
            "vector": data[number * size : (number + 1) * size],
        }
        for number, identity in enumerate(lines)
    ]


LOOK_KIND = JobKind(
    name=LOOK,
    lane="local-model",
    summary="Look at the lines and words of pages",
    run=look_at,
    args=LookArgs,
    heavy=True,
)
