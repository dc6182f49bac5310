"""Reads of reading: the episode ledger, and the lines of a page in the form that a reader takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Query
from sqlalchemy import Connection, Row, select

from armarium.api import json_text, query, raw_of
from armarium_documents.api import ModelsAsked
from armarium_reading.models import episodes
from armarium_reading.schemas.reading import Episodes
from armarium_source_model.api import get_pass, ladder_of_pass, segments_of


def list_episodes(
    conn: Connection,
    *,
    job_id: str | None = None,
    document_id: str | None = None,
    thread_id: str | None = None,
    limit: int = 500,
) -> list[dict[str, Any]]:
    """Return episodes in ledger order: of one job, one document or one run, if these are named."""
    selection = select(episodes).order_by(episodes.c.seq).limit(limit)
    if job_id is not None:
        selection = selection.where(episodes.c.job_id == job_id)
    if document_id is not None:
        selection = selection.where(episodes.c.document_id == document_id)
    if thread_id is not None:
        selection = selection.where(episodes.c.thread_id == thread_id)
    return [episode_answer(row) for row in conn.execute(selection)]


@query("/api/reading/episodes", summary="Calls of models, from the episode ledger.", answer=Episodes)
def get_episodes(
    conn: Connection,
    job_id: Annotated[str | None, Query(max_length=64)] = None,
    document_id: Annotated[str | None, Query(max_length=64)] = None,
    limit: Annotated[int, Query(ge=1, le=5000)] = 500,
) -> dict[str, Any]:
    """Return episodes in ledger order, of a job or about a page."""
    items = list_episodes(conn, job_id=job_id, document_id=document_id, limit=limit)
    return {"job_id": job_id, "count": len(items), "episodes": items}


def answers_by_segment(conn: Connection, *, job_id: str, document_id: str, model: str) -> dict[str, str]:
    """Return what calls of a job to *model* answered about a page's segments, without failed ones; the last of each."""
    selection = select(episodes.c.segment_id, episodes.c.exchange).where(
        episodes.c.job_id == job_id,
        episodes.c.document_id == document_id,
        episodes.c.model == model,
        episodes.c.kind == "model_call",
        episodes.c.segment_id.is_not(None),
    )
    rows = conn.execute(selection.order_by(episodes.c.seq)).all()
    return {row.segment_id: row.exchange["output"] for row in rows if "error" not in row.exchange}


def cost_of_thread(conn: Connection, thread_id: str) -> float | None:
    """Return the cost of a run's calls in US dollars; None if there were none or a price is not known."""
    costs = [
        row.cost.get("usd")
        for row in conn.execute(select(episodes.c.cost).where(episodes.c.thread_id == thread_id))
    ]
    return None if not costs or None in costs else float(sum(costs))


def models_asked(conn: Connection, document_ids: Sequence[str]) -> dict[tuple[str, str], ModelsAsked]:
    """Return which models were asked about documents, by the job, and by the run, that asked."""
    by_asker: dict[tuple[str, str], ModelsAsked] = {}
    for column in ("job_id", "thread_id"):
        for asker, document_id, provider, others, model, other_models, usd, unpriced in raw_of(conn).execute(
            f"SELECT {column}, document_id, min(provider), max(provider), min(model), max(model), "
            "sum(cost ->> '$.usd'), sum(cost ->> '$.usd' IS NULL) FROM episode WHERE kind = 'model_call' "
            f"AND {column} IS NOT NULL AND document_id IN (SELECT value FROM json_each(?)) GROUP BY 1, 2",
            (json_text(list(document_ids)),),
        ):
            by_asker[asker, document_id] = ModelsAsked(
                provider if provider == others else None,
                model if model == other_models else None,
                None if unpriced else usd,
            )
    return by_asker


_ABOUT_OTHERS = ("corrects_episode_id", "caused_by_episode_id", "stale_artifact_ids")


def episode_answer(row: Row[Any]) -> dict[str, Any]:
    """Return a ledger row as an Episode."""
    return {
        "episode_id": row.id,
        **{name: getattr(row, name) for name in ("at", "kind", "use_case", "node")},
        "run": {name: getattr(row, name) for name in ("thread_id", "workflow_id", "job_id", "attempt")},
        "subject": {
            "kind": row.subject_kind,
            "id": row.document_id,
            "segment_id": row.segment_id,
            "target_id": row.target_id,
        },
        "model": {"provider": row.provider, "model": row.model, "version": row.model_version},
        "exchange": row.exchange,
        "timing": {"started_at": row.started_at, "seconds": row.seconds},
        "cost": row.cost,
        **{name: getattr(row, name) for name in _ABOUT_OTHERS},
        "actor": row.actor,
    }


def lines_of(
    conn: Connection, pass_id: str, width: int, height: int
) -> tuple[list[str], list[dict[str, Any]]]:
    """Return the live lines of a pass: ids, and shapes in pixels of a picture of *width* x *height*."""
    ids: list[str] = []
    shapes: list[dict[str, Any]] = []
    ladder = ladder_of_pass(conn, get_pass(conn, pass_id).document_id, pass_id)
    for row in segments_of(conn, pass_id, "line"):
        ids.append(row.id)
        shapes.append(_shape_of(row, ladder.value("direction", row.id), width, height))
    return ids, shapes


def shape_in_pixels(conn: Connection, row: Row[Any], width: int, height: int) -> dict[str, Any]:
    """Return the shape of one segment as `lines_of` does."""
    direction = ladder_of_pass(conn, row.document_id, row.pass_id).value("direction", row.id)
    return _shape_of(row, direction, width, height)


def _shape_of(row: Row[Any], direction: str | None, width: int, height: int) -> dict[str, Any]:
    x, y, w, h = row.anchor["rect"]
    shape: dict[str, Any] = {"rect": [x * width, y * height, w * width, h * height]}
    for name, points in (("polygon", row.anchor.get("polygon")), ("baseline", row.baseline)):
        if points:
            shape[name] = _in_pixels(points, width, height)
    if direction:
        shape["direction"] = direction
    return shape


def _in_pixels(points: Sequence[Sequence[float]], width: int, height: int) -> list[list[float]]:
    return [[x * width, y * height] for x, y in points]
