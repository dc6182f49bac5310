"""Jobs in a tree: counts roll up, a parent waits for its children, cancel and retry reach all of it."""

from __future__ import annotations

from typing import Any

import pytest

from armarium.errors import Conflict, Invalid, NotFound
from armarium.jobs import decisions
from armarium.jobs.queue import NewJob, enqueue_many, move_on
from armarium.jobs.sight import QueueView
from armarium.store.database import raw_of


def tree(house: Any, job_id: str) -> dict[str, Any]:
    with house.library.db.read() as conn:
        sight = QueueView(house.engine.jobs, house.library, conn)
        return sight.tree(sight.row(job_id))


def test_a_parent_is_done_when_its_children_are_and_counts_their_pages(house: Any) -> None:
    job_id = house.put("chore-tree", {"children": 3, "items": 2})
    house.work()
    node = tree(house, job_id)
    assert (node["state"], node["done"], node["total"]) == ("done", 6, 6)
    assert [(c["state"], c["done"], c["total"]) for c in node["children"]] == [("done", 2, 2)] * 3
    assert len(house.notes()) == 6


def test_a_parent_fails_when_a_child_failed_and_retry_takes_up_only_that(house: Any) -> None:
    job_id = house.put("chore-tree", {"children": 3, "items": 1, "failing": 1})
    house.work()
    node = tree(house, job_id)
    assert node["state"] == "failed"
    assert node["reason"].startswith("1 of 3 parts failed")
    assert (node["done"], node["total"]) == (2, 3)
    house.library.derived_folder.mkdir(exist_ok=True)
    (house.library.derived_folder / "chore-may").touch()
    assert house.act("job.retry", job_id=job_id)["state"] == "waiting"
    house.work()
    node = tree(house, job_id)
    assert (node["state"], node["done"], node["total"]) == ("done", 3, 3)
    assert len(house.notes()) == 3


def test_retry_of_a_child_opens_its_parent_again(house: Any) -> None:
    job_id = house.put("chore-tree", {"children": 2, "items": 1, "failing": 1})
    house.work()
    child = next(c["id"] for c in tree(house, job_id)["children"] if c["state"] == "failed")
    house.library.derived_folder.mkdir(exist_ok=True)
    (house.library.derived_folder / "chore-may").touch()
    house.engine.jobs.stop()
    house.act("job.retry", job_id=child)
    assert house.state(job_id) == "running"
    house.work()
    assert house.state(job_id) == "done"


def test_spawning_again_finds_the_same_children(house: Any) -> None:
    parent = house.put("chore-unknown-yet", kinds=None)
    with house.library.db.write() as conn:
        jobs = [NewJob("chore-items", {"items": n}, "child", key=str(n)) for n in range(3)]
        first = enqueue_many(conn, jobs, parent_id=parent)
        again = enqueue_many(
            conn, [*jobs, NewJob("chore-items", {"items": 9}, "new", key="9")], parent_id=parent
        )
    assert again[:3] == first
    assert len(tree(house, parent)["children"]) == 4


def test_pause_of_a_parent_holds_what_is_under_it(house: Any) -> None:
    job_id = house.put("chore-tree", {"children": 2, "items": 1})
    house.act("background.pause", None, paused=True)
    house.engine.jobs.start()
    parent = house.put("chore-unknown-yet", kinds=None)
    with house.library.db.write() as conn:
        (child,) = enqueue_many(conn, [NewJob("chore-items", {"items": 1}, "child")], parent_id=parent)
    house.act("job.pause", job_id=parent, paused=True)
    house.act("background.pause", None, paused=False)
    house.work()
    assert house.state(job_id) == "done"
    assert tree(house, parent)["children"][0]["state"] == "paused"
    house.act("job.pause", job_id=parent, paused=False)
    house.work()
    assert house.state(child) == "done"


def test_cancel_of_a_parent_reaches_every_child(house: Any) -> None:
    job_id = house.put("chore-tree", {"children": 3, "items": 1})
    parent = house.engine.jobs
    parent.start()
    house.act("background.pause", None, paused=True)
    parent.wait(house.library, job_id, 0.5)
    house.act("background.pause", None, paused=False)
    house.work()
    second = house.put("chore-unknown-yet", kinds=None)
    with house.library.db.write() as conn:
        ids = enqueue_many(
            conn, [NewJob("chore-unknown-yet", {"items": n}, "child") for n in range(3)], parent_id=second
        )
    assert house.act("job.cancel", job_id=second)["state"] == "cancelled"
    assert {house.state(one) for one in ids} == {"cancelled"}


