"""What the workers of all trainers have in common: one epoch a call, files that are whole or not there, and what it took."""

from __future__ import annotations

import os
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from .errors import Refused
from .server import Call, Handler, WorkerContext


class ReadyTraining(Protocol):
    """A training in hand: its folder, and what came of each epoch that is done."""

    folder: Path
    epochs: list[dict[str, Any]]


Ready = TypeVar("Ready", bound=ReadyTraining)


class EpochTrainer(ABC, Generic[Ready]):
    """Answers `epoch` and `finish`; killed at any instant and asked again it goes on from its last whole epoch.

    Derived from it a trainer says how a training begins or goes on (`begin`), and does one epoch (`one_epoch`): it appends what
    came of it to the training's `epochs` and writes its checkpoint last.
    """

    def __init__(self, context: WorkerContext) -> None:
        self.context = context
        self.ready: Ready | None = None
        self.peak_before = peak_memory_mb()

    @classmethod
    def handlers(cls, context: WorkerContext) -> Mapping[str, Handler]:
        """The methods a worker process of this trainer answers."""
        trainer = cls(context)
        return {"epoch": trainer.epoch, "finish": trainer.finish}

    @abstractmethod
    def begin(self, folder: Path, params: Mapping[str, Any]) -> Ready:
        """The training in *folder*, as its last whole epoch left it."""

    @abstractmethod
    def one_epoch(self, call: Call, ready: Ready) -> None:
        """Do the next epoch."""

    @abstractmethod
    def finish(self, call: Call) -> dict[str, Any]:
        """Write the best epoch's model: {model}, the path of its file."""

    def epoch(self, call: Call) -> dict[str, Any]:
        """Do the epoch of number *epoch* (from 1), unless it is done; what came of it (`outcome`)."""
        wanted = int(call.params["epoch"])
        ready = self.load_training(call)
        while len(ready.epochs) < wanted:
            self.one_epoch(call, ready)
        return dict(ready.epochs[wanted - 1])

    def load_training(self, call: Call) -> Ready:
        """The training in hand, or the one in the folder that the call names."""
        folder = Path(str(call.params["folder"]))
        if self.ready is None or self.ready.folder != folder:
            self.ready = None
            self.ready = self.begin(folder, call.params)
        return self.ready

    def load_finished(self, call: Call) -> Ready:
        """As `load_training`; Refused where no epoch was finished."""
        ready = self.load_training(call)
        if not ready.epochs:
            raise Refused("No epoch was finished, so there is no model to write.")
        return ready

    @contextmanager
    def whole_epoch(self) -> Iterator[None]:
        """Half an epoch is not kept: what comes next begins where the last whole one ended."""
        try:
            yield
        except BaseException:
            self.ready = None
            raise

    def outcome(self, started: float, *, device: str = "cpu", **told: Any) -> dict[str, Any]:
        """What came of an epoch that began at *started* (monotonic), with what it took of time and memory."""
        peak = peak_memory_mb()
        return {
            **told,
            "seconds": round(time.monotonic() - started, 2),
            "device": device,
            "threads": self.context.threads,
            "peak_memory_mb": peak,
            "added_memory_mb": max(0, peak - self.peak_before),
        }


def write_whole(path: Path, data: bytes | memoryview) -> None:
    """Write a file that is whole or not there; Refused where there is no room."""
    beside = path.with_suffix(".part")
    try:
        with beside.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise no_room(path.name, error) from error


def no_room(what: str, error: OSError) -> Refused:
    """Why *what* could not be written."""
    return Refused(
        f"The training could not write {what} ({error.strerror or type(error).__name__}). Make room on the disk and retry the "
        "job; it goes on from its last epoch."
    )


def peak_memory_mb() -> int:
    """The most memory that this process has held."""
    try:
        import resource
    except ImportError:
        # Windows has none; there it is not stated.
        return 0
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(used // (1 << 20) if sys.platform == "darwin" else used // 1024)
