"""A run: one step after the other, each a job below it, until all nodes have processed all pages."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import orjson
from sqlalchemy import Connection, select

from armarium.api import (
    NOT_THERE,
    AfterChildren,
    Engine,
    Invalid,
    JobContext,
    Library,
    NewJob,
    find_ends,
    now,
    raw_of,
    record_activity,
)
from armarium_reading.api import cost_of_thread
from armarium_workflows import checkpoints
from armarium_workflows.graph import Graph
from armarium_workflows.models import run_states, runs
from armarium_workflows.ports import BUILT_IN
from armarium_workflows.queries import stored_run

MOST_FINAL = 8 * 1024 * 1024
"""The most bytes of JSON for the outputs of a run; if there are more, only the count is stored."""


def stream_url(thread_id: str) -> str:
    """The address at which a run can be followed."""
    return f"/api/workflow-execution/threads/{thread_id}/stream"


def tell(conn: Connection, run: Mapping[str, Any], kind: Any, message: str, **more: Any) -> None:
    """Write an event of a run to the activity log and to the run's own log."""
    record_activity(
        conn,
        kind,
        f"{run['workflow_name']}: {message}",
        level="error" if kind == "workflow_failed" else "info",
        workflow_id=run["workflow_id"],
        thread_id=run["thread_id"],
        **more,
    )


def run_workflow(job: JobContext) -> dict[str, Any]:
    """The body of `workflow`: it begins a step, releases its thread, and continues when the step has ended."""
    with job.library.db.read() as conn:
        run = stored_run(conn, job.job_id)
    graph = Graph.of(run["graph"])
    order = graph.order
    if "at" not in job.checkpoint:
        begun = {"at": 0, "since": time.time()}
        job.save(begun, along=lambda conn: _begin(conn, run))
    while (at := job.checkpoint["at"]) < len(order):
        job.check()
        node = order[at]
        step = job.ended_child(node.id)
        if step is None:
            _refuse_late(job, run, len(order))
            args = {"thread_id": job.job_id, "node_id": node.id, "workflow_id": run["workflow_id"]}
            title = node.label or node.id
            job.spawn_many(
                [NewJob("workflow-step", args, title, key=node.id, job_id=f"{job.job_id}:{node.id}", total=0)]
            )
            raise AfterChildren
        if step.state != "done":
            why = f"Step {node.label or node.id} {step.state}: {step.reason or 'no reason was given.'}"
            _fail(job, run, len(order), why)
        job.save({**job.checkpoint, "at": at + 1})
    return _finish(job, run, graph)


def _begin(conn: Connection, run: Mapping[str, Any]) -> None:
    checkpoints.set_state(conn, run["thread_id"], status="running", started_at=now())
    tell(conn, run, "workflow_started", "begun.")


def _refuse_late(job: JobContext, run: Mapping[str, Any], steps: int) -> None:
    limit = run["timeout_seconds"]
    if limit is not None and time.time() - job.checkpoint["since"] > limit:
        _fail(job, run, steps, f"It took longer than the {limit:g} seconds that its chain allows it.")


def _fail(job: JobContext, run: Mapping[str, Any], steps: int, why: str) -> None:
    with job.library.db.write() as conn:
        checkpoints.settle(conn, job.job_id, steps)
        checkpoints.set_ended(conn, job.job_id, "failed", why, cost_usd=cost_of_thread(conn, job.job_id))
        tell(conn, run, "workflow_failed", "failed.", error=why)
    raise Invalid(why, code="run_failed")


def _finish(job: JobContext, run: Mapping[str, Any], graph: Graph) -> dict[str, Any]:
    steps, outputs = len(graph.nodes), [node.id for node in graph.order if node.tool == "output"]
    with job.library.db.write() as conn:
        counts = checkpoints.settle(conn, job.job_id, steps)
        failure = checkpoints.first_reason(conn, job.job_id, "failed")
        skipped = checkpoints.first_reason(conn, job.job_id, "skipped")
        stopped = checkpoints.count_stopped(conn, job.job_id, graph.ends)
    if failure is not None and counts.pages_done == 0:
        _fail(
            job,
            run,
            steps,
            f"No page could be done. The first failed: {failure}" if counts.pages else failure,
        )
    if counts.pages_skipped:
        were = "was" if counts.pages_skipped == 1 else "were"
        job.remark = (
            f"{counts.pages_skipped} of {counts.pages} pages {were} passed over. The first: {skipped}"
        )
    elif stopped:
        were = "was" if stopped == 1 else "were"
        job.remark = (
            f"{stopped} of {counts.pages} pages {were} stopped by a branch without an edge for its value."
        )
    elif not counts.pages and any(node["tool"] not in BUILT_IN for node in run["graph"]["nodes"]):
        job.remark = "The run was started without pages, so its steps that work on pages did nothing."
    result = counts._asdict()

    def along(conn: Connection) -> None:
        values = _final(conn, job.job_id, outputs)
        cost = cost_of_thread(conn, job.job_id)
        checkpoints.set_ended(conn, job.job_id, "done", job.remark, outputs=values, cost_usd=cost)
        tell(conn, run, "workflow_completed", "done.", metadata=result)

    if not job.checkpoint.get("told"):
        job.save({**job.checkpoint, "told": True}, along=along)
    return result


