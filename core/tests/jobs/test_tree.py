"""Jobs in a tree: counts roll up, a parent waits for its children, cancel and retry reach all of it."""

from __future__ import annotations

from typing import Any

import pytest

from armarium.errors import Conflict, Invalid, NotFound
from armarium.jobs import decisions
from armarium.jobs.queue import NewJob, enqueue_many, move_on
from armarium.jobs.queue_view import QueueView
from armarium.store.database import raw_of


def tree(chores: Any, job_id: str) -> dict[str, Any]:
    with chores.library.db.read() as conn:
        view = QueueView(chores.engine.jobs, chores.library, conn)
        return view.tree(view.row(job_id))


def test_a_parent_is_done_when_its_children_are_and_counts_their_pages(chores: Any) -> None:
    job_id = chores.put("chore-tree", {"children": 3, "items": 2})
    chores.work()
    node = tree(chores, job_id)
    assert (node["state"], node["done"], node["total"]) == ("done", 6, 6)
    assert [(child["state"], child["done"], child["total"]) for child in node["children"]] == [
        ("done", 2, 2)
    ] * 3
    assert len(chores.notes()) == 6


def test_a_parent_fails_when_a_child_failed_and_retry_takes_up_only_that(chores: Any) -> None:
    job_id = chores.put("chore-tree", {"children": 3, "items": 1, "failing": 1})
    chores.work()
    node = tree(chores, job_id)
    assert node["state"] == "failed"
    assert node["reason"].startswith("1 of 3 parts failed")
    assert (node["done"], node["total"]) == (2, 3)
    chores.library.derived_folder.mkdir(exist_ok=True)
    (chores.library.derived_folder / "chore-may").touch()
    assert chores.act("job.retry", job_id=job_id)["state"] == "waiting"
    chores.work()
    node = tree(chores, job_id)
    assert (node["state"], node["done"], node["total"]) == ("done", 3, 3)
    assert len(chores.notes()) == 3


def test_retry_of_a_child_opens_its_parent_again(chores: Any) -> None:
    job_id = chores.put("chore-tree", {"children": 2, "items": 1, "failing": 1})
    chores.work()
    child = next(c["id"] for c in tree(chores, job_id)["children"] if c["state"] == "failed")
    chores.library.derived_folder.mkdir(exist_ok=True)
    (chores.library.derived_folder / "chore-may").touch()
    chores.engine.jobs.stop()
    chores.act("job.retry", job_id=child)
    assert chores.state(job_id) == "running"
    chores.work()
    assert chores.state(job_id) == "done"


def test_spawning_again_finds_the_same_children(chores: Any) -> None:
    parent = chores.put("chore-unknown-yet", kinds=None)
    with chores.library.db.write() as conn:
        jobs = [NewJob("chore-items", {"items": n}, "child", key=str(n)) for n in range(3)]
        first = enqueue_many(conn, jobs, parent_id=parent)
        again = enqueue_many(
            conn, [*jobs, NewJob("chore-items", {"items": 9}, "new", key="9")], parent_id=parent
        )
    assert again[:3] == first
    assert len(tree(chores, parent)["children"]) == 4


def test_pause_of_a_parent_holds_what_is_under_it(chores: Any) -> None:
    job_id = chores.put("chore-tree", {"children": 2, "items": 1})
    chores.act("background.pause", None, paused=True)
    chores.engine.jobs.start()
    parent = chores.put("chore-unknown-yet", kinds=None)
    with chores.library.db.write() as conn:
        (child,) = enqueue_many(conn, [NewJob("chore-items", {"items": 1}, "child")], parent_id=parent)
    chores.act("job.pause", job_id=parent, paused=True)
    chores.act("background.pause", None, paused=False)
    chores.work()
    assert chores.state(job_id) == "done"
    assert tree(chores, parent)["children"][0]["state"] == "paused"
    chores.act("job.pause", job_id=parent, paused=False)
    chores.work()
    assert chores.state(child) == "done"


def test_cancel_of_a_parent_reaches_every_child(chores: Any) -> None:
    job_id = chores.put("chore-tree", {"children": 3, "items": 1})
    parent = chores.engine.jobs
    parent.start()
    chores.act("background.pause", None, paused=True)
    parent.wait(chores.library, job_id, 0.5)
    chores.act("background.pause", None, paused=False)
    chores.work()
    second = chores.put("chore-unknown-yet", kinds=None)
    with chores.library.db.write() as conn:
        ids = enqueue_many(
            conn, [NewJob("chore-unknown-yet", {"items": n}, "child") for n in range(3)], parent_id=second
        )
    assert chores.act("job.cancel", job_id=second)["state"] == "cancelled"
    assert {chores.state(identity) for identity in ids} == {"cancelled"}


def test_a_run_reaches_the_pages_it_handed_in(chores: Any) -> None:
    run = chores.put("chore-run", {"children": 2, "items": 1})
    chores.act("background.pause", None, paused=True)
    with chores.library.db.write() as conn:
        (step,) = enqueue_many(
            conn, [NewJob("chore-items", {"items": 1}, "step", job_id=f"{run}:first")], parent_id=run
        )
        (page,) = enqueue_many(conn, [NewJob("chore-page", {"items": 1}, "page")], parent_id=step)
    with pytest.raises(Conflict, match="run instead"):
        chores.act("job.pause", job_id=page, paused=True)
    assert chores.engine.jobs.holding(chores.library) == ["chore-run (waiting)"]
    with pytest.raises(Conflict, match="chore-run") as refusal:
        chores.act("library.release", None, path=str(chores.library.path))
    assert refusal.value.code == "library_busy"
    chores.act("job.pause", job_id=run, paused=True)
    assert tree(chores, run)["children"][0]["children"][0]["state"] == "paused"
    chores.act("job.cancel", job_id=run)
    assert {chores.state(one) for one in (run, step, page)} == {"cancelled"}
    assert chores.engine.jobs.holding(chores.library) == []


