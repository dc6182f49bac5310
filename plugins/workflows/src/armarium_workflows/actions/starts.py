"""Starting runs: of a workflow, of a chain, and again over the pages a run did not do. What runs write are
steps of their own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from armarium.api import (
    FINISHED,
    ActionContext,
    Route,
    UndoContext,
    action,
    cancel_with_undo,
    count_in_effect,
    find_job,
    list_jobs,
    new_id,
)
from armarium_documents.api import title_of_work
from armarium_reading.api import takes_provider
from armarium_workflows import checkpoints
from armarium_workflows.errors import (
    at_work,
    empty_chain,
    faulty_graph,
    has_written,
    job_ended,
    left_is_gone,
    no_checkpoint,
    no_override,
    no_pages,
    nothing_left,
    still_going,
)
from armarium_workflows.graph import Graph, problems_of
from armarium_workflows.models import executions, runs
from armarium_workflows.ports import BUILT_IN
from armarium_workflows.queries import run_row, stored_run
from armarium_workflows.records import SavedChain
from armarium_workflows.running import stream_url
from armarium_workflows.schemas.answers import AcceptedChain, ReadAgain, StartedRun
from armarium_workflows.schemas.requests import (
    ExecuteChainParams,
    ExecuteInJobParams,
    ExecuteParams,
    RunNamed,
)
from armarium_workflows.scope import subjects_under
from armarium_workflows.values import settings_of
from armarium_workflows.workflow_answers import stored_workflow


def new_run(ctx: ActionContext, workflow: Mapping[str, Any], **values: Any) -> dict[str, Any]:
    """Write the row of a run of *workflow*; return it."""
    graph = {key: workflow[key] for key in ("nodes", "edges", "config", "provider", "model")}
    row = {
        "thread_id": new_id(),
        "workflow_id": workflow["id"],
        "workflow_name": workflow["name"],
        "graph": graph,
        "scope_ids": [],
        "inputs": {},
        "provider": None,
        "model": None,
        "pages_may_leave": False,
        "timeout_seconds": None,
        "execution_id": None,
        "read_again_of": None,
        "started_by": ctx.principal.name,
        "created_at": ctx.now,
        **values,
    }
    ctx.conn.execute(runs.insert().values(row))
    return row


def check_run(ctx: ActionContext, run: Mapping[str, Any], later: Collection[str] = ()) -> None:
    """Refuse in advance what could not run: a graph whose tools are not installed, invalid settings, a reader
    that is not installed.

    *later* are inputs that are known only when the run begins.
    """
    graph, jobs = Graph.of(run["graph"]), ctx.engine.recipe_jobs
    problems = problems_of(graph, jobs)
    if problems:
        raise faulty_graph(problems)
    nodes = [node for node in graph.nodes if node.tool not in BUILT_IN and node.enabled]
    provider, model = run["provider"], run["model"]
    if provider is not None and not any(takes_provider(jobs[node.tool], provider) for node in nodes):
        raise no_override(provider)
    if model is not None and not any(jobs[node.tool].model_setting for node in nodes):
        raise no_override(model)
    for node in nodes:
        if any(mapping.port_id not in jobs[node.tool].takes for mapping in node.input_mappings):
            # Its settings are known only page by page.
            continue
        if any(name in jobs[node.tool].settings.model_fields for name in later):
            continue
        settings = settings_of(ctx.engine, node, jobs[node.tool], run, {})
        ctx.engine.paths.check(settings, ctx.principal)
        jobs[node.tool].find_placement(ctx.engine, ctx.project, settings)


def _put_in(
    ctx: ActionContext,
    run: Mapping[str, Any],
    pages: Sequence[str],
    *,
    title: str | None = None,
    parent_id: str | None = None,
) -> dict[str, Any]:
    """Check a run and enqueue it; return it as its start is answered."""
    check_run(ctx, run)
    thread_id = str(run["thread_id"])
    checkpoints.lay_out(ctx.conn, thread_id, pages)
    ctx.enqueue(
        "workflow",
        {"thread_id": thread_id},
        title=title or _title(ctx, run, pages),
        total=0,
        thread_id=thread_id,
        parent_id=parent_id,
    )
    ctx.target(*run["scope_ids"], thread_id)
    return {"thread_id": thread_id, "stream_url": stream_url(thread_id)}


def _title(ctx: ActionContext, run: Mapping[str, Any], pages: Sequence[str]) -> str:
    """Return the name of the run's workflow, and of its page where it is only one."""
    name = str(run["workflow_name"])
    return title_of_work(ctx.conn, name, pages) if len(pages) == 1 else name


