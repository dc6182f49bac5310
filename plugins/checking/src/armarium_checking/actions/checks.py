"""The only writes of checking: start and cancel a run, give a verdict, record the verdicts of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import select

from armarium.api import ActionContext, Route, action, cancel_with_undo, is_among, new_id
from armarium_checking import errors
from armarium_checking.hookspecs import Layer, Target
from armarium_checking.layers import find_placement, layer_named
from armarium_checking.queries.checks import JOB_KIND, read_run
from armarium_checking.records.checks import (
    CancelParams,
    CheckArgs,
    RunParams,
    StartedRun,
    Taken,
    TakeParams,
    Verdict,
    VerdictParams,
    verdicts,
)
from armarium_documents.api import pages_under, title_of_work
from armarium_reading.api import episodes, own_prompt


@action(
    "check.run",
    result=StartedRun,
    summary="Check what was read, proposal by proposal.",
    route=Route("POST", "/api/check/runs", name="start_run"),
    words="Started to check {scope_ids|pages}",
    guards_targets=True,
    after_undo=cancel_with_undo,
)
def run(ctx: ActionContext, p: RunParams) -> dict[str, Any]:
    """Enqueue a check run. The checker that needs no model is `builtin`, `agreement`."""
    layer = layer_named(ctx.engine, p.layer)
    chosen = p.checker.provider, p.checker.model
    lane = find_placement(ctx.engine, layer, chosen, pages_may_leave=p.pages_may_leave).lane
    prompt = None
    if p.prompt_file is not None:
        if chosen in layer.checkers:
            raise errors.takes_no_prompt()
        prompt = own_prompt(ctx.project, p.prompt_file)
    pages = pages_under(ctx.conn, p.scope_ids, for_processing=True)
    if not pages:
        raise errors.nothing_to_check()
    args = CheckArgs(
        layer=p.layer,
        page_ids=pages,
        provider=chosen[0],
        model=chosen[1],
        kind=p.kind,
        pass_model=p.pass_model,
        language=p.language,
        prompt=prompt,
        pages_may_leave=p.pages_may_leave,
    )
    title = title_of_work(ctx.conn, f"Check the {p.layer}", pages)
    job_id = ctx.enqueue(JOB_KIND, args.model_dump(mode="json"), title=title, total=len(pages), lane=lane)
    ctx.target(*p.scope_ids, job_id)
    return {"job_id": job_id, "state": "waiting"}


@action(
    "check.cancel",
    result=StartedRun,
    summary="Cancel a check run; it stops before the next page.",
    route=Route("POST", "/api/check/runs/{job_id}/cancel", name="cancel_run", refusals=(404, 409)),
    words="Cancelled a check",
    undoable=False,
)
def cancel(ctx: ActionContext, p: CancelParams) -> dict[str, Any]:
    """Verdicts already given remain. Raises NotFound for an id that is not a check run's."""
    read_run(ctx.conn, p.job_id)
    cancelled = ctx.run("job.cancel", {"job_id": p.job_id})
    return {"job_id": p.job_id, "state": cancelled["state"]}


@action(
    "check.verdict",
    result=Verdict,
    summary="Give a verdict on a proposal.",
    words="Gave a verdict",
)
def verdict(ctx: ActionContext, p: VerdictParams) -> dict[str, Any]:
    """The verdict is the caller's own: a person's is trusted as one, any other as a model's. It does not
    change the state of the proposal.
    """
    layer = layer_named(ctx.engine, p.layer)
    target = _target(ctx, layer, p.target_id)
    if p.segment_id is not None and p.segment_id != target.segment_id:
        raise errors.other_segment(p.target_id, p.segment_id)
    if p.correction is not None and p.verdict != "correct":
        raise errors.corrects_nothing()
    if p.replacement_id is not None:
        _require_replacement(ctx, layer, target, p)
    _require_episodes(ctx, [p.episode_id])
    fields = p.model_dump(mode="json", exclude={"segment_id"})
    return _write(ctx, layer, target, {**fields, "checker": _caller(ctx)})


def _caller(ctx: ActionContext) -> dict[str, str]:
    """Return the caller as the checker."""
    provider = "user" if ctx.principal.kind == "person" else "agent"
    return {"provider": provider, "model": ctx.principal.name}


