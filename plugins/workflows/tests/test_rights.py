"""Runs over a restricted page, as answered to a caller who may not read it: nothing of the page appears on
any route.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from small_jobs import WorkflowProject, edge, node, small_plugin

from armarium.api import Engine

SECRET, PLAIN = "Zyxwvuts", "Abcdefgh"


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    """An engine with workflows and rights."""
    from armarium_documents.plugin import armarium_plugin as documents
    from armarium_reading.plugin import armarium_plugin as reading
    from armarium_rights.plugin import armarium_plugin as rights
    from armarium_source_model.plugin import armarium_plugin as source_model
    from armarium_workflows.plugin import armarium_plugin as workflows

    families = (documents, source_model, reading, rights, workflows)
    return make_engine(plugins=[*(family() for family in families), small_plugin()])


@pytest.fixture
def outsider(project: WorkflowProject) -> dict[str, str]:
    """The headers of an editor who may not read restricted pages."""
    answer = project.client.post("/api/tokens", json={"name": "an editor", "role": "editor"}).json()
    secret = next(value for name, value in answer.items() if name == "token" or name.endswith("_token"))
    return {"Authorization": f"Bearer {secret}"}


def read_as(project: WorkflowProject, pages: list[str], words: list[str]) -> dict[str, Any]:
    """Run a workflow over *pages* that reads each as its word; return the run."""
    flow = {
        "name": "Read",
        "nodes": [
            node("pages", "input"),
            *(node(f"read{n}", "small-read", config={"text": word}) for n, word in enumerate(words)),
            node("which", "branch", config={"path": "$.files[0]"}),
            node("both", "merge"),
            node("result", "output"),
        ],
        "edges": [
            edge("pages.pages", "which.value"),
            *(edge("which.value", f"read{n}.page_image", when=page) for n, page in enumerate(pages)),
            *(edge(f"read{n}.page_reading", "both.value") for n in range(len(words))),
            edge("both.value", "result.value"),
        ],
    }
    return project.run(flow, pages)


def run_routes(*threads: str) -> list[str]:
    """Return the path of every route that answers about runs."""
    base = "/api/workflow-execution"
    return [
        f"{base}/runs",
        f"{base}/comparisons?left={threads[0]}&right={threads[1]}",
        *(f"{base}/threads/{thread}{rest}" for thread in threads for rest in ("", "/episodes", "/stream")),
    ]


def test_runs_show_nothing_of_a_restricted_page_to_an_outsider(
    project: WorkflowProject, outsider: dict[str, str]
) -> None:
    hidden, plain = project.pages(2)
    left = read_as(project, [hidden, plain], [SECRET, PLAIN])
    right = read_as(project, [hidden, plain], [f"{SECRET}x", f"{PLAIN}x"])
    assert (left["status"], right["status"]) == ("done", "done"), (left, right)
    routes = run_routes(left["thread_id"], right["thread_id"])
    seen = {path: project.client.get(path).text for path in routes}
    assert sum(SECRET in text for text in seen.values()) >= 3, "the comparison, and the outputs of both runs"
    project.do("rights.set", {"target_kind": "document", "target_id": hidden, "restricted": True})
    told = {path: project.client.get(path, headers=outsider) for path in routes}
    assert {path for path, one in told.items() if SECRET in one.text or hidden in one.text} == set()
    assert {one.status_code for one in told.values()} == {200}
    compared = told[routes[1]].json()
    assert [pair["document_id"] for pair in compared["pairs"]] == [plain]
    assert compared["unpaired"] == []
    assert {path: project.client.get(path).text for path in routes[1:2]} == {routes[1]: seen[routes[1]]}


def test_a_run_over_restricted_pages_alone_is_not_listed(
    project: WorkflowProject, outsider: dict[str, str]
) -> None:
    hidden, plain = project.pages(2)
    secret = read_as(project, [hidden], [SECRET])
    shown = read_as(project, [plain], [PLAIN])
    project.do("rights.set", {"target_kind": "document", "target_id": hidden, "restricted": True})

    def get(path: str) -> Any:
        return project.client.get(path, headers=outsider)

    runs = get("/api/workflow-execution/runs").json()
    assert ([item["thread_id"] for item in runs["items"]], runs["total"]) == ([shown["thread_id"]], 1)
    assert runs["withheld"] == get("/api/workflow-execution/runs?status=done").json()["withheld"] == 1
    for path in ("/api/activity", "/api/activity/jobs", "/api/actions/audit"):
        assert secret["thread_id"] not in get(path).text, path
    for rest in ("", "/episodes", "/stream", "/steps/pages"):
        path = f"/api/workflow-execution/threads/{secret['thread_id']}{rest}"
        assert (get(path).status_code, get(path).json()["code"]) == (403, "rights_restricted")
    assert len(project.client.get("/api/workflow-execution/runs").json()["items"]) == 2


def test_all_outputs_of_a_run_are_withheld_if_a_line_of_one_page_is_restricted(
    project: WorkflowProject, outsider: dict[str, str]
) -> None:
    (page,) = project.pages(1)
    flow = {
        "name": "Read",
        "nodes": [
            node("pages", "input"),
            node("read", "small-read", config={"text": SECRET}),
            node("result", "output"),
        ],
        "edges": [edge("pages.pages", "read.page_image"), edge("read.page_reading", "result.value")],
    }
    step = {"id": "one", "workflow_id": project.save(flow), "name": "One"}
    chain = project.client.post("/api/chains", json={"name": "A chain", "steps": [step]}).json()["id"]
    answer = project.client.post(
        f"/api/chains/{chain}/execute-steps", json={"inputs": {"scope_ids": [page]}}
    ).json()
    project.idle()
    asked = [
        f"/api/chains/executions/{answer['execution_id']}",
        f"/api/workflow-execution/threads/{answer['steps'][0]['thread_id']}",
        f"/api/workflow-execution/threads/{answer['steps'][0]['thread_id']}/steps/read",
    ]
    assert all(SECRET in project.client.get(path, headers=outsider).text for path in asked)
    ((line,),) = project.rows("SELECT id FROM segment")
    project.do("rights.set", {"target_kind": "segment", "target_id": line, "restricted": True})
    told = [project.client.get(path, headers=outsider) for path in asked]
    assert [(item.status_code, SECRET in item.text) for item in told] == [(200, False)] * 3
    assert told[2].json()["items"][0]["output"] is None
    assert (told[0].json()["final_outputs"], told[1].json()["outputs"]) == ({}, {})
    assert all(SECRET in project.client.get(path).text for path in asked)
