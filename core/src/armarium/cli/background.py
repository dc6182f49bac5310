"""Commands about background work: what runs and waits, with live progress; pause, cancel, retry, mode."""

from __future__ import annotations

import sys
import time
from typing import Annotated, Any

import typer

from armarium.cli.options import Mode, Topic
from armarium.cli.output import answer, table, wants_json
from armarium.cli.program import engine_session, work_session
from armarium.cli.session import Session, id_of

EVERY = 0.25
"""Seconds between two requests for the state of the work."""

jobs = typer.Typer(help="Background work.", invoke_without_command=True)


def register(program: typer.Typer) -> None:
    """Add the commands."""
    program.add_typer(jobs, name="jobs", rich_help_panel=Topic.work, epilog="Example: armarium jobs --watch")


@jobs.callback()
def list_jobs(
    context: typer.Context,
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Keep showing it until nothing is left.")
    ] = False,
) -> None:
    """List the jobs that run, wait, are paused or failed, each with the reason."""
    if context.invoked_subcommand is not None:
        return
    with work_session() as session:
        if watch and not wants_json():
            _watch(session)
            return
        found = session.get("/api/activity/jobs")
    answer(
        found,
        lambda: table(f"Background work ({found['mode']})", _COLUMNS, [_row(j) for j in found["items"]]),
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
            found = session.get("/api/activity/jobs")
            drawn = Table(title=f"Background work ({found['mode']})")
            for name in _COLUMNS:
                drawn.add_column(name, overflow="fold", min_width=32 if name == "id" else None)
            for job in found["items"]:
                drawn.add_row(*(escape(str(cell)) for cell in _row(job)))
            live.update(drawn)
            if not _going_on(found):
                return
            time.sleep(EVERY)


def _watch_in_lines(session: Session) -> None:
    said: dict[str, str] = {}
    while True:
        found = session.get("/api/activity/jobs")
        for job in found["items"]:
            if said.get(job["id"]) != job["state"]:
                said[job["id"]] = job["state"]
                typer.echo("  ".join(str(cell) for cell in _row(job) if cell != ""))
        if not _going_on(found):
            typer.echo("No work is left to wait for.")
            return
        time.sleep(EVERY)


def _going_on(found: dict[str, Any]) -> bool:
    if found["mode"] == "paused":
        return any(job["state"] == "running" for job in found["items"])
    return any(
        job["state"] in ("running", "waiting") and not _is_planned_snapshot(job) for job in found["items"]
    )


def _is_planned_snapshot(job: dict[str, Any]) -> bool:
    """Return whether the job is the next scheduled snapshot; nobody waits for that one."""
    return job["kind"] == "snapshot" and job.get("reason_code") == "retry-later"


JobId = Annotated[str, typer.Argument(help="Id of the job.")]


@jobs.command(epilog="Example: armarium jobs log ID")
def log(job: JobId) -> None:
    """Show the log of a job and of the jobs beneath it."""
    with work_session() as session:
        found = session.get(f"/api/activity/jobs/{id_of(job)}/log")

    def words() -> None:
        for line in found["lines"]:
            typer.echo(f"{line['at']} {line['level']:7} {line['message']}")

    answer(found, words)


@jobs.command(epilog="Example: armarium jobs pause")
def pause(
    job: Annotated[str | None, typer.Argument(help="Id of the job; by default all jobs.")] = None,
) -> None:
    """Pause a job, or all background work; items in progress are finished first."""
    _set_paused(job, True)


@jobs.command(epilog="Example: armarium jobs resume")
def resume(
    job: Annotated[str | None, typer.Argument(help="Id of the job; by default all jobs.")] = None,
) -> None:
    """Resume a job, or all background work."""
    _set_paused(job, False)


def _set_paused(job: str | None, paused: bool) -> None:
    path = f"/api/activity/jobs/{id_of(job)}/paused" if job else "/api/activity/jobs/paused"
    with work_session() as session:
        done = session.put(path, {"paused": paused})
    answer(done, f"{job or 'Background work'}: {done.get('state') or done.get('mode')}.")


@jobs.command(epilog="Example: armarium jobs cancel ID")
def cancel(job: JobId) -> None:
    """Cancel a job; the item in progress is finished first."""
    with work_session() as session:
        done = session.post(f"/api/activity/jobs/{id_of(job)}/cancel")
    answer(done, f"{job}: {done['state']}.")


@jobs.command(epilog="Example: armarium jobs retry ID")
def retry(job: JobId) -> None:
    """Retry a failed job from where it stopped."""
    with work_session() as session:
        done = session.post(f"/api/activity/jobs/{id_of(job)}/retry")
    answer(done, f"{job}: {done['state']}.")


@jobs.command("clear-failed", epilog="Example: armarium jobs clear-failed")
def clear_failed() -> None:
    """Remove failed jobs from the list."""
    with work_session() as session:
        done = session.post("/api/activity/jobs/clear-failed")
    answer(done, f"Cleared {done['cleared']}.")


@jobs.command(epilog="Example: armarium jobs mode started")
def mode(value: Annotated[Mode, typer.Argument(help="Paused: no job starts.")]) -> None:
    """Set when background work may start."""
    with engine_session() as session:
        done = session.put("/api/activity/jobs/mode", {"mode": value.value})
    answer(done, f"Mode: {done.get('mode', value.value)}.")
