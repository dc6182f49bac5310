"""In a workflow: asking is a tool like any other, what one job wrote is what the next is shown, and all is one set."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from model_desk import Desk, prompt_of

from armarium.api import Engine, Library
from armarium.principals import LOCAL_OWNER
from armarium_documents.plugin import armarium_plugin as documents
from armarium_model_jobs.plugin import armarium_plugin as model_jobs
from armarium_reading.plugin import armarium_plugin as reading
from armarium_source_model.plugin import armarium_plugin as source_model
from armarium_testing.fixtures import http_client
from armarium_workflows.plugin import armarium_plugin as workflows


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    """An engine with these jobs and workflows."""
    return make_engine(plugins=[documents(), source_model(), reading(), workflows(), model_jobs()])


@pytest.fixture
def client(engine: Engine, library: Library) -> Iterator[Any]:
    """The owner's client, in the project."""
    yield from http_client(engine, library)


def test_lines_are_corrected_and_asked_about_in_one_run(desk: Desk, client: Any) -> None:
    page = desk.page()
    first = desk.lines(page)[0]
    desk.provider.answers = [f'{{"lines": [{{"id": "{first}", "text": "Dear Sir"}}]}}', "A gentleman."]
    nodes = [
        {"id": "pages", "tool": "input"},
        {"id": "mend", "tool": "correct"},
        {"id": "ask", "tool": "ask-a-model", "config": {"prompt": "Who is written to?"}},
    ]
    ends = [("pages", "pages", "mend", "line_readings"), ("mend", "line_readings", "ask", "page_reading")]
    edges = [
        {"id": a + c, "source": a, "source_port": b, "target": c, "target_port": d} for a, b, c, d in ends
    ]
    made = client.post("/api/workflows", json={"name": "Mend and ask", "nodes": nodes, "edges": edges})
    assert made.status_code == 200, made.text
    begun = client.post(
        f"/api/workflows/{made.json()['id']}/execute",
        json={"scope_ids": [page], "provider_override": "Loopback"},
    )
    assert begun.status_code == 202, begun.text
    thread_id = begun.json()["thread_id"]
    assert desk.engine.jobs.run_until_idle(desk.library, 60)
    assert "Dear Sir" in prompt_of(desk.provider.asked[1])
    assert desk.rows("SELECT artifact_type, content FROM artifact WHERE provider = 'Loopback'") == [
        ("model-answer", "A gentleman.")
    ]
    assert desk.rows("SELECT use_case, thread_id FROM episode ORDER BY seq") == [
        ("correct", thread_id),
        ("ask-a-model", thread_id),
    ]
    steps = [row[0] for row in desk.rows("SELECT id FROM audit WHERE set_id = ?", thread_id)]
    desk.engine.undo(desk.library, steps, LOCAL_OWNER)
    assert desk.rows("SELECT count(*) FROM artifact") == [(0,)]
    assert "Dear Sir" not in str(desk.readings(page))


def test_a_node_without_a_question_is_refused(desk: Desk, client: Any) -> None:
    begun = client.post(
        "/api/workflows/system-ask-a-model/execute",
        json={"scope_ids": [desk.page()], "provider_override": "Loopback"},
    )
    thread_id = begun.json().get("thread_id")
    desk.engine.jobs.run_until_idle(desk.library, 60)
    told = begun.text + str(desk.rows("SELECT reason FROM job")) + str(thread_id)
    assert "setting prompt" in told
    assert desk.provider.asked == []
