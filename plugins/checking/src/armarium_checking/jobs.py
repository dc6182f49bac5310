"""The job of checking, page by page: the verdicts on a page, or on a few of its proposals, in one step with
the checkpoint.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from armarium.api import CannotGoOn, JobContext, JobKind, ServiceError, name_document
from armarium_checking import errors
from armarium_checking.asking import ask_about_page
from armarium_checking.hookspecs import CheckPage, Layer, PagePart
from armarium_checking.layers import layer_named
from armarium_checking.queries.checks import ANSWERS, JOB_KIND
from armarium_checking.records.checks import CheckArgs
from armarium_reading.api import sees_pictures


def run_check(job: JobContext) -> dict[str, Any]:
    """Check every remaining page. Killed at any point and run again, it repeats no verdict and asks only
    about unanswered proposals.
    """
    args: CheckArgs = job.args
    layer = layer_named(job.engine, args.layer)
    begin = layer.checkers.get((args.provider, args.model))
    check = None if begin is None else begin(job)
    progress: dict[str, Any] = {
        "next": 0,
        "within": [],
        "total": 0,
        **dict.fromkeys(ANSWERS, 0),
        "first": None,
        "answered": 0,
        **job.checkpoint,
    }
    pages = args.page_ids
    for number in range(progress["next"], len(pages)):
        job.check()
        try:
            for part in _parts(job, layer, check, pages[number], frozenset(progress["within"])):
                progress = _take(job, part, progress, number)
        except CannotGoOn as stopped:
            raise stopped.at(name_document(job, pages[number]), number, len(pages)) from stopped
        except ServiceError as refusal:
            job.log("warning", refusal.detail, document_id=pages[number])
            progress = {
                **progress,
                "first": progress["first"] or refusal.detail,
                "next": number + 1,
                "within": [],
            }
            job.save(progress, done=number + 1, total=len(pages))
    if progress["first"] and not progress["answered"]:
        # There is no verdict on any: a retry, once the cause is removed, should check all of its pages.
        job.save({})
        raise errors.nothing_could_be_checked(progress["first"])
    if progress["first"]:
        job.remark = f"Not everything could be checked; the log says why. The first: {progress['first']}"
    counts = {name: progress[name] for name in ("total", *ANSWERS)}
    return {**counts, "output": counts} if len(pages) == 1 else counts


def _parts(
    job: JobContext, layer: Layer, check: CheckPage | None, page_id: str, asked_before: frozenset[str]
) -> Iterator[PagePart]:
    """Yield the verdicts on a page: all at once from a checker without a model, otherwise for a few proposals
    at a time.
    """
    if check is not None:
        yield check(job, page_id)
    else:
        pictures = sees_pictures(job.engine, job.args.provider, job.args.model)
        yield from ask_about_page(job, layer, page_id, asked_before, pictures=pictures)


def _take(job: JobContext, part: PagePart, progress: dict[str, Any], number: int) -> dict[str, Any]:
    """Return the checkpoint after *part*, which is written in one step with its verdicts."""
    args: CheckArgs = job.args
    after = {
        **progress,
        "total": progress["total"] + part.asked,
        "unanswered": progress["unanswered"] + part.asked - len(part.opinions),
        "answered": progress["answered"] + part.answered,
        "first": progress["first"] or part.refused or None,
        "next": number + 1 if part.last else number,
        "within": [] if part.last else [*progress["within"], *part.keys],
    }
    for opinion in part.opinions:
        after[opinion.verdict] += 1
    params = {
        "layer": args.layer,
        "kind": args.kind,
        "checker": {"provider": args.provider, "model": args.model},
        "verdicts": [opinion._asdict() for opinion in part.opinions],
    }
    done, total = after["next"], len(args.page_ids)
    if part.opinions:
        job.act("check.take", params, checkpoint=after, done=done, total=total)
    else:
        job.save(after, done=done, total=total)
    return after


CHECK = JobKind(
    name=JOB_KIND,
    lane="local-model",
    also_lanes=("network",),
    summary="Check what was read.",
    run=run_check,
    args=CheckArgs,
)
