"""Background work on synced folders: scanning, writing, arranging. Two jobs never work on one folder at a time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from armarium.api import JobContext, JobKind, Library, RetryLater
from armarium_sync.actions.folders import ARRANGE, LOOK, WRITE
from armarium_sync.arranging import carry_out, plan_of
from armarium_sync.intake import Looker
from armarium_sync.queueing import put_in_queue
from armarium_sync.records import WorkArgs
from armarium_sync.rows import disk_of, folder_by_id
from armarium_sync.writing import Writer

AWAY = 30.0
"""Seconds after which a missing folder is looked for again."""

BUSY = 0.5
"""Seconds after which a job that found another one working on its folder tries again."""

FOREVER = 10**9
"""Being put off is not a failure: a page that is edited all day is written in the evening."""


@contextmanager
def _hold_folder(library: Library, folder_id: str) -> Iterator[None]:
    lock: threading.Lock = library.held.setdefault(f"sync.lock.{folder_id}", threading.Lock())
    if not lock.acquire(blocking=False):
        raise RetryLater("Other work is being done on the folder.", seconds=BUSY)
    try:
        yield
    finally:
        lock.release()


def look_at(job: JobContext) -> dict[str, Any]:
    """Find what changed in the folder, and import it if the intake is on."""
    folder_id = job.args.folder_id

    def run(name: str, params: dict[str, Any]) -> Any:
        return job.act(name, params).result

    with _hold_folder(job.library, folder_id):
        looker = Looker(
            job.engine,
            job.library,
            folder_id,
            run,
            check=job.check,
            warn=lambda words: job.log("warning", words),
        )
        outcome = looker.run(thorough=job.args.thorough)
    if not outcome.there:
        return {"there": False}
    if outcome.to_write:
        put_in_queue(job.engine, job.library, WRITE, folder_id)
    if job.args.arrange:
        # Only now is it known which layout files move along with their pictures.
        put_in_queue(job.engine, job.library, ARRANGE, folder_id)
    if outcome.again is not None:
        raise RetryLater(
            "Files are still being written; they will be read when they no longer change.",
            seconds=outcome.again,
        )
    names = ("passes", "images", "followed", "moved", "refused")
    return {"there": True, **{name: getattr(outcome, name) for name in names}}


def write_files(job: JobContext) -> dict[str, Any]:
    """Write the pages that have not changed for a while, and wait for the others."""
    folder_id = job.args.folder_id
    with _hold_folder(job.library, folder_id):
        with job.library.db.read_all() as conn:
            folder = folder_by_id(conn, folder_id)
        if folder is None:
            return {"written": 0}
        if not disk_of(job.library, folder).is_there():
            raise RetryLater(
                f"The folder {folder.path} is missing at the moment; it will be written to when it is back.",
                seconds=AWAY,
            )
        writer = Writer(
            job.engine,
            job.library,
            folder_id,
            job.principal,
            check=job.check,
            warn=lambda words: job.log("warning", words),
            progress=job.progress,
        )
        later = writer.run()
    if later is not None:
        raise RetryLater("Pages are still being edited; they will be written afterwards.", seconds=later)
    return {"written": writer.written}


def arrange_files(job: JobContext) -> dict[str, Any]:
    """Move the files that do not match the project folder, in one step."""
    folder_id = job.args.folder_id
    with _hold_folder(job.library, folder_id):
        carry_out(job.library, folder_id)
        with job.library.db.read_all() as conn:
            folder = folder_by_id(conn, folder_id)
            if folder is None or folder.mode != "keep-arranged":
                return {"moved": 0}
            disk = disk_of(job.library, folder)
            if not disk.is_there():
                raise RetryLater(f"The folder {folder.path} is missing at the moment.", seconds=AWAY)
            plan = plan_of(conn, folder, disk)
        for path, why in plan.refused:
            job.log("warning", f"{path}: {why}")
        if plan.moves:
            listed = [move.as_answered() for move in plan.moves]
            job.act("sync.arrange", {"folder_id": folder_id, "moves": listed})
    return {"moved": len(plan.moves), "refused": len(plan.refused)}


JOBS = tuple(
    JobKind(name=name, lane="cpu", summary=summary, run=run, args=WorkArgs, retries=FOREVER)
    for name, summary, run in (
        (LOOK, "Find what changed in a synced folder, and import it", look_at),
        (WRITE, "Write changed pages to a synced folder", write_files),
        (ARRANGE, "Arrange a synced folder like its project folder", arrange_files),
    )
)
