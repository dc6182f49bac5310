"""On whose behalf a model is asked: the project, caller and run that the ledger names, and how a call is ended."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from armarium.api import Engine, JobContext, Library, Principal, origin_of


def _goes_on() -> None:
    """Do nothing: this call cannot be ended from outside."""


_made: weakref.WeakKeyDictionary[JobContext, set[str]] = weakref.WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks. *check* is called several times a second while a model answers; it ends the call by raising."""

    engine: Engine
    library: Library
    principal: Principal
    job_id: str | None = None
    workflow_id: str | None = None
    node: str | None = None
    attempt: int = 1
    check: Callable[[], None] = _goes_on
    awaits: Callable[[str], AbstractContextManager[object]] = nullcontext
    """Lasts while the provider named is asked; a job shows for whom it waits, and how long."""
    goes_on: bool = False
    """Whether it is a job that was interrupted: what it was answered before is taken from the ledger and not asked again."""
    taken: set[str] = field(default_factory=set)
    """The episodes that its body made or took up; each answers one question."""

    @classmethod
    def of_job(cls, ctx: JobContext) -> Caller:
        """Return the caller for the body of a job, with the step of the workflow that it works for. Pausing the
        job lets the current call finish; any other stop ends it.
        """
        origin = origin_of(ctx)

        def check() -> None:
            if ctx.stop not in (None, "pause"):
                ctx.check()

        return cls(
            ctx.engine,
            ctx.library,
            ctx.principal,
            ctx.job_id,
            origin.workflow_id,
            origin.node_id,
            ctx.attempt,
            check=check,
            awaits=ctx.waits.answer_of,
            goes_on=ctx.was_interrupted,
            taken=_made.setdefault(ctx, set()),
        )

    @property
    def thread_id(self) -> str | None:
        """Return the run that the call belongs to: a workflow's, otherwise the job itself."""
        return self.principal.run_id or self.job_id


@dataclass(frozen=True, slots=True)
class Subject:
    """What a call of a model is about: a page, one of its segments, or a statement about it."""

    document_id: str
    segment_id: str | None = None
    target_id: str | None = None
    kind: str = "page"
    also: tuple[str, ...] = ()
    """Other documents whose text or picture the model is shown: their rights are checked too."""
