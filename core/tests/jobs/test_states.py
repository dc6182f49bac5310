"""The states of a job and the transitions between them, one by one."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from armarium.errors import Conflict, NotFound
from armarium.jobs.conditions import Conditions
from armarium.principals import LOCAL_OWNER
from armarium_testing.chores import chores_plugin


def read_shown(house: Any, job_id: str) -> dict[str, Any] | None:
    from armarium.jobs.listing import list_jobs

    nodes = list_jobs(house.engine.jobs, [house.library])["items"]
    return next((node for node in nodes if node["id"] == job_id), None)


def begin_gated(house: Any, items: int = 3, kind: str = "chore-gated") -> str:
    """A job that has begun its first item and waits there."""
    job_id = house.put(kind, {"items": items})
    house.engine.jobs.start()
    assert house.gate.reached.wait(10)
    return str(job_id)


def let_on(house: Any) -> None:
    house.gate.open.set()


class TestWaiting:
    def test_pause_makes_it_paused_and_it_does_not_run(self, house: Any) -> None:
        job_id = house.put("chore-items", {"items": 1})
        assert house.act("job.pause", job_id=job_id, paused=True)["state"] == "paused"
        house.work()
        assert read_shown(house, job_id)["state"] == "paused"
        assert house.notes() == []

    def test_pause_holds_over_relaunch(self, house: Any, make_engine: Callable[..., Any], gate: Any) -> None:
        job_id = house.put("chore-items", {"items": 1})
        house.act("job.pause", job_id=job_id, paused=True)
        place = house.library.path
        house.engine.close()
        again = make_engine(plugins=[chores_plugin(gate)], state="state-0")
        house.engine, house.library = again, again.libraries.get(place)
        house.work()
        assert read_shown(house, job_id)["state"] == "paused"
        assert house.act("job.pause", job_id=job_id, paused=False)["state"] == "waiting"
        house.work()
        assert house.state(job_id) == "done"

    def test_undo_of_pause_lets_it_run_again(self, house: Any) -> None:
        job_id = house.put("chore-items", {"items": 1})
        paused = house.act("job.pause", job_id=job_id, paused=True)
        house.work()
        house.undo(paused["audit_id"])
        house.work()
        assert house.state(job_id) == "done"

    def test_cancel_ends_it(self, house: Any) -> None:
        job_id = house.put("chore-items", {"items": 1})
        assert house.act("job.cancel", job_id=job_id)["state"] == "cancelled"
        house.work()
        assert house.notes() == []
        assert house.row(job_id)["reason"] == "Cancelled by a person."

    def test_cancel_and_retry_cannot_be_undone(self, house: Any) -> None:
        job_id = house.put("chore-items", {"items": 1})
        for name in ("job.cancel", "job.retry"):
            with pytest.raises(Conflict) as refusal:
                house.undo(house.act(name, job_id=job_id)["audit_id"])
            assert refusal.value.fields["reason"] == "not-undoable"


class TestPaused:
    def test_resuming_makes_it_waiting(self, house: Any) -> None:
        job_id = house.put("chore-items", {"items": 1})
        house.act("job.pause", job_id=job_id, paused=True)
        assert house.act("job.pause", job_id=job_id, paused=False)["state"] == "waiting"
        house.work()
        assert house.notes(job_id) == [0]

    def test_a_second_pause_changes_nothing(self, house: Any) -> None:
        job_id = house.put("chore-items", {"items": 1})
        house.act("job.pause", job_id=job_id, paused=True)
        assert house.act("job.pause", job_id=job_id, paused=True)["state"] == "paused"

    def test_it_can_be_cancelled(self, house: Any) -> None:
        job_id = house.put("chore-items", {"items": 1})
        house.act("job.pause", job_id=job_id, paused=True)
        assert house.act("job.cancel", job_id=job_id)["state"] == "cancelled"


class TestRunning:
    def test_pause_lets_the_item_in_progress_finish(self, house: Any) -> None:
        job_id = begin_gated(house)
        assert house.act("job.pause", job_id=job_id, paused=True)["state"] == "running"
        let_on(house)
        house.work()
        assert read_shown(house, job_id)["state"] == "paused"
        assert house.notes(job_id) == [0]
        house.act("job.pause", job_id=job_id, paused=False)
        house.work()
        assert house.notes(job_id) == [0, 1, 2]

    def test_a_pause_undone_in_time_has_no_effect(self, house: Any) -> None:
        job_id = begin_gated(house)
        house.undo(house.act("job.pause", job_id=job_id, paused=True)["audit_id"])
        let_on(house)
        house.work()
        assert house.notes(job_id) == [0, 1, 2]
        assert house.row(job_id)["attempts"] == 1

    def test_cancel_lets_the_item_in_progress_finish(self, house: Any) -> None:
        job_id = begin_gated(house)
        assert house.act("job.cancel", job_id=job_id)["state"] == "running"
        let_on(house)
        house.work()
        assert house.state(job_id) == "cancelled"
        assert house.notes(job_id) == [0]

    def test_retry_is_answered_unchanged(self, house: Any) -> None:
        job_id = begin_gated(house)
        assert house.act("job.retry", job_id=job_id)["state"] == "running"
        let_on(house)
        house.work()


class TestFailed:
    def test_retry_clears_attempts_and_carries_on_from_the_checkpoint(self, house: Any) -> None:
        job_id = begin_gated(house)
        house.act("job.cancel", job_id=job_id)
        let_on(house)
        house.work()
        house.engine.jobs.stop()
        assert house.act("job.retry", job_id=job_id)["state"] == "waiting"
        assert house.row(job_id)["attempts"] == 0
        assert house.row(job_id)["checkpoint"] == '{"item":1}'
        house.engine.jobs.attach(house.library)
        house.work()
        assert house.notes(job_id) == [0, 1, 2]
        assert house.state(job_id) == "done"

    def test_a_retry_gives_a_job_no_more_rights_than_the_caller_has(self, house: Any) -> None:
        """Otherwise an editor could have an owner's job write beneath a lock."""
        editor = replace(LOCAL_OWNER, role="editor")
        job_id = house.put("chore-items", {"items": 2})
        house.act("job.cancel", job_id=job_id)
        house.engine.run(house.library, "job.retry", {"job_id": job_id}, editor)
        assert json.loads(house.row(job_id)["principal"])["role"] == "editor"

    def test_it_fails_in_its_own_words_and_a_retry_succeeds(self, house: Any) -> None:
        job_id = house.put("chore-refused", {"items": 1})
        house.work()
        node = read_shown(house, job_id)
        assert node["reason"] == "The chore was refused: it was to be. Retry it when it may."
        assert node["reason_code"] == "chore_refused"
        assert node["can"] == {"pause": False, "cancel": False, "retry": True}
        house.library.derived_folder.mkdir(exist_ok=True)
        (house.library.derived_folder / "chore-may").touch()
        house.act("job.retry", job_id=job_id)
        house.work()
        assert house.state(job_id) == "done"

    def test_retry_of_work_that_waits_already_is_refused(self, house: Any) -> None:
        failed = house.put("chore-refused", {"items": 1})
        house.work()
        house.engine.jobs.stop()
        waiting = house.put("chore-refused", {"items": 1})
        with pytest.raises(Conflict, match="waiting already") as refusal:
            house.act("job.retry", job_id=failed)
        assert refusal.value.code == "already_waiting"
        with pytest.raises(Conflict, match="waits already"):
            house.act("job.retry", job_id=waiting)

    def test_the_same_work_under_two_parents_is_retried_for_each(self, house: Any) -> None:
        parents = [house.put("chore-items", {"items": 1}) for _ in range(2)]
        children = [house.put("chore-refused", {"items": 1}, parent_id=one, key="page") for one in parents]
        house.work()
        house.engine.jobs.stop()
        for child in children:
            assert house.act("job.retry", job_id=child)["state"] == "waiting"
        house.library.derived_folder.mkdir(exist_ok=True)
        (house.library.derived_folder / "chore-may").touch()
        house.engine.jobs.attach(house.library)
        house.work()
        assert {house.state(one) for one in (*children, *parents)} == {"done"}

    def test_retry_of_a_page_a_run_handed_in_is_refused(self, house: Any) -> None:
        job_id = house.put("chore-page", {"items": 1})
        for name, params in (("job.retry", {}), ("job.pause", {"paused": True}), ("job.cancel", {})):
            with pytest.raises(Conflict, match="A workflow run waits for") as refusal:
                house.act(name, job_id=job_id, **params)
            assert refusal.value.code == "handed_in_by_run"

    def test_retry_of_a_remote_job_is_refused(self, house: Any) -> None:
        job_id = begin_gated(house, kind="chore-far")
        house.act("job.cancel", job_id=job_id)
        let_on(house)
        house.work()
        with pytest.raises(Conflict, match="remote service") as refusal:
            house.act("job.retry", job_id=job_id)
        assert refusal.value.code == "remote_job"

    def test_a_job_of_such_a_kind_that_was_to_run_here_is_retried(self, house: Any) -> None:
        job_id = house.put("chore-far", {"items": 1}, lane="cpu")
        house.act("job.cancel", job_id=job_id)
        assert house.act("job.retry", job_id=job_id)["state"] == "waiting"

    @pytest.mark.parametrize("state", ["done", "paused"])
    def test_other_states_are_answered_unchanged(self, house: Any, state: str) -> None:
        job_id = house.put("chore-items", {"items": 1})
        if state == "paused":
            house.act("job.pause", job_id=job_id, paused=True)
        house.work()
        for name, params in (("job.retry", {}), ("job.pause", {"paused": True})):
            assert house.act(name, job_id=job_id, **params)["state"] == state
        assert house.act("job.cancel", job_id=job_id)["state"] == ("done" if state == "done" else "cancelled")

    def test_clear_failed_hides_it_keeps_the_row_and_a_retry_lists_it_again(self, house: Any) -> None:
        job_id = house.put("chore-refused", {"items": 1})
        house.work()
        cleared = house.act("job.clear_failed")
        assert cleared["cleared"] == 1
        assert read_shown(house, job_id) is None
        assert house.state(job_id) == "failed"
        assert house.act("job.clear_failed")["cleared"] == 0
        house.act("job.retry", job_id=job_id)
        house.work()
        assert read_shown(house, job_id)["state"] == "failed"

    def test_undo_of_clear_failed_lists_it_again(self, house: Any) -> None:
        job_id = house.put("chore-refused", {"items": 1})
        house.work()
        house.undo(house.act("job.clear_failed")["audit_id"])
        assert read_shown(house, job_id)["state"] == "failed"


