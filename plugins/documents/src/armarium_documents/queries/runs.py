"""The background work done on documents, from the jobs' rows."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from sqlalchemy import Connection

from armarium.api import json_text, query, raw_of
from armarium_documents.schemas.runs import RunHistory

KINDS = {
    "import-files": "pictures",
    "thumbnails": "pictures",
    "split-pages": "pictures",
    "embeds": "embeddings",
    "find-lines": "lines",
    "find-regions": "lines",
    "read-a-line": "pages",
    "read-a-page": "pages",
}
"""Kind of a job to the word it has in a document's history."""

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
    conn: Connection, ids: Annotated[list[str], Query(min_length=1, max_length=500)]
) -> dict[str, Any]:
    """Return the work done on each of *ids*; unknown ids are left out.

    A job states its documents in its arguments (`document_ids`, `page_ids`), else in its subject.
    """
    raw = raw_of(conn)
    # SQLite ends a text in JSON at a null character: no id contains one.
    wanted = json_text([one for one in dict.fromkeys(ids) if "\0" not in one])
    known = [
        row[0]
        for row in raw.execute(
            "SELECT d.id FROM json_each(?) j JOIN document d ON d.id = j.value ORDER BY j.key", (wanted,)
        )
    ]
    rows: dict[str, list[dict[str, Any]]] = {document_id: [] for document_id in known}
    found = raw.execute(
        "SELECT m.value, j.kind, j.id, j.thread_id, j.model, json_extract(j.args, '$.reader'), j.state, j.reason,"
        " COALESCE(j.finished_at, j.started_at, j.created_at)"
        " FROM job j, json_each(COALESCE(j.args -> '$.document_ids', j.args -> '$.page_ids',"
        " json_array(j.subject ->> '$.id'))) m"
        " WHERE j.kind IN (SELECT value FROM json_each(?)) AND m.value IN (SELECT value FROM json_each(?))"
        " ORDER BY 9 DESC, j.seq DESC",
        (json_text(list(KINDS)), wanted),
    )
    for document_id, kind, job_id, thread_id, model, provider, outcome, reason, at in found:
        if document_id in rows and len(rows[document_id]) < MOST_ROWS:
            rows[document_id].append(
                {
                    "kind": KINDS[kind],
                    "job_id": job_id,
                    "thread_id": thread_id,
                    "model": model,
                    "provider": provider,
                    "outcome": outcome,
                    "reason": reason,
                    "at": at,
                    "cost_usd": None,
                }
            )
    items = [{"document_id": document_id, "rows": rows[document_id]} for document_id in known]
    return {"items": items, "count": len(items), "withheld": 0}
