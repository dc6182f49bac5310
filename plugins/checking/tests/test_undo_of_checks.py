"""Undo of check runs and verdicts, and the refusals of their routes."""

from __future__ import annotations

from typing import Any

from checking_desk import BUILTIN, Desk


def read_twice(desk: Desk) -> str:
    """Create a page with a line that two readers read alike; return its id."""
    page, pass_id, lines = desk.page([0.6])
    for reader in ("one", "two"):
        desk.read(page, pass_id, lines, ["Dear Sir and friend"], reader)
    return page


def start(desk: Desk, page: str) -> dict[str, Any]:
    body = {"layer": "readings", "scope_ids": [page], "checker": BUILTIN}
    answer = desk.client.post("/api/check/runs", json=body)
    assert answer.status_code == 202, answer.text
    told: dict[str, Any] = answer.json()
    return told


def test_a_start_that_is_undone_before_it_began_checks_nothing(desk: Desk) -> None:
    begun = start(desk, read_twice(desk))
    assert desk.client.post(f"/api/actions/audit/{begun['audit_id']}/undo").status_code == 200
    desk.engine.jobs.run_until_idle(desk.library)
    assert desk.client.get(f"/api/check/runs/{begun['job_id']}").json()["state"] == "cancelled"
    assert desk.verdicts() == []


def test_a_start_that_is_undone_after_its_end_leaves_its_verdicts_to_their_set(desk: Desk) -> None:
    """As with all background work; a cancellation that comes too late changes nothing."""
    begun = start(desk, read_twice(desk))
    desk.engine.jobs.run_until_idle(desk.library)
    late = desk.client.post(f"/api/check/runs/{begun['job_id']}/cancel")
    assert (late.status_code, late.json()["state"]) == (200, "done")
    assert desk.client.post(f"/api/actions/audit/{begun['audit_id']}/undo").status_code == 200
    assert desk.client.get(f"/api/check/runs/{begun['job_id']}").json()["counts"]["confirm"] == 1
    (verdict,) = desk.verdicts(run_id=begun["job_id"])
    assert desk.client.post(f"/api/actions/audit/{verdict['audit_id']}/undo").status_code == 200
    assert desk.verdicts() == []


def test_a_cancellation_is_not_undone(desk: Desk) -> None:
    begun = start(desk, read_twice(desk))
    cancelled = desk.client.post(f"/api/check/runs/{begun['job_id']}/cancel").json()
    answer = desk.client.post(f"/api/actions/audit/{cancelled['audit_id']}/undo")
    assert (answer.status_code, answer.json()["reason"]) == (409, "not-undoable")


def test_a_verdict_is_undone_and_done_again(desk: Desk) -> None:
    read_twice(desk)
    ((target,),) = desk.rows("SELECT id FROM content_representation WHERE producer_model = 'two'")
    body = {"layer": "readings", "target_id": target, "verdict": "reject", "reasons": "Not what stands there"}
    given = desk.client.post("/api/check/verdicts", json=body).json()
    undone = desk.client.post(f"/api/actions/audit/{given['audit_id']}/undo").json()
    assert desk.verdicts() == []
    desk.client.post(f"/api/actions/audit/{undone['audit_id']}/undo")
    assert [one["id"] for one in desk.verdicts()] == [given["id"]]
    assert desk.verdicts()[0]["trust"] == "person"