def taken_back_whole(undo: UndoContext) -> None:
    """Undoing the start of a run undoes all that it wrote and cancels what is still waiting."""
    if not undo.redo:
        for job in list_jobs(undo.step.conn, threads=undo.target_ids, states=("running",)):
            raise at_work(job.title, undo.audit_id)
    cancel_with_undo(undo)


def only_before_writing(undo: UndoContext) -> None:
    """The start can be undone as long as its runs have written nothing; otherwise the refusal names what they wrote."""
    if not undo.redo:
        refuse_written(undo, undo.target_ids)
    cancel_with_undo(undo)


def refuse_written(undo: UndoContext, threads: Sequence[str]) -> None:
    """Refuse if one of the runs *threads* has written something after this step that has not been undone."""
    steps_in_effect = count_in_effect(undo.step.conn, threads, after=undo.audit_id)
    for thread_id, count in sorted(steps_in_effect.items()):
        if count:
            raise has_written(undo.audit_id, thread_id, count)


@action(
    "workflow.execute",
    result=StartedRun,
    summary="Start a run of a workflow",
    words="Ran a workflow over {scope_ids|pages}",
    route=Route("POST", "/api/workflows/{workflow_id}/execute", status=202, refusals=(400, 404, 409)),
    guards_targets=True,
    undoes_sets=True,
    after_undo=taken_back_whole,
)
def execute(ctx: ActionContext, p: ExecuteParams) -> dict[str, Any]:
    """Refused before it is queued if it could not run. Undo also undoes everything the run wrote."""
    workflow = stored_workflow(ctx.conn, ctx.engine, p.workflow_id)
    pages = subjects_under(ctx.conn, p.scope_ids, workflow["nodes"], ctx.engine.recipe_jobs)
    if p.scope_ids and not pages:
        raise no_pages()
    return _put_in(ctx, _run_asked(ctx, workflow, p, p.scope_ids), pages)


def _run_asked(
    ctx: ActionContext, workflow: Mapping[str, Any], p: ExecuteParams | ExecuteInJobParams, scope: list[str]
) -> dict[str, Any]:
    model_fields = {"provider": p.provider_override, "model": p.model_override}
    return new_run(
        ctx, workflow, scope_ids=scope, inputs=p.inputs, pages_may_leave=p.pages_may_leave, **model_fields
    )


@action(
    "workflow.execute_in_job",
    result=StartedRun,
    summary="Start a run of a workflow as part of a job",
    words="Ran a workflow over {page_ids|pages}",
    guards_targets=True,
    undoes_sets=True,
    after_undo=taken_back_whole,
)
def execute_in_job(ctx: ActionContext, p: ExecuteInJobParams) -> dict[str, Any]:
    """For jobs that consist of runs: the run is below *job_id* and covers exactly these pages. NotFound if
    the job does not exist, Conflict if it has ended. Undo also undoes everything the run wrote.
    """
    job = find_job(ctx.conn, p.job_id)
    if job is not None and not job.is_going:
        raise job_ended(p.job_id, job.state)
    workflow = stored_workflow(ctx.conn, ctx.engine, p.workflow_id)
    run = _run_asked(ctx, workflow, p, p.page_ids)
    return _put_in(ctx, run, p.page_ids, title=p.title, parent_id=p.job_id)


