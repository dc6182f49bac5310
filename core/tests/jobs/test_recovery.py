"""Jobs that were running are recovered: after interruptions, restarts, clock jumps, disk errors, closing a project."""

from __future__ import annotations

import errno
import logging
import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from chores import chores_plugin

from armarium.errors import Unavailable
from armarium.jobs import choice, decisions
from armarium.jobs.body_ends import JobStopped, RetryLater
from armarium.jobs.claims import next_due, select
from armarium.jobs.ending import Changes
from armarium.jobs.execution import execute
from armarium.jobs.kinds import JobKind
from armarium.jobs.queue_view import QueueView
from armarium.principals import LOCAL_OWNER
from armarium.store.database import Database, raw_of


def node(chores: Any, job_id: str) -> dict[str, Any]:
    with chores.library.db.read() as conn:
        view = QueueView(chores.engine.jobs, chores.library, conn)
        return view.node(view.row(job_id))


def mark_interrupted(chores: Any, job_id: str) -> None:
    """Put the project into the state in which the engine stopped while the job ran, and recover it as opening does."""
    with chores.library.db.write() as conn:
        conn.exec_driver_sql(
            "UPDATE job SET state = 'running', lease_holder = 'another', lease_until = '2999-01-01T00:00:00.000Z', "
            "started_at = created_at WHERE id = ?",
            (job_id,),
        )
        decisions.recover(conn)


def relaunch(chores: Any, make_engine: Callable[..., Any]) -> None:
    place = chores.library.path
    chores.engine.close()
    chores.engine = make_engine(plugins=[chores_plugin(chores.gate)], state="state-0")
    chores.library = chores.engine.libraries.get(place)


def test_two_interruptions_resume_and_the_third_fails_with_a_sentence(chores: Any) -> None:
    job_id = chores.put("chore-items", {"items": 1})
    for time_found in (1, 2):
        mark_interrupted(chores, job_id)
        assert chores.state(job_id) == "waiting"
        assert chores.row(job_id)["interruptions"] == time_found
    mark_interrupted(chores, job_id)
    told = node(chores, job_id)
    assert (told["state"], told["reason_code"]) == ("failed", "interrupted")
    assert told["reason"].startswith("The engine stopped three times while this ran")
    chores.act("job.retry", job_id=job_id)
    assert chores.row(job_id)["interruptions"] == 0
    chores.work()
    assert chores.notes(job_id) == [0]


def test_a_body_that_had_ended_is_not_run_again_and_its_row_ends_as_it_is_picked_up(chores: Any) -> None:
    """If it were marked as running, it would look like one that waits for its children, should the engine stop then."""
    job_id = chores.put("chore-items", {"items": 1})
    runner = chores.engine.jobs
    store = runner.store_of(chores.library)
    store.look(chores.engine.kinds)
    changes = Changes()
    with chores.library.db.write() as conn:
        conn.exec_driver_sql("UPDATE job SET body_done = 1 WHERE id = ?", (job_id,))
        assert choice.pick(runner, store, runner.lanes["cpu"], conn, changes) == []
    assert (chores.state(job_id), changes.states, store.picked) == ("done", [job_id], {})
    assert chores.notes(job_id) == []


def test_a_job_stopped_before_it_begins_returns_to_the_queue_unchanged(
    chores: Any,
) -> None:
    job_id = chores.put("chore-items", {"items": 1})
    runner = chores.engine.jobs
    store = runner.store_of(chores.library)
    store.look(chores.engine.kinds)
    with chores.library.db.write() as conn:
        (picked,) = choice.pick(runner, store, runner.lanes["cpu"], conn, Changes())
    assert (chores.state(job_id), chores.row(job_id)["attempts"]) == ("running", 1)
    chores.act("job.pause", job_id=job_id, paused=True)
    runner.crew.write_ends(store, [(execute(runner, store, picked), picked)])
    row = chores.row(job_id)
    assert (row["state"], row["attempts"], row["lease_holder"], store.picked) == ("waiting", 0, None, {})
    chores.act("job.pause", job_id=job_id, paused=False)
    chores.work()
    assert (chores.state(job_id), chores.notes(job_id)) == ("done", [0])


