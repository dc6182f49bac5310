"""What a step of a run gave for each of its pages."""

from __future__ import annotations

from typing import Annotated, Any

import orjson
from fastapi import Query
from sqlalchemy import Connection

from armarium.api import query, raw_of
from armarium_workflows.errors import unknown_step
from armarium_workflows.graph import Graph
from armarium_workflows.queries import shows_a_part, stored_run
from armarium_workflows.schemas.answers import StepPages

MOST_TOLD = 8 * 1024 * 1024
"""The most bytes of JSON for the outputs in one answer."""


@query(
    "/api/workflow-execution/threads/{thread_id}/steps/{node_id}",
    summary="What a step of a run gave, page by page",
    answer=StepPages,
)
def step_pages(
    conn: Connection,
    thread_id: str,
    node_id: str,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
) -> dict[str, Any]:
    """The pages that the step has come to, in the order of the scope. Of outputs, at most 8 MiB in one answer. A caller
    who may not see all pages of the run is told none, as of the run itself.
    """
    if node_id not in {node.id for node in Graph.of(stored_run(conn, thread_id)["graph"]).order}:
        raise unknown_step(node_id)
    sees_all = not shows_a_part(conn, [thread_id])
    raw = raw_of(conn)
    mine = "FROM workflow_page WHERE thread_id = ? AND node_id = ?"
    (total,) = raw.execute(f"SELECT count(*) {mine}", (thread_id, node_id)).fetchone()
    room = MOST_TOLD
    items = []
    for page, state, reason, output in raw.execute(
        f"SELECT page_id, state, reason, output {mine} ORDER BY position LIMIT ? OFFSET ?",
        (thread_id, node_id, limit, offset),
    ):
        size = len(output or "")
        room -= size
        items.append(
            {
                "document_id": page or None,
                "status": state,
                "reason": reason,
                "output": orjson.loads(output) if output and sees_all and room >= 0 else None,
                "too_large": sees_all and room < 0,
            }
        )
    return {"items": items, "count": len(items), "total": total, "limit": limit, "offset": offset}
