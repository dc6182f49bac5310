"""The job `convert-older-results`: converts each page's older geometry to segments, one step per page."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from armarium.api import JobContext, JobKind, ServiceError, raw_of
from armarium_formats.queries.conversion import KIND, MAX_PROBLEMS, OLD
from armarium_formats.schemas.conversion import StartConversion


def run_conversion(ctx: JobContext) -> dict[str, Any]:
    """Convert page by page in the order of ids. Killed and run again, no page is converted twice."""
    progress: dict[str, Any] = deepcopy(ctx.checkpoint) or {"after": "", "problems": []}
    if "total" not in progress:
        with ctx.library.db.read() as conn:
            progress["total"] = int(raw_of(conn).execute(f"SELECT count(*) {OLD}").fetchone()[0])
        progress["done"] = 0
    while (page := _next(ctx, progress["after"])) is not None:
        document_id, artifacts = page
        progress["after"] = document_id
        progress["done"] += len(artifacts)
        try:
            ctx.act(
                "segment.convert_page",
                {"document_id": document_id},
                checkpoint=progress,
                done=progress["done"],
                total=progress["total"],
            )
        except ServiceError as refusal:
            if refusal.status >= 500:
                raise
            for artifact_id in artifacts:
                if len(progress["problems"]) < MAX_PROBLEMS:
                    progress["problems"].append(
                        {"artifact_id": artifact_id, "document_id": document_id, "why": refusal.detail}
                    )
            ctx.log("warning", refusal.detail, document_id=document_id)
            ctx.save(progress, done=progress["done"], total=progress["total"])
        ctx.check()
    ctx.save(progress, done=max(progress["done"], 1), total=max(progress["total"], 1))
    return {"problems": len(progress["problems"])}


def _next(ctx: JobContext, after: str) -> tuple[str, list[str]] | None:
    """Return the next page with older geometry, and the artifacts that contain it."""
    with ctx.library.db.read() as conn:
        raw = raw_of(conn)
        row = raw.execute(f"SELECT min(a.document_id) {OLD} AND a.document_id > ?", (after,)).fetchone()
        if row is None or row[0] is None:
            return None
        rows = raw.execute(f"SELECT a.id {OLD} AND a.document_id = ? ORDER BY a.created_at, a.id", (row[0],))
        return row[0], [artifact for (artifact,) in rows]


convert_older_results = JobKind(
    name=KIND,
    lane="database",
    summary="Turn the boxes of older results into passes, segments and readings",
    run=run_conversion,
    args=StartConversion,
)
