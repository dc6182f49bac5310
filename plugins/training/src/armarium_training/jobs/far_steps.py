"""The steps of a training that runs elsewhere: send it, wait for it, fetch its model."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any

from armarium.api import JobContext, RetryLater, ServiceError, Unavailable
from armarium_training import errors
from armarium_training.compute import GROUP as COMPUTE
from armarium_training.compute import Compute, Shard
from armarium_training.schemas.training import TrainArgs

FAR_POINT = {"epoch": 0, "loss": 0.0, "cer": 0.0, "seconds": 0.0, "best": True}
"""The learning curve of a training elsewhere that reported none."""
WAIT_FOR_ROOM = 600.0
"""Seconds until a model that found no room here is fetched again."""
ATTEMPTS = 144
"""How often it is: for a day."""


class FarSteps:
    """What a training needs besides its steps here."""

    job: JobContext
    args: TrainArgs
    folder: Path
    kept: dict[str, Any]

    @abstractmethod
    def _enter(self, phase: str) -> None:
        """Record that *phase* is reached."""

    @abstractmethod
    def _manifest(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return what is sent along with the lines."""

    def _train_there(self, params: dict[str, Any]) -> dict[str, Any]:
        """Send the lines and the base, and wait for the model; cancelling the job cancels it there too."""
        kind: type[Compute] = self.job.engine.drivers.load(COMPUTE, str(self.args.place))
        compute = kind(self.job)
        self._enter("sending")
        far_id = self.kept.get("far_id")
        if far_id is None:
            # The project may have been held to this machine meanwhile.
            errors.refuse_to_leave(self.job.library, "A training at the model hub", pages_may_leave=True)
            far_id = compute.submit(Shard(0, self.folder, self._manifest(params)), 1)
            self.kept = {
                **self.kept,
                "far_id": far_id,
                "flavor": self.args.flavor,
                "price_per_hour_usd": kind.price_per_hour_usd(str(self.args.flavor)),
            }
        self._enter("submitted")
        try:
            return self._fetch(compute, far_id)
        except BaseException:
            if self.job.stop == "cancel":
                compute.cancel([far_id])
            raise

    def _fetch(self, compute: Compute, far_id: str) -> dict[str, Any]:
        while True:
            self.job.check()
            far_state = compute.ask([far_id]).get(far_id)
            if far_state is not None:
                lines = [str(last_line)[:500] for last_line in far_state.last_lines][-20:]
                self.kept = {**self.kept, "lines": lines}
                if far_state.state == "failed":
                    self.job.save(self.kept)
                    raise Unavailable(
                        far_state.why or "The training failed at the model hub.", code="failed_there"
                    )
                if far_state.state == "done":
                    result = far_state.result or {}
                    curve = result.get("curve") or [FAR_POINT]
                    self.kept = {**self.kept, "curve": curve, "measured": result.get("measured")}
                    self._enter("fetching")
                    return {**result, "model": str(self.folder / str(result.get("model")))}
                if far_state.state in ("queued", "running"):
                    self._enter(far_state.state)
            compute.wait()

    def _take_in(self, land: Callable[[], None]) -> None:
        """Take in a model that was trained elsewhere. While there is no room for it here the job waits: it cannot be
        retried, and its training is paid for.
        """
        try:
            land()
        except ServiceError as error:
            if error.code != "no_room":
                raise
            raise RetryLater(errors.no_room_yet(), seconds=WAIT_FOR_ROOM, code="no_room") from error