def _require_replacement(ctx: ActionContext, layer: Layer, target: Target, p: VerdictParams) -> None:
    """Refuse an invalid replacement: one that does not exist, is of another line, or accompanies a verdict
    other than correct.
    """
    assert p.replacement_id is not None
    if p.verdict != "correct":
        raise errors.corrects_nothing()
    other = _target(ctx, layer, p.replacement_id)
    if other.segment_id != target.segment_id and target.segment_id is not None:
        raise errors.other_segment(p.replacement_id, target.segment_id)


def _require_episodes(ctx: ActionContext, ids: Iterable[str | None]) -> None:
    """Raise NotFound for a model call that is not in the ledger."""
    episode_ids = {episode_id for episode_id in ids if episode_id is not None}
    known_episodes = set(
        ctx.conn.execute(select(episodes.c.id).where(is_among(episodes.c.id, episode_ids))).scalars()
    )
    for missing in sorted(episode_ids - known_episodes):
        raise errors.unknown_episode(missing)


@action(
    "check.take",
    result=Taken,
    summary="Record the verdicts of a check run on the proposals of one page.",
    words="Checked {|a page}",
)
def take(ctx: ActionContext, p: TakeParams) -> dict[str, Any]:
    """A corrected reading is written first, as a machine's that names the reading it corrects. Trusted as a
    model's; outside a run the checker is the caller, whatever the request states. What a person gave a verdict on is
    left as it is: a run says nothing about it any more.
    """
    layer = layer_named(ctx.engine, p.layer)
    # A run states its checker; outside a run, the checker is the caller.
    checker = p.checker.model_dump() if ctx.run_id is not None else _caller(ctx)
    _require_episodes(ctx, [run_verdict.episode_id for run_verdict in p.verdicts])
    verdict_ids = []
    decided = (
        _decided_by_persons(ctx, layer, [run_verdict.target_id for run_verdict in p.verdicts])
        if ctx.run_id
        else set()
    )
    for run_verdict in p.verdicts:
        target = _target(ctx, layer, run_verdict.target_id)
        if run_verdict.target_id in decided:
            continue
        replacement = None
        if run_verdict.correction is not None:
            if run_verdict.verdict != "correct":
                raise errors.corrects_nothing()
            if ctx.principal.kind == "person":
                raise errors.of_a_run_alone()
            if layer.replace is not None:
                replacement = layer.replace(ctx, run_verdict.target_id, run_verdict.correction, p.kind)
        row = {"layer": p.layer, **run_verdict.model_dump(mode="json"), "replacement_id": replacement}
        row["checker"] = checker
        verdict_ids.append(_write(ctx, layer, target, row, by_run=True)["id"])
    return {"verdict_ids": verdict_ids}


def _decided_by_persons(ctx: ActionContext, layer: Layer, target_ids: Sequence[str]) -> set[str]:
    verdict = verdicts.c
    query = select(verdict.target_id).where(
        verdict.layer == layer.name, verdict.trust == "person", is_among(verdict.target_id, target_ids)
    )
    return set(ctx.conn.execute(query).scalars())


def _target(ctx: ActionContext, layer: Layer, target_id: str) -> Target:
    target = layer.find(ctx.conn, target_id)
    if target is None:
        raise errors.unknown_target(target_id, layer.name)
    return target


def _write(
    ctx: ActionContext, layer: Layer, target: Target, fields: Mapping[str, Any], *, by_run: bool = False
) -> dict[str, Any]:
    is_person = ctx.principal.kind == "person" and not by_run
    row = {
        "id": new_id(),
        "document_id": target.document_id,
        "segment_id": target.segment_id,
        **fields,
        "trust": "person" if is_person else "model",
        "run_id": ctx.run_id,
        "audit_id": ctx.audit_id,
        "created_at": ctx.now,
    }
    ctx.conn.execute(verdicts.insert().values(row))
    if layer.said is not None:
        layer.said(ctx, row["target_id"], row["verdict"], is_person)
    ctx.target(row["id"], *([target.document_id] if target.document_id else []))
    if target.document_id is not None:
        ctx.note_changes(document_ids=[target.document_id])
    return row
