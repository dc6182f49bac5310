"""What can go wrong between the engine and a worker process; each error's text is a sentence a person can act on."""

from __future__ import annotations

from collections.abc import Sequence


class ProtocolError(Exception):
    """The bytes on a pipe are not a frame of this protocol: garbage, half a frame, or one over the limits."""


class Refused(Exception):
    """Raised inside a worker for what a person can correct: a file that is not a picture, a missing model file.

    Its sentence reaches the person unchanged; every other exception is reported as the worker's own fault.
    """


class WorkerError(Exception):
    """A call to a worker gave no result; `stderr` holds the worker's last lines (they may be empty)."""

    def __init__(self, sentence: str, stderr: Sequence[str] = ()) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.stderr = tuple(stderr)


class WorkerRefused(WorkerError):
    """The worker refused the item with a sentence (a `Refused` was raised); it is alive and takes the next call."""


class WorkerFailed(WorkerError):
    """The worker's code raised an exception; it is alive and takes the next call."""


class WorkerStopped(WorkerError):
    """The call was asked to stop and did so after the item in progress; the worker is alive."""


class WorkerDied(WorkerError):
    """The worker process ended during a call: a crash, out of memory, killed, or bytes that are not a frame."""


class WorkerTimeout(WorkerDied):
    """The worker was silent for longer than the call's limit and was killed."""
