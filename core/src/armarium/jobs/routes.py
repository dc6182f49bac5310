"""Background jobs and the activity log over HTTP; queries and actions are in `armarium.jobs`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Path, Query, Response

from armarium.engine import Engine
from armarium.jobs.actions import Cleared, JobState
from armarium.jobs.activity import ActivityType, read_activity
from armarium.jobs.import_tree import DERIVATIVES, derivatives_of, import_goes_on
from armarium.jobs.listing import counted_tree, is_counted, list_jobs, no_such, targets
from armarium.jobs.log import Level, read_lines
from armarium.jobs.queue_view import OF_KINDS, QueueView, open_view
from armarium.jobs.schemas import ActivityPage, JobList, JobLog, JobTree, Paused
from armarium.messages import written
from armarium.principals import Principal
from armarium.store.database import Database, raw_of
from armarium.store.tables import json_text
from armarium.web.http import (
    REFUSALS,
    CurrentEngine,
    CurrentPrincipal,
    OptionalLibrary,
    audit_header,
    json_response,
    library_required,
)
from armarium.web.routers import Router
from armarium.web.times import moment

if TYPE_CHECKING:
    from armarium.projects.libraries import Library

router = Router(prefix="/api/activity", tags=["activity"])

JobId = Annotated[
    str,
    Path(
        max_length=200,
        description="A job, a counted row (`waiting:<kind>`, `paused:<kind>`) or `derivatives`.",
    ),
]


def _places(engine: Engine, principal: Principal, library: Library | None) -> list[Library | None]:
    """Return where to look: the named project, else every open one the caller reaches; and the engine itself.

    A token bound to some projects cannot see the engine's own work.
    """
    itself: list[Library | None] = [None] if principal.libraries is None else []
    if library is not None:
        return [library, *itself]
    return [
        *(library for library in engine.libraries.open_now() if principal.reaches(str(library.path))),
        *itself,
    ]


def _imports(places: list[Library | None]) -> list[Library | None]:
    """Return where an import may be running: not in the engine itself, which is only included where no project is open."""
    return [place for place in places if place is not None] or [None]


def _database(engine: Engine, library: Library | None) -> Database:
    return library.db if library is not None else engine.state


@contextmanager
def _sights(engine: Engine, places: list[Library | None]) -> Iterator[list[QueueView]]:
    with ExitStack() as stack:
        yield [stack.enter_context(open_view(engine.jobs, place)) for place in places]


def _homes(views: list[QueueView], job_id: str) -> list[QueueView]:
    """Return the places that hold *job_id*: one for a job, perhaps several for a counted row. NotFound when none does."""
    if is_counted(job_id):
        # The import row is shown while one of its jobs runs, even if none waits: decisions about it must work all the
        # same.
        goes_on = [job_id == DERIVATIVES and import_goes_on(view) for view in views]
        queue_views = [
            view
            for view, is_running in zip(views, goes_on, strict=True)
            if is_running or targets(view, job_id)
        ]
    else:
        queue_views = [view for view in views if view.row(job_id) is not None][:1]
    if not queue_views:
        raise no_such(job_id)
    return queue_views


def _decide(
    engine: Engine,
    principal: Principal,
    library: Library | None,
    name: str,
    job_id: str,
    **params: Any,
) -> Response:
    """Run a decision about *job_id* wherever the job is; a counted row in several projects is decided in each."""
    answer: dict[str, Any] = {}
    with _sights(engine, _places(engine, principal, library)) as views:
        homes = [view.library for view in _homes(views, job_id)]
    for home in homes:
        outcome = engine.run(home, name, {"job_id": job_id, **params}, principal)
        applied = (answer.get("applied") or 0) + ((outcome.result or {}).get("applied") or 0)
        answer = {**(outcome.result or {}), "audit_id": outcome.audit_id}
        if is_counted(job_id):
            answer["applied"] = applied
    return json_response(answer, headers=audit_header(answer["audit_id"]))


@router.get(
    "", response_model=ActivityPage, responses=REFUSALS(404, 409), summary="The event log of activity"
)
def list_activity(
    engine: CurrentEngine,
    principal: CurrentPrincipal,
    library: OptionalLibrary,
    types: Annotated[list[ActivityType] | None, Query()] = None,
    levels: Annotated[list[Level] | None, Query()] = None,
    workflow_id: Annotated[str | None, Query(max_length=200)] = None,
    batch_id: Annotated[str | None, Query(max_length=200)] = None,
    thread_id: Annotated[str | None, Query(max_length=200)] = None,
    since: Annotated[str | None, Query(max_length=40)] = None,
    until: Annotated[str | None, Query(max_length=40)] = None,
    search: Annotated[
        str | None, Query(max_length=200, description="In the message, whatever its case.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
) -> Response:
    """Newest first, of the named project or of every open one, and of the engine itself."""
    items: list[dict[str, Any]] = []
    total = 0
    began, ended = moment("since", since), moment("until", until, last=True)
    for place in _places(engine, principal, library):
        with _database(engine, place).read() as conn:
            entries, count = read_activity(
                conn,
                types=types or (),
                levels=levels or (),
                workflow_id=workflow_id,
                batch_id=batch_id,
                thread_ids=None if thread_id is None else [thread_id],
                since=began,
                until=ended,
                search=search,
                limit=limit + offset,
            )
        items += entries
        total += count
    items.sort(key=lambda item: (item["timestamp"], item["id"]), reverse=True)
    page = items[offset : offset + limit]
    return json_response(
        {"items": page, "count": len(page), "total": total, "limit": limit, "offset": offset}
    )


@router.get(
    "/jobs", response_model=JobList, responses=REFUSALS(404, 409), summary="Jobs that run, wait or failed"
)
def jobs(engine: CurrentEngine, principal: CurrentPrincipal, library: OptionalLibrary) -> Response:
    """Each with a reason as a sentence; several waiting jobs of a kind are one counted row."""
    return json_response(list_jobs(engine.jobs, _places(engine, principal, library)))


@router.post(
    "/jobs/clear-failed",
    response_model=written(Cleared),
    responses=REFUSALS(404, 409),
    summary="Take failed jobs out of the list (job.clear_failed)",
)
def clear_failed(engine: CurrentEngine, principal: CurrentPrincipal, library: OptionalLibrary) -> Response:
    """The rows are kept, and a retry lists a job again. Without a project: in every open one."""
    cleared = 0
    audit_id = ""
    places = _places(engine, principal, library)
    if not places:
        raise library_required()
    for place in places:
        if place is None and audit_id and not _has_failed(engine):
            continue
        outcome = engine.run(place, "job.clear_failed", {}, principal)
        cleared += (outcome.result or {}).get("cleared", 0)
        audit_id = outcome.audit_id
    return json_response({"cleared": cleared, "audit_id": audit_id}, headers=audit_header(audit_id))


def _has_failed(engine: Engine) -> bool:
    with engine.state.read() as conn:
        raw = raw_of(conn)
        return raw.execute("SELECT 1 FROM job WHERE state = 'failed' LIMIT 1").fetchone() is not None


@router.get(
    "/jobs/derivatives",
    response_model=JobTree,
    responses=REFUSALS(404, 409),
    summary="The import by its stages",
)
def import_tree(engine: CurrentEngine, principal: CurrentPrincipal, library: OptionalLibrary) -> Response:
    """The current import, or the last one: a node for each stage, reading the files first."""
    return json_response(derivatives_of(engine.jobs, _imports(_places(engine, principal, library))))


@router.put(
    "/jobs/{job_id}/paused",
    response_model=written(JobState),
    responses=REFUSALS(404, 409),
    summary="Pause a job, or resume it (job.pause)",
)
def pause(
    job_id: JobId,
    body: Paused,
    engine: CurrentEngine,
    principal: CurrentPrincipal,
    library: OptionalLibrary,
) -> Response:
    """Stays paused across restarts of the engine. A running job finishes the item in progress: the answer says running."""
    return _decide(engine, principal, library, "job.pause", job_id, paused=body.paused)


@router.post(
    "/jobs/{job_id}/cancel",
    response_model=written(JobState),
    responses=REFUSALS(404, 409),
    summary="Cancel a job",
)
def cancel(
    job_id: JobId, engine: CurrentEngine, principal: CurrentPrincipal, library: OptionalLibrary
) -> Response:
    """And everything beneath it; a job on a remote service is cancelled there."""
    return _decide(engine, principal, library, "job.cancel", job_id)


@router.post(
    "/jobs/{job_id}/retry",
    response_model=written(JobState),
    responses=REFUSALS(404, 409),
    summary="Put a failed or cancelled job back in the queue",
)
def retry(
    job_id: JobId, engine: CurrentEngine, principal: CurrentPrincipal, library: OptionalLibrary
) -> Response:
    """It resumes from its checkpoint; in any state but failed, cancelled and waiting nothing changes."""
    return _decide(engine, principal, library, "job.retry", job_id)


@router.get(
    "/jobs/{job_id}", response_model=JobTree, responses=REFUSALS(404, 409), summary="A job and all beneath it"
)
def one_job(
    job_id: JobId, engine: CurrentEngine, principal: CurrentPrincipal, library: OptionalLibrary
) -> Response:
    """A person who asks is taken to be watching: the job goes before other work for half a minute."""
    places = _places(engine, principal, library)
    if job_id == DERIVATIVES:
        return json_response(derivatives_of(engine.jobs, _imports(places)))
    with _sights(engine, places) as views:
        if is_counted(job_id):
            return json_response(counted_tree(views, job_id))
        for view in views:
            row = view.row(job_id)
            if row is not None:
                if principal.kind == "person":
                    engine.jobs.watch(view.library, job_id)
                kind = engine.jobs.kinds.get(row.kind)
                more = kind.describe(view.conn, job_id) if kind is not None and kind.describe else {}
                return json_response({**view.tree(row), "result": view.result(row), **more})
    raise no_such(job_id)


@router.get(
    "/jobs/{job_id}/log", response_model=JobLog, responses=REFUSALS(404, 409), summary="The log of a job"
)
def job_log(
    job_id: JobId,
    engine: CurrentEngine,
    principal: CurrentPrincipal,
    library: OptionalLibrary,
    limit: Annotated[int, Query(ge=1, le=5000)] = 500,
    after: Annotated[int | None, Query(ge=0, le=2**62, description="Only lines after this number.")] = None,
) -> Response:
    """Its lines and those of the rows beneath it, newest last; nothing from another row."""
    lines: list[dict[str, Any]] = []
    with _sights(engine, _places(engine, principal, library)) as views:
        for view in _log_homes(views, job_id):
            rows = read_lines(view.conn, _log_rows(view, job_id), limit=limit, after=after)
            lines += [view.as_seen(line) for line in rows]
    return json_response({"id": job_id, "lines": lines, "count": len(lines)})


def _log_homes(views: list[QueueView], job_id: str) -> list[QueueView]:
    if job_id == DERIVATIVES:
        return [view for view in views if view.library is not None][:1] or views[:1]
    return _homes(views, job_id)[:1]


def _log_rows(view: QueueView, job_id: str) -> list[str]:
    if job_id == DERIVATIVES:
        return [row.id for row in view.rows(OF_KINDS, (json_text(view.runner.kinds.import_kinds()),))]
    if is_counted(job_id):
        return [row.id for row in targets(view, job_id)]
    return [job_id]
