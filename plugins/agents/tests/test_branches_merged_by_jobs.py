"""A merge of many rows is a job: the same step, seen while it waits, stopped before it writes, undone as one."""

from __future__ import annotations

from typing import Any

import pytest
from branch_pair import MACHINE, Pair

from armarium.api import Conflict, Forbidden, raw_of
from armarium.principals import LOCAL_OWNER
from armarium_agents.branches import merge_actions
from armarium_testing.digest import differences


@pytest.fixture(autouse=True)
def all_are_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every merge is a long one."""
    monkeypatch.setattr(merge_actions, "LONG", 1)


def state_of(pair: Pair, job_id: str) -> tuple[str, Any]:
    with pair.project.db.read() as conn:
        row = raw_of(conn).execute("SELECT state, result FROM job WHERE id = ?", (job_id,)).fetchone()
    return row[0], row[1]


def test_a_long_merge_is_a_job_whose_step_is_the_persons_and_is_undone_as_one(pair: Pair) -> None:
    pair.correct(pair.branch, "Dear Sir")
    before = pair.state()
    begun = pair.merge()
    assert begun["job_id"]
    assert differences(before, pair.state()) == []
    assert pair.engine.jobs.run_until_idle(pair.project)
    assert state_of(pair, begun["job_id"])[0] == "done"
    assert "Dear Sir" in pair.counting(pair.project)
    with pair.project.db.read() as conn:
        (step,) = (
            raw_of(conn)
            .execute(
                "SELECT id, actor_kind, actor_name FROM audit WHERE action_name = 'branches.merge' AND set_id = ?",
                (begun["job_id"],),
            )
            .fetchall()
        )
    assert step[1:] == ("person", "owner")
    pair.engine.undo(pair.project, [step[0]], LOCAL_OWNER)
    assert differences(before, pair.state()) == []


def test_a_long_merge_that_is_stopped_before_it_writes_merges_nothing(pair: Pair) -> None:
    pair.correct(pair.branch, "Dear Sir")
    before = pair.state()
    begun = pair.merge()
    pair.engine.undo(pair.project, [begun["audit_id"]], LOCAL_OWNER)
    assert pair.engine.jobs.run_until_idle(pair.project)
    assert state_of(pair, begun["job_id"])[0] == "cancelled"
    assert differences(before, pair.state()) == []


def test_what_is_refused_of_a_long_merge_is_refused_at_once_and_a_machine_starts_none(pair: Pair) -> None:
    pair.correct(pair.branch, "Dear Sir")
    with pytest.raises(Forbidden):
        pair.run(pair.project, "branches.start_merge", {"branch_id": pair.id}, MACHINE)
    pair.correct(pair.project, "Dear Madam")
    with pytest.raises(Conflict) as refused:
        pair.merge()
    assert refused.value.code == "merge_conflict"


def test_the_projects_later_work_comes_into_the_branch_by_a_job_that_an_agent_may_start(pair: Pair) -> None:
    pair.correct(pair.project, "Dear Sir")
    begun = pair.run(pair.branch, "branches.update", {}, MACHINE)
    assert pair.engine.jobs.run_until_idle(pair.branch)
    with pair.branch.db.read() as conn:
        row = raw_of(conn).execute("SELECT state FROM job WHERE id = ?", (begun["job_id"],)).fetchone()
    assert row[0] == "done"
    assert "Dear Sir" in pair.counting(pair.branch)