def test_a_run_reaches_the_pages_it_handed_in(house: Any) -> None:
    run = house.put("chore-run", {"children": 2, "items": 1})
    house.act("background.pause", None, paused=True)
    with house.library.db.write() as conn:
        (step,) = enqueue_many(
            conn, [NewJob("chore-items", {"items": 1}, "step", job_id=f"{run}:first")], parent_id=run
        )
        (page,) = enqueue_many(conn, [NewJob("chore-page", {"items": 1}, "page")], parent_id=step)
    with pytest.raises(Conflict, match="run instead"):
        house.act("job.pause", job_id=page, paused=True)
    assert house.engine.jobs.holding(house.library) == ["chore-run (waiting)"]
    with pytest.raises(Conflict, match="chore-run") as refusal:
        house.act("library.release", None, path=str(house.library.path))
    assert refusal.value.code == "library_busy"
    house.act("job.pause", job_id=run, paused=True)
    assert tree(house, run)["children"][0]["children"][0]["state"] == "paused"
    house.act("job.cancel", job_id=run)
    assert {house.state(one) for one in (run, step, page)} == {"cancelled"}
    assert house.engine.jobs.holding(house.library) == []


def test_a_job_waits_for_the_one_it_comes_after(house: Any) -> None:
    house.engine.jobs.start()
    first = house.put("chore-gated", {"items": 1})
    then = house.put("chore-items", {"items": 1}, after_id=first)
    assert house.gate.reached.wait(10)
    with house.library.db.read() as conn:
        sight = QueueView(house.engine.jobs, house.library, conn)
        assert sight.node(sight.row(then))["reason_code"] == "dependency"
    house.gate.open.set()
    house.work()
    assert house.state(then) == "done"


def test_a_job_after_one_that_failed_says_so(house: Any) -> None:
    first = house.put("chore-refused", {"items": 1}, title="the first")
    then = house.put("chore-items", {"items": 1}, after_id=first)
    house.work()
    with house.library.db.read() as conn:
        sight = QueueView(house.engine.jobs, house.library, conn)
        assert sight.node(sight.row(then))["reason"] == (
            "Waits for the first, which was failed; retry that one, or cancel this."
        )


def test_what_cannot_be_put_in_the_queue_is_refused(house: Any) -> None:
    with pytest.raises(Invalid, match="No loaded plugin provides the work chore-none"):
        house.put("chore-none")
    with pytest.raises(Invalid, match=r"do not fit the work chore-items \(at items\)"):
        house.put("chore-items", {"items": -1})
    with pytest.raises(NotFound, match="nothing can be queued beneath it"):
        house.put("chore-nothing", parent_id="0" * 32)
    with pytest.raises(NotFound, match="No job has the id"):
        house.put("chore-nothing", after_id="0" * 32)
    house.put("chore-nothing", job_id="a-run")
    with pytest.raises(Conflict, match="exists already"):
        house.put("chore-nothing", job_id="a-run")
    with house.library.db.write() as conn, pytest.raises(NotFound, match="removed while it ran"):
        move_on(raw_of(conn), "0" * 32, done=1)


def test_old_finished_jobs_go_and_their_parents_keep_them(house: Any) -> None:
    old = house.put("chore-tree", {"children": 2})
    house.work()
    kept = house.put("chore-tree", {"children": 1})
    house.work()
    with house.library.db.write() as conn:
        conn.exec_driver_sql("UPDATE job SET finished_at = '2020-01-01T00:00:00.000Z'")
        conn.exec_driver_sql("UPDATE job SET state = 'running', finished_at = NULL WHERE id = ?", (kept,))
        assert decisions.purge(conn) == 3
        assert [row[0] for row in conn.exec_driver_sql("SELECT id FROM job WHERE parent_id IS NULL")] == [
            kept
        ]
        assert old not in [row[0] for row in conn.exec_driver_sql("SELECT row_id FROM job_log")]
