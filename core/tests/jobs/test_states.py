"""The states of a job and the transitions between them, one by one."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from chores import chores_plugin

from armarium.errors import Conflict, NotFound
from armarium.jobs.conditions import Conditions
from armarium.principals import LOCAL_OWNER, asking


def read_shown(chores: Any, job_id: str) -> dict[str, Any] | None:
    from armarium.jobs.listing import list_jobs

    nodes = list_jobs(chores.engine.jobs, [chores.library])["items"]
    return next((node for node in nodes if node["id"] == job_id), None)


def begin_gated(chores: Any, items: int = 3, kind: str = "chore-gated") -> str:
    """Return a job that has begun its first item and waits there."""
    job_id = chores.put(kind, {"items": items})
    chores.engine.jobs.start()
    assert chores.gate.reached.wait(60)
    return str(job_id)


def release_gate(chores: Any) -> None:
    chores.gate.open.set()


class TestWaiting:
    def test_pause_makes_it_paused_and_it_does_not_run(self, chores: Any) -> None:
        job_id = chores.put("chore-items", {"items": 1})
        assert chores.act("job.pause", job_id=job_id, paused=True)["state"] == "paused"
        chores.work()
        assert read_shown(chores, job_id)["state"] == "paused"
        assert chores.notes() == []

    def test_pause_holds_over_relaunch(self, chores: Any, make_engine: Callable[..., Any], gate: Any) -> None:
        job_id = chores.put("chore-items", {"items": 1})
        chores.act("job.pause", job_id=job_id, paused=True)
        place = chores.library.path
        chores.engine.close()
        second_engine = make_engine(plugins=[chores_plugin(gate)], state="state-0")
        chores.engine, chores.library = second_engine, second_engine.libraries.get(place)
        chores.work()
        assert read_shown(chores, job_id)["state"] == "paused"
        assert chores.act("job.pause", job_id=job_id, paused=False)["state"] == "waiting"
        chores.work()
        assert chores.state(job_id) == "done"

    def test_undo_of_pause_lets_it_run_again(self, chores: Any) -> None:
        job_id = chores.put("chore-items", {"items": 1})
        paused = chores.act("job.pause", job_id=job_id, paused=True)
        chores.work()
        chores.undo(paused["audit_id"])
        chores.work()
        assert chores.state(job_id) == "done"

    def test_cancel_ends_it(self, chores: Any) -> None:
        job_id = chores.put("chore-items", {"items": 1})
        assert chores.act("job.cancel", job_id=job_id)["state"] == "cancelled"
        chores.work()
        assert chores.notes() == []
        assert chores.row(job_id)["reason"] == "Cancelled by a person."

    def test_cancel_and_retry_cannot_be_undone(self, chores: Any) -> None:
        job_id = chores.put("chore-items", {"items": 1})
        for name in ("job.cancel", "job.retry"):
            with pytest.raises(Conflict) as refusal:
                chores.undo(chores.act(name, job_id=job_id)["audit_id"])
            assert refusal.value.fields["reason"] == "not-undoable"


class TestPaused:
    def test_resuming_makes_it_waiting(self, chores: Any) -> None:
        job_id = chores.put("chore-items", {"items": 1})
        chores.act("job.pause", job_id=job_id, paused=True)
        assert chores.act("job.pause", job_id=job_id, paused=False)["state"] == "waiting"
        chores.work()
        assert chores.notes(job_id) == [0]

    def test_a_second_pause_changes_nothing(self, chores: Any) -> None:
        job_id = chores.put("chore-items", {"items": 1})
        chores.act("job.pause", job_id=job_id, paused=True)
        assert chores.act("job.pause", job_id=job_id, paused=True)["state"] == "paused"

    def test_it_can_be_cancelled(self, chores: Any) -> None:
        job_id = chores.put("chore-items", {"items": 1})
        chores.act("job.pause", job_id=job_id, paused=True)
        assert chores.act("job.cancel", job_id=job_id)["state"] == "cancelled"


class TestRunning:
    def test_pause_lets_the_item_in_progress_finish(self, chores: Any) -> None:
        job_id = begin_gated(chores)
        assert chores.act("job.pause", job_id=job_id, paused=True)["state"] == "running"
        release_gate(chores)
        chores.work()
        assert read_shown(chores, job_id)["state"] == "paused"
        assert chores.notes(job_id) == [0]
        chores.act("job.pause", job_id=job_id, paused=False)
        chores.work()
        assert chores.notes(job_id) == [0, 1, 2]

    def test_a_pause_undone_in_time_has_no_effect(self, chores: Any) -> None:
        job_id = begin_gated(chores)
        chores.undo(chores.act("job.pause", job_id=job_id, paused=True)["audit_id"])
        release_gate(chores)
        chores.work()
        assert chores.notes(job_id) == [0, 1, 2]
        assert chores.row(job_id)["attempts"] == 1

    def test_cancel_lets_the_item_in_progress_finish(self, chores: Any) -> None:
        job_id = begin_gated(chores)
        assert chores.act("job.cancel", job_id=job_id)["state"] == "running"
        release_gate(chores)
        chores.work()
        assert chores.state(job_id) == "cancelled"
        assert chores.notes(job_id) == [0]

    def test_retry_is_answered_unchanged(self, chores: Any) -> None:
        job_id = begin_gated(chores)
        assert chores.act("job.retry", job_id=job_id)["state"] == "running"
        release_gate(chores)
        chores.work()


class TestFailed:
    def test_retry_of_what_was_paused_before_it_was_cancelled_goes_on(self, chores: Any) -> None:
        job_id = chores.put("chore-items", {"items": 1})
        chores.act("job.pause", job_id=job_id, paused=True)
        assert chores.act("job.cancel", job_id=job_id)["state"] == "cancelled"
        assert chores.act("job.retry", job_id=job_id)["state"] == "waiting"
        chores.work()
        assert chores.state(job_id) == "done"

    def test_retry_clears_attempts_and_carries_on_from_the_checkpoint(self, chores: Any) -> None:
        job_id = begin_gated(chores)
        chores.act("job.cancel", job_id=job_id)
        release_gate(chores)
        chores.work()
        chores.engine.jobs.stop()
        assert chores.act("job.retry", job_id=job_id)["state"] == "waiting"
        assert chores.row(job_id)["attempts"] == 0
        assert chores.row(job_id)["checkpoint"] == '{"item":1}'
        chores.engine.jobs.attach(chores.library)
        chores.work()
        assert chores.notes(job_id) == [0, 1, 2]
        assert chores.state(job_id) == "done"

    def test_a_retry_gives_a_job_no_more_rights_than_the_caller_has(self, chores: Any) -> None:
        """Otherwise an editor could have an owner's job write beneath a lock."""
        editor = replace(LOCAL_OWNER, role="editor")
        job_id = chores.put("chore-items", {"items": 2})
        chores.act("job.cancel", job_id=job_id)
        chores.engine.run(chores.library, "job.retry", {"job_id": job_id}, editor)
        assert json.loads(chores.row(job_id)["principal"])["role"] == "editor"

    def test_it_fails_in_its_own_words_and_a_retry_succeeds(self, chores: Any) -> None:
        job_id = chores.put("chore-refused", {"items": 1})
        chores.work()
        node = read_shown(chores, job_id)
        assert node["reason"] == "The chore was refused: it was to be. Retry it when it may."
        assert node["reason_code"] == "chore_refused"
        assert node["can"] == {"pause": False, "cancel": False, "retry": True}
        with asking(replace(LOCAL_OWNER, role="viewer")):
            seen = read_shown(chores, job_id)
        assert seen is not None
        assert not any(seen["can"].values())
        chores.library.derived_folder.mkdir(exist_ok=True)
        (chores.library.derived_folder / "chore-may").touch()
        chores.act("job.retry", job_id=job_id)
        chores.work()
        assert chores.state(job_id) == "done"

    def test_retry_of_work_that_waits_already_is_refused(self, chores: Any) -> None:
        failed = chores.put("chore-refused", {"items": 1})
        chores.work()
        chores.engine.jobs.stop()
        waiting = chores.put("chore-refused", {"items": 1})
        with pytest.raises(Conflict, match="waiting already") as refusal:
            chores.act("job.retry", job_id=failed)
        assert refusal.value.code == "already_waiting"
        with pytest.raises(Conflict, match="already waiting"):
            chores.act("job.retry", job_id=waiting)

    def test_the_same_work_under_two_parents_is_retried_for_each(self, chores: Any) -> None:
        parents = [chores.put("chore-items", {"items": 1}) for _ in range(2)]
        children = [
            chores.put("chore-refused", {"items": 1}, parent_id=parent, key="page") for parent in parents
        ]
        chores.work()
        chores.engine.jobs.stop()
        for child in children:
            assert chores.act("job.retry", job_id=child)["state"] == "waiting"
        chores.library.derived_folder.mkdir(exist_ok=True)
        (chores.library.derived_folder / "chore-may").touch()
        chores.engine.jobs.attach(chores.library)
        chores.work()
        assert {chores.state(one) for one in (*children, *parents)} == {"done"}

    def test_retry_of_a_page_a_run_handed_in_is_refused(self, chores: Any) -> None:
        job_id = chores.put("chore-page", {"items": 1})
        for name, params in (("job.retry", {}), ("job.pause", {"paused": True}), ("job.cancel", {})):
            with pytest.raises(Conflict, match="A workflow run waits for") as refusal:
                chores.act(name, job_id=job_id, **params)
            assert refusal.value.code == "handed_in_by_run"

    def test_retry_of_a_remote_job_is_refused(self, chores: Any) -> None:
        job_id = begin_gated(chores, kind="chore-far")
        chores.act("job.cancel", job_id=job_id)
        release_gate(chores)
        chores.work()
        with pytest.raises(Conflict, match="remote service") as refusal:
            chores.act("job.retry", job_id=job_id)
        assert refusal.value.code == "remote_job"

    def test_a_job_of_such_a_kind_that_was_to_run_here_is_retried(self, chores: Any) -> None:
        job_id = chores.put("chore-far", {"items": 1}, lane="cpu")
        chores.act("job.cancel", job_id=job_id)
        assert chores.act("job.retry", job_id=job_id)["state"] == "waiting"

    @pytest.mark.parametrize("state", ["done", "paused"])
    def test_other_states_are_answered_unchanged(self, chores: Any, state: str) -> None:
        job_id = chores.put("chore-items", {"items": 1})
        if state == "paused":
            chores.act("job.pause", job_id=job_id, paused=True)
        chores.work()
        for name, params in (("job.retry", {}), ("job.pause", {"paused": True})):
            assert chores.act(name, job_id=job_id, **params)["state"] == state
        assert chores.act("job.cancel", job_id=job_id)["state"] == (
            "done" if state == "done" else "cancelled"
        )

    def test_clear_failed_hides_it_keeps_the_row_and_a_retry_lists_it_again(self, chores: Any) -> None:
        job_id = chores.put("chore-refused", {"items": 1})
        chores.work()
        cleared = chores.act("job.clear_failed")
        assert cleared["cleared"] == 1
        assert read_shown(chores, job_id) is None
        assert chores.state(job_id) == "failed"
        assert chores.act("job.clear_failed")["cleared"] == 0
        chores.act("job.retry", job_id=job_id)
        chores.work()
        assert read_shown(chores, job_id)["state"] == "failed"

    def test_undo_of_clear_failed_lists_it_again(self, chores: Any) -> None:
        job_id = chores.put("chore-refused", {"items": 1})
        chores.work()
        chores.undo(chores.act("job.clear_failed")["audit_id"])
        assert read_shown(chores, job_id)["state"] == "failed"


