"""Work on synced folders in the background: a look, writing, arranging. Two never work in one folder at a time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import select

from armarium.api import JobContext, JobKind, Library, RetryLater
from armarium_sync.actions.folders import ARRANGE, LOOK, WRITE
from armarium_sync.arranging import carry_out, plan_of
from armarium_sync.intake import Looker
from armarium_sync.models import folders
from armarium_sync.queueing import put_in_queue
from armarium_sync.rows import disk_of
from armarium_sync.schemas import WorkArgs
from armarium_sync.writing import Writer

AWAY = 30.0
"""Seconds after which a folder that is not there is looked for again."""

BUSY = 0.5
"""Seconds after which work goes on that found other work in its folder."""

FOREVER = 10**9
"""Putting off is no failure: a page that is worked on all day is written in the evening."""


@contextmanager
def _hold_folder(library: Library, folder_id: str) -> Iterator[None]:
    lock: threading.Lock = library.held.setdefault(f"sync.lock.{folder_id}", threading.Lock())
    if not lock.acquire(blocking=False):
        raise RetryLater("Other work goes on in the folder.", seconds=BUSY)
    try:
        yield
    finally:
        lock.release()


def look_at(job: JobContext) -> dict[str, Any]:
    """See what changed in the folder, and take it in where intake is on."""
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
    if outcome.again is not None:
        raise RetryLater(
            "Files are still being written; they are read when they rest.", seconds=outcome.again
        )
    return {
        "there": True,
        "passes": outcome.passes,
        "images": outcome.images,
        "followed": outcome.followed,
        "moved": outcome.moved,
        "refused": outcome.refused,
    }


def write_files(job: JobContext) -> dict[str, Any]:
    """Write the pages that have been quiet for a while; those that have not are waited for."""
    folder_id = job.args.folder_id
    with _hold_folder(job.library, folder_id):
        with job.library.db.read_all() as conn:
            folder = conn.execute(select(folders).where(folders.c.id == folder_id)).first()
        if folder is None:
            return {"written": 0}
        if not disk_of(job.library, folder).is_there():
            raise RetryLater(
                f"The folder {folder.path} is not there now; it is written to when it is back.", seconds=AWAY
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
        raise RetryLater("Pages are still being worked on; they are written when that rests.", seconds=later)
    return {"written": writer.written}


def arrange_files(job: JobContext) -> dict[str, Any]:
    """Move what does not lie as the project folder does, in one step."""
    folder_id = job.args.folder_id
    with _hold_folder(job.library, folder_id):
        carry_out(job.library, folder_id)
        with job.library.db.read_all() as conn:
            folder = conn.execute(select(folders).where(folders.c.id == folder_id)).first()
            if folder is None or folder.mode != "keep-arranged":
                return {"moved": 0}
            disk = disk_of(job.library, folder)
            if not disk.is_there():
                raise RetryLater(f"The folder {folder.path} is not there now.", seconds=AWAY)
            plan = plan_of(conn, folder, disk)
        for path, why in plan.refused:
            job.log("warning", f"{path}: {why}")
        if plan.moves:
            listed = [
                {"document_id": one.document_id, "from_path": one.from_path, "to_path": one.to_path}
                for one in plan.moves
            ]
            job.act("sync.arrange", {"folder_id": folder_id, "moves": listed})
    return {"moved": len(plan.moves), "refused": len(plan.refused)}


JOBS = (
    JobKind(
        name=LOOK,
        lane="cpu",
        summary="See what changed in a synced folder, and take it in",
        run=look_at,
        args=WorkArgs,
        retries=FOREVER,
    ),
    JobKind(
        name=WRITE,
        lane="cpu",
        summary="Write changed pages to a synced folder",
        run=write_files,
        args=WorkArgs,
        retries=FOREVER,
    ),
    JobKind(
        name=ARRANGE,
        lane="cpu",
        summary="Arrange a synced folder as its project folder is",
        run=arrange_files,
        args=WorkArgs,
        retries=FOREVER,
    ),
)
