"""Cancelling a job that is not running: what runs for it elsewhere ends too, and what it laid out here is removed.

A running job does this itself when it stops.
"""

from __future__ import annotations

import logging
import shutil
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from sqlalchemy import select

from armarium.api import Engine, JobContext, Library, ServiceError
from armarium_training.compute import GROUP as COMPUTE
from armarium_training.compute import Compute
from armarium_training.models import shards
from armarium_training.packing import folder_of_shards
from armarium_training.queries.job_rows import cancelled_job
from armarium_training.schemas.scale import ScaleArgs
from armarium_training.schemas.training import TrainArgs
from armarium_training.staging import staging

log = logging.getLogger("armarium.training")


@dataclass(frozen=True)
class EndedJob:
    """What a place of compute needs to know of a job to cancel its work there."""

    engine: Engine
    library: Library
    job_id: str
    args: TrainArgs | ScaleArgs

    def log(self, level: str, message: str, **data: Any) -> None:
        """Add a line to the engine's log: the job has ended."""
        log.warning("%s (job %s)", message, self.job_id)


def end_training(engine: Engine, library: Library | None, job_id: str) -> None:
    """After a training was cancelled: if it was not running, cancel it elsewhere and remove its folder."""
    job = cancelled_job(library, job_id)
    if library is None or job is None:
        return
    args = TrainArgs.from_stored(job.args)
    far_id = job.checkpoint.get("far_id")
    if args.place is not None and far_id is not None:
        _cancel_there(EndedJob(engine, library, job_id, args), args.place, [far_id])
    _remove(staging(library, job_id))


def end_scale(engine: Engine, library: Library | None, job_id: str) -> None:
    """The same for a reading at scale: its shards that are on their way, and those that are packed."""
    job = cancelled_job(library, job_id)
    if library is None or job is None:
        return
    args = ScaleArgs.from_stored(job.args)
    with library.db.read_all() as conn:
        query = select(shards.c.far_id).where(shards.c.job_id == job_id, shards.c.state == "submitted")
        far_ids = [far_id for far_id in conn.execute(query).scalars() if far_id]
    if far_ids:
        _cancel_there(EndedJob(engine, library, job_id, args), args.place, far_ids)
    _remove(folder_of_shards(library, job_id))


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def _cancel_there(job: EndedJob, place: str, far_ids: Sequence[str]) -> None:
    """Cancel in a thread of its own: whoever cancels does not wait for the network."""
    kind: type[Compute] = job.engine.drivers.load(COMPUTE, place)
    if kind.forgets:
        return

    def cancel() -> None:
        try:
            kind(cast(JobContext, job)).cancel(far_ids)
        except ServiceError as error:
            job.log("warning", error.detail)

    threading.Thread(target=cancel, name=f"cancel {job.job_id}", daemon=True).start()
