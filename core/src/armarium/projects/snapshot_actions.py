"""Snapshots taken by a person or the engine: the action, the job at the interval, and the copy elsewhere.

While an interval is set, the first change after a snapshot queues a job that waits until the next one is due: a project
in which nothing changes takes none.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pydantic import Field

from armarium.actions import ActionContext, Params, action
from armarium.errors import Unavailable
from armarium.ids import now, parse_timestamp
from armarium.jobs.body_ends import RetryLater
from armarium.jobs.context import JobContext
from armarium.jobs.kinds import JobKind
from armarium.messages import Message
from armarium.projects import offsite_copies, snapshots
from armarium.runs.jobs import list_jobs
from armarium.store.database import raw_of

if TYPE_CHECKING:
    from armarium.engine import Engine
    from armarium.projects.libraries import Library

TAKE = "snapshot.take"

SETTLED, TIMES, TAKING = "snapshot.settled", "snapshot.times", "snapshot.taking"
"""Keys in `Library.held`: that the next snapshot is queued or none is wanted, as the number of times that was reset
before (a step may report it late, when its snapshot is taken already); that number now; the job that took the last one
or takes one now, whose row may still say that it runs.
"""

TRY_AGAIN = 3600.0
"""Seconds after which a snapshot that the disk refused is tried again, at most."""


class SnapshotParams(Params):
    """A snapshot to take."""

    reason: str = Field(default="on demand", max_length=200)


class Snapshot(Message):
    """A copy of the project's database with the list of files it needs. `bytes` is null for a caller from whom
    something is withheld.
    """

    id: str
    created_at: str
    reason: str
    path: str
    bytes: int | None
    objects: int


class TakenSnapshot(Snapshot):
    """A new snapshot, and the job that copies it to `snapshot_offsite_path`, where one is set."""

    copy_job_id: str | None = None


@action(
    TAKE,
    result=TakenSnapshot,
    summary="Take a snapshot of the project now",
    words="Took a snapshot",
    undoable=False,
)
def take_snapshot(ctx: ActionContext, p: SnapshotParams) -> dict[str, Any]:
    """503 and nothing changed when it cannot be taken. Contains the project as it was when the step began."""
    library = ctx.project
    entry = library.snapshot(p.reason)
    snapshots.remove_old(library.path, int(library.setting("snapshot_retention_count", 10)))
    ctx.target(str(entry["id"]))
    copy_job_id = None
    if library.setting("snapshot_offsite_path"):
        copy_job_id = ctx.enqueue(
            "snapshot-copy", {"snapshot_id": entry["id"]}, title="Copy a snapshot to the folder for copies"
        )
    return {**snapshots.told_to(ctx.principal, library.db, entry), "copy_job_id": copy_job_id}


class CopyArgs(Params):
    """The snapshot to copy."""

    snapshot_id: str


def plan_next(ctx: ActionContext) -> None:
    """Plan a snapshot at the end of a step that changed the project, where an interval is set."""
    library = ctx.library
    if library is None or ctx.action_name == TAKE:
        return
    times = library.held.get(TIMES, 0)
    if library.held.get(SETTLED) == times:
        return
    raw = raw_of(ctx.conn)
    if not raw.execute("SELECT 1 FROM sqlite_master WHERE name = 'library_setting'").fetchone():
        # An engine-wide step that names a project is written in the engine's own database.
        return
    row = raw.execute("SELECT value FROM library_setting WHERE key = 'snapshot_interval_seconds'").fetchone()
    if row is not None and int(row[0]) > 0:
        planned = [job.id for job in list_jobs(raw, kinds="snapshot")]
        if not set(planned) - {library.held.get(TAKING, "")}:
            ctx.enqueue("snapshot", {}, title="Scheduled snapshot")
    ctx.on_commit(lambda: library.held.update({SETTLED: times}))


def plan_anew(library: Library) -> None:
    """Check the interval again when the next step ends."""
    library.held[TIMES] = library.held.get(TIMES, 0) + 1


def interval_set(ctx: ActionContext) -> None:
    """After the interval has changed, reschedule what is waiting for the former one."""
    plan_anew(ctx.project)
    # One that runs may have read the former interval already: it is due again as soon as it is put back.
    planned = raw_of(ctx.conn).execute(
        "UPDATE job SET not_before = CASE state WHEN 'running' THEN ? END "
        "WHERE kind = 'snapshot' AND state IN ('waiting', 'running')",
        (now(),),
    )
    ctx.enqueued = ctx.enqueued or planned.rowcount > 0


def run_snapshot(ctx: JobContext) -> dict[str, Any]:
    """Wait until a snapshot is due, then take it. If the disk refuses, show the reason and try again."""
    library = ctx.library
    interval = int(library.setting("snapshot_interval_seconds") or 0)
    if interval <= 0:
        plan_anew(library)
        return {"snapshot_id": None}
    seconds = _seconds_left(library, interval)
    if seconds > 0:
        raise RetryLater("The next snapshot is not due yet.", seconds=seconds)
    # A change from here on may come too late for this one.
    library.held[TAKING] = ctx.job_id
    plan_anew(library)
    try:
        snapshot = ctx.act(TAKE, {"reason": "by the interval set"}).result
    except BaseException as error:
        # It continues or is run again: then it is the planned one again. Otherwise it stays passed over until its row
        # has ended.
        library.held.pop(TAKING, None)
        if isinstance(error, Unavailable):
            raise RetryLater(error.detail, seconds=min(float(interval), TRY_AGAIN)) from error
        raise
    assert snapshot is not None
    return {"snapshot_id": snapshot["id"], "copy_job_id": snapshot["copy_job_id"]}


def _seconds_left(library: Library, interval: int) -> float:
    newest = snapshots.list_snapshots(library.path)[:1]
    if not newest:
        return 0.0
    since = (datetime.now(UTC) - parse_timestamp(newest[0]["created_at"])).total_seconds()
    # A clock that was set back makes nobody wait longer than the interval.
    return min(interval - since, float(interval))


def run_copy(ctx: JobContext) -> dict[str, Any]:
    """Copy it with the files it needs; a snapshot that was removed meanwhile, or a folder no longer set, is not a fault."""
    library = ctx.library
    place = library.setting("snapshot_offsite_path")
    matches = [
        snapshot
        for snapshot in snapshots.list_snapshots(library.path)
        if snapshot["id"] == ctx.args.snapshot_id
    ]
    if not place or not matches:
        return {"path": None, "files_copied": 0, "files_lost": 0}

    def on_file(done: int, total: int) -> None:
        ctx.check()
        ctx.progress(done, total)

    return offsite_copies.copy_away(
        library,
        library.snapshots / matches[0]["path"].rpartition("/")[2],
        offsite_copies.checked_place(place, ctx.engine.paths),
        keep=int(library.setting("snapshot_retention_count", 10)),
        on_file=on_file,
    )


def _replan_snapshots(engine: Engine, library: Library | None, job_id: str) -> None:
    if library is not None:
        plan_anew(library)


SNAPSHOT_JOBS = (
    JobKind(
        name="snapshot",
        lane="database",
        summary="Take a snapshot when it is due",
        run=run_snapshot,
        retries=1_000_000,
        on_cancel=_replan_snapshots,
    ),
    JobKind(
        name="snapshot-copy",
        lane="database",
        summary="Copy a snapshot and the files it needs to another folder",
        run=run_copy,
        args=CopyArgs,
    ),
)
