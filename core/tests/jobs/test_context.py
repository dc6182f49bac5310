"""What a running job can do: progress, saving, spawning, logging, calling a worker, and on whose behalf it acts."""

from __future__ import annotations

from typing import Any

import pytest

from armarium.jobs.body_ends import JobStopped
from armarium.jobs.context import JobContext
from armarium.jobs.kinds import JobKind
from armarium.jobs.log import read_lines
from armarium.jobs.queue import NewJob
from armarium.principals import Principal
from armarium.store.database import raw_of


def run_body(chores: Any, body: Any, **kind: Any) -> dict[str, Any]:
    """Run *body* as a job and return its row."""
    chores.engine.kinds.add(JobKind("chore-body", "cpu", "A body", body, **kind))
    job_id = chores.put("chore-body", {"a": 1})
    chores.work()
    return dict(chores.row(job_id))


def test_progress_is_written_and_published_at_most_four_times_a_second(chores: Any) -> None:
    before = chores.engine.events.seq

    def body(job: JobContext) -> None:
        for item in range(500):
            job.progress(item + 1, 500)

    row = run_body(chores, body)
    assert (row["done"], row["total"], row["state"]) == (500, 500, "done")
    events = [e for e in chores.engine.events.since(before) if e.kind == "job" and e.data["id"] == row["id"]]
    assert len(events) <= 4
    assert events[-1].data["state"] == "done"
    assert events[-1].data["done"] == 500
    assert events[-1].library_path == str(chores.library.path)


def test_save_keeps_a_checkpoint_and_counts(chores: Any) -> None:
    def body(job: JobContext) -> dict[str, Any]:
        assert job.args == {"a": 1}
        assert job.checkpoint == {}
        job.save({"page": 3}, done=3, total=5)
        assert job.checkpoint == {"page": 3}
        assert chores.row(job.job_id)["done"] == 3
        return {"pages": 3}

    row = run_body(chores, body)
    assert row["checkpoint"] == '{"page":3}'
    assert row["result"] == '{"pages":3}'


def test_it_acts_as_a_machine_with_the_rights_of_who_started_it(chores: Any) -> None:
    seen: list[Principal] = []

    def body(job: JobContext) -> None:
        seen.append(job.principal)
        job.act("chore.note", {"job_id": job.job_id, "item": 0})

    chores.engine.kinds.add(JobKind("chore-body", "cpu", "A body", body))
    path = str(chores.library.path)
    editor = Principal("person", "Inés", "editor", libraries=frozenset({path}), client="desk")
    job_id = chores.put("chore-body", started_by=editor)
    chores.work()
    (principal,) = seen
    assert (principal.kind, principal.name, principal.role) == ("machine", "Inés", "editor")
    assert principal.token_kind == "run"
    assert principal.libraries == frozenset({path})
    assert principal.run_id == job_id
    with chores.library.db.read() as conn:
        row = conn.exec_driver_sql(
            "SELECT actor_kind, set_id, run_id FROM audit WHERE action_name = 'chore.note'"
        ).one()
    assert tuple(row) == ("machine", job_id, job_id)


def test_what_a_job_did_is_undone_as_one_set(chores: Any) -> None:
    job_id = chores.put("chore-items", {"items": 3})
    chores.work()
    with chores.library.db.read() as conn:
        steps = [row[0] for row in conn.exec_driver_sql("SELECT id FROM audit WHERE set_id = ?", (job_id,))]
    from armarium.principals import LOCAL_OWNER

    chores.engine.undo(chores.library, steps, LOCAL_OWNER)
    assert chores.notes(job_id) == []


def test_an_engine_wide_action_keeps_its_checkpoint_apart(chores: Any) -> None:
    def body(job: JobContext) -> None:
        job.act("background.mode", {"mode": "started"}, checkpoint={"set": True}, done=1)

    row = run_body(chores, body)
    assert row["state"] == "done"
    assert row["checkpoint"] == '{"set":true}'


def test_a_refused_action_keeps_no_checkpoint(chores: Any) -> None:
    def body(job: JobContext) -> None:
        job.act("chore.note", {"item": "no number"}, checkpoint={"item": 1})

    row = run_body(chores, body)
    assert row["state"] == "failed"
    assert row["checkpoint"] is None


def test_a_body_that_runs_again_spawns_nothing_twice(chores: Any) -> None:
    runs: list[int] = []

    def body(job: JobContext) -> None:
        first = job.spawn(NewJob("chore-items", {"items": 1}, "a child"))
        again = job.spawn(NewJob("chore-items", {"items": 1}, "a child"))
        other = job.spawn(NewJob("chore-items", {"items": 2}, "another", key="another"))
        assert first == again != other
        runs.append(1)
        if len(runs) == 1:
            raise JobStopped("aside")

    row = run_body(chores, body)
    assert row["state"] == "done"
    assert len(runs) == 2
    assert sorted(chores.notes()) == [0, 0, 1]


def test_a_body_that_is_cancelled_puts_nothing_more_under_it(chores: Any) -> None:
    def body(job: JobContext) -> None:
        job.spawn(NewJob("chore-items", {"items": 1}, "before"))
        chores.act("job.cancel", job_id=job.job_id)
        job.spawn(NewJob("chore-items", {"items": 2}, "after"))

    row = run_body(chores, body)
    assert row["state"] == "cancelled"
    with chores.library.db.read() as conn:
        raw = raw_of(conn)
        under = raw.execute("SELECT title FROM job WHERE parent_id = ?", (row["id"],)).fetchall()
    assert under == [("before",)]


def test_the_log_of_a_row_holds_the_rows_under_it_and_no_other(chores: Any) -> None:
    def body(job: JobContext) -> None:
        job.log("info", "began", page="p1")
        job.spawn(NewJob("chore-refused", {"items": 1}, "a child"))

    chores.put("chore-refused", {"items": 2})
    row = run_body(chores, body)
    with chores.library.db.read() as conn:
        lines = read_lines(conn, [row["id"]])
        assert [(line["level"], line["source"]) for line in lines] == [("info", "job"), ("error", "job")]
        assert lines[0]["message"] == "began"
        assert lines[0]["data"] == {"page": "p1"}
        assert "it was to be" in lines[1]["message"]
        assert read_lines(conn, [row["id"]], after=lines[0]["seq"]) == lines[1:]
        assert read_lines(conn, [row["id"]], limit=1) == lines[1:]


def test_heavy_compute_is_a_call_to_a_worker(chores: Any, monkeypatch: Any) -> None:
    from armarium_worker import WorkerStopped

    calls: list[Any] = []

    def call(runtime: Any, worker: str, method: str, params: Any, **more: Any) -> dict[str, Any]:
        calls.append((runtime, worker, method, params))
        assert more["stopped"]() is False
        if method == "stop":
            raise WorkerStopped("It was asked to stop.")
        return {"lines": 3}

    monkeypatch.setattr(chores.engine.workers, "call", call)

    def body(job: JobContext) -> dict[str, Any]:
        answer = job.call_worker("kraken", "module:worker", "find", {"page": 1})
        with pytest.raises(JobStopped):
            job.call_worker(None, "module:worker", "stop", {})
        return answer

    row = run_body(chores, body)
    assert row["result"] == '{"lines":3}'
    assert calls[0] == ("kraken", "module:worker", "find", {"page": 1})
