"""Jobs that ask a model as nodes of a workflow: each job gets the results of the one before, and all steps
are one undo set.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from model_project import ModelProject, ids_in, prompt_of

from armarium.api import Engine, Library
from armarium.principals import LOCAL_OWNER
from armarium_checking.plugin import armarium_plugin as checking
from armarium_documents.plugin import armarium_plugin as documents
from armarium_model_jobs.plugin import armarium_plugin as model_jobs
from armarium_reading.plugin import armarium_plugin as reading
from armarium_rights.plugin import armarium_plugin as rights
from armarium_source_model.plugin import armarium_plugin as source_model
from armarium_testing.digest import table_digests
from armarium_testing.fixtures import http_client
from armarium_testing.model_provider import OWNER, Answer
from armarium_testing.sample_model_pages import signed_page
from armarium_workflows.plugin import armarium_plugin as workflows


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    """An engine with these jobs, workflows and rights."""
    plugins = [documents(), source_model(), reading(), rights(), workflows(), checking(), model_jobs()]
    return make_engine(plugins=plugins)


@pytest.fixture
def client(engine: Engine, library: Library) -> Iterator[Any]:
    """The owner's client, in the project."""
    yield from http_client(engine, library)


def test_lines_are_corrected_and_asked_about_in_one_run(project: ModelProject, client: Any) -> None:
    page = project.page()
    first = project.lines(page)[0]
    project.provider.answers = [f'{{"lines": [{{"id": "{first}", "text": "Dear Sir"}}]}}', "A gentleman."]
    nodes = [
        {"id": "pages", "tool": "input"},
        {"id": "mend", "tool": "correct"},
        {
            "id": "ask",
            "tool": "ask-a-model",
            "label": "The addressee",
            "config": {"prompt": "Who is written to?"},
        },
    ]
    ends = [("pages", "pages", "mend", "line_readings"), ("mend", "line_readings", "ask", "page_reading")]
    edges = [
        {"id": a + c, "source": a, "source_port": b, "target": c, "target_port": d} for a, b, c, d in ends
    ]
    response = client.post("/api/workflows", json={"name": "Mend and ask", "nodes": nodes, "edges": edges})
    assert response.status_code == 200, response.text
    begun = client.post(
        f"/api/workflows/{response.json()['id']}/execute",
        json={"scope_ids": [page], "provider_override": "Loopback"},
    )
    assert begun.status_code == 202, begun.text
    thread_id = begun.json()["thread_id"]
    assert project.engine.jobs.run_until_idle(project.library, 60)
    assert "Dear Sir" in prompt_of(project.provider.asked[1])
    workflow_id = response.json()["id"]
    stored = "SELECT artifact_type, content, workflow_id, step_name FROM artifact WHERE provider = 'Loopback'"
    assert project.rows(stored) == [("model-answer", "A gentleman.", workflow_id, "The addressee")]
    assert project.rows("SELECT use_case, thread_id, workflow_id, node FROM episode ORDER BY seq") == [
        ("correct", thread_id, workflow_id, "mend"),
        ("ask-a-model", thread_id, workflow_id, "ask"),
    ]
    steps = [row[0] for row in project.rows("SELECT id FROM audit WHERE set_id = ?", thread_id)]
    project.engine.undo(project.library, steps, LOCAL_OWNER)
    assert project.rows("SELECT count(*) FROM artifact") == [(0,)]
    assert "Dear Sir" not in str(project.readings(page))


def test_a_node_without_a_question_is_refused(project: ModelProject, client: Any) -> None:
    begun = client.post(
        "/api/workflows/system-ask-a-model/execute",
        json={"scope_ids": [project.page()], "provider_override": "Loopback"},
    )
    thread_id = begun.json().get("thread_id")
    project.engine.jobs.run_until_idle(project.library, 60)
    told = begun.text + str(project.rows("SELECT reason FROM job")) + str(thread_id)
    assert "setting prompt" in told
    assert project.provider.asked == []


