"""What the work of an agent uses of its budget: pages and minutes, counted once, refused in a sentence."""

from __future__ import annotations

from typing import Any

from armarium.jobs.context import JobContext
from armarium.jobs.kinds import JobKind
from armarium.principals import LOCAL_OWNER, Principal


def agent_of(chores: Any, **budget: float) -> Principal:
    """Return an agent with this budget, as the gate would let it in."""
    result = chores.act("token.create", None, name="reader", budget=budget)
    principal: Principal = chores.engine.auth.book.find(result["token"]).principal("client", "session", "tcp")
    return principal


def spent(chores: Any, agent: Principal) -> dict[str, float]:
    purse = chores.engine.auth.purse_of(agent)
    assert purse is not None
    total: dict[str, float] = purse.total
    return total


def test_pages_and_minutes_of_its_work_are_counted_and_not_its_steps(chores: Any) -> None:
    agent = agent_of(chores)
    done = chores.put("chore-items", {"items": 5}, started_by=agent)
    others = chores.put("chore-items", {"items": 7}, started_by=LOCAL_OWNER)
    chores.work()
    assert (chores.state(done), chores.state(others)) == ("done", "done")
    used = spent(chores, agent)
    assert used["pages"] == 5
    assert used["minutes"] > 0
    assert used["writes"] == 0


def test_work_stops_in_a_sentence_when_its_pages_are_used_up_and_goes_on_when_the_budget_is_raised(
    chores: Any,
) -> None:
    agent = agent_of(chores, pages=3)
    job_id = chores.put("chore-items", {"items": 8}, started_by=agent)
    chores.work()
    row = chores.row(job_id)
    assert (row["state"], row["reason_code"]) == ("failed", "budget_used_up")
    assert "“reader” is used up: 3 of 3 pages" in row["reason"]
    assert len(chores.notes(job_id)) == 3
    chores.act("token.update", None, token_id=agent.token_id, budget={"pages": 100})
    chores.act("job.retry", job_id=job_id)
    chores.work()
    assert chores.state(job_id) == "done"
    assert chores.notes(job_id) == list(range(8))
    assert spent(chores, agent)["pages"] == 8


def test_no_minute_left_begins_nothing(chores: Any) -> None:
    agent = agent_of(chores, minutes=0)
    begun: list[str] = []

    def body(job: JobContext) -> None:
        begun.append(job.job_id)

    chores.engine.kinds.add(JobKind("chore-body", "cpu", "A body", body))
    job_id = chores.put("chore-body", {}, started_by=agent)
    chores.work()
    assert chores.row(job_id)["reason_code"] == "budget_used_up"
    assert begun == []


def test_a_job_says_which_agent_in_which_session_began_it(chores: Any) -> None:
    seen: list[Principal] = []
    chores.engine.kinds.add(JobKind("chore-body", "cpu", "A body", lambda job: seen.append(job.principal)))
    chores.put("chore-body", {}, started_by=agent_of(chores))
    chores.work()
    (worker,) = seen
    assert (worker.name, worker.client, worker.origin_window) == ("reader", "client", "session")