class TestMode:
    def test_paused_starts_nothing_and_a_running_job_finishes(self, chores: Any) -> None:
        running = begin_gated(chores, items=1)
        chores.act("background.pause", None, paused=True)
        waiting = chores.put("chore-items", {"items": 1})
        release_gate(chores)
        chores.work()
        assert chores.state(running) == "done"
        node = read_shown(chores, waiting)
        assert (node["state"], node["reason_code"]) == ("waiting", "paused-globally")

    def test_resuming_returns_to_the_former_mode(self, chores: Any) -> None:
        chores.act("background.mode", None, mode="started")
        assert chores.act("background.pause", None, paused=True)["mode"] == "paused"
        assert chores.act("background.pause", None, paused=True)["mode"] == "paused"
        assert chores.act("background.pause", None, paused=False)["mode"] == "started"
        assert chores.act("background.pause", None, paused=False)["mode"] == "started"

    @pytest.mark.parametrize("first", ["automatic", "started", "paused"])
    @pytest.mark.parametrize("then", ["automatic", "started", "paused"])
    def test_any_mode_is_reached_from_any(self, chores: Any, first: str, then: str) -> None:
        chores.act("background.mode", None, mode=first)
        assert chores.act("background.mode", None, mode=then)["mode"] == then
        assert chores.engine.jobs.mode == then

    def test_it_holds_across_relaunch_and_can_be_undone(
        self, chores: Any, make_engine: Callable[..., Any], gate: Any
    ) -> None:
        audit_id = chores.act("background.pause", None, paused=True)["audit_id"]
        chores.engine.close()
        second_engine = make_engine(plugins=[chores_plugin(gate)], state="state-0", jobs=True)
        assert second_engine.jobs.mode == "paused"
        second_engine.undo(None, [audit_id], LOCAL_OWNER)
        assert second_engine.jobs.mode == "automatic"

    def test_mode_started_runs_in_use_and_on_battery_but_not_when_hot(self, chores: Any) -> None:
        chores.machine.battery, chores.machine.idle = True, 1.0
        heavy = chores.put("chore-heavy", {"items": 1})
        chores.engine.jobs.start()
        assert read_shown(chores, heavy)["reason_code"] == "battery"
        chores.machine.battery = False
        assert read_shown(chores, heavy)["reason_code"] == "in-use"
        chores.act("background.mode", None, mode="started")
        chores.machine.below = -1.0
        assert read_shown(chores, heavy)["reason_code"] == "heat"
        chores.machine.below, chores.machine.battery = 20.0, True
        assert chores.engine.jobs.wait(chores.library, heavy, 10) == "done"


