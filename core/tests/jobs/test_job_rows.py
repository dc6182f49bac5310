"""What plugins ask of the rows of jobs, of those that wait and run without reading the others."""

from __future__ import annotations

from typing import Any

import pytest

from armarium.api import (
    FINISHED,
    NotFound,
    find_job,
    is_held,
    is_waiting,
    list_beneath,
    list_jobs,
    raw_of,
    require_job,
)


def ask(chores: Any, question: Any, *given: Any, **named: Any) -> Any:
    with chores.library.db.read() as conn:
        return question(conn, *given, **named)


def test_a_job_waits_of_a_kind_and_for_what_it_was_given(chores) -> None:
    chores.put("chore-items", {"items": 1})
    chores.put("chore-named", {"name": "B"}, kinds=None)
    assert ask(chores, is_waiting, "chore-items")
    assert not ask(chores, is_waiting, "chore-fails")
    assert ask(chores, is_waiting, "chore-named", name="B")
    assert not ask(chores, is_waiting, "chore-named", name="C")


def test_a_job_that_has_ended_waits_no_more(chores) -> None:
    job_id = chores.put("chore-items", {"items": 1})
    chores.work()
    assert not ask(chores, is_waiting, "chore-items", states=("waiting", "running"))
    answer = ask(chores, find_job, job_id)
    assert (answer.state, answer.done, answer.total, answer.progress) == ("done", 1, 1, 1.0)
    assert not answer.is_going
    assert [job.id for job in ask(chores, list_jobs, ids=[job_id], states=FINISHED)] == [job_id]
    assert ask(chores, list_jobs, ids=[job_id]) == []


def test_what_a_job_was_given_is_read_only_where_it_is_asked_for(chores) -> None:
    job_id = chores.put("chore-items", {"items": 3})
    assert ask(chores, find_job, job_id).args == {}
    assert ask(chores, find_job, job_id, "args").args["items"] == 3
    assert ask(chores, find_job, "none") is None


def test_an_id_of_another_kind_is_refused_in_the_callers_words(chores) -> None:
    job_id = chores.put("chore-items", {"items": 1})
    assert ask(chores, require_job, job_id, "chore-items", NotFound).id == job_id
    for wrong in (("chore-fails", "chore-parent"), "chore-fails"):
        with pytest.raises(NotFound, match=job_id):
            ask(chores, require_job, job_id, wrong, lambda one: NotFound(f"no {one}", code="unknown"))


def test_jobs_are_listed_by_age_and_the_newest_first(chores) -> None:
    ids = [chores.put("chore-items", {"items": 1}) for _ in range(3)]
    assert [job.id for job in ask(chores, list_jobs, kinds="chore-items")] == ids
    assert [job.id for job in ask(chores, list_jobs, kinds="chore-items", newest=True, limit=1)] == ids[-1:]
    assert [job.id for job in ask(chores, list_jobs, ids=ids[:2], states=None)] == ids[:2]


def test_what_is_left_beneath_a_job_is_what_has_nothing_unfinished_beneath_it(chores) -> None:
    above = chores.put("chore-items", {"items": 1})
    middle = chores.put("chore-items", {"items": 1}, parent_id=above)
    below = chores.put("chore-items", {"items": 1}, parent_id=middle)
    assert [job.id for job in ask(chores, list_beneath, above)] == [below]
    assert [job.id for job in ask(chores, list_jobs, parents=above)] == [middle]


def test_only_the_job_that_a_person_paused_is_held(chores) -> None:
    above = chores.put("chore-items", {"items": 1})
    below = chores.put("chore-items", {"items": 1}, parent_id=above)
    chores.act("job.pause", job_id=above, paused=True)
    assert ask(chores, is_held, above)
    assert not ask(chores, is_held, below)


def test_what_waits_and_runs_is_found_through_indexes(chores) -> None:
    with chores.library.db.read() as conn:
        raw = raw_of(conn)
        statements: list[str] = []
        raw.set_trace_callback(statements.append)
        is_waiting(conn, "chore-items", states=("waiting", "running"), name="B")
        raw.set_trace_callback(None)
        (statement,) = statements
        plan = " ".join(row[3] for row in raw.execute(f"EXPLAIN QUERY PLAN {statement}"))
    assert "ix_job_waiting" in plan
    assert "ix_job_running" in plan
