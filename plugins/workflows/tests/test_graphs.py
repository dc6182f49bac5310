"""Graphs are checked when saved: each fault is a sentence that names node and port. Shipped workflows are
read-only.
"""

from __future__ import annotations

from typing import Any

import pytest
from small_jobs import WorkflowProject, edge, node, two_steps


def graph(nodes: list[dict[str, Any]], *edges: dict[str, Any]) -> dict[str, Any]:
    return {"name": "A graph", "nodes": nodes, "edges": list(edges)}


PAGES = node("pages", "input")
FIRST = node("first", "small-regions")
SECOND = node("second", "small-lines")
TO_FIRST = edge("pages.pages", "first.page_image")
TO_SECOND = edge("first.regions", "second.regions")
CIRCLE = [node(one, "transform") for one in ("a", "b", "c")]


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        (graph([]), "A workflow without nodes does nothing"),
        (graph([PAGES, PAGES]), "Two nodes have the id pages"),
        (graph([PAGES, FIRST], TO_FIRST, TO_FIRST), "Two edges have the id pages-first-page_image"),
        (
            graph([node("x", "dance")]),
            "Node x names the tool dance, which no loaded plugin has; there are input, ",
        ),
        (graph([node("x", "ask-a-model")]), "Node x names the tool ask-a-model, which no loaded plugin has"),
        (graph([PAGES, FIRST]), "Node first gets nothing at its input page_image"),
        (
            graph([PAGES, node("x", "small-either")]),
            "Node x gets nothing at any of its inputs lines, regions",
        ),
        (
            graph([PAGES, FIRST], edge("pages.pages", "ghost.value")),
            "leads to node ghost, which does not exist",
        ),
        (
            graph([PAGES, FIRST], edge("pages.texts", "first.page_image")),
            "Node pages (input) has no output texts",
        ),
        (
            graph([PAGES, FIRST], edge("pages.pages", "first.lines")),
            "Node first (small-regions) has no input lines",
        ),
        (
            graph([PAGES, FIRST, node("s", "small-whole")], TO_FIRST, edge("first.regions", "s.lines")),
            "Node s takes lines at its input lines, and node first gives regions at regions.",
        ),
        (
            graph([PAGES, FIRST], TO_FIRST, edge("pages.pages", "first.times")),
            "Node first takes number at its input times, and node pages gives files at pages.",
        ),
        (
            graph(CIRCLE, edge("a.value", "b.value"), edge("b.value", "c.value"), edge("c.value", "a.value")),
            "form a cycle, each waiting for the next",
        ),
        (
            graph([PAGES, FIRST], {**TO_FIRST, "when": "yes"}),
            "Edge pages-first-page_image is for the value 'yes', but node pages is not a branch.",
        ),
        (
            graph([PAGES, node("first", "small-regions", config={"times": "often"})], TO_FIRST),
            "Node first: The settings of small-regions do not fit (times:",
        ),
        (
            graph([PAGES, node("first", "small-regions", config={"colour": "red"})], TO_FIRST),
            "(colour: Extra inputs",
        ),
        (
            graph([PAGES, node("first", "small-regions", inputs={"colour": 1})], TO_FIRST),
            "Node first has no input colour",
        ),
        (
            graph([node("x", "transform", inputs={"value": 1}, config={"transform": "shout"})]),
            "'shout' is not a pipe",
        ),
        (
            graph([node("x", "transform", inputs={"value": 1}, config={"transform": 'join("\\q")'})]),
            "is not a text as JSON writes it",
        ),
        (
            graph(
                [PAGES, node("ask", "branch"), node("x", "transform")],
                edge("pages.pages", "ask.value"),
                {**edge("ask.value", "x.value", when="a"), "id": "1"},
                {**edge("ask.value", "x.value", when="b"), "id": "2"},
            ),
            "Node x waits for 2 ways from branch ask, of which a page takes one; put a merge between them.",
        ),
        (
            graph([node("x", "branch", inputs={"value": 1}, config={"path": 3})]),
            "Node x branches by config.path",
        ),
    ],
)
def test_a_faulty_graph_is_refused_in_words(
    project: WorkflowProject, sent: dict[str, Any], told: str
) -> None:
    answer = project.client.post("/api/workflows", json=sent)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_workflow")
    assert told in " ".join(answer.json()["problems"])
    assert answer.json()["detail"].startswith(answer.json()["problems"][0])
    assert project.rows("SELECT count(*) FROM workflow") == [(0,)]


@pytest.mark.parametrize(
    "path",
    [
        "$.nodes.first.__class__.__mro__",
        "$.nodes.first.text/../../etc",
        "$..nodes",
        "$.files[-1]",
        "$.files[99999999999]",
        "$.env.HOME",
        "$.nodes.first",
        "$.config." + ".".join("a" * 20),
        "$.inputs.x | eval",
        '$.inputs.x | join("," | trim',
        "{{ inputs.x }}",
    ],
)
def test_a_path_that_escapes_is_refused(project: WorkflowProject, path: str) -> None:
    mapping = [{"port_id": "value", "source_path": path}]
    answer = project.client.post(
        "/api/workflows", json=graph([node("x", "transform", input_mappings=mapping)])
    )
    assert answer.status_code == 422
    # A path of keys alone can only read JSON: this one names a missing node.
    assert "Node x: " in answer.json()["detail"] or "there is no node first" in answer.json()["detail"]


