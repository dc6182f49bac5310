"""A job killed at any call of its context, and run again from the checkpoint that it left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from armarium.engine import Engine
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library


class Killed(BaseException):
    """Stands for kill -9: no handler of the job sees it."""


class KilledContext:
    """The part of a job's context that a body uses; it kills the job at the call after so many *calls*.

    A step counts as two calls: the job is killed before it or after it. `kept` is the checkpoint as it is then stored
    in the database, to be given to the next context. Steps whose job names no set get *set_id*.
    """

    def __init__(
        self,
        engine: Engine,
        library: Library,
        args: Any,
        calls: int,
        *,
        checkpoint: dict[str, Any] | None = None,
        set_id: str = "the job",
    ) -> None:
        self.engine, self.library, self.args = engine, library, args
        self.calls = calls
        self.checkpoint = self.kept = checkpoint or {}
        self.job_id = self.set_id = set_id
        self.stop: str | None = None
        """Never asked to stop: it is killed."""
        self.remark: str | None = None

    def _tick(self) -> None:
        self.calls -= 1
        if self.calls < 0:
            raise Killed

    def progress(self, done: int, total: int | None = None) -> None:
        """Do what a job's context does."""
        self._tick()

    def check(self) -> None:
        """Do what a job's context does."""
        self._tick()

    def log(self, level: str, message: str, **data: Any) -> None:
        """Do what a job's context does."""
        self._tick()

    def call_worker(self, runtime: str | None, worker: str, method: str, params: Mapping[str, Any]) -> Any:
        """Do what a job's context does: a worker process keeps nothing, so a kill during its call is one before it."""
        self._tick()
        return self.engine.workers.call_light(runtime, worker, method, params)

    def save(self, checkpoint: dict[str, Any], **counts: Any) -> None:
        """Do what a job's context does."""
        self._tick()
        self._keep(checkpoint)

    def act(
        self, name: str, params: Any, *, checkpoint: Any = None, set_id: str | None = None, **counts: Any
    ) -> Any:
        """Do what a job's context does: the step and its checkpoint are written together."""
        self._tick()
        outcome = self.engine.run(self.library, name, params, LOCAL_OWNER, set_id=set_id or self.set_id)
        if checkpoint is not None:
            self._keep(checkpoint(outcome.result or {}) if callable(checkpoint) else checkpoint)
        self._tick()
        return outcome

    def _keep(self, checkpoint: dict[str, Any]) -> None:
        # As stored in the database: later changes by the job do not affect it.
        self.kept = orjson.loads(orjson.dumps(checkpoint))