def _final(conn: Connection, thread_id: str, nodes: list[str]) -> dict[str, Any]:
    """Return the value of each output node, or for a run of several pages the list of values of those that
    were done.
    """
    raw = raw_of(conn)
    (pages,) = raw.execute(
        "SELECT pages FROM workflow_run_state WHERE thread_id = ?", (thread_id,)
    ).fetchone()
    pages_done = "FROM workflow_page WHERE thread_id = ? AND node_id = ? AND state = 'done'"
    by_node: dict[str, Any] = {}
    room = MOST_FINAL
    for node_id in nodes:
        values: list[Any] = []
        for (output,) in raw.execute(f"SELECT output {pages_done} ORDER BY position", (thread_id, node_id)):
            room -= len(output or "")
            if room < 0:
                break
            values.append((orjson.loads(output) if output else {}).get("value"))
        if room < 0:
            (count,) = raw.execute(f"SELECT count(*) {pages_done}", (thread_id, node_id)).fetchone()
            by_node[node_id] = {"count": count, "too_large": True}
        else:
            by_node[node_id] = values[0] if len(values) == 1 and pages < 2 else values
    return by_node


def on_pause(engine: Engine, library: Library | None, thread_id: str, paused: bool) -> None:
    """Called after a run was paused or resumed, by whichever route."""
    assert library is not None
    with library.db.write() as conn:
        run = _run_if_there(conn, thread_id)
        if run is not None:
            kind = "workflow_paused" if paused else "workflow_resumed"
            tell(conn, run, kind, "paused." if paused else "resumed.")


def on_cancel(engine: Engine, library: Library | None, thread_id: str) -> None:
    """Called after a run was cancelled, by whichever route."""
    assert library is not None
    with library.db.write() as conn:
        note_cancelled(conn, thread_id, "Cancelled by a person.")


def note_failed(conn: Connection, thread_id: str, why: str) -> None:
    """Record that a run could not begin."""
    run = _run_if_there(conn, thread_id)
    if run is not None:
        checkpoints.set_ended(conn, thread_id, "failed", why)
        tell(conn, run, "workflow_failed", "failed.", error=why)


def note_cancelled(conn: Connection, thread_id: str, why: str) -> None:
    """Record which pages a cancelled run did."""
    run = _run_if_there(conn, thread_id)
    if run is None:
        return
    checkpoints.settle(conn, thread_id, len(run["graph"]["nodes"]))
    checkpoints.set_ended(conn, thread_id, "cancelled", why, cost_usd=cost_of_thread(conn, thread_id))
    tell(conn, run, "workflow_cancelled", why)


def _run_if_there(conn: Connection, thread_id: str) -> dict[str, Any] | None:
    row = conn.execute(runs.select().where(runs.c.thread_id == thread_id)).first()
    return row._asdict() if row is not None else None


def reconcile(engine: Engine, library: Library) -> None:
    """When a project is opened: record the end of runs and executions whose job has ended without recording it, or is
    not there, and of steps that a chain which has ended never began.
    """
    with library.db.write() as conn:
        still_open = select(run_states.c.thread_id).where(run_states.c.finished_at.is_(None))
        ids = conn.execute(still_open).scalars().all()
        ends = find_ends(conn, ids)
        going = set(ids) - ends.keys()
        for thread_id, (state, reason) in ends.items():
            run = _run_if_there(conn, thread_id)
            if run is not None and run["execution_id"] in going:
                # A step that its chain will come to.
                continue
            if run is not None:
                checkpoints.settle(conn, thread_id, len(run["graph"]["nodes"]))
                if run["execution_id"] is not None and (state, reason) == NOT_THERE:
                    reason = "The chain ended before this step."
            checkpoints.set_ended(conn, thread_id, state, reason)