@action(
    "chain.execute",
    result=AcceptedChain,
    summary="Run the steps of a chain one after the other",
    words="Ran a chain of workflows",
    route=Route("POST", "/api/chains/{chain_id}/execute-steps", status=202, refusals=(400, 404, 409)),
    after_undo=only_before_writing,
)
def execute_chain(ctx: ActionContext, p: ExecuteChainParams) -> dict[str, Any]:
    """Each step is a run of its own, which can be followed before it starts. Undo is possible while nothing
    was written.
    """
    chain = SavedChain.rows.require(ctx.conn, p.chain_id)
    if not chain["steps"]:
        raise empty_chain(chain["name"])
    execution_id = new_id()
    inputs = {**chain["initial_inputs"], **p.inputs}
    accepted, threads = [], {}
    for step in chain["steps"]:
        workflow = stored_workflow(ctx.conn, ctx.engine, step["workflow_id"])
        run = new_run(
            ctx,
            workflow,
            provider=step["provider_override"],
            model=step["model_override"],
            # Only this start may allow pages to leave; a saved chain never does.
            pages_may_leave=p.inputs.get("pages_may_leave", False),
            timeout_seconds=step["timeout_seconds"],
            execution_id=execution_id,
        )
        later = [mapping["target_key"] for mapping in step["input_mappings"]]
        check_run(ctx, {**run, "inputs": {**inputs, **step["static_inputs"]}}, later)
        checkpoints.lay_out(ctx.conn, run["thread_id"], [])
        threads[step["id"]] = run["thread_id"]
        entry = {"step_id": step["id"], "workflow_id": workflow["id"], "name": step["name"]}
        accepted.append({**entry, "thread_id": run["thread_id"], "stream_url": stream_url(run["thread_id"])})
    row = {
        "id": execution_id,
        "chain_id": chain["id"],
        "chain_name": chain["name"],
        "steps": chain["steps"],
        "entry_step": chain["entry_step"],
        "inputs": inputs,
        "threads": threads,
        "started_by": ctx.principal.name,
        "created_at": ctx.now,
    }
    ctx.conn.execute(executions.insert().values(row))
    checkpoints.set_waiting(ctx.conn, execution_id)
    ctx.enqueue("chain", {"execution_id": execution_id}, title=chain["name"], total=0, thread_id=execution_id)
    ctx.target(execution_id, *threads.values())
    return {"execution_id": execution_id, "chain_id": chain["id"], "status": "waiting", "steps": accepted}


@action(
    "run.read_again",
    result=ReadAgain,
    summary="Run a workflow again over the pages that a run did not do",
    words="Ran a workflow again over the pages it had not done",
    route=Route("POST", "/api/workflow-execution/threads/{thread_id}/read-again", refusals=(400, 404, 409)),
    after_undo=only_before_writing,
)
def read_again(ctx: ActionContext, p: RunNamed) -> dict[str, Any]:
    """Starts one new run of the same workflow and model. 409 while the run is in progress, and if it did all
    its pages.
    """
    before, row = stored_run(ctx.conn, p.thread_id), run_row(ctx.conn, p.thread_id)
    if row["status"] not in FINISHED:
        raise still_going(before["workflow_name"], row["status"])
    if checkpoints.is_forgotten(ctx.conn, p.thread_id):
        raise no_checkpoint(before["workflow_name"])
    checkpoints.settle(ctx.conn, p.thread_id, len(before["graph"]["nodes"]))
    undone = checkpoints.not_done(ctx.conn, p.thread_id)
    pages = subjects_under(ctx.conn, undone, before["graph"]["nodes"], ctx.engine.recipe_jobs)
    if not pages:
        raise (left_is_gone if undone else nothing_left)(before["workflow_name"])
    workflow = {"id": before["workflow_id"], "name": before["workflow_name"], **before["graph"]}
    same_fields = ("inputs", "provider", "model", "pages_may_leave", "scope_ids")
    run = new_run(ctx, workflow, read_again_of=p.thread_id, **{key: before[key] for key in same_fields})
    return {**_put_in(ctx, run, pages), "read_again_of": p.thread_id, "pages": len(pages)}
