"""What a job's body works with: its arguments, its checkpoint, and writes that keep both consistent."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel
from sqlalchemy import Connection

from armarium.jobs.body_ends import AfterChildren, JobStopped
from armarium.jobs.claims import Claim
from armarium.jobs.kinds import JobKind
from armarium.jobs.log import Level, write_lines
from armarium.jobs.models import JobRow
from armarium.jobs.pace import Pace, part_of
from armarium.jobs.queue import NewJob, enqueue_many, loads, move_on
from armarium.jobs.spending import JobSpending
from armarium.jobs.waits import Waits
from armarium.names.proper import AS_STORED
from armarium.principals import Principal
from armarium.store.database import raw_of
from armarium.store.tables import json_text

if TYPE_CHECKING:
    from armarium.actions import ActionContext, Outcome
    from armarium.engine import Engine
    from armarium.jobs.runner import JobRunner
    from armarium.jobs.store import JobStore
    from armarium.projects.libraries import Library

PROGRESS_EVERY = 0.5
"""Seconds between two writes (and events) of one job's progress: with start and end at most four a second."""


_CHILD = ", ".join("NULL" if name in ("args", "checkpoint") else name for name in JobRow._fields)


class JobContext:
    """One running job. Its methods may be called from any thread of the body."""

    def __init__(self, runner: JobRunner, store: JobStore, claim: Claim, kind: JobKind) -> None:
        self.kind = kind
        self.job_id = claim.id
        self.title = claim.title
        self.model = claim.model
        self.attempt = claim.attempts + 1
        self.own_done = claim.own_done
        """How many of its own items are done, as its row says."""
        self.stop: str | None = None
        """Why the job is asked to stop, or None; `check` raises it."""
        self.item: dict[str, Any] | None = None
        """How far it is with the item in hand: `{done, total?, unit?}`, as `call_worker` reports it; shown, not stored."""
        self.pace = Pace()
        self.waits = Waits()
        """Whose answers it waits for; shown as the reason why a job that runs has not come further."""
        self.remark: str | None = None
        """Shown as the reason of a job that is done, where it did nothing or not all: a body sets it before it returns."""
        self._runner = runner
        self._store = store
        self._claim = claim
        self._lock = threading.Lock()
        self._args: Any = None
        self._checkpoint: dict[str, Any] | None = None
        self._pending: tuple[int, int | None] | None = None
        self._written_at = self._looked_aside_at = 0.0
        self.spending = JobSpending(self.engine.auth, self.principal, claim.id)

    @property
    def was_interrupted(self) -> bool:
        """Whether it was begun before and did not come to an end: it was killed, stopped with the engine, paused or put off.

        False after a retry, which begins its attempts anew.
        """
        return self._claim.attempts > 0 or self._claim.interruptions > 0

    @property
    def args(self) -> Any:
        """The arguments: the kind's pydantic model, or the plain object for a kind without one."""
        if self._args is None:
            stored = loads(self._claim.args)
            args = self.kind.parse(stored, AS_STORED) if self.kind.args is not None else stored
            # What its starter may reach counts now, not when the job was queued.
            self.engine.paths.check(args, self.principal)
            self._args = args
        return self._args

    @property
    def checkpoint(self) -> dict[str, Any]:
        """The last checkpoint; empty at its first start."""
        if self._checkpoint is None:
            self._checkpoint = loads(self._claim.checkpoint) or {}
        return self._checkpoint

    @property
    def library(self) -> Library:
        """The project the job works in; only for kinds of library scope."""
        assert self._store.library is not None, "a job of the engine has no project"
        return self._store.library

    @property
    def engine(self) -> Engine:
        """The engine that runs it."""
        return self._runner.engine

    @property
    def principal(self) -> Principal:
        """The job as a caller: a machine with the rights of the person or token that started it."""
        starter = loads(self._claim.principal) or {}
        libraries = starter.get("libraries")
        return Principal(
            kind="machine",
            name=self._claim.started_by or "engine",
            role=starter.get("role", "editor"),
            token_id=starter.get("token_id"),
            device_id=starter.get("device_id"),
            token_kind="run",
            libraries=frozenset(libraries) if libraries is not None else None,
            folders=self.engine.auth.folders_of_run(starter),
            run_id=self._claim.thread_id or self.job_id,
            client=starter.get("client"),
            origin_window=starter.get("window"),
            for_person=starter.get("kind") == "person",
        )

    def check(self) -> None:
        """To be called between two items: raises JobStopped when the job was paused, cancelled or is to make room."""
        self.spending.refuse()
        if self.stop is None and self.kind.steps_aside:
            at = time.monotonic()
            if at - self._looked_aside_at > 2.0:
                self._looked_aside_at = at
                if self._runner.must_step_aside(self._store, self.kind, self.job_id):
                    self.stop = "aside"
        if self.stop is not None:
            raise JobStopped(self.stop)

    def tell_wait(self) -> str | None:
        """Say for whom it waits, or that it has not come further for long; None where neither is so."""
        return self.waits.tell() or self.pace.tell_standstill()

    def progress(self, done: int, total: int | None = None) -> None:
        """Report how many of its own items are done, and how many there are.

        Written at most twice a second. A job whose pages are its children's does not call this: their progress is added
        to its own.
        """
        self.pace.note(done, part=part_of(self.item))
        with self._lock:
            before = self._pending
            self._pending = (done, total if total is not None else before[1] if before else None)
            if time.monotonic() - self._written_at < PROGRESS_EVERY:
                return
            self._written_at = time.monotonic()
        self._write_on()

    def act(
        self,
        name: str,
        params: Mapping[str, Any] | BaseModel,
        *,
        checkpoint: Mapping[str, Any] | Callable[[dict[str, Any]], Mapping[str, Any]] | None = None,
        done: int | None = None,
        total: int | None = None,
        set_id: str | None = None,
        as_decided: bool = False,
    ) -> Outcome:
        """Run the action *name* and save *checkpoint* and counts in the same transaction: exactly once.

        After a crash either both exist or neither does. All actions of a job share its id as set id (those of a
        workflow run's jobs the run's), so they can be undone together; a child passes its parent's as *set_id* where
        both belong together. An engine-wide action called by a project's job is in another database: there the
        checkpoint follows in a transaction of its own, so such an action must tolerate repetition. *checkpoint* may be
        a function of the action's result. *as_decided*: what a person decided by starting the job is carried out in their name.
        """
        self._refuse_when_closed()
        done, total = self._counts(done, total)
        saved_checkpoint = None if checkpoint is None or callable(checkpoint) else dict(checkpoint)
        json_text(saved_checkpoint)
        action = self.engine.actions.find(name)
        apart = self._store.library is not None and action is not None and action.scope == "engine"
        caller = self.principal

        def keep(step: ActionContext) -> None:
            nonlocal saved_checkpoint
            if callable(checkpoint):
                answer = step.answer
                result = answer.model_dump(mode="json") if isinstance(answer, BaseModel) else answer or {}
                saved_checkpoint = dict(checkpoint(result))
            if not apart:
                self._move_on(step.conn, saved_checkpoint, done, total)

        outcome = self.engine.run(
            self._store.library,
            name,
            params,
            replace(caller, kind="person") if as_decided and caller.for_person else caller,
            set_id=set_id or self._claim.thread_id or self.job_id,
            in_transaction=keep,
        )
        if apart:
            self.save(
                saved_checkpoint if saved_checkpoint is not None else self.checkpoint, done=done, total=total
            )
        if saved_checkpoint is not None:
            self._checkpoint = saved_checkpoint
        if done is not None or total is not None:
            self._runner.tell_progress(self._store, self.job_id)
        return outcome

    def save(
        self,
        checkpoint: Mapping[str, Any],
        *,
        done: int | None = None,
        total: int | None = None,
        along: Callable[[Connection], None] | None = None,
    ) -> None:
        """Save a checkpoint only, with what *along* writes to operational tables in the same transaction."""
        self._refuse_when_closed()
        done, total = self._counts(done, total)
        with self._store.db.write() as conn:
            if along is not None:
                along(conn)
            self._move_on(conn, checkpoint, done, total)
        self._checkpoint = dict(checkpoint)
        self._runner.tell_progress(self._store, self.job_id)

    def log(self, level: Level, message: str, **data: Any) -> None:
        """Add a line to the job's log. Never page text, tokens or secrets: ids, names and numbers."""
        self._refuse_when_closed()
        with self._store.db.write() as conn:
            write_lines(conn, [(self.job_id, level, message, data)])

    def spawn(self, job: NewJob) -> str:
        """Queue a child job; return its id.

        A child is identified by its key (default: its kind and arguments), so a body that is run again after a crash
        gets the existing child. The job itself is done when its body has ended and all children have finished.
        """
        return self.spawn_many([job])[0]

    def spawn_many(
        self,
        jobs: Sequence[NewJob],
        *,
        checkpoint: Mapping[str, Any] | None = None,
        along: Callable[[Connection, list[str]], None] | None = None,
    ) -> list[str]:
        """Queue many children in one transaction, with *checkpoint*; see `spawn`.

        *along* receives their ids, and writes to operational tables in the same transaction.
        """
        self._refuse_when_closed()
        if self.stop == "cancel":
            # The job was cancelled with everything beneath it; nothing more is queued there.
            raise JobStopped(self.stop)
        kinds = self._runner.kinds
        keyed = [self._add_key(job) for job in jobs]
        with self._store.db.write() as conn:
            ids = enqueue_many(conn, keyed, parent_id=self.job_id, kinds=kinds)
            if along is not None:
                along(conn, ids)
            if checkpoint is not None:
                self._move_on(conn, checkpoint, None, None)
        if checkpoint is not None:
            self._checkpoint = dict(checkpoint)
        self._runner.wake(self._store.library)
        return ids

    def child(self, key: str) -> JobRow | None:
        """Return the child that was queued with this key as it stands now, with its result."""
        children = self._children("key = ?", (key,), 1)
        return children[0] if children else None

    def ended_child(self, key: str) -> JobRow | None:
        """Like `child`, once it has ended: raises AfterChildren until then."""
        child = self.child(key)
        if child is not None and child.is_going:
            raise AfterChildren
        return child

    def children(self, after: int = 0, limit: int = 500) -> list[JobRow]:
        """Return its children in the order in which they were queued, from the one after row number *after* on."""
        return self._children("seq > ?", (after,), limit)

    def _children(self, where: str, values: tuple[object, ...], limit: int) -> list[JobRow]:
        with self._store.db.read() as conn:
            rows = raw_of(conn).execute(
                f"SELECT {_CHILD} FROM job WHERE parent_id = ? AND {where} ORDER BY seq LIMIT ?",
                (self.job_id, *values, limit),
            )
            return [JobRow._make(values)._replace(result=loads(values[-1])) for values in rows]

    def call_worker(
        self,
        runtime: str | None,
        worker: str,
        method: str,
        params: Mapping[str, Any],
        on_progress: Callable[[dict[str, Any]], None] | None = None,
    ) -> dict[str, Any]:
        """Run heavy computation in a worker process (of *runtime*, or of the engine's own environment).

        The process keeps its model loaded between calls. A crash or lack of memory there is a refusal here and fails
        this job with a sentence, never the engine.
        """
        self._refuse_when_closed()
        from armarium_worker import WorkerStopped

        def is_stopped() -> bool:
            # The page in progress is finished; only the engine's end, or a job that makes room, interrupts a call.
            return self.stop == "shutdown" or (self.stop is not None and self.kind.steps_aside)

        def note(progress: dict[str, Any]) -> None:
            note_life()
            self.item = progress
            self.pace.note(part=part_of(progress))
            if on_progress is not None:
                on_progress(progress)

        try:
            # Its own work on one item takes a while: only a longer silence is worth a word.
            with self.waits.answer_of(f"the worker for {worker}", told_after=60.0) as note_life:
                return self.engine.workers.call(
                    runtime,
                    worker,
                    method,
                    dict(params),
                    on_progress=note,
                    stopped=is_stopped,
                    heavy=self.kind.heavy,
                )
        except WorkerStopped:
            raise JobStopped(self.stop or "shutdown") from None
        finally:
            self.item = None
            self.pace.note()

    def _add_key(self, job: NewJob) -> NewJob:
        if job.key is not None:
            return job
        kind = self._runner.kinds.require(job.kind) if isinstance(job.kind, str) else job.kind
        content = f"{kind.name}\n{json_text(kind.arguments(job.args))}"
        return replace(job, key=hashlib.sha256(content.encode()).hexdigest()[:32], kind=kind)

    def _move_on(
        self, conn: Any, checkpoint: Mapping[str, Any] | None, done: int | None, total: int | None
    ) -> None:
        self.spending.count(raw_of(conn), done)
        if done is not None:
            self.own_done = done
            self.pace.note(done)
        move_on(raw_of(conn), self.job_id, checkpoint=checkpoint, done=done, total=total)
        self._written_at = time.monotonic()

    def _write_on(self) -> None:
        pending = self.take_pending()
        if pending is None:
            return
        self._refuse_when_closed()
        with self._store.db.write() as conn:
            self._move_on(conn, None, *pending)
        self._runner.tell_progress(self._store, self.job_id)

    def take_pending(self) -> tuple[int, int | None] | None:
        """Return progress that was reported and is not yet written."""
        with self._lock:
            pending, self._pending = self._pending, None
            return pending

    def _counts(self, done: int | None, total: int | None) -> tuple[int | None, int | None]:
        # Those given, else what was reported and is not yet written.
        pending = self.take_pending()
        return (done, total) if done is not None or pending is None else pending

    def _refuse_when_closed(self) -> None:
        if self._store.closed:
            raise JobStopped("shutdown")