class ReadCorrectCheck(list[Any]):
    """Answers of a provider that reads, corrects and checks one line, each in the form the call requires."""

    def __init__(self, project: ModelProject) -> None:
        super().__init__([""])
        self.project = project

    def __getitem__(self, index: Any) -> Answer:
        asked = self.project.provider.asked[-1]
        if "one line of a historical document" in prompt_of(asked):
            return Answer("Deer Sir")
        if "your reasons" in prompt_of(asked):
            return Answer(json.dumps({"verdict": "confirm", "reasons": "It reads well"}))
        (offered,) = ids_in(asked)
        return Answer(json.dumps({"lines": [{"id": offered, "text": "Dear Sir"}]}))


def test_a_run_reads_corrects_and_checks_and_is_undone_as_one_set(project: ModelProject, client: Any) -> None:
    """From the picture of a line to a verdict on its reading, over a provider's real wire format."""
    page = str(signed_page(project.example)["page_id"])
    pass_id = project.example.run("segment.pass_create", {"document_id": page, "name": "Lines"})["id"]
    shape = {
        "document_id": page,
        "pass_id": pass_id,
        "kind": "line",
        "anchor": {"rect": [0.1, 0.2, 0.8, 0.2]},
    }
    project.act("segment.create_many", segments=[shape])
    project.engine.jobs.run_until_idle(project.library, 60)
    project.provider.answers = ReadCorrectCheck(project)
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
    response = client.post("/api/workflows", json={"name": "All", "nodes": nodes, "edges": edges})
    assert response.status_code == 200, response.text
    before = table_digests(project.library.db, project.engine.library_schema)
    body = {"scope_ids": [page]}
    begun = client.post(f"/api/workflows/{response.json()['id']}/execute", json=body)
    assert begun.status_code == 202, begun.text
    thread_id = begun.json()["thread_id"]
    assert project.engine.jobs.run_until_idle(project.library, 60)

    states = project.rows("SELECT state, reason FROM job WHERE id = ?", thread_id)
    assert states == [("done", None)], states
    ((readings),) = project.readings(page).values()
    assert [words for _, words in readings] == ["Deer Sir", "Dear Sir"]
    (corrected,) = project.rows("SELECT id FROM content_representation WHERE content = 'Dear Sir'")
    assert project.rows("SELECT target_id, verdict, trust, run_id FROM check_verdict") == [
        (*corrected, "confirm", "model", thread_id)
    ]
    assert project.rows("SELECT use_case, thread_id FROM episode ORDER BY seq") == [
        (name, thread_id) for name in ("read-a-line", "correct", "check")
    ]
    # Undoing the step that started the run undoes everything; the ledger keeps the calls.
    ((start,),) = project.rows("SELECT id FROM audit WHERE action_name = 'workflow.execute'")
    project.engine.undo(project.library, [start], LOCAL_OWNER)
    after = table_digests(project.library.db, project.engine.library_schema)
    assert {name for name in after if after[name] != before[name]} == set()
    assert project.rows("SELECT count(*) FROM check_verdict") == [(0,)]
    assert project.readings(page) == {}


THREADS = "/api/workflow-execution/threads"
TO_ASK = {"id": "ask", "tool": "ask-a-model", "config": {"prompt": "Who is written to?"}}


def save(client: Any, work: dict[str, Any], port: str = "page_reading") -> str:
    """Save a workflow of pages, the node *work* and its output; return its id."""
    nodes = [{"id": "pages", "tool": "input"}, work, {"id": "result", "tool": "output"}]
    ends = [("pages", "pages", work["id"], port), (work["id"], "result", "result", "value")]
    edges = [
        {"id": a + c, "source": a, "source_port": b, "target": c, "target_port": d} for a, b, c, d in ends
    ]
    response = client.post("/api/workflows", json={"name": "W", "nodes": nodes, "edges": edges})
    assert response.status_code == 200, response.text
    return str(response.json()["id"])


