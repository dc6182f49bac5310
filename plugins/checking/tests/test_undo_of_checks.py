"""Undo of check runs and verdicts, and the refusals of their routes."""

from __future__ import annotations

from typing import Any

from checking_project import BUILTIN, CheckingProject


def read_twice(project: CheckingProject) -> str:
    """Create a page with a line that two readers read alike; return its id."""
    page, pass_id, lines = project.page([0.6])
    for reader in ("one", "two"):
        project.read(page, pass_id, lines, ["Dear Sir and friend"], reader)
    return page


def start(project: CheckingProject, page: str) -> dict[str, Any]:
    body = {"layer": "readings", "scope_ids": [page], "checker": BUILTIN}
    answer = project.client.post("/api/check/runs", json=body)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def test_undoing_a_start_before_it_began_checks_nothing(project: CheckingProject) -> None:
    begun = start(project, read_twice(project))
    assert project.client.post(f"/api/actions/audit/{begun['audit_id']}/undo").status_code == 200
    project.engine.jobs.run_until_idle(project.library)
    assert project.client.get(f"/api/check/runs/{begun['job_id']}").json()["state"] == "cancelled"
    assert project.verdicts() == []


def test_undoing_a_start_after_its_end_leaves_the_verdicts(
    project: CheckingProject,
) -> None:
    """As with all background work; a cancellation that comes too late changes nothing."""
    begun = start(project, read_twice(project))
    project.engine.jobs.run_until_idle(project.library)
    late = project.client.post(f"/api/check/runs/{begun['job_id']}/cancel")
    assert (late.status_code, late.json()["state"]) == (200, "done")
    assert project.client.post(f"/api/actions/audit/{begun['audit_id']}/undo").status_code == 200
    assert project.client.get(f"/api/check/runs/{begun['job_id']}").json()["counts"]["confirm"] == 1
    (verdict,) = project.verdicts(run_id=begun["job_id"])
    assert project.client.post(f"/api/actions/audit/{verdict['audit_id']}/undo").status_code == 200
    assert project.verdicts() == []


def test_a_cancellation_is_not_undone(project: CheckingProject) -> None:
    begun = start(project, read_twice(project))
    cancelled = project.client.post(f"/api/check/runs/{begun['job_id']}/cancel").json()
    answer = project.client.post(f"/api/actions/audit/{cancelled['audit_id']}/undo")
    assert (answer.status_code, answer.json()["reason"]) == (409, "not-undoable")


def test_a_verdict_is_undone_and_done_again(project: CheckingProject) -> None:
    read_twice(project)
    ((target,),) = project.rows("SELECT id FROM content_representation WHERE producer_model = 'two'")
    body = {"layer": "readings", "target_id": target, "verdict": "reject", "reasons": "Not what stands there"}
    answer = project.client.post("/api/check/verdicts", json=body).json()
    undone = project.client.post(f"/api/actions/audit/{answer['audit_id']}/undo").json()
    assert project.verdicts() == []
    project.client.post(f"/api/actions/audit/{undone['audit_id']}/undo")
    assert [verdict["id"] for verdict in project.verdicts()] == [answer["id"]]
    assert project.verdicts()[0]["trust"] == "person"