def test_a_project_and_a_copy_of_its_folder_have_a_queue_each(chores: Any) -> None:
    first = chores.library
    chores.engine.libraries.release(first.path)
    copied = first.path.with_name("Copied.library")
    shutil.copytree(first.path, copied)
    first, second = chores.engine.libraries.get(first.path), chores.engine.libraries.get(copied)
    assert first.uuid == second.uuid
    stores = [chores.engine.jobs.store_of(one) for one in (first, second)]
    assert [store.path for store in stores] == [str(first.path), str(second.path)]
    chores.engine.jobs.detach(second)
    assert chores.engine.jobs.store_of(first) is stores[0]
    chores.library = first
    job_id = chores.put("chore-items", {"items": 2})
    chores.work()
    assert chores.state(job_id) == "done"


def test_found_running_at_relaunch_it_waits_and_is_done_once(
    chores: Any, make_engine: Callable[..., Any]
) -> None:
    job_id = chores.put("chore-items", {"items": 2})
    with chores.library.db.write() as conn:
        conn.exec_driver_sql(
            "UPDATE job SET state = 'running', lease_holder = 'gone', started_at = created_at"
        )
    relaunch(chores, make_engine)
    assert chores.state(job_id) == "waiting"
    chores.work()
    assert chores.notes(job_id) == [0, 1]


def test_cancelled_while_running_and_then_interrupted_it_is_cancelled(chores: Any) -> None:
    job_id = chores.put("chore-items", {"items": 1})
    with chores.library.db.write() as conn:
        conn.exec_driver_sql("UPDATE job SET stop = 'cancel' WHERE id = ?", (job_id,))
    mark_interrupted(chores, job_id)
    assert chores.state(job_id) == "cancelled"


def test_the_engines_end_is_no_interruption(chores: Any, make_engine: Callable[..., Any]) -> None:
    job_id = chores.put("chore-gated", {"items": 3})
    chores.engine.jobs.start()
    assert chores.gate.reached.wait(60)
    chores.gate.open.set()
    place = chores.library.path
    relaunch(chores, make_engine)
    assert chores.library.path == place
    assert chores.row(job_id)["interruptions"] == 0
    chores.work()
    assert chores.notes(job_id) == [0, 1, 2]


