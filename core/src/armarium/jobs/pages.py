"""Work on pages: what one page gives, and the loop that every job over pages is, so that killed at any instant it loses
nothing and repeats nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from pydantic import Field, create_model

from armarium.actions.definition import Params
from armarium.actions.wording import names_of_documents
from armarium.errors import Invalid, ServiceError
from armarium.jobs.body_ends import CannotGoOn
from armarium.jobs.kinds import JobKind, LaneName

if TYPE_CHECKING:
    from armarium.jobs.context import JobContext

MAX_FAILED = 1000
"""How many failed pages a job's result names; all of them are in its log."""

WORKER_GONE = frozenset({"worker_died", "engine_stopping"})
"""Codes of refusals that mean there is no worker: they fail the job, not the page."""

Kept = dict[str, Any]
"""The checkpoint of a job over pages: `next`, `pages`, `skipped`, `failed`, and what the job adds."""


@dataclass(frozen=True, slots=True)
class PageWork:
    """The result for a page: the action that writes it, in one step with the job's checkpoint.

    `output` is passed on in a workflow, together with the fields of the action's result named in `answers`.
    """

    action: str
    params: Mapping[str, Any]
    output: Mapping[str, Any] = field(default_factory=dict)
    answers: tuple[str, ...] = ()


class PageSkipped(Exception):
    """Raised, with the reason, for a page on which there is nothing to do."""


class PageWithheld(PageSkipped):
    """Raised, with the reason, for a page whose rights keep it from the work: it is passed over, a workflow says that it was
    not done, and the work on it is still to be done."""


@cache
def page_arguments(settings: type[Params]) -> type[Params]:
    """Return the arguments model of a job kind that works page by page with *settings*: those, and `page_ids`."""
    return create_model(
        f"{settings.__name__}OnPages",
        __base__=settings,
        __module__=settings.__module__,
        __doc__="Which pages, and the settings.",
        page_ids=(list[str], Field(max_length=100_000)),
    )


def page_kind(
    name: str,
    work: Callable[[JobContext, str], PageWork | None],
    settings: type[Params],
    *,
    summary: str,
    lane: LaneName = "cpu",
    **more: Any,
) -> JobKind:
    """Return a job kind whose body calls *work* with its context and the id of one page after the other.

    *work* reads what it needs and returns what is to be written, without writing itself; None or `PageSkipped` where
    there is nothing to write. A page that is refused is named and the others continue. `job.args` has the settings.
    *more* is passed to `JobKind` (`heavy`, `also_lanes` and so on).
    """
    return JobKind(
        name=name,
        lane=lane,
        summary=summary,
        run=lambda job: _run_work(job, work),
        args=page_arguments(settings),
        **more,
    )


def each_page(
    job: JobContext,
    kept: Kept,
    pages: Iterable[tuple[str, Callable[[Kept], Kept | None]]],
) -> Kept:
    """Do what is left of a job over pages; return its checkpoint. A page that fails is named, and the others continue.

    Each of *pages* comes with what writes it in one step with the checkpoint that it is given, and returns that
    checkpoint as it was saved, or None (or raises `PageSkipped`) where there is nothing to write. Invalid if none could be
    done; CannotGoOn where no further page can be, with its checkpoint before that page.
    """
    total = len(job.args.page_ids)
    for page_id, write in pages:
        begun = {**kept, "next": kept["next"] + 1, "failed": list(kept["failed"])}
        skipped = {**begun, "skipped": kept["skipped"] + 1}
        try:
            checkpoint = write({**begun, "pages": kept["pages"] + 1})
            if checkpoint is not None:
                kept = checkpoint
                continue
            kept = skipped
        except PageSkipped as why:
            kept = {"why": str(why), **skipped}
            if isinstance(why, PageWithheld):
                kept.setdefault("withheld", str(why))
            job.log("info", str(why), document_id=page_id)
        except CannotGoOn as stopped:
            raise stopped.at(name_document(job, page_id), kept["next"], total) from stopped
        except ServiceError as refusal:
            if refusal.code in WORKER_GONE:
                gone = CannotGoOn(refusal.detail, code=refusal.code)
                raise gone.at(name_document(job, page_id), kept["next"], total) from refusal
            kept = begun
            if len(kept["failed"]) < MAX_FAILED:
                name = name_document(job, page_id)
                named = {} if name is None else {"name": name}
                kept["failed"].append({"document_id": page_id, **named, "why": refusal.detail})
            job.log("warning", refusal.detail, document_id=page_id)
        job.save(kept, done=kept["next"], total=total)
    failed = kept["next"] - kept["pages"] - kept["skipped"]
    if failed == total and kept["failed"]:
        # Nothing was written: whoever retries it when the cause is mended wants all of its pages done.
        job.save({})
    note_failed(job, failed, total, kept["failed"])
    job.remark = job.remark or nothing_done(kept, total)
    return kept


