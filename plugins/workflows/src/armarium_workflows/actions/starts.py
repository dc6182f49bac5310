"""Starting runs: of a workflow, of a chain, and again over the pages a run did not do. What runs write are
steps of their own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from armarium.api import (
    FINISHED,
    ActionContext,
    Example,
    Route,
    UndoContext,
    action,
    cancel_with_undo,
    count_in_effect,
    find_job,
    list_jobs,
    new_id,
)
from armarium_reading.api import takes_provider
from armarium_workflows import checkpoints
from armarium_workflows.actions.chains import an_example_saved_chain
from armarium_workflows.actions.workflows import an_example_saved
from armarium_workflows.chaining import lay_out_execution
from armarium_workflows.errors import (
    at_work,
    empty_chain,
    faulty_graph,
    has_written,
    job_ended,
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
        if any(one.port_id not in jobs[node.tool].takes for one in node.input_mappings):
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
) -> None:
    thread_id = str(run["thread_id"])
    checkpoints.lay_out(ctx.conn, thread_id, pages)
    ctx.enqueue(
        "workflow",
        {"thread_id": thread_id},
        title=title or run["workflow_name"],
        total=0,
        thread_id=thread_id,
        parent_id=parent_id,
    )
    ctx.target(*run["scope_ids"], thread_id)


def taken_back_whole(undo: UndoContext) -> None:
    """Undoing the start of a run undoes all that it wrote and cancels what is still waiting."""
    if not undo.redo:
        for name in _at_work(undo):
            raise at_work(name, undo.audit_id)
    cancel_with_undo(undo)


def _at_work(undo: UndoContext) -> list[str]:
    """Return the titles of those jobs of the target runs that have started and not ended."""
    running = list_jobs(undo.step.conn, threads=undo.target_ids, states=("running",))
    return [job.title for job in running]


def only_before_writing(undo: UndoContext) -> None:
    """The start can be undone as long as its runs have written nothing; otherwise the refusal names what they wrote."""
    if undo.redo:
        cancel_with_undo(undo)
        return
    refuse_written(undo, undo.target_ids)
    cancel_with_undo(undo)


def refuse_written(undo: UndoContext, threads: Sequence[str]) -> None:
    """Refuse if one of the runs *threads* has written something after this step that has not been undone."""
    written = count_in_effect(undo.step.conn, threads, after=undo.audit_id)
    for thread_id, count in sorted(written.items()):
        if count:
            raise has_written(undo.audit_id, thread_id, count)


def an_execution(ex: Example) -> dict[str, Any]:
    """Create a workflow and a page for it; return their ids."""
    page = ex.run("document.create", {"name": "Letter, first page", "doc_type": "page"})["id"]
    return {"workflow_id": an_example_saved(ex), "scope_ids": [page]}


@action(
    "workflow.execute",
    params=ExecuteParams,
    result=StartedRun,
    summary="Start a run of a workflow",
    words="Ran a workflow over {scope_ids|pages}",
    route=Route("POST", "/api/workflows/{workflow_id}/execute", status=202, refusals=(400, 404, 409)),
    example=an_execution,
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
    run = new_run(
        ctx,
        workflow,
        scope_ids=p.scope_ids,
        inputs=p.inputs,
        provider=p.provider_override,
        model=p.model_override,
        pages_may_leave=p.pages_may_leave,
    )
    check_run(ctx, run)
    _put_in(ctx, run, pages)
    return {"thread_id": run["thread_id"], "stream_url": stream_url(run["thread_id"])}


def _an_execution_in_a_job(ex: Example) -> dict[str, Any]:
    workflow = an_execution(ex)
    job_id = ex.run("workflow.execute", workflow)["thread_id"]
    return {"workflow_id": workflow["workflow_id"], "page_ids": workflow["scope_ids"], "job_id": job_id}


@action(
    "workflow.execute_in_job",
    params=ExecuteInJobParams,
    result=StartedRun,
    summary="Start a run of a workflow as part of a job",
    words="Ran a workflow over {page_ids|pages}",
    example=_an_execution_in_a_job,
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
    run = new_run(
        ctx,
        workflow,
        scope_ids=p.page_ids,
        inputs=p.inputs,
        provider=p.provider_override,
        model=p.model_override,
        pages_may_leave=p.pages_may_leave,
    )
    check_run(ctx, run)
    _put_in(ctx, run, p.page_ids, title=p.title, parent_id=p.job_id)
    return {"thread_id": run["thread_id"], "stream_url": stream_url(run["thread_id"])}


@action(
    "chain.execute",
    params=ExecuteChainParams,
    result=AcceptedChain,
    summary="Run the steps of a chain one after the other",
    words="Ran a chain of workflows",
    route=Route("POST", "/api/chains/{chain_id}/execute-steps", status=202, refusals=(400, 404, 409)),
    example=lambda ex: {"chain_id": an_example_saved_chain(ex)},
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
        later = [one["target_key"] for one in step["input_mappings"]]
        check_run(ctx, {**run, "inputs": {**inputs, **step["static_inputs"]}}, later)
        checkpoints.lay_out(ctx.conn, run["thread_id"], [])
        threads[step["id"]] = run["thread_id"]
        told = {"step_id": step["id"], "workflow_id": workflow["id"], "name": step["name"]}
        accepted.append({**told, "thread_id": run["thread_id"], "stream_url": stream_url(run["thread_id"])})
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
    lay_out_execution(ctx.conn, execution_id)
    ctx.enqueue("chain", {"execution_id": execution_id}, title=chain["name"], total=0, thread_id=execution_id)
    ctx.target(execution_id, *threads.values())
    return {"execution_id": execution_id, "chain_id": chain["id"], "status": "waiting", "steps": accepted}


def _a_run_not_done(ex: Example) -> dict[str, Any]:
    thread_id = ex.run("workflow.execute", an_execution(ex))["thread_id"]
    ex.run("run.cancel", {"thread_id": thread_id})
    return {"thread_id": thread_id}


@action(
    "run.read_again",
    params=RunNamed,
    result=ReadAgain,
    summary="Run a workflow again over the pages that a run did not do",
    words="Ran a workflow again over the pages it had not done",
    route=Route("POST", "/api/workflow-execution/threads/{thread_id}/read-again", refusals=(400, 404, 409)),
    example=_a_run_not_done,
    after_undo=only_before_writing,
)
def read_again(ctx: ActionContext, p: RunNamed) -> dict[str, Any]:
    """Starts one new run of the same workflow and model. 409 while the run is in progress, and if it did all
    its pages.
    """
    before, shown = stored_run(ctx.conn, p.thread_id), run_row(ctx.conn, p.thread_id)
    if shown["status"] not in FINISHED:
        raise still_going(before["workflow_name"], shown["status"])
    if checkpoints.is_forgotten(ctx.conn, p.thread_id):
        raise no_checkpoint(before["workflow_name"])
    checkpoints.settle(ctx.conn, p.thread_id, len(before["graph"]["nodes"]))
    left = checkpoints.not_done(ctx.conn, p.thread_id)
    pages = subjects_under(ctx.conn, left, before["graph"]["nodes"], ctx.engine.recipe_jobs)
    if not pages:
        raise nothing_left(before["workflow_name"])
    workflow = {"id": before["workflow_id"], "name": before["workflow_name"], **before["graph"]}
    same = ("inputs", "provider", "model", "pages_may_leave", "scope_ids")
    run = new_run(ctx, workflow, read_again_of=p.thread_id, **{key: before[key] for key in same})
    check_run(ctx, run)
    _put_in(ctx, run, pages)
    thread_id = run["thread_id"]
    told = {"read_again_of": p.thread_id, "pages": len(pages), "stream_url": stream_url(thread_id)}
    return {"thread_id": thread_id, **told}
