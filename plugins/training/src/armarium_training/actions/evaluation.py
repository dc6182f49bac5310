"""The one write of evaluation: starting one."""

from __future__ import annotations

from typing import Any

from armarium.api import ActionContext, Route, action
from armarium_documents.api import title_of_work
from armarium_training.planning import plan_of
from armarium_training.queries.job_rows import EVALUATE
from armarium_training.schemas.evaluation import EvaluationArgs, RunParams, StartedRun


@action(
    "evaluation.run",
    result=StartedRun,
    summary="Measure readers against each other on checked pages.",
    route=Route("POST", "/api/evaluation/runs", refusals=(403, 404, 409)),
    words="Started to measure readers",
    undoable=False,
    guards_targets=True,
)
def run(ctx: ActionContext, p: RunParams) -> dict[str, Any]:
    """Enqueue an evaluation. Refused beforehand, with the reason, if its figures would not be sound."""
    plan = plan_of(ctx.conn, ctx.engine, ctx.project, ctx.principal, p)
    args = EvaluationArgs(plan=plan, checked=p.pass_, language=p.language, policies=list(p.policies))
    args.pages_may_leave = p.pages_may_leave
    work = len(plan["candidates"]) * len(plan["pages"])
    readers = len(plan["candidates"])
    what = f"Measure {readers} {'reader' if readers == 1 else 'readers'}"
    title = title_of_work(ctx.conn, what, [page["document_id"] for page in plan["pages"]])
    job_id = ctx.enqueue(EVALUATE, args.model_dump(mode="json"), title=title, total=work)
    ctx.target(*(page["document_id"] for page in plan["pages"]), job_id)
    return {"job_id": job_id, "plan": plan}
