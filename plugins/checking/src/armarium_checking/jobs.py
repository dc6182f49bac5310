"""The long work of checking: page by page, each page's verdicts in one step with the checkpoint."""

from __future__ import annotations

from typing import Any

from armarium.api import JobContext, JobKind, ServiceError
from armarium_checking import errors
from armarium_checking.layers import layer_named
from armarium_checking.queries import ANSWERS, JOB_KIND
from armarium_checking.schemas import CheckArgs


def run_check(job: JobContext) -> dict[str, Any]:
    """Check every page that is left; killed anywhere and run again, it says nothing twice."""
    args: CheckArgs = job.args
    layer = layer_named(job.engine, args.layer)
    begin = layer.checkers.get((args.provider, args.model), layer.ask)
    assert begin is not None
    check = begin(job)
    kept: dict[str, Any] = {
        "next": 0,
        "total": 0,
        **dict.fromkeys(ANSWERS, 0),
        "first": None,
        "checked": 0,
        **job.checkpoint,
    }
    pages = args.page_ids
    checker = {"provider": args.provider, "model": args.model}
    for number in range(kept["next"], len(pages)):
        job.check()
        kept = {**kept, "next": number + 1}
        try:
            found = check(job, pages[number])
            after = {**kept, "total": kept["total"] + found.asked, "checked": kept["checked"] + 1}
            after["unanswered"] += found.asked - len(found.opinions)
            for one in found.opinions:
                after[one.verdict] += 1
            sent = {"layer": args.layer, "kind": args.kind, "checker": checker, "episode_id": found.episode_id,
                    "verdicts": [one._asdict() for one in found.opinions]}  # fmt: skip
            if found.opinions:
                job.act("check.take", sent, checkpoint=after, done=number + 1, total=len(pages))
            else:
                job.save(after, done=number + 1, total=len(pages))
            kept = after
        except ServiceError as refusal:
            kept["first"] = kept["first"] or refusal.detail
            job.log("warning", refusal.detail, document_id=pages[number])
            job.save(kept, done=number + 1, total=len(pages))
    if kept["first"] and not kept["checked"]:
        raise errors.nothing_could_be_checked(kept["first"])
    counts = {name: kept[name] for name in ("total", *ANSWERS)}
    return {**counts, "output": counts} if len(pages) == 1 else counts


CHECK = JobKind(
    name=JOB_KIND,
    lane="local-model",
    also_lanes=("network",),
    summary="Check what was read.",
    run=run_check,
    args=CheckArgs,
)
