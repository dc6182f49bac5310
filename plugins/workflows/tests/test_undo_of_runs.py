"""Undo of each operation on a run, and the order in which the routes of runs refuse."""

from __future__ import annotations

from typing import Any

import pytest
from small_jobs import WorkflowProject, two_steps

from armarium.api import JobContext

THREADS = "/api/workflow-execution/threads"


def undo(project: WorkflowProject, audit_id: str, expected: int = 200) -> dict[str, Any]:
    answer = project.client.post(f"/api/actions/audit/{audit_id}/undo")
    assert answer.status_code == expected, answer.text
    told: dict[str, Any] = answer.json()
    return told


def test_undoing_a_pause_continues_the_run(project: WorkflowProject) -> None:
    thread = project.start(project.save(two_steps()), project.pages(1))
    paused = project.client.post(f"{THREADS}/{thread}/pause").json()
    project.idle()
    undo(project, paused["audit_id"])
    project.idle()
    assert (project.of(thread)["status"], len(project.marks())) == ("done", 2)


def test_a_resume_is_undone_where_the_run_wrote_before_its_pause_and_nothing_since(
    project: WorkflowProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    thread = project.start(project.save(two_steps()), project.pages(2))
    act, acts = JobContext.act, []

    def pausing(self: Any, *given: Any, **more: Any) -> Any:
        done = act(self, *given, **more)
        acts.append(1)
        if len(acts) == 1:
            project.do("run.pause", {"thread_id": thread})
        return done

    monkeypatch.setattr(JobContext, "act", pausing)
    project.idle()
    written = len(project.marks())
    assert (project.of(thread)["status"], 0 < written < 4) == ("paused", True)
    project.client.put("/api/activity/jobs/paused", json={"paused": True})
    resumed = project.client.post(f"{THREADS}/{thread}/resume").json()
    undone = undo(project, resumed["audit_id"])
    project.client.put("/api/activity/jobs/paused", json={"paused": False})
    project.idle()
    assert (project.of(thread)["status"], len(project.marks())) == ("paused", written)
    undo(project, undone["audit_ids"][-1])
    project.idle()
    assert (project.of(thread)["status"], len(project.marks())) == ("done", 4)
    told = undo(project, resumed["audit_id"], 409)
    assert told["reason"] in ("already-undone", "not-undoable")


def test_undoing_a_cancellation_continues_the_run_where_it_was(project: WorkflowProject) -> None:
    thread = project.start(project.save(two_steps()), project.pages(2))
    cancelled = project.client.post(f"{THREADS}/{thread}/cancel").json()
    project.idle()
    project.client.put("/api/activity/jobs/paused", json={"paused": True})
    undone = undo(project, cancelled["audit_id"])
    assert project.of(thread)["status"] == "waiting"
    again = undo(project, undone["audit_ids"][-1])
    assert project.of(thread)["status"] == "cancelled"
    undo(project, again["audit_ids"][-1])
    project.client.put("/api/activity/jobs/paused", json={"paused": False})
    project.idle()
    assert (project.of(thread)["status"], len(project.marks())) == ("done", 4)


def test_a_cancellation_is_not_undone_while_the_page_in_hand_is_finished(project: WorkflowProject) -> None:
    thread = project.start(project.save(two_steps()), project.pages(1))
    cancelled = project.client.post(f"{THREADS}/{thread}/cancel").json()
    with project.library.db.write() as conn:
        conn.exec_driver_sql(
            "UPDATE job SET state = 'running', stop = 'cancel', finished_at = NULL WHERE id = ?", (thread,)
        )
    told = undo(project, cancelled["audit_id"], 409)
    assert told["reason"] == "not-undoable"
    assert "finishing its current page" in told["detail"]


def test_undoing_a_start_before_it_began_leaves_no_run(project: WorkflowProject) -> None:
    workflow = project.save(two_steps())
    begun = project.client.post(
        f"/api/workflows/{workflow}/execute", json={"scope_ids": project.pages(1)}
    ).json()
    undo(project, begun["audit_id"])
    project.idle()
    assert project.client.get(f"{THREADS}/{begun['thread_id']}").status_code == 404
    assert project.marks() == []


def test_redoing_a_start_restores_no_other_step_undone_with_it(
    project: WorkflowProject,
) -> None:
    pages = project.pages(1)
    workflow = project.save(two_steps())
    begun = project.client.post(f"/api/workflows/{workflow}/execute", json={"scope_ids": pages}).json()
    project.idle()
    other_answer = project.client.post("/api/documents", json={"name": "Beside"}).json()
    both = project.client.post(
        "/api/actions/audit/undo", json={"audit_ids": [begun["audit_id"], other_answer["audit_id"]]}
    )
    assert both.status_code == 200, both.text
    listed = project.client.get("/api/actions/audit", params={"undone": False, "limit": 200}).json()["items"]
    start = next(
        row["id"] for row in listed if row["action_name"] == "workflow.execute" and row["inverse_of"]
    )
    undo(project, start)
    assert len(project.marks()) == 2
    assert project.of(begun["thread_id"])["status"] == "done"
    assert project.rows("SELECT count(*) FROM document WHERE name = 'Beside'") == [(0,)]


def test_a_removed_checkpoint_does_not_come_back(project: WorkflowProject) -> None:
    run = project.run(two_steps(), project.pages(1))
    removed = project.client.delete(f"{THREADS}/{run['thread_id']}").json()
    assert undo(project, removed["audit_id"], 409)["reason"] == "not-undoable"


def test_a_run_that_is_not_there_is_refused_before_anything_else(project: WorkflowProject) -> None:
    answers = [
        project.client.post(f"{THREADS}/nobody/{one}") for one in ("pause", "resume", "cancel", "read-again")
    ]
    answers += [project.client.delete(f"{THREADS}/nobody"), project.client.get(f"{THREADS}/nobody/stream")]
    answers.append(
        project.client.post(
            "/api/workflow-execution/runs/delete", json={"thread_ids": ["nobody"], "statuses": ["done"]}
        )
    )
    assert {(answer.status_code, answer.json()["code"]) for answer in answers} == {(404, "unknown_run")}


def test_a_start_is_refused_in_this_order(project: WorkflowProject) -> None:
    """An unknown workflow, an unknown page, no pages, an override that fits no node; and nothing is queued."""
    workflow = project.save({**two_steps(), "nodes": [{"id": "pages", "tool": "input"}, {"id": "result", "tool": "output"}],
                            "edges": [{"id": "e", "source": "pages", "source_port": "pages", "target": "result",
                                       "target_port": "value"}]})  # fmt: skip
    empty, (page,) = str(project.do("document.create", {"name": "Box"})["id"]), project.pages(1)
    override = {"provider_override": "kraken"}
    for path, scope, status, code in (
        ("nobody", ["nobody"], 404, "unknown_workflow"),
        (workflow, ["nobody"], 404, None),
        (workflow, [empty], 422, "no_pages"),
        (workflow, [page], 400, "no_node_for_override"),
    ):
        answer = project.client.post(f"/api/workflows/{path}/execute", json={"scope_ids": scope, **override})
        assert answer.status_code == status, answer.text
        assert code in (None, answer.json()["code"])
    assert project.rows("SELECT count(*) FROM workflow_run") == [(0,)]
    assert project.rows("SELECT count(*) FROM job") == [(0,)]


def test_thread_ids_and_statuses_together_select_runs_in_both(project: WorkflowProject) -> None:
    (page,) = project.pages(1)
    done, failed = project.run(two_steps(), [page]), project.run(two_steps(bad=[page]), [page])
    body = {"thread_ids": [done["thread_id"], failed["thread_id"]], "statuses": ["failed"]}
    answer = project.client.post("/api/workflow-execution/runs/delete", json=body).json()
    assert (answer["deleted"], answer["kept"]) == (1, [])
    listed = project.client.get("/api/workflow-execution/runs").json()["items"]
    assert [item["thread_id"] for item in listed] == [done["thread_id"]]
