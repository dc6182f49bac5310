"""What the workers of all trainers have in common: one epoch per call, files written whole or not at all, and the time
and memory used.
"""

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
from .files import replacing
from .server import Call, Handler, WorkerContext


class ReadyTraining(Protocol):
    """A training in progress: its folder, and the outcome of each completed epoch."""

    folder: Path
    epochs: list[dict[str, Any]]


Ready = TypeVar("Ready", bound=ReadyTraining)


class EpochTrainer(ABC, Generic[Ready]):
    """Answers `epoch` and `finish`; killed at any instant and called again it resumes after its last complete epoch.

    A derived trainer says how a training begins or resumes (`begin`), and does one epoch (`one_epoch`): it appends the
    outcome to the training's `epochs` and writes its checkpoint last.
    """

    def __init__(self, context: WorkerContext) -> None:
        self.context = context
        self.ready: Ready | None = None
        self._laid_out: object = None
        self.peak_before = peak_memory_mb()

    @classmethod
    def handlers(cls, context: WorkerContext) -> Mapping[str, Handler]:
        """Return the methods of a worker process of this trainer."""
        trainer = cls(context)
        return {"epoch": trainer.epoch, "finish": trainer.finish}

    @abstractmethod
    def begin(self, folder: Path, params: Mapping[str, Any]) -> Ready:
        """Return the training in *folder*, as its last complete epoch left it."""

    @abstractmethod
    def one_epoch(self, call: Call, ready: Ready) -> None:
        """Do the next epoch."""

    @abstractmethod
    def finish(self, call: Call) -> dict[str, Any]:
        """Write the best epoch's model: {model}, the path of its file."""

    def epoch(self, call: Call) -> dict[str, Any]:
        """Do the epoch of number *epoch* (from 1), unless it is done; return its `outcome`."""
        number = int(call.params["epoch"])
        ready = self.load_training(call)
        while len(ready.epochs) < number:
            self.one_epoch(call, ready)
        return dict(ready.epochs[number - 1])

    def load_training(self, call: Call) -> Ready:
        """Return the training in progress, or the one in the folder that the call names.

        A job that was cancelled and is retried lays its lines out anew, in the same folder.
        """
        folder = Path(str(call.params["folder"]))
        laid_out = _identity(folder / "lines.json")
        if self.ready is None or self.ready.folder != folder or self._laid_out != laid_out:
            self.ready = None
            self.ready = self.begin(folder, call.params)
            self._laid_out = laid_out
        return self.ready

    def load_finished(self, call: Call) -> Ready:
        """Like `load_training`; raises Refused where no epoch was finished."""
        ready = self.load_training(call)
        if not ready.epochs:
            raise Refused("No epoch was finished, so there is no model to write.")
        return ready

    @contextmanager
    def whole_epoch(self) -> Iterator[None]:
        """Discard an unfinished epoch: the next call begins after the last complete one."""
        try:
            yield
        except BaseException:
            self.ready = None
            raise

    def outcome(self, started: float, *, device: str = "cpu", **details: Any) -> dict[str, Any]:
        """Return the outcome of an epoch that began at *started* (monotonic), with the time and memory it used."""
        peak = peak_memory_mb()
        return {
            **details,
            "seconds": round(time.monotonic() - started, 2),
            "device": device,
            "threads": self.context.threads,
            "peak_memory_mb": peak,
            "added_memory_mb": max(0, peak - self.peak_before),
        }


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what differs between a file and one that replaced it; None where there is none."""
    try:
        file_state = path.stat()
    except OSError:
        return None
    return file_state.st_ino, file_state.st_mtime_ns


def write_whole(path: Path, data: bytes | memoryview) -> None:
    """Write a file whole or not at all; raises Refused where there is no space."""
    try:
        with replacing(path) as beside, beside.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise no_room(path.name, error) from error


def no_room(what: str, error: OSError) -> Refused:
    """Return why *what* could not be written."""
    return Refused(
        f"The training could not write {what} ({error.strerror or type(error).__name__}). Make room on the disk and retry the "
        "job; it resumes after its last epoch."
    )


def peak_memory_mb() -> int:
    """Return the most memory that this process has used."""
    try:
        import resource
    except ImportError:
        # Windows does not report it.
        return 0
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(used // (1 << 20) if sys.platform == "darwin" else used // 1024)
