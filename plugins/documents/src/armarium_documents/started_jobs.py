"""Actions that queue a recipe job for the pages at and below nodes, made from the job's declaration."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal, cast

from pydantic import Field, create_model

from armarium.api import Action, ActionContext, Invalid, Message, Params, RecipeJob, action, cancel_with_undo
from armarium_documents.queries.documents import title_of_work
from armarium_documents.queries.tree import pages_under, recordings_under

ScopeIds = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=128)]],
    Field(min_length=1, max_length=10_000, description="Pages, or folders with pages, in order."),
]


class StartedJob(Message):
    """A job that was put in the queue."""

    job_id: str
    state: Literal["waiting"] = "waiting"
    pages: int


def start_actions(family: str, jobs: Iterable[RecipeJob]) -> tuple[Action[Any], ...]:
    """Return an action for each of *jobs* that queues it: `<family>.<id with underscores>`.

    Its parameters are `scope_ids` and the job's settings. Nodes marked as excluded from processing are left
    out. It raises NotFound for an unknown node, Forbidden by a lock, Invalid if there is no page, and what
    the job's `place` raises.
    """
    return tuple(_start_action(family, job) for job in jobs)


def _start_action(family: str, job: RecipeJob) -> Action[Any]:
    params = create_model(
        f"Start{job.id.title().replace('-', '')}", __base__=job.settings, scope_ids=(ScopeIds, ...)
    )

    noun = "recording" if "recording" in job.takes else "page"
    under = recordings_under if "recording" in job.takes else pages_under

    def start(ctx: ActionContext, p: Params) -> dict[str, Any]:
        scope: list[str] = cast(Any, p).scope_ids
        pages = under(ctx.conn, scope, for_processing=True)
        if not pages:
            raise Invalid(
                f"What was named contains no {noun} to work on; name {noun}s, or a folder with {noun}s in it.",
                code="no_pages",
            )
        settings = job.settings.model_validate(p.model_dump(exclude={"scope_ids"}))
        placement = job.find_placement(ctx.engine, ctx.project, settings)
        queued = ctx.enqueue(
            job.id,
            job.arguments(pages, settings),
            title=title_of_work(ctx.conn, job.name, pages, noun),
            total=len(pages),
            subject={"kind": "document", "id": pages[0]} if len(pages) == 1 else None,
            model=placement.model,
            lane=placement.lane,
        )
        ctx.target(*scope, queued)
        return {"job_id": queued, "pages": len(pages)}

    task = job.kind.summary.rstrip(".")
    return action(
        f"{family}.{job.id.replace('-', '_')}",
        params=params,
        result=StartedJob,
        summary=f"{task}, as a background job.",
        words=f"Started to {task[0].lower()}{task[1:]}: {{scope_ids|pages}}",
        guards_targets=True,
        after_undo=cancel_with_undo,
    )(start)
