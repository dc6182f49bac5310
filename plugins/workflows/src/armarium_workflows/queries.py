"""Queries of workflows, chains, runs and executions; they write nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

import orjson
from fastapi import Query
from sqlalchemy import Connection, select

from armarium.api import (
    FINISHED,
    GOING,
    NAME_KEY,
    Rows,
    by_name,
    job_holds,
    jobs,
    json_text,
    list_jobs,
    query,
    raw_of,
    withheld_nodes,
    withheld_pages,
)
from armarium_documents.api import Work
from armarium_reading.api import list_episodes
from armarium_workflows.checkpoints import page_counts
from armarium_workflows.errors import unknown_execution, unknown_run
from armarium_workflows.models import executions, run_states, runs
from armarium_workflows.ports import BUILT_IN
from armarium_workflows.records import SavedChain, SavedWorkflow, chains
from armarium_workflows.schemas.answers import (
    Chain,
    Chains,
    Execution,
    RunEpisodes,
    Runs,
    RunView,
    WorkflowFolders,
)
from armarium_workflows.schemas.requests import SAME_STATUS, RunStatus
from armarium_workflows.system import FOLDERS

WORKFLOWS = SavedWorkflow.rows
EXECUTIONS = Rows(executions, missing=unknown_execution)

_FROM = (
    "FROM workflow_run r LEFT JOIN workflow_run_state s ON s.thread_id = r.thread_id "
    f"LEFT JOIN {jobs} j ON j.id = r.thread_id"
)
NEVER_BEGUN = (
    f"NOT EXISTS (SELECT 1 FROM {jobs} j WHERE j.id = r.thread_id) "
    f"AND EXISTS (SELECT 1 FROM {jobs} x WHERE x.id = r.execution_id AND x.state IN {FINISHED})"
)
"""That a run *r* is a step that its chain, which has ended, never began."""
_STATUS = (
    f"CASE WHEN s.status = 'waiting' AND {NEVER_BEGUN} THEN 'cancelled' "
    "WHEN j.id IS NULL THEN COALESCE(s.status, 'waiting') "
    f"WHEN j.state IN {GOING} AND EXISTS (SELECT 1 FROM {job_holds} h WHERE h.paused = 1 "
    f"AND h.job_id IN (j.id, j.parent_id)) AND NOT EXISTS (SELECT 1 FROM {jobs} c WHERE c.thread_id = r.thread_id "
    "AND c.state = 'running' AND c.body_done = 0) THEN 'paused' "
    "WHEN j.state = 'waiting' AND j.started_at IS NOT NULL THEN 'running' ELSE j.state END"
)
_COLUMNS = {
    "thread_id": "r.thread_id",
    "workflow_id": "r.workflow_id",
    "workflow_name": "r.workflow_name",
    "status": _STATUS,
    "reason": "CASE WHEN j.id IS NULL THEN s.reason ELSE j.reason END",
    "scope_ids": "COALESCE(s.scope_ids, r.scope_ids)",
    "pages": "COALESCE(s.pages, 0)",
    "pages_done": "COALESCE(s.pages_done, 0)",
    "pages_failed": "COALESCE(s.pages_failed, 0)",
    "pages_skipped": "COALESCE(s.pages_skipped, 0)",
    "provider": "r.provider",
    "model": "r.model",
    "execution_id": "r.execution_id",
    "read_again_of": "r.read_again_of",
    "started_by": "r.started_by",
    "created_at": "r.created_at",
    "started_at": "COALESCE(j.started_at, s.started_at)",
    "finished_at": "CASE WHEN j.id IS NULL THEN s.finished_at ELSE j.finished_at END",
    "cost_usd": "s.cost_usd",
    "graph": "r.graph",
}
_SELECT = ", ".join(f"{text} AS {name}" for name, text in _COLUMNS.items())
SortBy = Literal[
    "created_at",
    "started_at",
    "finished_at",
    "status",
    "workflow_name",
    "pages",
    "pages_done",
    "pages_failed",
]


def _row(conn: Connection, values: Any, hidden: frozenset[str]) -> dict[str, Any]:
    row = dict(zip(_COLUMNS, values, strict=True))
    row["scope_ids"] = [identity for identity in orjson.loads(row["scope_ids"]) if identity not in hidden]
    row |= choice_of_run(row, orjson.loads(row.pop("graph")))
    counts = page_counts(conn, row["thread_id"]) if hidden else None
    if counts is not None:
        if counts.pages < row["pages"] and row["status"] == "done":
            # Why pages were skipped would tell something about those that are withheld.
            row["reason"] = None
        row |= counts._asdict()
    return row


_CHOICE_SETTINGS = {"provider": ("provider", "reader"), "model": ("model",)}


def choice_of_run(of_run: Mapping[str, Any], graph: Mapping[str, Any]) -> dict[str, Any]:
    """Return the provider and model of a run: as it was started with, else what its nodes or its workflow name,
    where that is one and the same.
    """
    chosen = {}
    for name, settings in _CHOICE_SETTINGS.items():
        names = {
            of_run[name]
            or node.get(f"{name}_name")
            or next(
                (value for setting in settings if (value := node.get("config", {}).get(setting))),
                graph.get(name),
            )
            for node in graph["nodes"]
            if node["tool"] not in BUILT_IN
        } - {None}
        chosen[name] = of_run[name] or (names.pop() if len(names) == 1 else None)
    return chosen


def find_run(conn: Connection, thread_id: str) -> dict[str, Any] | None:
    """Return the run as a list shows it, or None."""
    values = raw_of(conn).execute(f"SELECT {_SELECT} {_FROM} WHERE r.thread_id = ?", (thread_id,)).fetchone()
    return _row(conn, values, withheld_nodes(conn)) if values is not None else None


def run_row(conn: Connection, thread_id: str) -> dict[str, Any]:
    """Return the run as a list shows it. Raises NotFound."""
    run = find_run(conn, thread_id)
    if run is None:
        raise unknown_run(thread_id)
    return run


def stored_run(conn: Connection, thread_id: str) -> dict[str, Any]:
    """Return the run as it was started, with its graph and inputs. Raises NotFound."""
    row = conn.execute(runs.select().where(runs.c.thread_id == thread_id)).first()
    if row is None:
        raise unknown_run(thread_id)
    state = run_states.c
    statement = select(state.scope_ids, state.inputs).where(state.thread_id == thread_id)
    later = conn.execute(statement.where(state.inputs.is_not(None))).first()
    return {**row._asdict(), **(later._asdict() if later is not None else {})}


@query(
    "/api/workflows/folders", summary="The folders of the palette", answer=WorkflowFolders, refusals=(404,)
)
def list_folders(conn: Connection) -> dict[str, Any]:
    """In the order of the work. Other folders come after these."""
    return {"items": list(FOLDERS), "count": len(FOLDERS)}


@query("/api/chains", summary="The chains of the project", answer=Chains, refusals=(404,))
def list_chains(conn: Connection) -> dict[str, Any]:
    """Ordered by folder and position."""
    return SavedChain.rows.list_all(
        conn, order=(chains.c.folder_path, chains.c.sort_order, by_name(chains.c.name), chains.c.id)
    )


@query("/api/chains/{chain_id}", summary="A chain", answer=Chain)
def get_chain(conn: Connection, chain_id: str) -> dict[str, Any]:
    """With its steps."""
    return SavedChain.rows.require(conn, chain_id)


@query("/api/workflow-execution/runs", summary="The runs of workflows", answer=Runs, refusals=(404,))
def list_runs(
    conn: Connection,
    status: Annotated[list[RunStatus] | None, Query()] = None,
    workflow_id: Annotated[str | None, Query(max_length=64)] = None,
    sort_by: SortBy = "created_at",
    sort_direction: Literal["asc", "desc"] = "desc",
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
) -> dict[str, Any]:
    """Taken from the table of runs, so that runs without events of activity are included."""
    wheres, values = ["1"], list[Any]()
    if status:
        wheres.append(f"{_STATUS} IN (SELECT value FROM json_each(?))")
        values.append(json_text([SAME_STATUS.get(name, name) for name in status]))
    if workflow_id is not None:
        wheres.append("r.workflow_id = ?")
        values.append(workflow_id)
    condition = " AND ".join(wheres)
    raw = raw_of(conn)
    (total,) = raw.execute(
        f"SELECT count(*) {_FROM if status else 'FROM workflow_run r'} WHERE {condition}", values
    ).fetchone()
    key = f"{NAME_KEY}(r.workflow_name)" if sort_by == "workflow_name" else _COLUMNS[sort_by]
    order = f"{key} {sort_direction}, r.created_at {sort_direction}, r.thread_id {sort_direction}"
    rows = raw.execute(
        f"SELECT {_SELECT} {_FROM} WHERE {condition} ORDER BY {order} LIMIT ? OFFSET ?",
        (*values, limit, offset),
    )
    hidden = withheld_nodes(conn)
    items = [_row(conn, row, hidden) for row in rows]
    return {"items": items, "count": len(items), "total": total, "limit": limit, "offset": offset}


def work_on_documents(conn: Connection, document_ids: Sequence[str]) -> Iterable[Work]:
    """Yield the runs that had each document in their scope; a page that failed in a run, or was passed over,
    with the reason.
    """
    hidden = withheld_nodes(conn)
    for page, state, why, *values in raw_of(conn).execute(
        f"SELECT p.page_id, p.state, p.reason, {_SELECT} {_FROM} JOIN workflow_page p ON p.thread_id = r.thread_id "
        "WHERE p.node_id = '' AND p.page_id IN (SELECT value FROM json_each(?))",
        (json_text(list(document_ids)),),
    ):
        run = _row(conn, values, hidden)
        yield Work(
            page,
            "workflow",
            run["thread_id"],
            run["thread_id"],
            run["model"],
            run["provider"],
            "failed" if state == "failed" else run["status"],
            why or run["reason"],
            run["finished_at"] or run["started_at"] or run["created_at"],
        )


@query(
    "/api/workflow-execution/threads/{thread_id}", summary="A run with its steps and pages", answer=RunView
)
def get_run(
    conn: Connection,
    thread_id: str,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
) -> dict[str, Any]:
    """`limit` and `offset` apply to its pages, which are in the order of the scope."""
    return {
        **run_row(conn, thread_id),
        "nodes": nodes_of(conn, thread_id),
        "page_items": pages_of(conn, thread_id, limit, offset),
        "outputs": outputs_of_run(conn, thread_id),
        "limit": limit,
        "offset": offset,
    }


def nodes_of(conn: Connection, thread_id: str) -> list[dict[str, Any]]:
    """Return the steps of a run in order; one that has not begun is waiting."""
    from armarium_workflows.graph import Graph

    graph = Graph.of(stored_run(conn, thread_id)["graph"])
    steps = {job.key: job for job in list_jobs(conn, parents=thread_id, states=None)}
    nodes = []
    for node in graph.order:
        job = steps.get(node.id)
        nodes.append(
            {
                "node_id": node.id,
                "step_id": f"{thread_id}:{node.id}",
                "tool": node.tool,
                "label": node.label or node.id,
                "status": "waiting" if job is None else job.state_begun,
                "reason": job.reason if job is not None else None,
                "done": job.done if job is not None else 0,
                "total": job.total if job is not None else 0,
            }
        )
    return nodes


def pages_of(conn: Connection, thread_id: str, limit: int, offset: int) -> list[dict[str, Any]]:
    """Return pages of a run with the state of each."""
    # Positions have no gaps, so rows before *offset* need not be read. If some are withheld, the visible ones
    # are counted.
    skipped = "LIMIT ?3 OFFSET ?2" if withheld_nodes(conn) else "LIMIT ?3"
    first = "" if withheld_nodes(conn) else "AND position >= ?2 "
    rows = raw_of(conn).execute(
        "SELECT page_id, state, reason FROM workflow_page WHERE thread_id = ?1 AND node_id = '' AND page_id <> '' "
        f"{first}ORDER BY position {skipped}",
        (thread_id, offset, limit),
    )
    return [{"document_id": page, "status": state, "reason": reason} for page, state, reason in rows]


def shows_a_part(conn: Connection, thread_ids: Iterable[str]) -> bool:
    """Return whether *conn*, as opened for a caller, hides anything about a page of one of these runs.

    The outputs of a run are made from all its pages, so nothing in them can be separated by page.
    """
    parts = withheld_pages(conn)
    if parts is None:
        return False
    ids = json_text(list(thread_ids))
    raw = raw_of(conn)
    (gone_over,) = raw.execute(
        "SELECT COALESCE(sum(pages), 0) FROM workflow_run_state WHERE thread_id IN (SELECT value FROM json_each(?))",
        (ids,),
    ).fetchone()
    rows = raw.execute(
        "SELECT page_id FROM workflow_page WHERE thread_id IN (SELECT value FROM json_each(?)) AND node_id = '' "
        "AND page_id <> ''",
        (ids,),
    ).fetchall()
    return len(rows) < gone_over or any(page in parts for (page,) in rows)


def outputs_of_run(conn: Connection, thread_id: str) -> dict[str, Any]:
    """Return the outputs of a run's output nodes; empty before it ends, and for a caller who may not see all
    of its pages.
    """
    if shows_a_part(conn, [thread_id]):
        return {}
    statement = select(run_states.c.outputs).where(run_states.c.thread_id == thread_id)
    return conn.execute(statement).scalar() or {}


@query(
    "/api/workflow-execution/threads/{thread_id}/episodes",
    summary="The model calls of a run",
    answer=RunEpisodes,
)
def run_episodes(
    conn: Connection, thread_id: str, limit: Annotated[int, Query(ge=1, le=5000)] = 500
) -> dict[str, Any]:
    """In ledger order; corrections and invalidations name the episode they are about. Removing a run keeps
    them.
    """
    episodes = list_episodes(conn, thread_id=thread_id, limit=limit)
    if not episodes:
        run_row(conn, thread_id)
    return {"thread_id": thread_id, "count": len(episodes), "episodes": episodes}


@query("/api/chains/executions/{execution_id}", summary="An execution of a chain", answer=Execution)
def get_execution(conn: Connection, execution_id: str) -> dict[str, Any]:
    """Each step with its state; outputs when the chain has ended."""
    from armarium_workflows.chaining import execution_answer

    return execution_answer(conn, EXECUTIONS.require(conn, execution_id))
