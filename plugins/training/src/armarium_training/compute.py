"""Where reading at scale runs: the drivers of the group `armarium.compute`. The one here is this machine itself."""

from __future__ import annotations

import json
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from armarium.api import Engine, JobContext, ServiceError
from armarium_reading.api import load_reader, worker_of

GROUP = "armarium.compute"


@dataclass(frozen=True)
class Shard:
    """A packed shard: `manifest` names its pages with their pictures' files below `folder`.

    If the manifest says `work: train`, the shard is a training: `folder` contains `lines.json`,
    `pictures.bin` and, with a `base` in the manifest, `base.onnx`; the result is {model, curve?}, the name of
    the model's file, which is put next to them.
    """

    number: int
    folder: Path
    manifest: dict[str, Any]


@dataclass(frozen=True)
class FarState:
    """The state of a shard where it runs: submitted, queued, running, done or failed; a result is {number,
    pages: {…}}.
    """

    state: str
    why: str | None = None
    last_lines: Sequence[str] = ()
    result: dict[str, Any] | None = field(default=None)


class Compute(ABC):
    """The base of every place of compute: one is created for each run of a job.

    `submit` sends a packed shard and returns its id there at once; `ask` returns the states of all given ids
    in one call; `cancel` stops them. Submitting the same shard and attempt again returns the same id.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    is_here: ClassVar[bool] = False
    """Whether pages stay on this machine."""
    needs_hub_token: ClassVar[bool] = False
    seconds_between: float = 60.0
    """Seconds between two requests for the states."""
    forgets: ClassVar[bool] = False
    """Whether work there ends with the engine, so that after a restart all shards under way are sent again."""

    def __init__(self, job: JobContext) -> None:
        self.job = job

    @classmethod
    def price_per_hour_usd(cls, flavor: str) -> float | None:
        """Return the price per hour of a machine of that class; None if it is not known."""
        return None

    @classmethod
    def stays_here(cls, flavor: str) -> bool:
        """Return whether pages stay on this machine with that flavor."""
        return cls.is_here

    @classmethod
    def lacks(cls) -> str | None:
        """Return, in a sentence, what is not installed here without which nothing can be sent there; None for nothing."""
        return None

    @classmethod
    def why_not(cls, flavor: str) -> str | None:
        """Return a sentence if nothing can be sent there with that flavor; None if it can."""
        return cls.lacks()

    def close(self) -> None:
        """Called once, when the run of the job has ended."""
        return None

    def wait(self) -> None:
        """Wait until the states are to be requested again, or until the job is to stop."""
        until = time.monotonic() + self.seconds_between
        while time.monotonic() < until:
            self.job.check()
            time.sleep(0.2)

    @abstractmethod
    def submit(self, shard: Shard, attempt: int) -> str:
        """Send a shard; return its id there."""

    @abstractmethod
    def ask(self, far_ids: Sequence[str]) -> dict[str, FarState]:
        """Return the states of the shards with these ids."""

    @abstractmethod
    def cancel(self, far_ids: Sequence[str]) -> None:
        """Cancel the shards with these ids."""


class LocalCompute(Compute):
    """This machine: a shard is read by the reader's own worker when its state is requested."""

    name = "local"
    label = "This machine"
    is_here = True
    seconds_between = 0.0
    forgets = True

    def __init__(self, job: JobContext) -> None:
        super().__init__(job)
        self._shards: dict[str, Shard] = {}

    @classmethod
    def price_per_hour_usd(cls, flavor: str) -> float | None:
        """Return 0: one's own machine costs nothing."""
        return 0.0

    def submit(self, shard: Shard, attempt: int) -> str:
        """Send nothing; the shard waits for its turn."""
        far_id = f"local-{shard.number}-{attempt}"
        self._shards[far_id] = shard
        return far_id

    def ask(self, far_ids: Sequence[str]) -> dict[str, FarState]:
        """Read one of the shards now; the others wait. One from before a restart of the engine has to be sent again."""
        states: dict[str, FarState] = {}
        for far_id in far_ids:
            shard = self._shards.get(far_id)
            if shard is None:
                states[far_id] = FarState("failed", "The engine was stopped while reading it.")
            elif not any(far_state.state == "done" for far_state in states.values()):
                states[far_id] = self._read(shard)
            else:
                states[far_id] = FarState("submitted")
        return states

    def cancel(self, far_ids: Sequence[str]) -> None:
        """Remove the waiting shards; the current one ends with its job."""
        for far_id in far_ids:
            self._shards.pop(far_id, None)

    def _read(self, shard: Shard) -> FarState:
        engine: Engine = self.job.engine
        reader = load_reader(engine, shard.manifest["driver"])
        pages: dict[str, Any] = {}
        lines: list[str] = []
        for page in shard.manifest["pages"]:
            self.job.check()
            params = {
                "image": str(shard.folder / page["file"]),
                "model": shard.manifest["model"],
                "language": shard.manifest["language"],
                "max_pixels": engine.settings.max_image_pixels,
            }
            if page["lines"] is not None:
                params["lines"] = page["lines"]
            method = "read_page" if page["lines"] is None else "read_lines"
            try:
                answer = self.job.call_worker(*worker_of(reader), method, params)
            except ServiceError as error:
                if error.code == "engine_stopping":
                    raise
                if error.code == "worker_died":
                    return FarState("failed", error.detail, lines[-5:])
                lines.append(f"{page['document_id']}: {error.detail}")
                pages[page["document_id"]] = {"error": error.detail}
                continue
            result = {key: answer[key] for key in ("lines", "readings", "width", "height") if key in answer}
            pages[page["document_id"]] = json.loads(json.dumps(result))
        return FarState("done", None, lines[-5:], {"number": shard.number, "pages": pages})
