"""In a workflow: asking is a tool like any other, the next job is shown what the previous one wrote, and all
of it is one set.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from model_desk import Desk, ids_in, prompt_of

from armarium.api import Engine, Library
from armarium.principals import LOCAL_OWNER
from armarium_checking.plugin import armarium_plugin as checking
from armarium_documents.plugin import armarium_plugin as documents
from armarium_model_jobs.plugin import armarium_plugin as model_jobs
from armarium_model_jobs.samples import signed_page
from armarium_reading.plugin import armarium_plugin as reading
from armarium_source_model.plugin import armarium_plugin as source_model
from armarium_testing.digest import table_digests
from armarium_testing.fixtures import http_client
from armarium_testing.model_provider import Answer
from armarium_workflows.plugin import armarium_plugin as workflows


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    """An engine with these jobs and workflows."""
    plugins = [documents(), source_model(), reading(), workflows(), checking(), model_jobs()]
    return make_engine(plugins=plugins)


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


class OneAfterAnother(list[Any]):
    """The answers of a provider to a run that reads, corrects and checks one line, in the form each call
    needs.
    """

    def __init__(self, desk: Desk) -> None:
        super().__init__([""])
        self.desk = desk

    def __getitem__(self, index: Any) -> Answer:
        asked = self.desk.provider.asked[-1]
        if "one line of a historical document" in prompt_of(asked):
            return Answer("Deer Sir")
        if "your reasons" in prompt_of(asked):
            return Answer(json.dumps({"verdict": "confirm", "reasons": "It reads well"}))
        (offered,) = ids_in(asked)
        return Answer(json.dumps({"lines": [{"id": offered, "text": "Dear Sir"}]}))


def test_a_run_reads_corrects_and_checks_and_is_undone_as_one_set(desk: Desk, client: Any) -> None:
    """From the picture of a line to a verdict on its reading, by a provider that speaks the real wire format."""
    page = str(signed_page(desk.example)["page_id"])
    pass_id = desk.example.run("segment.pass_create", {"document_id": page, "name": "Lines"})["id"]
    shape = {
        "document_id": page,
        "pass_id": pass_id,
        "kind": "line",
        "anchor": {"rect": [0.1, 0.2, 0.8, 0.2]},
    }
    desk.act("segment.create_many", segments=[shape])
    desk.engine.jobs.run_until_idle(desk.library, 60)
    desk.provider.answers = OneAfterAnother(desk)
    asks = {"provider": "Loopback", "model": "tiny"}
    nodes = [
        {"id": "pages", "tool": "input"},
        {"id": "read", "tool": "read-a-line", "config": asks},
        {"id": "mend", "tool": "correct", "config": asks},
        {"id": "check", "tool": "check", "config": asks},
    ]
    ends = [("pages", "pages", "read", "lines"), ("read", "line_readings", "mend", "line_readings"),
            ("mend", "line_readings", "check", "line_readings")]  # fmt: skip
    edges = [
        {"id": a + c, "source": a, "source_port": b, "target": c, "target_port": d} for a, b, c, d in ends
    ]
    made = client.post("/api/workflows", json={"name": "All", "nodes": nodes, "edges": edges})
    assert made.status_code == 200, made.text
    before = table_digests(desk.library.db, desk.engine.library_schema)
    sent = {"scope_ids": [page]}
    begun = client.post(f"/api/workflows/{made.json()['id']}/execute", json=sent)
    assert begun.status_code == 202, begun.text
    thread_id = begun.json()["thread_id"]
    assert desk.engine.jobs.run_until_idle(desk.library, 60)

    states = desk.rows("SELECT state, reason FROM job WHERE id = ?", thread_id)
    assert states == [("done", None)], states
    ((readings),) = desk.readings(page).values()
    assert [words for _, words in readings] == ["Deer Sir", "Dear Sir"]
    (corrected,) = desk.rows("SELECT id FROM content_representation WHERE content = 'Dear Sir'")
    assert desk.rows("SELECT target_id, verdict, trust, run_id FROM check_verdict") == [
        (*corrected, "confirm", "model", thread_id)
    ]
    assert desk.rows("SELECT use_case, thread_id FROM episode ORDER BY seq") == [
        (name, thread_id) for name in ("read-a-line", "correct", "check")
    ]
    # Undoing the step that started the run undoes all of it; the ledger keeps the calls.
    ((start,),) = desk.rows("SELECT id FROM audit WHERE action_name = 'workflow.execute'")
    desk.engine.undo(desk.library, [start], LOCAL_OWNER)
    after = table_digests(desk.library.db, desk.engine.library_schema)
    assert {name for name in after if after[name] != before[name]} == set()
    assert desk.rows("SELECT count(*) FROM check_verdict") == [(0,)]
    assert desk.readings(page) == {}