def test_unknown_ids_are_404(chores: Any) -> None:
    for job_id in ("0" * 32, "waiting:chore-items", "paused:none", "derivatives"):
        for name, params in (("job.retry", {}), ("job.pause", {"paused": True}), ("job.cancel", {})):
            with pytest.raises(NotFound) as refusal:
                chores.act(name, job_id=job_id, **params)
            assert refusal.value.code == "unknown_job"


def test_pausing_a_remote_job_calls_its_on_pause(chores: Any) -> None:
    job_id = begin_gated(chores, kind="chore-far")
    paused = chores.act("job.pause", job_id=job_id, paused=True)
    chores.act("job.pause", job_id=job_id, paused=False)
    chores.undo(chores.act("job.pause", job_id=job_id, paused=True)["audit_id"])
    chores.act("job.cancel", job_id=job_id)
    assert [what for what, _ in chores.told] == [
        "pause True",
        "pause False",
        "pause True",
        "pause False",
        "cancel",
    ]
    assert {told_id for _, told_id in chores.told} == {job_id}
    assert paused["state"] == "running"
    release_gate(chores)
    chores.work()


def test_a_jobs_decision_lives_where_the_job_lives(chores: Any) -> None:
    from armarium.jobs.queue import NewJob, enqueue

    with chores.engine.state.write() as conn:
        job_id = enqueue(conn, NewJob("chore-nothing", None, "Of the engine"))
    assert chores.act("job.pause", None, job_id=job_id, paused=True)["state"] == "paused"
    assert chores.act("job.pause", None, job_id=job_id, paused=False)["state"] == "waiting"
    assert chores.engine.jobs.run_until_idle(None, 10)
    assert chores.act("job.retry", None, job_id=job_id)["state"] == "done"


def test_conditions_are_measured_again(chores: Any, tmp_path: Path) -> None:
    assert isinstance(chores.engine.jobs.conditions, Conditions)
    assert chores.engine.jobs.conditions.now().memory is False
    chores.machine.free = 0.1
    assert chores.engine.jobs.conditions.now().memory is True
