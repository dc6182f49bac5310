"""The writes of bake-offs: start a comparison of line finders, and use a candidate. `evaluation.run` starts
one of readers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from armarium.api import ActionContext, Engine, Library, Outcome, Principal, Route, action
from armarium_documents.api import require_live
from armarium_recipes.bakeoffs import refusals
from armarium_recipes.bakeoffs.files import write_file
from armarium_recipes.bakeoffs.finders import plan_finders
from armarium_recipes.bakeoffs.starting import plan_bakeoff
from armarium_recipes.bakeoffs.table import bakeoff_answer
from armarium_recipes.card_prefixes import LINE_READER
from armarium_recipes.cards.sources import cards_here
from armarium_recipes.errors import no_folder
from armarium_recipes.models_bakeoffs import bakeoffs
from armarium_recipes.project.noticing import before_action, notice
from armarium_recipes.project.saving import read_saved, seen_answer, use_card
from armarium_recipes.queries.bakeoffs import bakeoff_row
from armarium_recipes.schemas.bakeoffs import (
    Bakeoff,
    CompareFinders,
    StartBakeoff,
    UseCandidateOfBakeoff,
    UsedCandidate,
)
from armarium_recipes.schemas.comparing import CompareFindersArgs

FOLDERS = ("folder",)


def keep_bakeoff(ctx: ActionContext, job_id: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """Write the row of the bake-off whose job is *job_id* in the running step, and its file afterwards;
    return it as it is answered.
    """
    ctx.conn.execute(bakeoffs.insert().values(id=job_id, started_at=ctx.now, outcome=None, **row))
    answer = bakeoff_answer(ctx.conn, ctx.engine, ctx.project, bakeoff_row(ctx.conn, job_id))
    library = ctx.project
    ctx.on_commit(lambda: write_file(library, answer))
    return answer


def begin_bakeoff(
    engine: Engine, library: Library, principal: Principal, body: StartBakeoff
) -> tuple[Outcome, dict[str, Any]]:
    """Enqueue a bake-off of readers (`evaluation.run`); return the outcome and the bake-off as it is answered."""
    notice(engine, library)
    with library.db.read() as conn:
        plan = plan_bakeoff(conn, engine, library, principal, body)
    answer: dict[str, Any] = {}

    def keep(ctx: ActionContext) -> None:
        planned = {page["document_id"] for page in ctx.answer["plan"]["pages"]}
        plan.corrected.keep(planned, "Its lines were changed while the bake-off was being started.")
        row = plan.row(body.step, promote=body.promote)
        answer.update(keep_bakeoff(ctx, ctx.answer["job_id"], row))

    return engine.run(library, "evaluation.run", plan.evaluation, principal, in_transaction=keep), answer


@action(
    "project.compare_line_finders",
    result=Bakeoff,
    summary="Compare line finders on checked pages.",
    words="Started to compare line finders",
    undoable=False,
    guards_targets=True,
    prepare=before_action,
)
def compare_line_finders(ctx: ActionContext, p: CompareFinders) -> dict[str, Any]:
    """Invalid, with what is missing, for fewer than 100 corrected lines on two pages, a project that is not
    set up, or if no finder can be tried.
    """
    plan = plan_finders(ctx.conn, ctx.engine, ctx.project, ctx.principal, p)
    pages = [page["document_id"] for page in plan.corrected.pages]
    args = CompareFindersArgs(page_ids=pages, finders=plan.finders)
    job_id = ctx.enqueue(
        "compare-line-finders",
        args.model_dump(mode="json"),
        title=f"Compare {len(plan.finders)} line finders on {len(pages)} pages",
        total=len(plan.finders) * len(pages),
    )
    ctx.target(*pages, job_id)
    return keep_bakeoff(ctx, job_id, plan.row("find-lines"))


@action(
    "project.use_bakeoff",
    result=UsedCandidate,
    summary="Use a candidate of a bake-off.",
    words="Used a candidate of a bake-off",
    route=Route("POST", "/api/recipes/project/bakeoffs/{bakeoff_id}/use", name="use_bakeoff"),
    prepare=before_action,
)
def use_bakeoff(ctx: ActionContext, p: UseCandidateOfBakeoff) -> dict[str, Any]:
    """An override through `project.save_setup`; for the whole project, the step's own card and model as well.

    Invalid for a card that is not in the table or has no score, and for a line finder other than the line
    reader's.
    """
    row = bakeoff_row(ctx.conn, p.bakeoff_id)
    bakeoff = bakeoff_answer(ctx.conn, ctx.engine, ctx.project, row)
    chosen = next((candidate for candidate in bakeoff["candidates"] if candidate["card"] == p.card), None)
    if chosen is None:
        raise refusals.not_in_table(p.card, [candidate["card"] for candidate in bakeoff["candidates"]])
    if row["step"] == "find-lines" and not p.card.startswith(LINE_READER):
        raise refusals.only_the_line_readers(p.card)
    if chosen["not_scored"] is not None:
        raise refusals.not_scored(p.card, chosen["not_scored"])
    if chosen["cer"] is None and chosen["lines_found"] is None:
        raise refusals.still_going(bakeoff["state"])
    if (p.scope == "folder") != (p.folder_id is not None):
        raise refusals.folder_wanted()
    if p.folder_id is not None and require_live(ctx.conn, p.folder_id).doc_type not in FOLDERS:
        raise no_folder(p.folder_id)
    card = next((card for card in cards_here(ctx.engine, ctx.project) if card.id == p.card), None)
    if card is None:
        raise refusals.no_card(p.card)
    recipe = read_saved(ctx.conn).recipe
    steps = [step.id for step in (recipe.steps if recipe is not None else ()) if step.job == row["step"]]
    setup = use_card(ctx, steps[0] if steps else row["step"], card, p.scope, p.folder_id)
    ctx.target(p.bakeoff_id)
    return {**seen_answer(ctx, setup), "proposed": None}