def run(
    project: ModelProject, client: Any, workflow: str, pages: list[str], provider: str = "Loopback"
) -> dict[str, Any]:
    """Run a workflow to its end; return the run."""
    body = {"scope_ids": pages, "provider_override": provider}
    begun = client.post(f"/api/workflows/{workflow}/execute", json=body)
    assert begun.status_code == 202, begun.text
    return run_to_end(project, client, begun.json()["thread_id"])


def run_to_end(project: ModelProject, client: Any, thread_id: str) -> dict[str, Any]:
    assert project.engine.jobs.run_until_idle(project.library, 60)
    answer: dict[str, Any] = client.get(f"{THREADS}/{thread_id}").json()
    return answer


class CallAtFirstAnswer(list[Any]):
    """Gives the same answer each time, and calls *work* at the first call."""

    def __init__(self, work: Callable[[], Any]) -> None:
        super().__init__([""])
        self.work: Callable[[], Any] | None = work

    def __getitem__(self, index: Any) -> Answer:
        work, self.work = self.work, None
        if work is not None:
            work()
        return Answer("A gentleman.")


def test_a_page_that_is_restricted_in_mid_run_is_skipped_says_so_and_is_read_again(
    project: ModelProject, client: Any
) -> None:
    first, second = project.page(), project.page()
    made: list[Any] = []

    def restrict() -> None:
        stated = {"target_kind": "document", "target_id": second, "model_use": "none"}
        made.append(project.act("rights.set", **stated)["id"])

    project.provider.answers = CallAtFirstAnswer(restrict)
    result = run(project, client, save(client, TO_ASK), [first, second])
    assert (result["status"], result["pages_done"], result["pages_failed"]) == ("done", 1, 0)
    assert result["page_items"] == [
        {"document_id": first, "status": "done", "reason": None},
        {
            "document_id": second,
            "status": "skipped",
            "reason": "ask: Its rights records allow no model to receive it.",
        },
    ]
    assert len(project.provider.asked) == 1
    assert len(result["outputs"]["result"]) == 1
    second_answer = client.post(f"{THREADS}/{result['thread_id']}/read-again").json()
    assert run_to_end(project, client, second_answer["thread_id"])["page_items"][0]["status"] == "skipped"
    project.act("rights.withdraw", record_id=made[0])
    second_answer = client.post(f"{THREADS}/{result['thread_id']}/read-again").json()
    assert second_answer["pages"] == 1
    assert run_to_end(project, client, second_answer["thread_id"])["pages_done"] == 1
    assert len(project.provider.asked) == 2


def test_a_provider_that_is_switched_off_in_mid_run_fails_the_pages_that_are_left(
    project: ModelProject, client: Any
) -> None:
    with project.engine.state.read() as conn:
        (identity,) = conn.exec_driver_sql("SELECT id FROM provider").scalars()

    def switch(enabled: bool) -> None:
        given = {"provider_id": identity, "enabled": enabled}
        project.engine.run(None, "provider.update", given, OWNER)

    project.provider.answers = CallAtFirstAnswer(lambda: switch(False))
    result = run(project, client, save(client, TO_ASK), [project.page(), project.page(), project.page()])
    assert (result["status"], result["pages_done"], result["pages_failed"]) == ("done", 1, 2)
    assert all("switched off" in page_item["reason"] for page_item in result["page_items"][1:])
    assert len(project.provider.asked) == 1
    again = f"{THREADS}/{result['thread_id']}/read-again"
    refused = client.post(again)
    assert (refused.status_code, refused.json()["code"]) == (403, "provider_off")
    switch(True)
    assert run_to_end(project, client, client.post(again).json()["thread_id"])["pages_done"] == 2


