"""The background work done on documents: jobs, and what families add as work of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import Query
from sqlalchemy import Connection

from armarium.api import Engine, json_text, query, raw_of
from armarium.api import jobs as job_rows
from armarium_documents.hookspecs import (
    ModelsAsked,
    Work,
    armarium_documents_models_asked,
    armarium_documents_work,
)
from armarium_documents.schemas.runs import RunHistory

OF_LAYER = {
    "prepare": "pictures", "lines": "lines", "reading": "pages", "structure": "pages", "entities": "names",
    "graph": "names", "places": "names", "catalogue": "names", "knowledge": "names", "vectors": "embeddings",
    "check": "check",
}  # fmt: skip
"""Layer of a recipe job to the word under which its jobs are listed."""

MOST_ROWS = 200
"""Rows of one document, the newest."""


@query(
    "/api/documents/run-history",
    summary="The background work done on documents, newest first",
    answer=RunHistory,
    refusals=(404, 409),
    name="read_run_history",
)
def run_history(
    conn: Connection, engine: Engine, ids: Annotated[list[str], Query(min_length=1, max_length=500)]
) -> dict[str, Any]:
    """Jobs and workflow runs on each of *ids*; unknown ids are left out. The provider, model and cost of a row are
    those of the calls about this document; the cost is null unless all of them are priced.
    """
    # SQLite ends a text in JSON at a null character: no id contains one.
    json_ids = json_text([identity for identity in dict.fromkeys(ids) if "\0" not in identity])
    page_ids = [
        row[0]
        for row in raw_of(conn).execute(
            "SELECT d.id FROM json_each(?) j JOIN document d ON d.id = j.value ORDER BY j.key", (json_ids,)
        )
    ]
    rows: dict[str, list[Work]] = {document_id: [] for document_id in page_ids}
    for works_of_family in (
        _jobs(engine)(conn, page_ids),
        *engine.points.ask(armarium_documents_work, conn, page_ids),
    ):
        for work in works_of_family:
            rows[work.document_id].append(work)
    calls: dict[tuple[str, str], ModelsAsked] = {}
    for models in engine.points.ask(armarium_documents_models_asked, conn, page_ids):
        calls |= models
    items = []
    for document_id, works in rows.items():
        newest = sorted(works, key=lambda work: work.at, reverse=True)[:MOST_ROWS]
        items.append({"document_id": document_id, "rows": [_answer(work, calls) for work in newest]})
    return {"items": items, "count": len(items), "withheld": 0}


def _answer(work: Work, calls: dict[tuple[str, str], ModelsAsked]) -> dict[str, Any]:
    row = asdict(work)
    del row["document_id"]
    models = calls.get((work.job_id or work.thread_id or "", work.document_id))
    if models is not None:
        row |= {"provider": models.provider or work.provider, "model": models.model or work.model}
        row["cost_usd"] = models.cost_usd
    return row


def _jobs(engine: Engine) -> Callable[[Connection, Sequence[str]], Iterable[Work]]:
    """Return what yields the jobs on documents: a job states its documents in its arguments (`document_ids`,
    `page_ids`), else in its subject.
    """
    words = {kind.name: kind.history for kind in engine.kinds if kind.history is not None}
    words |= {job.id: OF_LAYER[job.layer] for job in engine.recipe_jobs.values() if job.layer in OF_LAYER}  # type: ignore[misc]
    providers = {job.id: job.provider_setting for job in engine.recipe_jobs.values()}

    def jobs(conn: Connection, ids: Sequence[str]) -> Iterable[Work]:
        for document_id, kind, job_id, thread_id, model, provider, reader, state, reason, at in raw_of(
            conn
        ).execute(
            "SELECT m.value, j.kind, j.id, j.thread_id, j.model, j.args ->> (json(?) ->> j.kind), j.args ->> '$.reader',"
            " j.state, j.reason, COALESCE(j.finished_at, j.started_at, j.created_at)"
            f" FROM {job_rows} j, json_each(COALESCE(j.args -> '$.document_ids', j.args -> '$.page_ids',"
            " json_array(j.subject ->> '$.id'))) m"
            " WHERE j.kind IN (SELECT value FROM json_each(?)) AND m.value IN (SELECT value FROM json_each(?))"
            " ORDER BY 10 DESC, j.seq DESC",
            (json_text(providers), json_text(list(words)), json_text(list(ids))),
        ):
            maker = provider or reader
            yield Work(document_id, str(words[kind]), job_id, thread_id, model, maker, state, reason, at)

    return jobs
