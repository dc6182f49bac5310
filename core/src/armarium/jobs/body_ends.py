"""What a job's body raises where it ends otherwise than by returning its result or by a refusal."""

from __future__ import annotations

from armarium.network.limits import LONGEST_WAIT


class JobStopped(BaseException):
    """The job was asked to stop and has finished the item in progress; a body does not catch it.

    Not an `Exception`, so that a body which catches the errors of one page does not swallow it.
    """

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why
        """pause, cancel, aside (the machine no longer allows it) or shutdown."""


class RetryLater(Exception):
    """Raised by a body that cannot continue now (a remote side is busy): the job waits *seconds* and is run again."""

    def __init__(self, reason: str, *, seconds: float = 60.0, code: str = "retry-later") -> None:
        super().__init__(reason)
        self.reason = reason
        self.seconds = min(max(seconds, 0.0), float(LONGEST_WAIT))
        self.code = code


class CannotGoOn(Exception):
    """Raised by a body that could do none of what is left (a key was refused, a server is gone): the job fails with the
    reason and keeps its checkpoint, so that a retry goes on from there.
    """

    def __init__(self, reason: str, *, code: str | None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.code = code

    def at(self, name: str | None, number: int, total: int) -> CannotGoOn:
        """Return it with the page *number* (from 0) of *total* pages at which the job stopped, and its *name* where known."""
        if total == 1:
            return self
        page = f"{name}, page {number + 1} of {total}" if name else f"page {number + 1} of {total}"
        words = (
            f"{self.reason} It stopped at {page}. What was done before stays; retry it to go on from there."
        )
        return CannotGoOn(words, code=self.code)


class AfterChildren(Exception):
    """Raised by a body that has queued children and continues when they have finished.

    Its thread is free meanwhile; the job is shown as running. It is then run again from its checkpoint, and decides
    itself what to make of them: a failed child does not fail it.
    """
