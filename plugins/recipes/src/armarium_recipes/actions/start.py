"""Start: run the recipe over the project's material, and record when that was and which version was used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from armarium.api import (
    ActionContext,
    Route,
    RowRule,
    action,
    cancel_with_undo,
    find_withheld,
    new_id,
)
from armarium_recipes.errors import (
    already_started,
    reads_no_lines,
    start_refused,
    unknown_step,
    version_raised,
    yes_of_a_person,
)
from armarium_recipes.models import proposals, starts
from armarium_recipes.project import run_rows
from armarium_recipes.project.noticing import before_action
from armarium_recipes.project.plan import all_pages, make_plan
from armarium_recipes.project.running import reads_some_lines, stored_cards
from armarium_recipes.schemas.project import PressStart, StartAnswer


def _agrees(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> bool:
    return after is not None and after["cloud_uses"] is not None


AGREED_BY_PERSONS: RowRule[PressStart] = RowRule(
    "recipes_start", "person", when=_agrees, refusal=yes_of_a_person
)
"""Only a person can agree to have pages sent away, also when a Start is undone or redone."""


@action(
    "project.start",
    result=StartAnswer,
    summary="Run the recipe over the project's material",
    words="Started the recipe",
    route=Route("POST", "/api/recipes/project/start", refusals=(404, 409), name="start_project_recipe"),
    after_undo=cancel_with_undo,
    prepare=before_action,
    rules=(AGREED_BY_PERSONS,),
)
def start(ctx: ActionContext, p: PressStart) -> dict[str, Any]:
    """A step runs on the pages that lack its output, a step in redo on all pages, one in redo_unchecked on the
    lines that no person made or checked. Undo withdraws the work
    that has not begun; the work already done is a set of its own, by the id of the job.
    """
    # Pages withheld from the caller are neither worked on nor counted.
    pages = all_pages(ctx.conn)
    hidden = find_withheld(ctx.project, ctx.principal, pages, "show")
    pages = [page for page in pages if page not in hidden]
    plan = make_plan(
        ctx.engine, ctx.project, ctx.conn, redo=p.redo, redo_unchecked=p.redo_unchecked, pages=pages
    )
    going = run_rows.going_start(ctx.conn)
    if going is not None:
        raise already_started(going)
    recipe = plan.kept.recipe
    if recipe is not None:
        steps = [step.id for step in recipe.steps]
        for step in (*p.redo, *p.redo_unchecked):
            if step not in steps:
                raise unknown_step(step, steps)
        reading = [step.id for step in recipe.steps if reads_some_lines(ctx.engine, step.job)]
        for step in p.redo_unchecked:
            if step not in reading:
                raise reads_no_lines(step, reading)
        if p.recipe_version not in (None, recipe.version):
            raise version_raised(p.recipe_version or 0, recipe.version)
    if plan.refusals or recipe is None:
        raise start_refused(plan.refusals)
    uses = plan.uses
    is_person = ctx.principal.kind == "person"
    if uses and not is_person and plan.first_yes is None:
        raise yes_of_a_person()
    job_id = new_id()
    cards = stored_cards(plan)
    run_rows.insert_run(
        ctx.conn,
        job_id,
        started_at=ctx.now,
        started_by="person",
        recipe_version=recipe.version,
        page_ids=plan.pages,
        cards=cards,
        skipped=plan.skipped_steps,
        settings={
            "redo": p.redo,
            "redo_unchecked": p.redo_unchecked,
            "overrides": plan.kept.answer()["overrides"],
        },
    )
    row = {
        "id": job_id,
        "started_at": ctx.now,
        "started_by": ctx.principal.name,
        "recipe_id": recipe.id,
        "recipe_version": recipe.version,
        "pages": len(plan.pages),
        "redo": p.redo,
        "cloud_uses": uses if uses and is_person else None,
    }
    ctx.conn.execute(starts.insert().values(row))
    ctx.conn.execute(proposals.delete())
    ctx.enqueue(
        run_rows.KIND,
        {"run": "person"},
        title=f"Run the recipe {recipe.title}"[:300],
        total=0,
        thread_id=job_id,
    )
    ctx.target(job_id)
    fields = ("started_at", "recipe_id", "recipe_version", "pages")
    return {"started": {"job_id": job_id, **{name: row[name] for name in fields}}}