def test_a_job_waits_for_the_one_it_comes_after(chores: Any) -> None:
    chores.engine.jobs.start()
    first = chores.put("chore-gated", {"items": 1})
    then = chores.put("chore-items", {"items": 1}, after_id=first)
    assert chores.gate.reached.wait(60)
    with chores.library.db.read() as conn:
        view = QueueView(chores.engine.jobs, chores.library, conn)
        assert view.node(view.row(then))["reason_code"] == "dependency"
    chores.gate.open.set()
    chores.work()
    assert chores.state(then) == "done"


def test_a_job_after_one_that_failed_says_so(chores: Any) -> None:
    first = chores.put("chore-refused", {"items": 1}, title="the first")
    then = chores.put("chore-items", {"items": 1}, after_id=first)
    chores.work()
    with chores.library.db.read() as conn:
        view = QueueView(chores.engine.jobs, chores.library, conn)
        assert view.node(view.row(then))["reason"] == (
            "Waits for the first, which was failed; retry that one, or cancel this."
        )


def test_what_cannot_be_put_in_the_queue_is_refused(chores: Any) -> None:
    with pytest.raises(Invalid, match="No loaded plugin provides the work chore-none"):
        chores.put("chore-none")
    with pytest.raises(Invalid, match=r"do not fit the work chore-items \(at items\)"):
        chores.put("chore-items", {"items": -1})
    with pytest.raises(NotFound, match="nothing can be queued beneath it"):
        chores.put("chore-nothing", parent_id="0" * 32)
    with pytest.raises(NotFound, match="No job has the id"):
        chores.put("chore-nothing", after_id="0" * 32)
    chores.put("chore-nothing", job_id="a-run")
    with pytest.raises(Conflict, match="already exists"):
        chores.put("chore-nothing", job_id="a-run")
    with chores.library.db.write() as conn, pytest.raises(NotFound, match="removed while it ran"):
        move_on(raw_of(conn), "0" * 32, done=1)


def test_old_finished_jobs_are_purged_unless_their_parent_is_kept(chores: Any) -> None:
    old = chores.put("chore-tree", {"children": 2})
    chores.work()
    kept = chores.put("chore-tree", {"children": 1})
    chores.work()
    with chores.library.db.write() as conn:
        conn.exec_driver_sql("UPDATE job SET finished_at = '2020-01-01T00:00:00.000Z'")
        conn.exec_driver_sql("UPDATE job SET state = 'running', finished_at = NULL WHERE id = ?", (kept,))
        assert decisions.purge(conn) == 3
        assert [row[0] for row in conn.exec_driver_sql("SELECT id FROM job WHERE parent_id IS NULL")] == [
            kept
        ]
        assert old not in [row[0] for row in conn.exec_driver_sql("SELECT row_id FROM job_log")]


def test_a_pause_is_told_of_what_lies_below_and_of_what_rests_with_it(chores: Any) -> None:
    parent = chores.put("chore-unknown-yet", kinds=None)
    with chores.library.db.write() as conn:
        (folder,) = enqueue_many(conn, [NewJob("chore-unknown-yet", {}, "folder")], parent_id=parent)
        pages = enqueue_many(
            conn, [NewJob("chore-items", {"items": n + 1}, "page") for n in range(2)], parent_id=folder
        )

    def states_told_by(step: Any) -> dict[str, str]:
        before = chores.engine.events.seq
        step()
        return told_since(chores, before)

    each = (parent, folder, *pages)
    assert states_told_by(lambda: chores.act("job.pause", job_id=parent, paused=True)) == dict.fromkeys(
        each, "paused"
    )
    assert states_told_by(lambda: chores.act("job.pause", job_id=parent, paused=False)) == dict.fromkeys(
        each, "waiting"
    )
    paused = chores.act("job.pause", job_id=parent, paused=True)["audit_id"]
    assert states_told_by(lambda: chores.undo(paused)) == dict.fromkeys(each, "waiting")


def test_what_rests_above_the_item_in_progress_is_told_once_that_is_finished(chores: Any) -> None:
    parent = chores.put("chore-unknown-yet", kinds=None)
    with chores.library.db.write() as conn:
        (page,) = enqueue_many(conn, [NewJob("chore-gated", {"items": 3}, "page")], parent_id=parent)
        raw_of(conn).execute("UPDATE job SET state = 'running', body_done = 1 WHERE id = ?", (parent,))
    chores.engine.jobs.start()
    assert chores.gate.reached.wait(60)
    before = chores.engine.events.seq
    chores.act("job.pause", job_id=parent, paused=True)
    assert told_since(chores, before) == {parent: "running", page: "running"}
    before = chores.engine.events.seq
    chores.gate.open.set()
    chores.work()
    assert told_since(chores, before) == {parent: "paused", page: "paused"}
    assert tree(chores, parent)["state"] == "paused"


def told_since(chores: Any, number: int) -> dict[str, str]:
    """Return the state that was last published of each job."""
    events = (one for one in chores.engine.events.since(number) if one.kind == "job")
    return {event.data["id"]: event.data["state"] for event in events}