class TestMode:
    def test_paused_starts_nothing_and_a_running_job_finishes(self, house: Any) -> None:
        running = begin_gated(house, items=1)
        house.act("background.pause", None, paused=True)
        waiting = house.put("chore-items", {"items": 1})
        let_on(house)
        house.work()
        assert house.state(running) == "done"
        node = read_shown(house, waiting)
        assert (node["state"], node["reason_code"]) == ("waiting", "paused-globally")

    def test_resuming_returns_to_the_former_mode(self, house: Any) -> None:
        house.act("background.mode", None, mode="started")
        assert house.act("background.pause", None, paused=True)["mode"] == "paused"
        assert house.act("background.pause", None, paused=True)["mode"] == "paused"
        assert house.act("background.pause", None, paused=False)["mode"] == "started"
        assert house.act("background.pause", None, paused=False)["mode"] == "started"

    @pytest.mark.parametrize("first", ["automatic", "started", "paused"])
    @pytest.mark.parametrize("then", ["automatic", "started", "paused"])
    def test_any_mode_is_reached_from_any(self, house: Any, first: str, then: str) -> None:
        house.act("background.mode", None, mode=first)
        assert house.act("background.mode", None, mode=then)["mode"] == then
        assert house.engine.jobs.mode == then

    def test_it_holds_across_relaunch_and_can_be_undone(
        self, house: Any, make_engine: Callable[..., Any], gate: Any
    ) -> None:
        audit_id = house.act("background.pause", None, paused=True)["audit_id"]
        house.engine.close()
        again = make_engine(plugins=[chores_plugin(gate)], state="state-0", jobs=True)
        assert again.jobs.mode == "paused"
        again.undo(None, [audit_id], LOCAL_OWNER)
        assert again.jobs.mode == "automatic"

    def test_mode_started_runs_in_use_and_on_battery_but_not_when_hot(self, house: Any) -> None:
        house.machine.battery, house.machine.idle = True, 1.0
        heavy = house.put("chore-heavy", {"items": 1})
        house.engine.jobs.start()
        assert read_shown(house, heavy)["reason_code"] == "battery"
        house.machine.battery = False
        assert read_shown(house, heavy)["reason_code"] == "in-use"
        house.act("background.mode", None, mode="started")
        house.machine.below = -1.0
        assert read_shown(house, heavy)["reason_code"] == "heat"
        house.machine.below, house.machine.battery = 20.0, True
        assert house.engine.jobs.wait(house.library, heavy, 10) == "done"


