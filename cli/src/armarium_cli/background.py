"""Commands about background work: what runs and waits, with live progress; pause, cancel, retry, mode."""

from __future__ import annotations

import sys
import time
from typing import Annotated, Any

import typer

from armarium_cli.declared import BY_ID, Commands
from armarium_cli.options import Mode, Topic
from armarium_cli.output import answer, table, wants_json
from armarium_cli.program import work_session
from armarium_cli.session import Session, id_of

commands = Commands(Topic.work)
jobs = commands.group("jobs", "Background work.", example="jobs --watch")

EVERY = 0.25
"""Seconds between two requests for the state of the work."""


@jobs.callback()
def list_jobs(
    context: typer.Context,
    watch: Annotated[bool, "--watch, -w: Keep showing it until nothing is left."] = False,
) -> None:
    """List the jobs that run, wait, are paused or failed, each with the reason."""
    if context.invoked_subcommand is not None:
        return
    with work_session() as session:
        if watch and not wants_json():
            _watch(session)
            return
        activity = session.get("/api/activity/jobs")
    answer(
        activity,
        lambda: table(
            f"Background work ({activity['mode']})", _COLUMNS, [_row(j) for j in activity["items"]]
        ),
    )


_COLUMNS = ("id", "what", "state", "done", "why")


def _row(job: dict[str, Any]) -> tuple[object, ...]:
    pages = f"{job['done']}/{job['total']}" if job.get("total") else ""
    return job["id"], job.get("title") or job["kind"], job["state"], pages, job.get("reason") or ""


def _watch(session: Session) -> None:
    """Show the work until nothing is left that can proceed: redrawn on a terminal, else a line when a state changes."""
    from rich.live import Live
    from rich.markup import escape
    from rich.table import Table

    if not sys.stdout.isatty():
        _watch_in_lines(session)
        return
    with Live(refresh_per_second=4) as live:
        while True:
            activity = session.get("/api/activity/jobs")
            jobs_table = Table(title=f"Background work ({activity['mode']})")
            for name in _COLUMNS:
                jobs_table.add_column(name, overflow="fold", min_width=32 if name == "id" else None)
            for job in activity["items"]:
                jobs_table.add_row(*(escape(str(cell)) for cell in _row(job)))
            live.update(jobs_table)
            if not _going_on(activity):
                return
            time.sleep(EVERY)


def _watch_in_lines(session: Session) -> None:
    printed: dict[str, str] = {}
    while True:
        activity = session.get("/api/activity/jobs")
        for job in activity["items"]:
            if printed.get(job["id"]) != job["state"]:
                printed[job["id"]] = job["state"]
                typer.echo("  ".join(str(cell) for cell in _row(job) if cell != ""))
        if not _going_on(activity):
            typer.echo("No work is left to wait for.")
            return
        time.sleep(EVERY)


def _going_on(activity: dict[str, Any]) -> bool:
    if activity["mode"] == "paused":
        return any(job["state"] == "running" for job in activity["items"])
    return any(
        job["state"] in ("running", "waiting") and not _is_planned_snapshot(job) for job in activity["items"]
    )


def _is_planned_snapshot(job: dict[str, Any]) -> bool:
    """Return whether the job is the next scheduled snapshot; nobody waits for that one."""
    return job["kind"] == "snapshot" and job.get("reason_code") == "retry-later"


JobId = Annotated[str, "Id of the job.", BY_ID]
AnyJob = Annotated[str | None, "JOB: Id of the job; by default all jobs."]


def _log_line(line: dict[str, Any]) -> str:
    about = (line.get("data") or {}).get("document_id")
    return f"{line['at']} {line['level']:7} {line['message']}" + (f" (document {about})" if about else "")


@jobs.asks(
    "log ID",
    "GET /api/activity/jobs/{job}/log",
    of="work",
    says=lambda job_log: "\n".join(_log_line(line) for line in job_log["lines"]),
)
def log(job: JobId) -> None:
    """Show the log of a job and of the jobs beneath it."""


@jobs.example("pause")
def pause(job: AnyJob = None) -> None:
    """Pause a job, or all background work; items in progress are finished first."""
    _set_paused(job, True)


@jobs.example("resume")
def resume(job: AnyJob = None) -> None:
    """Resume a job, or all background work."""
    _set_paused(job, False)


def _set_paused(job: str | None, paused: bool) -> None:
    path = f"/api/activity/jobs/{id_of(job)}/paused" if job else "/api/activity/jobs/paused"
    with work_session() as session:
        result = session.put(path, {"paused": paused})
    answer(result, f"{job or 'Background work'}: {result.get('state') or result.get('mode')}.")


@jobs.asks("cancel ID", "POST /api/activity/jobs/{job}/cancel", of="work", says="{job}: {state}.")
def cancel(job: JobId) -> None:
    """Cancel a job; the item in progress is finished first."""


@jobs.asks("retry ID", "POST /api/activity/jobs/{job}/retry", of="work", says="{job}: {state}.")
def retry(job: JobId) -> None:
    """Retry a failed job from where it stopped."""


@jobs.asks("clear-failed", "POST /api/activity/jobs/clear-failed", of="work", says="Cleared {cleared}.")
def clear_failed() -> None:
    """Remove failed jobs from the list."""


@jobs.asks("mode started", "PUT /api/activity/jobs/mode", of="engine", says="Mode: {mode}.")
def mode(mode: Annotated[Mode, "Paused: no job starts."]) -> None:
    """Set when background work may start."""
