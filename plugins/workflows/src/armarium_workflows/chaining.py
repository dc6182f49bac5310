"""A chain: workflow runs one after the other, each created in advance, with conditions between them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import Connection, select

from armarium.api import (
    AfterChildren,
    Engine,
    Invalid,
    JobContext,
    Library,
    NewJob,
    ServiceError,
    find_job,
    now,
    read_activity,
)
from armarium_workflows import checkpoints
from armarium_workflows.errors import PathFault, faulty_chain
from armarium_workflows.models import run_states
from armarium_workflows.paths import parse_path, parse_pipes, read, read_mapped
from armarium_workflows.queries import EXECUTIONS, find_run, outputs_of_run, shows_a_part, stored_run
from armarium_workflows.running import note_cancelled, note_failed
from armarium_workflows.schemas.requests import ChainFields, ChainStep
from armarium_workflows.scope import subjects_under

_EXPRESSION = re.compile(
    r"^(?P<path>.+?)\s*(?:(?P<op>==|!=|<=|>=|<|>|\bcontains\b)\s*(?P<value>.+))?$", re.DOTALL
)
LAST_EVENTS = 100


def check_chain(chain: ChainFields) -> None:
    """Refuse duplicate or missing steps, jumps that lead back, and invalid paths."""
    ids = [step.id for step in chain.steps]
    twice = next((step_id for step_id in ids if ids.count(step_id) > 1), None)
    if twice is not None:
        raise faulty_chain(f"Two steps have the id {twice}; each needs its own.")
    if chain.entry_step is not None and chain.entry_step not in ids:
        raise faulty_chain(f"The chain begins with {chain.entry_step}, which is not one of its steps.")
    for number, step in enumerate(chain.steps):
        condition = step.condition
        for target in (condition.true_step, condition.false_step) if condition is not None else ():
            if target is not None and target not in ids[number + 1 :]:
                raise faulty_chain(
                    f"Step {step.id} continues with {target}, which does not come after it; a chain cannot "
                    "go back."
                )
        try:
            for mapping in step.input_mappings:
                _check_path(mapping.source_path, step.id, ids[:number])
                if mapping.transform is not None:
                    parse_pipes(mapping.transform)
            if condition is not None:
                _check_path(_parts(condition.expression)[0], step.id, ids[: number + 1])
        except PathFault as fault:
            raise faulty_chain(f"Step {step.id}: {fault}") from None


def _check_path(text: str, step: str, before: list[str]) -> None:
    path = parse_path(text)
    if path.root not in ("nodes", "inputs"):
        raise PathFault(f"a chain reads $.nodes.<step>.<key> and $.inputs.<key>, not {text[:120]}.")
    if path.node is not None and path.node not in before:
        raise PathFault(f"{text[:120]} reads step {path.node}, which does not come before it.")


def _parts(expression: str) -> tuple[str, str | None, Any]:
    match = _EXPRESSION.match(expression.strip())
    if match is None:
        raise PathFault(f"{expression[:120]!r} is not a condition; write a path, or a path, == and a value.")
    path, op, value = match.group("path"), match.group("op"), match.group("value")
    if op is None:
        return path, None, None
    try:
        return path, op, orjson.loads(value)
    except orjson.JSONDecodeError:
        raise PathFault(f"{value[:80]!r} is not a JSON value; put a text in double quotes.") from None


def holds(expression: str, roots: Mapping[str, Any]) -> bool:
    """Return whether a condition holds: there is something at its path, or it equals the JSON value it is
    compared with.
    """
    text, op, operand = _parts(expression)
    value = read(parse_path(text), roots)
    if op is None:
        return bool(value)
    if op in ("==", "!="):
        return _are_same(value, operand) is (op == "==")
    if op == "contains":
        if isinstance(value, str):
            return isinstance(operand, str) and operand in value
        return isinstance(value, list) and any(_are_same(item, operand) for item in value)
    numbers = [
        side for side in (value, operand) if isinstance(side, int | float) and not isinstance(side, bool)
    ]
    if len(numbers) != 2:
        return False
    return bool(
        {"<": value < operand, "<=": value <= operand, ">": value > operand, ">=": value >= operand}[op]
    )


def _are_same(value: Any, other: Any) -> bool:
    """Return whether two JSON values are the same: true is not 1."""
    return isinstance(value, bool) is isinstance(other, bool) and value == other


def run_chain(job: JobContext) -> dict[str, Any]:
    """The body of `chain`."""
    with job.library.db.read() as conn:
        execution = EXECUTIONS.require(conn, job.job_id)
    steps = [ChainStep.from_stored(step) for step in execution["steps"]]
    ids = [step.id for step in steps]
    threads: dict[str, str] = execution["threads"]
    progress: dict[str, Any] = job.checkpoint or {
        "at": execution["entry_step"] or ids[0],
        "results": {},
        "errors": {},
    }
    if not job.checkpoint:
        job.save(
            progress,
            along=lambda conn: checkpoints.set_state(conn, job.job_id, status="running", started_at=now()),
        )
    while (at := progress["at"]) is not None:
        job.check()
        step = steps[ids.index(at)]
        run = job.ended_child(step.id)
        if run is None:
            why = _begin_step(job, execution, step, threads[step.id], progress)
            if why is None:
                raise AfterChildren
        else:
            why = run.why_not_done
        status = "done" if why is None else "failed" if run is None or run.state == "failed" else "cancelled"
        progress = {
            **progress,
            "results": {**progress["results"], step.id: status},
            "errors": {**progress["errors"], **({step.id: why} if why else {})},
        }
        progress["at"] = (
            None if why and not step.continue_on_error else _next(job, execution, step, ids, progress)
        )
        results = _results_of(progress)
        not_begun = why if run is None else None

        def along(
            conn: Connection,
            step_results: Any = results,
            thread_id: str = threads[step.id],
            fault: str | None = not_begun,
        ) -> None:
            checkpoints.set_state(conn, job.job_id, results=step_results)
            if fault is not None:
                note_failed(conn, thread_id, fault)

        job.save(progress, along=along)
        if why and not step.continue_on_error:
            _end(job, threads, ids, progress, "failed")
            raise Invalid(f"Step {step.name}: {why}", code="step_failed")
    _end(job, threads, ids, progress, "done")
    return {"steps": progress["results"]}


def _results_of(progress: Mapping[str, Any], skipped: Iterable[str] = ()) -> dict[str, Any]:
    """Return the state of each step that has ended, and why it failed, as an execution stores it."""
    ended = {**progress["results"], **dict.fromkeys(skipped, "skipped")}
    return {
        step_id: {"status": status, "error": progress["errors"].get(step_id)}
        for step_id, status in ended.items()
    }


def _roots(conn: Connection, execution: Mapping[str, Any], thread_ids: Mapping[str, str]) -> dict[str, Any]:
    nodes = {}
    for step_id in thread_ids:
        thread_id = execution["threads"][step_id]
        run = find_run(conn, thread_id)
        state = {key: run[key] for key in ("status", "pages", "pages_done", "pages_failed")} if run else {}
        nodes[step_id] = {**state, **outputs_of_run(conn, thread_id)}
    return {"nodes": nodes, "inputs": execution["inputs"], "files": [], "config": {}}


def _next(
    job: JobContext,
    execution: Mapping[str, Any],
    step: ChainStep,
    ids: list[str],
    progress: Mapping[str, Any],
) -> str | None:
    number = ids.index(step.id)
    following = ids[number + 1] if number + 1 < len(ids) else None
    if step.condition is None:
        return following
    with job.library.db.read() as conn:
        roots = _roots(conn, execution, progress["results"])
    try:
        met = holds(step.condition.expression, roots)
    except PathFault:
        met = False
    return (step.condition.true_step if met else step.condition.false_step) or following


def _begin_step(
    job: JobContext,
    execution: Mapping[str, Any],
    step: ChainStep,
    thread_id: str,
    progress: Mapping[str, Any],
) -> str | None:
    """Enqueue the run of a step; return why it cannot begin, or None."""
    with job.library.db.read() as conn:
        roots = _roots(conn, execution, progress["results"])
        try:
            inputs = dict(execution["inputs"])
            for mapping in step.input_mappings:
                inputs[mapping.target_key] = read_mapped(mapping.source_path, mapping.transform, roots)
            inputs |= step.static_inputs
            scope = inputs.get("scope_ids") or []
            if not isinstance(scope, list) or not all(isinstance(identity, str) for identity in scope):
                return "Its input scope_ids is not a list of ids."
            nodes = stored_run(conn, thread_id)["graph"]["nodes"]
            pages = subjects_under(conn, scope, nodes, job.engine.recipe_jobs)
        except PathFault as fault:
            return str(fault)
        except ServiceError as refusal:
            return refusal.detail
    if scope and not pages:
        return "The documents named contain no pages."
    new = NewJob(
        "workflow",
        {"thread_id": thread_id},
        step.name,
        key=step.id,
        job_id=thread_id,
        thread_id=thread_id,
        total=0,
    )
    job.spawn_many(
        [new],
        along=lambda conn, ids: checkpoints.lay_out(conn, thread_id, pages, scope_ids=scope, inputs=inputs),
    )
    return None


def _end(
    job: JobContext, threads: Mapping[str, str], ids: list[str], progress: Mapping[str, Any], status: str
) -> None:
    """Mark steps that were not reached as skipped, and end their streams."""
    with job.library.db.write() as conn:
        skipped = [step_id for step_id in ids if step_id not in progress["results"]]
        for step_id in skipped:
            note_cancelled(conn, threads[step_id], "The chain skipped this step.")
        last = next(
            (step_id for step_id in reversed(ids) if progress["results"].get(step_id) == "done"), None
        )
        outputs = outputs_of_run(conn, threads[last]) if last is not None else {}
        results = _results_of(progress, skipped)
        checkpoints.set_ended(conn, job.job_id, status, None, results=results, outputs=outputs)


def on_cancel(engine: Engine, library: Library | None, execution_id: str) -> None:
    """Called after a chain was cancelled: cancels the steps it had not reached, and ends their streams."""
    assert library is not None
    with library.db.write() as conn:
        execution = EXECUTIONS.get(conn, execution_id)
        if execution is None:
            return
        for thread_id in execution["threads"].values():
            run = find_run(conn, thread_id)
            if run is not None and run["status"] == "waiting":
                note_cancelled(conn, thread_id, "The chain was cancelled.")
        checkpoints.set_ended(conn, execution_id, "cancelled", None)


def execution_answer(conn: Connection, execution: Mapping[str, Any]) -> dict[str, Any]:
    """Return an execution with the state of each of its steps."""
    stored = conn.execute(select(run_states).where(run_states.c.thread_id == execution["id"])).one()
    ended_steps = stored.results or {}
    status, started, finished = stored.status, stored.started_at, stored.finished_at
    job = find_job(conn, execution["id"])
    if job is not None:
        started, finished = job.started_at or started, job.finished_at or finished
        status = job.state if not job.is_going else "running" if started else status
    steps = []
    for step in execution["steps"]:
        run = find_run(conn, execution["threads"][step["id"]])
        ended = ended_steps.get(step["id"], {})
        steps.append(
            {
                "step_id": step["id"],
                "workflow_id": step["workflow_id"],
                "thread_id": execution["threads"][step["id"]],
                "status": ended.get("status") or _status_of_step(run),
                "error": ended.get("error"),
                "duration_ms": _milliseconds_between(run["started_at"], run["finished_at"]) if run else None,
            }
        )
    final = {} if shows_a_part(conn, execution["threads"].values()) else stored.outputs
    return {
        "execution_id": execution["id"],
        "chain_id": execution["chain_id"],
        "status": status,
        "step_results": steps,
        "final_outputs": final,
        "final_files": [path for path in final.get("files", ()) if isinstance(path, str)],
        "total_duration_ms": _milliseconds_between(started, finished),
        "events": _events(conn, execution),
    }


def _status_of_step(run: Mapping[str, Any] | None) -> str:
    """Return the state of a step that the chain has not finished. Steps are never `paused`: while its run is
    paused, a step keeps its state, as its execution does.
    """
    if run is None:
        return "cancelled"
    if run["status"] == "paused":
        return "running" if run["started_at"] else "waiting"
    return str(run["status"])


def _events(conn: Connection, execution: Mapping[str, Any]) -> list[dict[str, Any]]:
    steps = {thread_id: step_id for step_id, thread_id in execution["threads"].items()}
    return [
        {
            "event_type": event["type"],
            "step_id": steps[event["thread_id"]],
            "message": event["message"],
            "progress": None,
            "timestamp": event["timestamp"],
        }
        for event in reversed(read_activity(conn, thread_ids=steps, limit=LAST_EVENTS)[0])
    ]


def _milliseconds_between(started: str | None, finished: str | None) -> int | None:
    if started is None or finished is None:
        return None
    return round((datetime.fromisoformat(finished) - datetime.fromisoformat(started)).total_seconds() * 1000)
