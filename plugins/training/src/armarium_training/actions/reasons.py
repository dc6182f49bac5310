"""Reasons: have a palaeographer's model say why lines are read as they are, and measure whether that helps a
student.
"""

from __future__ import annotations

from typing import Any

from armarium.api import ActionContext, Example, Route, action, new_id
from armarium_documents.api import pages_under
from armarium_reading.api import own_prompt, placed_with_provider
from armarium_training import errors, samples
from armarium_training.line_sets import checked_lines
from armarium_training.queries.job_rows import COMPARE, GATHER
from armarium_training.queries.reasons import read_gathering
from armarium_training.schemas.training import (
    ComparisonParams,
    JobParams,
    ReasonsArgs,
    ReasonsParams,
    Started,
    StateOf,
)
from armarium_training.starting import pages_of


def _provider(ex: Example) -> str:
    """Create a provider on this machine that is never asked: the example's job waits."""
    from armarium.api import Principal

    owner = Principal("person", "owner", "owner", token_kind="owner", folders=None)
    stated = {
        "name": f"Sample {new_id()}",
        "provider_type": "local-server",
        "api_base": "http://127.0.0.1:9/v1",
    }
    made = ex.engine.run(None, "provider.create", stated, owner).result or {}
    tiny = {"name": "Tiny", "model_id": "tiny", "capabilities": ["text", "vision"], "is_default": True}
    ex.engine.run(None, "provider.set_models", {"provider_id": made["id"], "models": [tiny]}, owner)
    return str(made["id"])


def _example(ex: Example) -> dict[str, Any]:
    page = samples.read_page(ex)
    return {"scope_ids": [page], "checked": samples.BY_HAND, "provider": _provider(ex), "model": "tiny"}


@action(
    "training.gather_reasons",
    params=ReasonsParams,
    result=Started,
    summary="Ask a model why each checked line is read as it is.",
    route=Route("POST", "/api/training/reasons", status=202, refusals=(403, 404, 409)),
    words="Started to gather reasons for {scope_ids|pages}",
    undoable=False,
    guards_targets=True,
    example=_example,
)
def gather_reasons(ctx: ActionContext, p: ReasonsParams) -> dict[str, Any]:
    """Enqueue the gathering. Each call is an episode of the ledger; held-out pages are left out. Refused if
    nothing was checked.
    """
    pages = pages_of(ctx.conn, p.scope_ids)
    held = pages_under(ctx.conn, p.held_out_ids) if p.held_out_ids else []
    prompt = own_prompt(ctx.project, p.prompt_file) if p.prompt_file is not None else None
    placed = placed_with_provider(ctx.engine, p.provider, p.model, pages_may_leave=p.pages_may_leave)
    lines = sum(len(checked_lines(ctx.conn, page, p.checked)[0]) for page in pages if page not in held)
    if not lines:
        raise errors.not_checked(p.checked)
    args = ReasonsArgs(
        page_ids=pages,
        held_out_ids=held,
        checked=p.checked,
        provider=p.provider,
        model=p.model,
        prompt=prompt,
        language=p.language,
        pages_may_leave=p.pages_may_leave,
    )
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
    params=JobParams,
    result=StateOf,
    summary="Stop gathering reasons; those already gathered are kept.",
    route=Route("POST", "/api/training/reasons/{job_id}/cancel"),
    words="Stopped gathering reasons",
    undoable=False,
    example=lambda ex: {"job_id": ex.run("training.gather_reasons", _example(ex))["job_id"]},
)
def cancel_reasons(ctx: ActionContext, p: JobParams) -> dict[str, Any]:
    """Cancel the job. NotFound for an id that is not a gathering's."""
    read_gathering(ctx.conn, p.job_id)
    told = ctx.run("job.cancel", {"job_id": p.job_id})
    ctx.target(p.job_id)
    return {"job_id": p.job_id, "state": told["state"]}


def _comparison(ex: Example) -> dict[str, Any]:
    given = _example(ex)
    one = {"provider": given["provider"], "model": "tiny", "arm": "answer"}
    contenders = [{**one, "label": "one", "role": "baseline"}, {**one, "label": "two", "role": "teacher"}]
    return {"checked": given["checked"], "held_out_ids": given["scope_ids"], "contenders": contenders}


@action(
    "training.measure_reasons_ab",
    params=ComparisonParams,
    result=Started,
    summary="Measure whether students that give reasons read better than the one that only answers.",
    route=Route("POST", "/api/training/reasons-ab", status=202, refusals=(403, 404, 409)),
    words="Started to compare students",
    undoable=False,
    guards_targets=True,
    example=_comparison,
)
def measure_reasons_ab(ctx: ActionContext, p: ComparisonParams) -> dict[str, Any]:
    """Each contender reads the same held-out checked lines. Refused if one may not be asked or nothing was
    checked.
    """
    pages = pages_under(ctx.conn, p.held_out_ids)
    placed = [
        placed_with_provider(ctx.engine, one.provider, one.model, pages_may_leave=p.pages_may_leave)
        for one in p.contenders
    ]
    lines = sum(len(checked_lines(ctx.conn, page, p.checked)[0]) for page in pages)
    if not lines:
        raise errors.not_checked(p.checked)
    is_here = all(one.lane == "local-model" for one in placed)
    stated = {**p.model_dump(mode="json"), "held_out_ids": pages}
    title = f"Compare {len(placed)} students on {lines} lines"
    lane = "local-model" if is_here else "network"
    job_id = ctx.enqueue(COMPARE, stated, title=title, total=lines * len(placed), lane=lane)
    ctx.target(*p.held_out_ids, job_id)
    return {"job_id": job_id}