def test_paths_to_missing_nodes_and_cyclic_paths_are_refused(project: WorkflowProject) -> None:
    def reading(node_id: str) -> list[dict[str, str]]:
        return [{"port_id": "value", "source_path": f"$.nodes.{node_id}.value"}]

    a, b = (node(one, "transform", input_mappings=reading(other)) for one, other in (("a", "b"), ("b", "a")))
    answers = [
        project.client.post("/api/workflows", json=graph(nodes)).json()["detail"] for nodes in ([a], [a, b])
    ]
    assert "there is no node b" in answers[0]
    assert "form a cycle" in answers[1]


def test_ten_thousand_nodes_are_refused(project: WorkflowProject) -> None:
    answer = project.client.post(
        "/api/workflows", json=graph([node(f"n{n}", "input") for n in range(10_000)])
    )
    assert answer.status_code == 422
    assert "at most 200 nodes, and this one has 10000" in answer.json()["detail"]


def test_a_graph_is_saved_read_changed_and_removed(project: WorkflowProject) -> None:
    saved = project.save(two_steps())
    answer = project.client.get(f"/api/workflows/{saved}").json()
    first = answer["nodes"][1]
    assert first["input_ports"][0] == {
        "id": "page_image",
        "type": "image",
        "material": "page_image",
        "required": True,
    }
    assert [port["id"] for port in first["input_ports"]] == [
        "page_image",
        "word",
        "reader",
        "times",
        "bad",
        "withheld",
    ]
    assert [(port["id"], port["type"]) for port in first["output_ports"]] == [
        ("regions", "json"),
        ("result", "json"),
    ]
    assert (first["uses_llm"], answer["is_system"]) == (False, False)
    changed = project.client.put(f"/api/workflows/{saved}", json={**two_steps(), "name": "Anew"}).json()
    assert changed["name"] == "Anew"
    assert project.client.delete(f"/api/workflows/{saved}").json()["status"] == "deleted"
    gone = [
        project.client.get(f"/api/workflows/{saved}"),
        project.client.put(f"/api/workflows/{saved}", json=two_steps()),
        project.client.delete(f"/api/workflows/{saved}"),
        project.client.post(f"/api/workflows/{saved}/execute", json={}),
    ]
    assert [answer.status_code for answer in gone] == [404] * 4


def test_each_recipe_job_has_a_workflow_that_ships_and_is_read_only(project: WorkflowProject) -> None:
    listed = project.client.get("/api/workflows").json()["items"]
    shipped = {item["id"]: item for item in listed if item["is_system"]}
    jobs = project.engine.recipe_jobs
    assert shipped.keys() == {f"system-{one}" for one in [*jobs, "find-and-read"]}
    assert shipped["system-find-and-read"]["folder_path"] == "/read"
    assert shipped["system-find-lines"]["folder_path"] == "/find-regions"
    for method in ("put", "delete"):
        options = {"json": two_steps()} if method == "put" else {}
        answer = project.client.request(method, "/api/workflows/system-find-lines", **options)
        assert (answer.status_code, answer.json()["code"]) == (403, "system_workflow")


def test_a_shipped_workflow_can_run_and_its_copy_can_be_changed(project: WorkflowProject) -> None:
    pages = project.pages(1)
    shipped = project.client.get("/api/workflows/system-small-regions").json()
    fields = ("id", "tool", "config")
    copy = {
        "name": "Mine",
        "nodes": [{key: one[key] for key in fields} for one in shipped["nodes"]],
        "edges": shipped["edges"],
    }
    project.save(copy)
    project.start("system-small-regions", pages)
    project.idle()
    assert project.marks() == [(pages[0], "seen")]


def test_every_shipped_workflow_is_valid(project: WorkflowProject) -> None:
    from armarium_workflows.graph import Graph, problems_of
    from armarium_workflows.system import system_workflows

    jobs = project.engine.recipe_jobs
    for shipped in system_workflows(jobs).values():
        assert problems_of(Graph.of(shipped), jobs) == [], shipped["id"]


def test_folders_are_in_the_order_in_which_work_happens(project: WorkflowProject) -> None:
    answer = project.client.get("/api/workflows/folders").json()
    assert answer["count"] == 7
    assert [(item["path"], item["icon"], item["sort_order"]) for item in answer["items"]] == [
        ("/prepare", "wand", 0),
        ("/find-regions", "grid", 1),
        ("/read", "text", 2),
        ("/clean", "brush", 3),
        ("/translate", "globe", 4),
        ("/extract", "table", 5),
        ("/catalogue", "tag", 6),
    ]


def test_a_graph_with_an_uninstalled_tool_is_shown_but_not_run(project: WorkflowProject) -> None:
    saved = project.save(two_steps())
    project.engine.recipe_jobs._jobs.pop("small-lines")
    assert project.client.get(f"/api/workflows/{saved}").json()["nodes"][2]["input_ports"] == []
    answer = project.client.post(f"/api/workflows/{saved}/execute", json={"scope_ids": project.pages(1)})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_workflow")
