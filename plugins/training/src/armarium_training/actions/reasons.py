"""Reasons: have a palaeographer's model say why lines are read as they are, and measure whether that helps a
student.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from armarium.api import ActionContext, Placement, Route, action
from armarium_documents.api import pages_under
from armarium_reading.api import own_prompt, placed_with_provider
from armarium_training import errors
from armarium_training.asking_lines import use_by
from armarium_training.cards import find_card
from armarium_training.line_sets import checked_pages
from armarium_training.planning import is_new_to
from armarium_training.queries.job_rows import COMPARE, GATHER
from armarium_training.schemas.training import (
    ComparisonParams,
    JobParams,
    ReasonsArgs,
    ReasonsParams,
    Started,
    StateOf,
)
from armarium_training.starting import args_from, cancel_job, pages_of


@action(
    "training.gather_reasons",
    result=Started,
    summary="Ask a model why each checked line is read as it is.",
    route=Route("POST", "/api/training/reasons", refusals=(403, 404, 409)),
    words="Started to gather reasons for {scope_ids|pages}",
    undoable=False,
    guards_targets=True,
)
def gather_reasons(ctx: ActionContext, p: ReasonsParams) -> dict[str, Any]:
    """Enqueue the gathering. Each call is an episode of the ledger; held-out pages are left out. Refused if
    nothing was checked.
    """
    pages = pages_of(ctx.conn, p.scope_ids)
    held_out = pages_under(ctx.conn, p.held_out_ids)
    prompt = own_prompt(ctx.project, p.prompt_file) if p.prompt_file is not None else None
    lines = _count_lines(ctx, p, pages, held_out, [(p.provider, p.model)])
    placed = _place(ctx, p.provider, p.model, pages_may_leave=p.pages_may_leave)
    args = args_from(ReasonsArgs, p, page_ids=pages, held_out_ids=held_out, prompt=prompt)
    job_id = ctx.enqueue(
        GATHER,
        args.model_dump(mode="json"),
        title=f"Gather reasons for {lines} lines",
        model=placed.model,
        total=lines,
        lane=placed.lane,
    )
    ctx.target(*p.scope_ids, job_id)
    return {"job_id": job_id}


@action(
    "training.cancel_reasons",
    result=StateOf,
    summary="Stop gathering reasons; those already gathered are kept.",
    route=Route("POST", "/api/training/reasons/{job_id}/cancel"),
    words="Stopped gathering reasons",
    undoable=False,
)
def cancel_reasons(ctx: ActionContext, p: JobParams) -> dict[str, Any]:
    """Cancel the job. NotFound for an id that is not a gathering's."""
    return cancel_job(ctx, p.job_id, GATHER, errors.unknown_gathering)


@action(
    "training.measure_reasons_ab",
    result=Started,
    summary="Measure whether students that give reasons read better than the one that only answers.",
    route=Route("POST", "/api/training/reasons-ab", refusals=(403, 404, 409)),
    words="Started to compare students",
    undoable=False,
    guards_targets=True,
)
def measure_reasons_ab(ctx: ActionContext, p: ComparisonParams) -> dict[str, Any]:
    """Each contender reads the same held-out checked lines. Refused if nothing was checked, if a contender that was
    trained here may have seen one of the pages, or if one may not be asked.
    """
    pages = pages_under(ctx.conn, p.held_out_ids)
    models = [(contender.provider, contender.model) for contender in p.contenders]
    lines = _count_lines(ctx, p, pages, [], models)
    _refuse_seen(ctx, p, pages)
    placed = [_place(ctx, *pair, pages_may_leave=p.pages_may_leave) for pair in models]
    is_here = all(placement.lane == "local-model" for placement in placed)
    args = {**p.model_dump(mode="json"), "held_out_ids": pages}
    title = f"Compare {len(placed)} students on {lines} lines"
    lane = "local-model" if is_here else "network"
    job_id = ctx.enqueue(COMPARE, args, title=title, total=lines * len(placed), lane=lane)
    ctx.target(*p.held_out_ids, job_id)
    return {"job_id": job_id}


def _count_lines(
    ctx: ActionContext,
    p: ReasonsParams | ComparisonParams,
    pages: Sequence[str],
    held: Sequence[str],
    models: Sequence[tuple[str, str]],
) -> int:
    """Return how many lines there are to ask about; Invalid if there is none, NotFound for an unknown provider."""
    use = use_by(ctx.engine, models)
    lines, _ = checked_pages(
        ctx.conn,
        ctx.project,
        ctx.principal,
        pages,
        p.checked,
        use=use,
        held_out_ids=held,
        # Reasons are asked for every line of the pass; students are compared on what a person checked.
        with_unchecked=isinstance(p, ReasonsParams),
    )
    if not lines:
        raise errors.not_checked(p.checked)
    return sum(map(len, lines.values()))


def _place(ctx: ActionContext, provider: str, model: str, *, pages_may_leave: bool) -> Placement:
    """Return where a provider's model is asked; Forbidden if pages would leave without permission."""
    placed = placed_with_provider(ctx.engine, provider, model, pages_may_leave=pages_may_leave)
    if placed.lane != "local-model":
        errors.refuse_to_leave(ctx.project, f"The model {model!r}", pages_may_leave=pages_may_leave)
    return placed


def _refuse_seen(ctx: ActionContext, p: ComparisonParams, pages: Sequence[str]) -> None:
    """Raise Invalid for a page that a contender which was trained here did not hold out."""
    for contender in p.contenders:
        place = find_card(ctx.engine, ctx.project, contender.model)
        if place is None:
            continue
        for page in pages:
            if not is_new_to(ctx.conn, place.card, page):
                raise errors.may_have_trained(contender.model, page)