def test_unknown_ids_are_404(house: Any) -> None:
    for job_id in ("0" * 32, "waiting:chore-items", "paused:none", "derivatives"):
        for name, params in (("job.retry", {}), ("job.pause", {"paused": True}), ("job.cancel", {})):
            with pytest.raises(NotFound) as refusal:
                house.act(name, job_id=job_id, **params)
            assert refusal.value.code == "unknown_job"


def test_pausing_a_remote_job_calls_its_on_pause(house: Any) -> None:
    job_id = begin_gated(house, kind="chore-far")
    paused = house.act("job.pause", job_id=job_id, paused=True)
    house.act("job.pause", job_id=job_id, paused=False)
    house.undo(house.act("job.pause", job_id=job_id, paused=True)["audit_id"])
    house.act("job.cancel", job_id=job_id)
    assert [what for what, _ in house.told] == [
        "pause True",
        "pause False",
        "pause True",
        "pause False",
        "cancel",
    ]
    assert {told_id for _, told_id in house.told} == {job_id}
    assert paused["state"] == "running"
    let_on(house)
    house.work()


def test_a_jobs_decision_lives_where_the_job_lives(house: Any) -> None:
    from armarium.jobs.queue import NewJob, enqueue

    with house.engine.state.write() as conn:
        job_id = enqueue(conn, NewJob("chore-nothing", None, "Of the engine"))
    assert house.act("job.pause", None, job_id=job_id, paused=True)["state"] == "paused"
    assert house.act("job.pause", None, job_id=job_id, paused=False)["state"] == "waiting"
    assert house.engine.jobs.run_until_idle(None, 10)
    assert house.act("job.retry", None, job_id=job_id)["state"] == "done"


def test_conditions_are_measured_anew(house: Any, tmp_path: Path) -> None:
    assert isinstance(house.engine.jobs.conditions, Conditions)
    assert house.engine.jobs.conditions.now().memory is False
    house.machine.free = 0.1
    assert house.engine.jobs.conditions.now().memory is True