def test_release_stops_the_work_and_a_later_request_carries_on(
    chores: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    detach = chores.engine.jobs.detach

    def stop_and_open_the_gate(*given: Any, **named: Any) -> Any:
        threading.Timer(0.2, chores.gate.open.set).start()
        return detach(*given, **named)

    monkeypatch.setattr(chores.engine.jobs, "detach", stop_and_open_the_gate)
    running = chores.put("chore-gated", {"items": 2})
    waiting = [chores.put("chore-gated", {"items": 1}) for _ in range(3)]
    chores.engine.jobs.start()
    assert chores.gate.reached.wait(60)
    result = chores.act("library.release", None, path=str(chores.library.path))
    assert result["status"] == "released"
    assert result["jobs_stopped"] >= 1
    chores.library = chores.engine.libraries.get(chores.library.path)
    chores.work()
    assert chores.notes(running) == [0, 1]
    assert [chores.state(one) for one in waiting] == ["done"] * 3


def test_a_body_that_does_not_stop_in_time_can_write_no_more(chores: Any) -> None:
    job_id = chores.put("chore-gated", {"items": 2})
    chores.engine.jobs.start()
    assert chores.gate.reached.wait(60)
    stopped, waiting = chores.engine.jobs.detach(chores.library, timeout=0.2)
    assert (stopped, waiting) == (1, 0)
    chores.gate.open.set()
    time.sleep(0.3)
    assert chores.notes(job_id) == []
    chores.engine.jobs.attach(chores.library)
    assert chores.row(job_id)["interruptions"] == 1
    chores.work()
    assert chores.notes(job_id) == [0, 1]


def test_detach_of_what_was_never_attached_counts_nothing(chores: Any) -> None:
    chores.engine.jobs.detach(chores.library)
    assert chores.engine.jobs.detach(chores.library) == (0, 0)


YEARS = ("1999-01-01T00:00:00.000Z", "2040-01-01T00:00:00.000Z")


@pytest.mark.parametrize("moment", YEARS)
def test_a_clock_that_jumps_loses_and_repeats_nothing(chores: Any, monkeypatch: Any, moment: str) -> None:
    running = chores.put("chore-gated", {"items": 2})
    put_off = chores.put("chore-later")
    chores.engine.jobs.start()
    assert chores.gate.reached.wait(60)
    for module in (
        "ids",
        "jobs.queue",
        "jobs.claims",
        "jobs.decisions",
        "jobs.choice",
        "jobs.execution",
        "jobs.queue_view",
    ):
        monkeypatch.setattr(f"armarium.{module}.now", lambda: moment)
    later = [chores.put("chore-items", {"items": 1}) for _ in range(3)]
    chores.engine.jobs.keeper.beat()
    assert chores.row(running)["interruptions"] == 0
    chores.gate.open.set()
    chores.work()
    assert chores.notes(running) == [0, 1]
    assert [chores.notes(one) for one in later] == [[0]] * 3
    assert chores.state(put_off) == "failed"
    assert [chores.row(one)["finished_at"] for one in later] == [moment] * 3


def test_age_is_the_order_of_the_queue_not_of_the_clock(chores: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("armarium.jobs.queue.now", lambda: YEARS[1])
    first = chores.put("chore-items", {"items": 1})
    monkeypatch.setattr("armarium.jobs.queue.now", lambda: YEARS[0])
    second = chores.put("chore-items", {"items": 1})
    with chores.library.db.read() as conn:
        raw = raw_of(conn)
        kind = chores.engine.kinds.require("chore-items")
        assert [c.id for c in select(raw, kind, "cpu", limit=2)] == [first, second]


def test_the_lease_of_a_row_nobody_works_on_expires(chores: Any) -> None:
    chores.engine.jobs.start()
    job_id = chores.put("chore-unknown-yet", kinds=None)
    with chores.library.db.write() as conn:
        conn.exec_driver_sql(
            "UPDATE job SET state = 'running', lease_holder = ?, lease_until = '2001-01-01T00:00:00.000Z', "
            "started_at = created_at WHERE id = ?",
            (chores.engine.jobs.holder, job_id),
        )
    chores.engine.jobs.keeper.beat()
    assert chores.state(job_id) == "waiting"


def test_a_postponed_job_waits_with_a_reason_and_fails_after_too_many_times(chores: Any) -> None:
    job_id = chores.put("chore-later")
    chores.engine.jobs.start()
    deadline = time.monotonic() + 60
    while chores.row(job_id)["not_before"] is None and time.monotonic() < deadline:
        time.sleep(0.005)
    told = node(chores, job_id)
    assert told["reason_code"] in ("retry-later", "lane")
    assert "The far side is busy." in (told["reason"] or "The far side is busy.")
    with chores.library.db.read() as conn:
        raw = raw_of(conn)
        assert next_due(raw) is None or next_due(raw) <= 0.2
    chores.work()
    told = node(chores, job_id)
    assert told["state"] == "failed"
    assert told["reason"] == "The far side is busy. Tried 3 times; retry it when that has changed."
    assert RetryLater("x", seconds=10**9).seconds == 3600


def test_an_unknown_error_fails_in_general_words_without_words_of_the_source(
    chores: Any, caplog: pytest.LogCaptureFixture
) -> None:
    job_id = chores.put("chore-broken", {"items": 1})
    with caplog.at_level(logging.DEBUG):
        chores.work()
    told = node(chores, job_id)
    assert told["state"] == "failed"
    assert told["reason"].startswith(
        "The work chore-broken failed with an unexpected error inside the engine (ValueError in "
    )
    assert "break_down" in caplog.text
    assert "Konrad" not in caplog.text
    with chores.library.db.read() as conn:
        assert "Konrad" not in str(conn.exec_driver_sql("SELECT * FROM job_log").fetchall())


def test_a_disk_that_takes_no_file_is_refused_with_a_sentence(chores: Any) -> None:
    def fill(job: Any) -> None:
        raise OSError(errno.ENOSPC, "no")

    chores.engine.kinds.add(JobKind("chore-filling", "cpu", "Filling", fill))
    job_id = chores.put("chore-filling")
    chores.work()
    told = node(chores, job_id)
    assert (told["state"], told["reason_code"]) == ("failed", "disk_full")
    assert told["reason"].startswith("The disk is full; the file was not kept.")


def test_too_little_memory_is_refused_with_a_sentence(chores: Any) -> None:
    def devour(job: Any) -> None:
        raise MemoryError

    chores.engine.kinds.add(JobKind("huge", "cpu", "Huge", devour))
    job_id = chores.put("huge")
    chores.work()
    assert node(chores, job_id)["reason"].startswith("There was not enough memory for this")


def test_stored_arguments_that_no_longer_fit_fail_with_a_sentence(chores: Any) -> None:
    job_id = chores.put("chore-items", {"items": "many"}, kinds=None)
    chores.work()
    assert "do not fit the work chore-items (at items)" in node(chores, job_id)["reason"]


def test_an_end_that_a_full_disk_refused_is_written_later(chores: Any, monkeypatch: Any) -> None:
    plain = Database.write
    full = {"yes": False}

    def write(self: Database) -> Any:
        if full["yes"] and self is chores.library.db:
            raise Unavailable("The disk that holds it is full; nothing was changed.", code="disk_full")
        return plain(self)

    monkeypatch.setattr(Database, "write", write)
    job_id = chores.put("chore-gated", {"items": 1})
    chores.engine.jobs.start()
    assert chores.gate.reached.wait(60)
    full["yes"] = True
    chores.gate.open.set()
    time.sleep(0.5)
    assert chores.state(job_id) == "running"
    full["yes"] = False
    chores.work()
    # The item could not be written, so the job fails with a sentence; a retry completes it.
    assert chores.row(job_id)["reason_code"] == "disk_full"
    chores.act("job.retry", job_id=job_id)
    chores.work()
    assert chores.notes(job_id) == [0]


def test_a_stop_is_no_error_a_body_would_swallow() -> None:
    assert not issubclass(JobStopped, Exception)
    assert JobStopped("pause").why == "pause"


def test_work_that_a_plugin_queues_at_opening_starts(make_engine: Callable[..., Any], tmp_path: Path) -> None:
    """Even if the queue looked for work before the job existed and nothing happens afterwards."""

    def queue_late(engine: Any, library: Any) -> None:
        time.sleep(0.4)
        with library.db.write() as conn:
            engine.jobs.enqueue(conn, "chore-nothing", {}, title="Queued at opening")

    def state() -> str | None:
        with library.db.read_all() as conn:
            row = raw_of(conn).execute("SELECT state FROM job WHERE kind = 'chore-nothing'").fetchone()
        return row and row[0]

    engine = make_engine(plugins=[replace(chores_plugin(), on_open=(queue_late,))], jobs=True)
    engine.run(None, "library.create", {"path": str(tmp_path / "New.library")}, LOCAL_OWNER)
    library = engine.libraries.get(tmp_path / "New.library")
    deadline = time.monotonic() + 60
    while state() != "done" and time.monotonic() < deadline:
        time.sleep(0.02)
    assert state() == "done"


def test_a_job_that_comes_further_may_be_postponed_any_number_of_times(chores: Any) -> None:
    job_id = chores.put("chore-later-each", {"items": 6})
    chores.work()
    assert (chores.state(job_id), chores.row(job_id)["done"]) == ("done", 6)
