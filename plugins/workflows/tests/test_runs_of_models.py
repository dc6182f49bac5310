"""Runs whose steps ask models: what the ledger and the history of a page say of the calls."""

from __future__ import annotations

from typing import Any

from small_jobs import WorkflowProject, edge, node, two_steps

from armarium_reading.api import episodes
from armarium_reading.ledger import episode_row
from armarium_testing.model_provider import LoopbackProvider


def asking_workflow(**more: Any) -> dict[str, Any]:
    """Return a workflow with one step that asks a model."""
    return {
        "name": "Ask",
        "nodes": [
            node("pages", "input"),
            node("ask", "small-ask", label="The question"),
            node("result", "output"),
        ],
        "edges": [edge("pages.pages", "ask.page_image"), edge("ask.lines", "result.value")],
        **more,
    }


def test_calls_of_models_name_the_node_the_workflow_and_the_run(project: WorkflowProject) -> None:
    pages = project.pages(2)
    with LoopbackProvider() as provider:
        provider.add_to(project.engine, "Loopback")
        run = project.run(asking_workflow(), pages)
    assert run["status"] == "done", run
    answer = project.client.get(f"/api/workflow-execution/threads/{run['thread_id']}/episodes").json()
    assert sorted(episode["subject"]["id"] for episode in answer["episodes"]) == sorted(pages)
    for episode in answer["episodes"]:
        assert episode["node"] == "ask"
        assert (episode["run"]["thread_id"], episode["run"]["workflow_id"]) == (
            run["thread_id"],
            run["workflow_id"],
        )


def test_the_history_of_a_document_has_its_jobs_and_runs_with_provider_model_and_its_own_cost(
    project: WorkflowProject,
) -> None:
    first, second, other = project.pages(3)
    with LoopbackProvider() as provider:
        provider.add_to(project.engine, "Loopback")
        run = project.run(asking_workflow(), [first, second])
    answer = project.client.get("/api/documents/run-history", params={"ids": [first, second, other]}).json()
    rows = {item["document_id"]: {row["kind"]: row for row in item["rows"]} for item in answer["items"]}
    assert {page: sorted(kinds) for page, kinds in rows.items()} == {
        first: ["pages", "workflow"],
        second: ["pages", "workflow"],
        other: [],
    }
    of_run = rows[first]["workflow"]
    assert (of_run["thread_id"], of_run["outcome"]) == (run["thread_id"], "done")
    assert of_run["at"] == run["finished_at"]
    assert [(one["provider"], one["model"]) for page in (first, second) for one in rows[page].values()] == [
        ("Loopback", "tiny")
    ] * 4
    torn = project.run(two_steps(bad=[first]), [first, other])
    calls = {"thread_id": torn["thread_id"], "provider": "Loopback", "model": "tiny", "use_case": "small-ask"}
    with project.library.db.write() as conn:
        for page, usd in ((first, 0.024), (other, None)):
            row = {**episode_row("model_call", page, "test"), **calls, "cost": {"usd": usd}}
            conn.execute(episodes.insert().values(row))
    answer = project.client.get("/api/documents/run-history", params={"ids": [first, other]}).json()
    assert [
        (row["outcome"], row["reason"], row["cost_usd"])
        for item in answer["items"]
        for row in item["rows"]
        if row["thread_id"] == torn["thread_id"] and row["kind"] == "workflow"
    ] == [("failed", "The page is torn.", 0.024), ("done", None, None)]