def test_a_run_says_what_its_calls_cost_however_it_ended(project: ModelProject, client: Any) -> None:
    """11 tokens at 2 USD and 7 at 10 USD a million; null if the price of a call is unknown."""
    pages, flow = [project.page(), project.page()], save(client, TO_ASK)
    prices: dict[str, dict[str, float]] = {
        "Priced": {"input_cost": 2.0, "output_cost": 10.0},
        "Half": {"input_cost": 2.0},
        "Free": {"input_cost": 0.0, "output_cost": 0.0},
    }
    for name, price in prices.items():
        project.provider.add_to(project.engine, name, **price)
    project.provider.answers = ["A gentleman."]
    costs = [run(project, client, flow, pages, name)["cost_usd"] for name in prices]
    assert costs == [pytest.approx(2 * 92e-6), None, 0.0]
    # The answer was paid for although no page succeeded: its table has the wrong columns.
    table = {"id": "table", "tool": "extract-to-a-table", "config": {"columns": ["Who"]}}
    failed = run(project, client, save(client, table), pages[:1], "Priced")
    assert (failed["status"], failed["cost_usd"]) == ("failed", pytest.approx(2 * 92e-6))

    def pause() -> None:
        ((thread,),) = project.rows("SELECT thread_id FROM workflow_run ORDER BY created_at DESC LIMIT 1")
        client.post(f"{THREADS}/{thread}/pause")

    # The page being asked about is finished, the other one withdrawn.
    project.provider.answers = CallAtFirstAnswer(pause)
    stopped = run(project, client, flow, pages, "Priced")
    client.post(f"{THREADS}/{stopped['thread_id']}/cancel")
    stopped = run_to_end(project, client, stopped["thread_id"])
    assert (stopped["status"], stopped["cost_usd"]) == ("cancelled", pytest.approx(92e-6))


def test_a_chain_asks_the_provider_in_its_inputs_and_lets_pages_leave_only_if_they_allow_it(
    project: ModelProject, client: Any
) -> None:
    page = project.page()
    mend = save(client, {"id": "mend", "tool": "correct"}, "line_readings")
    project.provider.add_to(project.engine, "Far", host="http://203.0.113.9")

    def execute(step: dict[str, Any], **inputs: Any) -> Any:
        one = {"id": "one", "workflow_id": mend, "name": "One", **step}
        kept = {"initial_inputs": {"pages_may_leave": True}}
        chain = client.post("/api/chains", json={"name": "C", "steps": [one], **kept}).json()["id"]
        return client.post(
            f"/api/chains/{chain}/execute-steps", json={"inputs": {"scope_ids": [page], **inputs}}
        )

    far = {"provider_override": "Far"}
    for step, inputs, status, code in (
        ({}, {}, 422, "provider_needed"),
        ({"static_inputs": {"provider": "Nobody"}}, {}, 404, "unknown_provider"),
        (far, {}, 403, "pages_may_not_leave"),
        (far, {"pages_may_leave": False}, 403, "pages_may_not_leave"),
        (far, {"pages_may_leave": "yes"}, 422, "invalid_request"),
        ({**far, "static_inputs": {"pages_may_leave": True}}, {}, 403, "pages_may_not_leave"),
    ):
        answer = execute(step, **inputs)
        assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    assert project.rows("SELECT count(*) FROM job WHERE kind = 'chain'") == [(0,)]
    client.put("/api/activity/jobs/paused", json={"paused": True})
    assert execute(far, pages_may_leave=True).status_code == 202
    assert project.rows("SELECT pages_may_leave FROM workflow_run") == [(1,)]
    client.post("/api/activity/jobs/clear-failed")
    for (job,) in project.rows("SELECT id FROM job WHERE kind = 'chain'"):
        client.post(f"/api/activity/jobs/{job}/cancel")
    client.put("/api/activity/jobs/paused", json={"paused": False})
    project.answers(lambda ids: {"lines": [{"id": ids[0], "text": "Dear Sir"}]})
    for step, inputs in (
        ({"static_inputs": {"provider": "Loopback"}}, {}),
        ({}, {"provider": "Loopback"}),
    ):
        begun = execute(step, **inputs)
        assert begun.status_code == 202, begun.text
        assert run_to_end(project, client, begun.json()["steps"][0]["thread_id"])["status"] == "done"
    assert {request["path"] for request in project.provider.asked} == {"/v1/chat/completions"}
