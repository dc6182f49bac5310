"""The queue compared with a model: random histories of queueing, running, pausing, cancelling, retrying and crashing."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from chores import chores_plugin
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule

from armarium.engine import Engine
from armarium.errors import Conflict
from armarium.jobs import decisions
from armarium.jobs.claims import select
from armarium.jobs.ending import Ending, end
from armarium.jobs.models import FINISHED, INTERRUPTIONS_ALLOWED
from armarium.jobs.queue import NewJob, enqueue, move_on
from armarium.jobs.queue_view import QueueView
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library
from armarium.settings import Settings
from armarium.store.database import raw_of

MOMENT = "2026-01-01T00:00:00.000Z"


@cache
def open_once() -> tuple[Engine, Library]:
    """Return one engine for all histories: creating a project takes longer than a history."""
    place = Path(tempfile.mkdtemp(prefix="queue-"))
    engine = Engine(Settings(state_dir=place / "state", library_roots=[place]), plugins=[chores_plugin()])
    engine.start(jobs=False)
    engine.run(None, "library.create", {"path": str(place / "Q.library")}, LOCAL_OWNER)
    return engine, engine.libraries.get(place / "Q.library")


@pytest.fixture(scope="module", autouse=True)
def closed_afterwards() -> Iterator[None]:
    yield
    if open_once.cache_info().currsize:
        engine, library = open_once()
        engine.close()
        shutil.rmtree(library.path.parent)


class QueueMachine(RuleBasedStateMachine):
    """Rows are changed only by the queue's own functions and the actions; a plain model predicts them."""

    jobs = Bundle("jobs")
    steps = Bundle("steps")

    def __init__(self) -> None:
        super().__init__()
        self.engine, self.library = open_once()
        self.kind = self.engine.kinds.require("chore-nothing")
        self.parent: dict[str, str | None] = {}
        self.state: dict[str, str] = {}
        """The model: the state of each job without children."""
        self.held: set[str] = set()
        self.interruptions: dict[str, int] = {}
        self.number = 0

    def teardown(self) -> None:
        # A hold of a job without a row has no effect; the next history begins with an empty queue.
        with self.library.db.write() as conn:
            conn.exec_driver_sql("DELETE FROM job")

    # The model's own view of the jobs.

    def leaf(self, job_id: str) -> bool:
        return job_id not in self.parent.values()

    def under(self, job_id: str) -> list[str]:
        return [one for one in self.parent if job_id in self.line(one)]

    def line(self, job_id: str) -> list[str]:
        """Return the job and everything above it."""
        found: list[str] = []
        current: str | None = job_id
        while current is not None:
            found.append(current)
            current = self.parent[current]
        return found

    def may_start(self) -> list[str]:
        return [
            one
            for one, state in self.state.items()
            if state == "waiting" and not any(above in self.held for above in self.line(one))
        ]

    # The rules: what may happen.

    @initialize(target=jobs)
    def first(self) -> str:
        return self.put(None)

    @rule(target=jobs, parent=st.none() | jobs)
    def put(self, parent: str | None) -> str:
        self.number += 1
        with self.library.db.write() as conn:
            job_id = enqueue(conn, NewJob(self.kind, {"n": self.number}, "job"), parent_id=parent)
        self.parent[job_id] = parent
        self.state[job_id] = "waiting"
        self.interruptions[job_id] = 0
        if parent is not None:
            self.look_at_parents()
        return job_id

    def pick_job(self, conn: Any) -> Any:
        found = select(raw_of(conn), self.kind, "cpu", limit=1)
        if not found:
            assert self.may_start() == []
            return None
        # Only the oldest job that may start.
        assert found[0].id == min(self.may_start(), key=lambda one: list(self.parent).index(one))
        if not found[0].body_done:
            conn.exec_driver_sql(
                "UPDATE job SET state = 'running', started_at = ?, attempts = attempts + 1 WHERE id = ?",
                (MOMENT, found[0].id),
            )
        return found[0]

    @rule(how=st.sampled_from(["done", "done", "failed", "waiting", "cancelled"]), pages=st.integers(0, 3))
    def run_one(self, how: str, pages: int) -> None:
        with self.library.db.write() as conn:
            claim = self.pick_job(conn)
            if claim is None:
                return
            if pages:
                move_on(raw_of(conn), claim.id, done=pages, total=pages + 1)
            state = "done" if claim.body_done and how == "failed" else how
            end(
                conn,
                [Ending(claim.seq, claim.id, state, claim.attempts + 1, MOMENT, MOMENT, claim.parent_id)],
            )
        self.state[claim.id] = state
        self.look_at_parents()

    @rule()
    def start_one(self) -> None:
        with self.library.db.write() as conn:
            claim = self.pick_job(conn)
        # A job whose body had ended has nothing to run, and is not marked as running.
        if claim is not None and not claim.body_done:
            self.state[claim.id] = "running"

    @rule(how=st.sampled_from(["done", "failed", "waiting"]))
    def end_one(self, how: str) -> None:
        """End a running body; a cancelled one that stops ends as cancelled."""
        with self.library.db.write() as conn:
            row = conn.exec_driver_sql(
                "SELECT seq, id, attempts, parent_id, stop FROM job WHERE state = 'running' AND body_done = 0 "
                "ORDER BY seq"
            ).first()
            if row is None:
                return
            end(conn, [Ending(row.seq, row.id, how, row.attempts, MOMENT, MOMENT, row.parent_id)])
        self.state[row.id] = "cancelled" if how in ("waiting", "failed") and row.stop == "cancel" else how
        self.look_at_parents()

    @rule()
    def crash(self) -> None:
        """Interrupt every running body; a job whose body had ended only waits for its children."""
        with self.library.db.read() as conn:
            bodies = [
                row[0]
                for row in conn.exec_driver_sql(
                    "SELECT id FROM job WHERE state = 'running' AND body_done = 0"
                )
            ]
            flagged = {row[0] for row in conn.exec_driver_sql("SELECT id FROM job WHERE stop = 'cancel'")}
        with self.library.db.write() as conn:
            decisions.recover(conn)
        for body in bodies:
            self.interruptions[body] += 1
            gone = self.interruptions[body] > INTERRUPTIONS_ALLOWED
            self.state[body] = "cancelled" if body in flagged else "failed" if gone else "waiting"
        self.look_at_parents()

    @rule(target=steps, job_id=jobs, paused=st.booleans())
    def pause(self, job_id: str, paused: bool) -> tuple[str, bool, bool, str]:
        before = job_id in self.held
        finished = self.row(job_id)["state"] in FINISHED
        outcome = self.engine.run(
            self.library, "job.pause", {"job_id": job_id, "paused": paused}, LOCAL_OWNER
        )
        if not finished:
            (self.held.add if paused else self.held.discard)(job_id)
        return job_id, before, job_id in self.held, outcome.audit_id

    @rule(step=consumes(steps))
    def undo_pause(self, step: tuple[str, bool, bool, str]) -> None:
        job_id, before, after, audit_id = step
        if before == after or (job_id in self.held) != after:
            return
        try:
            self.engine.undo(self.library, [audit_id], LOCAL_OWNER)
        except Conflict as refusal:
            if refusal.fields["reason"] not in ("changed", "already-undone"):
                raise
            return
        (self.held.add if before else self.held.discard)(job_id)

    @rule(job_id=jobs)
    def cancel(self, job_id: str) -> None:
        running = {one for one, state in self.state.items() if state == "running"}
        self.engine.run(self.library, "job.cancel", {"job_id": job_id}, LOCAL_OWNER)
        for one in self.under(job_id):
            if self.state[one] == "waiting" and one not in running:
                self.state[one] = "cancelled"
        self.look_at_parents()

    @rule(job_id=jobs)
    def retry(self, job_id: str) -> None:
        state = self.row(job_id)["state"]
        try:
            self.engine.run(self.library, "job.retry", {"job_id": job_id}, LOCAL_OWNER)
        except Conflict as refusal:
            if (state, refusal.code) != ("waiting", "already_waiting"):
                raise
            return
        if state in ("failed", "cancelled"):
            for one in self.under(job_id):
                if self.state[one] in ("failed", "cancelled"):
                    self.state[one] = "waiting"
                    self.interruptions[one] = 0
                    self.held.discard(one)
        self.look_at_parents()

    @rule()
    def clear(self) -> None:
        self.engine.run(self.library, "job.clear_failed", {}, LOCAL_OWNER)

    def row(self, job_id: str) -> dict[str, Any]:
        with self.library.db.read() as conn:
            return dict(conn.exec_driver_sql("SELECT * FROM job WHERE id = ?", (job_id,)).mappings().one())

    def look_at_parents(self) -> None:
        """Derive the state of a job with children from theirs, as the invariants say; the model adopts it."""
        with self.library.db.read() as conn:
            for job_id, state in conn.exec_driver_sql("SELECT id, state FROM job"):
                if not self.leaf(job_id):
                    self.state[job_id] = state

    # The invariants: what always holds.

    @invariant()
    def rows_agree_with_the_model_and_with_each_other(self) -> None:
        with self.library.db.read() as conn:
            rows = {row["id"]: row for row in conn.exec_driver_sql("SELECT * FROM job").mappings()}
        assert set(rows) == set(self.parent)
        for job_id, row in rows.items():
            children = [rows[one] for one, parent in self.parent.items() if parent == job_id]
            if not children:
                assert row["state"] == self.state[job_id], job_id
            assert row["open_children"] == sum(child["state"] in ("waiting", "running") for child in children)
            assert row["failed_children"] == sum(child["state"] == "failed" for child in children)
            assert row["total"] == row["own_total"] + sum(child["total"] for child in children)
            assert row["done"] == row["own_done"] + sum(child["done"] for child in children)
            assert 0 <= row["own_done"] <= row["own_total"]
            assert (row["finished_at"] is not None) == (row["state"] in FINISHED)
            if row["state"] == "running" and row["body_done"]:
                assert row["open_children"] > 0
            if row["state"] == "done":
                assert row["open_children"] == row["failed_children"] == 0
                assert row["own_done"] == row["own_total"]
            assert row["interruptions"] <= INTERRUPTIONS_ALLOWED + 1

    @invariant()
    def what_may_start_is_what_the_model_says(self) -> None:
        with self.library.db.read() as conn:
            raw = raw_of(conn)
            ids = {claim.id for claim in select(raw, self.kind, "cpu", limit=10_000)}
            view = QueueView(self.engine.jobs, self.library, conn)
            shown = {one: view.state(row) for one in self.parent if (row := view.row(one)) is not None}
        assert ids == set(self.may_start())
        for job_id, state in shown.items():
            if state == "paused":
                assert any(above in self.held for above in self.line(job_id))


CHECKS = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


class TestQueue(QueueMachine.TestCase):  # type: ignore[misc, name-defined]
    settings = settings(max_examples=40, stateful_step_count=30, deadline=None, suppress_health_check=CHECKS)


@pytest.mark.soak
class TestQueueAtLength(QueueMachine.TestCase):  # type: ignore[misc, name-defined]
    settings = settings(
        max_examples=1000, stateful_step_count=60, deadline=None, suppress_health_check=CHECKS
    )


def test_the_machine_notices_a_planted_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    from hypothesis.stateful import run_state_machine_as_test

    monkeypatch.setattr("armarium.jobs.ending.roll_up", lambda raw, job_id, done, total: None)
    with pytest.raises(AssertionError):
        run_state_machine_as_test(
            QueueMachine,
            settings=settings(
                max_examples=300,
                phases=[Phase.generate],
                stateful_step_count=30,
                deadline=None,
                database=None,
                derandomize=True,
                report_multiple_bugs=False,
                suppress_health_check=CHECKS,
            ),
        )