def name_document(job: JobContext, document_id: str) -> str | None:
    """Return the name of a document of the job's project; None for one that is gone."""
    library, plugins = job.library, job.engine.plugins.loaded
    with library.db.read() as conn:
        return names_of_documents(plugins, library.schema, conn, [document_id]).get(document_id)


def note_failed(
    job: JobContext, failed: int, total: int, named: Sequence[Mapping[str, Any]], thing: str = "page"
) -> None:
    """Say how a job ends that could not do *failed* of its *total* things: Invalid if it did none of them, else the remark that
    is shown of it when it is done. *named* tells of the first ones `why`, and the `name`.
    """
    if failed and named:
        words = tell_failed(failed, total, named, thing)
        if failed == total:
            raise Invalid(words, code="all_failed")
        job.remark = words


def tell_failed(failed: int, total: int, named: Sequence[Mapping[str, Any]], thing: str) -> str:
    """Return the sentence about a job that could not do *failed* of its *total* things; see `note_failed`."""
    why, name = str(named[0]["why"]), named[0].get("name")
    if failed == total == 1:
        return why
    first = f"{name}: {why}" if name else why
    if failed == total:
        return f"No {thing} could be done. The first: {first}"
    return f"Could not do {failed} of {total} {thing}s; the log says why. The first: {first}"


def _run_work(job: JobContext, work: Callable[[JobContext, str], PageWork | None]) -> dict[str, Any]:
    total = len(job.args.page_ids)

    def write(page_id: str, progress: Kept) -> Kept | None:
        page_work = work(job, page_id)
        if page_work is None:
            return None
        keep = _with_output(progress, page_work, total)
        outcome = job.act(
            page_work.action, page_work.params, checkpoint=keep, done=progress["next"], total=total
        )
        return keep(outcome.result or {})

    def pages(start: int) -> Iterator[tuple[str, Callable[[Kept], Kept | None]]]:
        for page_id in job.args.page_ids[start:]:
            job.check()
            yield page_id, partial(write, page_id)

    begun: Kept = {"next": 0, "pages": 0, "skipped": 0, "failed": [], **job.checkpoint}
    outcome = each_page(job, begun, pages(begun["next"]))
    keys = ("pages", "skipped", "failed", "withheld", "counts", "output")
    return {key: outcome[key] for key in keys if key in outcome}


def nothing_done(kept: Mapping[str, Any], pages: int) -> str | None:
    """Return what to say of a job that wrote nothing for any of its *pages*, from its counts and `why`, the reason of the
    first that was passed over; None where it wrote something."""
    if kept["pages"]:
        return None
    if not pages:
        return "Nothing was done: there are no pages."
    why = kept.get("why", "There was nothing to do on any page.")
    return (
        f"Nothing was done. {why}" if pages == 1 else f"Nothing was done on {pages} pages. The first: {why}"
    )


def _with_output(
    progress: Mapping[str, Any], page_work: PageWork, pages: int
) -> Callable[[dict[str, Any]], dict[str, Any]]:
    numbers = {
        name: count
        for name, count in page_work.output.items()
        if isinstance(count, int) and not isinstance(count, bool)
    }
    before = progress.get("counts", {})
    progress = {
        **progress,
        "counts": {**before, **{name: before.get(name, 0) + n for name, n in numbers.items()}},
    }

    def checkpoint(answer: dict[str, Any]) -> dict[str, Any]:
        if pages != 1:
            return dict(progress)
        return {
            **progress,
            "output": {**page_work.output, **{name: answer.get(name) for name in page_work.answers}},
        }

    return checkpoint
