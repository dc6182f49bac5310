"""The only writes of checking: start and cancel a run, give a verdict, record the verdicts of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import select

from armarium.api import ActionContext, Example, Route, action, cancel_with_undo, is_among, new_id
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
from armarium_documents.api import pages_under
from armarium_reading.api import episodes, own_prompt
from armarium_source_model.api import sample_page


def _page_with_reading(ex: Example) -> tuple[str, str]:
    page = sample_page(ex, ["Dear Sir"])
    return page.document_id, page.reading_ids[0]


def _run_example(ex: Example) -> dict[str, Any]:
    checker = {"provider": "builtin", "model": "agreement"}
    return {"layer": "readings", "scope_ids": [_page_with_reading(ex)[0]], "checker": checker}


@action(
    "check.run",
    params=RunParams,
    result=StartedRun,
    summary="Check what was read, proposal by proposal.",
    route=Route("POST", "/api/check/runs", name="start_run"),
    words="Started to check {scope_ids|pages}",
    example=_run_example,
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
    title = f"Check the {p.layer} of {len(pages)} {'page' if len(pages) == 1 else 'pages'}"
    job_id = ctx.enqueue(JOB_KIND, args.model_dump(mode="json"), title=title, lane=lane)
    ctx.target(*p.scope_ids, job_id)
    return {"job_id": job_id, "state": "waiting"}


@action(
    "check.cancel",
    params=CancelParams,
    result=StartedRun,
    summary="Cancel a check run; it stops before the next page.",
    route=Route("POST", "/api/check/runs/{job_id}/cancel", name="cancel_run", refusals=(404, 409)),
    words="Cancelled a check",
    undoable=False,
    example=lambda ex: {"job_id": ex.run("check.run", _run_example(ex))["job_id"]},
)
def cancel(ctx: ActionContext, p: CancelParams) -> dict[str, Any]:
    """Verdicts already given remain. Raises NotFound for an id that is not a check run's."""
    read_run(ctx.conn, p.job_id)
    told = ctx.run("job.cancel", {"job_id": p.job_id})
    return {"job_id": p.job_id, "state": told["state"]}


def _verdict_example(ex: Example) -> dict[str, Any]:
    _, reading_id = _page_with_reading(ex)
    return {
        "layer": "readings",
        "target_id": reading_id,
        "verdict": "confirm",
        "reasons": "Compared with the leaf",
    }


@action(
    "check.verdict",
    params=VerdictParams,
    result=Verdict,
    summary="Give a verdict on a proposal.",
    words="Gave a verdict",
    example=_verdict_example,
)
def verdict(ctx: ActionContext, p: VerdictParams) -> dict[str, Any]:
    """The verdict is the caller's own: a person's is trusted as one, any other as a model's. It does not
    change the state of the proposal.
    """
    layer = layer_named(ctx.engine, p.layer)
    found = _target(ctx, layer, p.target_id)
    if p.segment_id is not None and p.segment_id != found.segment_id:
        raise errors.other_segment(p.target_id, p.segment_id)
    if p.correction is not None and p.verdict != "correct":
        raise errors.corrects_nothing()
    if p.replacement_id is not None:
        _require_replacement(ctx, layer, found, p)
    _require_episodes(ctx, [p.episode_id])
    stated = p.model_dump(mode="json", exclude={"segment_id"})
    return _write(ctx, layer, found, {**stated, "checker": _caller(ctx)})


def _caller(ctx: ActionContext) -> dict[str, str]:
    """Return the caller as the checker."""
    provider = "user" if ctx.principal.kind == "person" else "agent"
    return {"provider": provider, "model": ctx.principal.name}


def _require_replacement(ctx: ActionContext, layer: Layer, found: Target, p: VerdictParams) -> None:
    """Refuse an invalid replacement: one that does not exist, is of another line, or accompanies a verdict
    other than correct.
    """
    assert p.replacement_id is not None
    if p.verdict != "correct":
        raise errors.corrects_nothing()
    other = _target(ctx, layer, p.replacement_id)
    if other.segment_id != found.segment_id and found.segment_id is not None:
        raise errors.other_segment(p.replacement_id, found.segment_id)


def _require_episodes(ctx: ActionContext, ids: Iterable[str | None]) -> None:
    """Raise NotFound for a model call that is not in the ledger."""
    named = {one for one in ids if one is not None}
    there = set(ctx.conn.execute(select(episodes.c.id).where(is_among(episodes.c.id, named))).scalars())
    for missing in sorted(named - there):
        raise errors.unknown_episode(missing)


def _take_example(ex: Example) -> dict[str, Any]:
    told = _verdict_example(ex)
    opinion = {name: told[name] for name in ("target_id", "verdict", "reasons")}
    return {"layer": "readings", "kind": "transcription", "checker": {"provider": "builtin", "model": "agreement"},
            "verdicts": [opinion]}  # fmt: skip


@action(
    "check.take",
    params=TakeParams,
    result=Taken,
    summary="Record the verdicts of a check run on the proposals of one page.",
    words="Checked {|a page}",
    example=_take_example,
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
    written = []
    decided = (
        _decided_by_persons(ctx, layer, [run_verdict.target_id for run_verdict in p.verdicts])
        if ctx.run_id
        else set()
    )
    for run_verdict in p.verdicts:
        found = _target(ctx, layer, run_verdict.target_id)
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
        written.append(_write(ctx, layer, found, row, by_run=True)["id"])
    return {"verdict_ids": written}


def _decided_by_persons(ctx: ActionContext, layer: Layer, target_ids: Sequence[str]) -> set[str]:
    v = verdicts.c
    asked = select(v.target_id).where(
        v.layer == layer.name, v.trust == "person", is_among(v.target_id, target_ids)
    )
    return set(ctx.conn.execute(asked).scalars())


def _target(ctx: ActionContext, layer: Layer, target_id: str) -> Target:
    found = layer.find(ctx.conn, target_id)
    if found is None:
        raise errors.unknown_target(target_id, layer.name)
    return found


def _write(
    ctx: ActionContext, layer: Layer, found: Target, stated: Mapping[str, Any], *, by_run: bool = False
) -> dict[str, Any]:
    is_person = ctx.principal.kind == "person" and not by_run
    row = {
        "id": new_id(),
        "document_id": found.document_id,
        "segment_id": found.segment_id,
        **stated,
        "trust": "person" if is_person else "model",
        "run_id": ctx.run_id,
        "audit_id": ctx.audit_id,
        "created_at": ctx.now,
    }
    ctx.conn.execute(verdicts.insert().values(row))
    if layer.said is not None:
        layer.said(ctx, row["target_id"], row["verdict"], is_person)
    ctx.target(row["id"], *([found.document_id] if found.document_id else []))
    if found.document_id is not None:
        ctx.note_changes(document_ids=[found.document_id])
    return row
