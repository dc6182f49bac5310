"""Several quick jobs are picked up, and their ends written, at a time; none delays another."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from armarium.jobs import choice, decisions
from armarium.jobs.context import JobContext
from armarium.jobs.ending import Changes
from armarium.jobs.kinds import JobKind
from armarium.jobs.queue import NewJob, enqueue_many


def put_many(chores: Any, kind: str, count: int) -> list[str]:
    with chores.library.db.write() as conn:
        jobs = [NewJob(kind, {}, f"{kind} {number}") for number in range(count)]
        return enqueue_many(conn, jobs, kinds=chores.engine.kinds)


def pick_titles(chores: Any, *, alone: bool = True) -> list[str]:
    """Return the titles of what the lane `cpu` picks up next; release the rows at once."""
    runner = chores.engine.jobs
    store = runner.store_of(chores.library)
    store.look(chores.engine.kinds)
    with chores.library.db.write() as conn:
        found = choice.pick(runner, store, runner.lanes["cpu"], conn, Changes(), alone=alone)
        conn.exec_driver_sql("UPDATE job SET state = 'waiting', attempts = 0 WHERE state = 'running'")
    store.put_down(found)
    return [item.claim.title for item in found]


@pytest.fixture
def quick(chores: Any) -> Any:
    """A lane that has seen that jobs of the kind `chore-nothing` are quick."""
    chores.engine.jobs.lanes["cpu"].quick["chore-nothing"] = 3
    return chores


def test_jobs_whose_kind_was_quick_are_picked_up_together(quick: Any) -> None:
    put_many(quick, "chore-nothing", 10)
    assert pick_titles(quick) == [f"chore-nothing {number}" for number in range(4)]


def test_one_by_one_where_another_project_or_another_kind_wants_the_lane(quick: Any) -> None:
    put_many(quick, "chore-nothing", 10)
    assert pick_titles(quick, alone=False) == ["chore-nothing 0"]
    quick.put("chore-items", {"items": 1})
    assert pick_titles(quick) == ["chore-nothing 0"]


def test_an_interrupted_job_is_picked_up_alone(quick: Any) -> None:
    """If that job is what kills the engine, the others must not be blamed."""
    ids = put_many(quick, "chore-nothing", 4)
    with quick.library.db.write() as conn:
        conn.exec_driver_sql(
            "UPDATE job SET state = 'running', started_at = created_at WHERE id = ?", (ids[1],)
        )
        decisions.recover(conn)
    assert pick_titles(quick) == ["chore-nothing 0", "chore-nothing 2", "chore-nothing 3"]
    quick.act("job.cancel", job_id=ids[0])
    assert pick_titles(quick) == ["chore-nothing 1"]


def test_a_kind_that_another_machine_works_for_or_that_is_heavy_is_never_grouped(chores: Any) -> None:
    for number, more in enumerate(({"heavy": True}, {"needs_network": True}, {"steps_aside": True})):
        assert not JobKind(f"k{number}", "cpu", "Kind", lambda job: None, **more).may_be_grouped
    chores.engine.kinds.add(JobKind("far", "network", "Far", lambda job: None, also_lanes=("cpu",)))
    chores.engine.jobs.lanes["network"].quick["far"] = 3
    put_many(chores, "far", 3)
    runner = chores.engine.jobs
    store = runner.store_of(chores.library)
    store.look(chores.engine.kinds)
    with chores.library.db.write() as conn:
        assert len(choice.pick(runner, store, runner.lanes["network"], conn, Changes(), alone=True)) == 1


def test_a_slow_job_among_quick_ones_delays_none(quick: Any) -> None:
    """The others are put back or taken by the lane's second thread, and the ends of its quick neighbours are written."""
    held, reached = threading.Event(), threading.Event()

    def run(job: JobContext) -> None:
        if job.title == "mixed 2":
            reached.set()
            held.wait(30)

    quick.engine.kinds.add(JobKind("mixed", "cpu", "Mixed", run))
    quick.engine.jobs.lanes["cpu"].quick["mixed"] = 31
    ids = put_many(quick, "mixed", 12)
    quick.engine.jobs.start()
    quick.engine.jobs.wake(quick.library)
    assert reached.wait(60)
    try:
        for number, job_id in enumerate(ids):
            if number != 2:
                assert quick.engine.jobs.wait(quick.library, job_id, 60) == "done"
        assert quick.state(ids[2]) == "running"
        assert quick.engine.jobs.counts(ids)["cpu"] == 1
    finally:
        held.set()
    assert quick.engine.jobs.wait(quick.library, ids[2], 60) == "done"
    with quick.library.db.read() as conn:
        rows = conn.exec_driver_sql("SELECT DISTINCT state, attempts, interruptions FROM job").all()
    assert [tuple(row) for row in rows] == [("done", 1, 0)]


def test_jobs_picked_up_ahead_are_put_back_when_background_work_is_paused(quick: Any) -> None:
    held, reached = threading.Event(), threading.Event()

    def run(job: JobContext) -> None:
        if not reached.is_set():
            reached.set()
            held.wait(30)

    quick.engine.kinds.add(JobKind("halting", "cpu", "Halting", run))
    runner = quick.engine.jobs
    runner.lanes["cpu"].quick["halting"] = 31
    runner.lanes["cpu"].width = 1
    ids = put_many(quick, "halting", 8)
    runner.start()
    runner.wake(quick.library)
    assert reached.wait(60)
    runner.mode = "paused"
    held.set()
    assert runner.wait(quick.library, ids[0], 60) == "done"
    runner.stop()
    assert [quick.state(identity) for identity in ids[1:]] == ["waiting"] * 7
    assert {quick.row(identity)["attempts"] for identity in ids[1:]} == {0}
