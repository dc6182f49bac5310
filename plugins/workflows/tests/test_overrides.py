"""Which reader, provider and model apply: those of a run, a node or the workflow, and for which nodes."""

from __future__ import annotations

from typing import Any

import pytest
from small_jobs import WorkflowProject, edge, node

from armarium.api import PageWork, Params, RecipeJob, page_kind
from armarium_testing.model_provider import LoopbackProvider
from armarium_workflows.schemas.requests import NodeIn
from armarium_workflows.values import settings_of


class ReaderSettings(Params):
    """The reader on this machine or the provider's model that does the work."""

    reader: str | None = None
    provider: str | None = None
    model: str | None = None


def job(gives: str, setting: str) -> RecipeJob:
    """Return a recipe job for which a reader or provider can be chosen."""
    return RecipeJob(
        kind=page_kind("small-who", lambda job, page: PageWork("x", {}), ReaderSettings, summary="Work."),
        name="Who",
        description="Works.",
        layer="reading",
        takes=("lines",),
        gives=(gives,),  # type: ignore[arg-type]
        settings=ReaderSettings,
        writes=("x",),
        provider_setting=setting,
        model_setting="model",
    )


READING, MENDING = job("line_readings", "reader"), job("line_readings", "provider")


def find_choice(
    project: WorkflowProject,
    of: RecipeJob,
    run: Any = (None, None),
    graph: Any = (None, None),
    **of_node: Any,
) -> Any:
    """Return (reader, provider, model) of a node."""
    given = {
        "inputs": {},
        "provider": run[0],
        "model": run[1],
        "pages_may_leave": False,
        "graph": {"provider": graph[0], "model": graph[1]},
    }
    one = NodeIn.model_validate(node("n", "small-who", **of_node))
    settings = settings_of(project.engine, one, of, given, {})
    return tuple(getattr(settings, name) for name in ("reader", "provider", "model"))


def test_a_run_precedes_the_node_and_the_node_precedes_the_workflow(project: WorkflowProject) -> None:
    named = {"provider_name": "B", "model_name": "b"}
    assert find_choice(project, MENDING, ("A", "a"), ("C", "c"), **named) == (None, "A", "a")
    assert find_choice(project, MENDING, graph=("C", "c"), **named) == (None, "B", "b")
    assert find_choice(project, MENDING, graph=("C", "c")) == (None, "C", "c")
    assert find_choice(project, MENDING, (None, "a"), **named) == (None, "B", "a")


def test_a_model_goes_with_the_provider_it_was_named_with(project: WorkflowProject) -> None:
    """Another provider without a model of its own uses its default model."""
    assert find_choice(project, MENDING, ("A", None), ("C", "c"), provider_name="B", model_name="b") == (
        None,
        "A",
        None,
    )
    config = {"provider": "B", "model": "b"}
    assert find_choice(project, MENDING, ("A", None), config=config) == (None, "A", None)
    assert find_choice(project, MENDING, ("B", None), config=config) == (None, "B", "b")


def test_a_provider_can_replace_a_reader(project: WorkflowProject) -> None:
    config = {"reader": "tesseract", "model": "spa"}
    assert find_choice(project, READING, ("rapidocr", None), config=config) == ("rapidocr", None, None)
    assert find_choice(project, READING, ("Somebody", "m"), config=config) == (None, "Somebody", "m")
    assert find_choice(project, READING, ("rapidocr", None), config={"provider": "P", "model": "m"}) == (
        "rapidocr",
        None,
        None,
    )


def test_a_line_reader_applies_only_to_nodes_that_read_lines(project: WorkflowProject) -> None:
    run = ("linereader", "court@1")
    assert find_choice(project, READING, run, config={"reader": "tesseract"}) == (
        "linereader",
        None,
        "court@1",
    )
    own = {"provider": "P", "model": "m"}
    assert find_choice(project, MENDING, run, config=own) == (None, "P", "m")
    assert find_choice(project, job("lines", "reader"), run) == (None, None, None)


@pytest.mark.parametrize("tool", ["find-lines", "small-regions"])
def test_a_workflow_without_such_a_node_refuses_a_line_reader(project: WorkflowProject, tool: str) -> None:
    nodes = [node("pages", "input"), node("first", tool)]
    flow = project.save({"name": "W", "nodes": nodes, "edges": [edge("pages.pages", "first.page_image")]})
    body = {"scope_ids": project.pages(1), "provider_override": "linereader", "model_override": "court"}
    answer = project.client.post(f"/api/workflows/{flow}/execute", json=body)
    assert (answer.status_code, answer.json()["code"]) == (400, "no_node_for_override")
    assert "reads lines" in answer.json()["detail"]


def models(project: WorkflowProject, **sent: Any) -> list[tuple[str, str]]:
    """Return (model, lane) of the page jobs of a run that reads lines."""
    thread = project.start("system-read-a-line", project.pages(1), **sent)
    project.idle()
    return project.rows("SELECT model, lane FROM job WHERE thread_id = ? AND kind = 'read-a-line'", thread)


def test_a_run_reads_with_the_line_reader_or_the_provider_that_it_names(project: WorkflowProject) -> None:
    with LoopbackProvider() as provider:
        provider.add_to(project.engine, "Loopback")
        assert models(project, provider_override="Loopback") == [("Loopback:tiny", "local-model")]
    ((model, _),) = models(project, provider_override="linereader")
    assert model.startswith("hand:")
    body = {"scope_ids": project.pages(1), "provider_override": "linereader", "model_override": "/etc/passwd"}
    answer = project.client.post("/api/workflows/system-read-a-line/execute", json=body)
    assert (answer.status_code, answer.json()["code"]) == (403, "path_not_allowed")
    answer = project.client.post(
        "/api/workflows/system-read-a-line/execute", json={**body, "model_override": "linereader:nobody@1"}
    )
    assert answer.status_code in (404, 409), answer.text
