"""A chain runs workflows one after another, each as a run that exists from the start; conditions choose the
next.
"""

from __future__ import annotations

from typing import Any

import pytest
from small_jobs import WorkflowProject, edge, node, two_steps

from armarium_workflows import chaining
from armarium_workflows.running import reconcile


def passing_workflow(value: str = "word") -> dict[str, Any]:
    """Return a workflow without pages that passes on an input."""
    return {
        "name": "Speak",
        "nodes": [
            node(
                "say", "transform", input_mappings=[{"port_id": "value", "source_path": f"$.inputs.{value}"}]
            ),
            node("result", "output"),
        ],
        "edges": [edge("say.value", "result.value")],
    }


def failing_workflow() -> dict[str, Any]:
    """Return a workflow that always fails."""
    workflow = passing_workflow()
    workflow["nodes"][0] |= {"config": {"transform": "join"}}
    return workflow


def chain(project: WorkflowProject, steps: list[dict[str, Any]], **more: Any) -> str:
    answer = project.client.post("/api/chains", json={"name": "A chain", "steps": steps, **more})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["id"])


def execute_chain(
    project: WorkflowProject, chain_id: str, **inputs: Any
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the accepted execution, and its state at the end."""
    accepted = project.client.post(f"/api/chains/{chain_id}/execute-steps", json={"inputs": inputs})
    assert accepted.status_code == 202, accepted.text
    project.idle()
    answer = accepted.json()
    return answer, project.client.get(f"/api/chains/executions/{answer['execution_id']}").json()


def statuses(execution: dict[str, Any]) -> dict[str, str]:
    return {step["step_id"]: step["status"] for step in execution["step_results"]}


def step(identity: str, workflow_id: str, **more: Any) -> dict[str, Any]:
    return {"id": identity, "workflow_id": workflow_id, "name": identity.title(), **more}


def test_steps_run_in_sequence_and_pass_on_their_outputs(project: WorkflowProject) -> None:
    speak = project.save(passing_workflow())
    mapping = {"source_path": "$.nodes.first.result", "target_key": "word", "transform": "upper"}
    identity = chain(project, [step("first", speak), step("second", speak, input_mappings=[mapping])])
    told, ended = execute_chain(project, identity, word="so")
    assert [one["stream_url"].split("/")[-2] for one in told["steps"]] == [
        one["thread_id"] for one in told["steps"]
    ]
    assert (ended["status"], statuses(ended)) == ("done", {"first": "done", "second": "done"})
    assert ended["final_outputs"] == {"result": "SO"}
    assert ended["total_duration_ms"] >= 0
    kinds = [(event["event_type"], event["step_id"]) for event in ended["events"]]
    assert kinds.index(("workflow_completed", "first")) < kinds.index(("workflow_started", "second"))


def test_pages_come_from_the_inputs_and_each_run_is_listed_with_its_execution(
    project: WorkflowProject,
) -> None:
    pages = project.pages(2)
    marking = project.save(two_steps())
    told, ended = execute_chain(project, chain(project, [step("mark", marking)]), scope_ids=pages)
    assert ended["status"] == "done"
    assert len(project.marks()) == 4
    run = project.of(told["steps"][0]["thread_id"])
    assert (run["execution_id"], run["scope_ids"], run["pages_done"]) == (told["execution_id"], pages, 2)


def test_static_inputs_win_over_inputs(project: WorkflowProject) -> None:
    speak = project.save(passing_workflow())
    identity = chain(
        project, [step("a", speak, static_inputs={"word": "stated"})], initial_inputs={"word": "first"}
    )
    assert execute_chain(project, identity, word="given")[1]["final_outputs"] == {"result": "stated"}
    assert execute_chain(project, chain(project, [step("a", speak)], initial_inputs={"word": "first"}))[1][
        "final_outputs"
    ] == {"result": "first"}


@pytest.mark.parametrize(
    ("expression", "taken"),
    [
        ('$.inputs.word == "go"', "yes"),
        ('$.inputs.word != "go"', "no"),
        ("$.nodes.ask.result", "yes"),
        ("$.inputs.gone", "no"),
        ("$.inputs.count > 2", "yes"),
        ("$.inputs.count <= 2", "no"),
        ("$.inputs.word < 2", "no"),
        ('$.nodes.ask.result contains "g"', "yes"),
        ('$.nodes.ask.status == "done"', "yes"),
        ("$.inputs.word | join", "no"),
    ],
)
def test_a_condition_chooses_the_next_step_and_the_others_are_skipped(
    project: WorkflowProject, expression: str, taken: str
) -> None:
    speak = project.save(passing_workflow())
    condition = {"expression": expression, "true_step": "yes", "false_step": "no"}
    steps = [
        step("ask", speak, condition=condition),
        step("between", speak),
        step("yes", speak),
        step("no", speak),
    ]
    if taken == "yes":
        steps[2]["condition"] = {"expression": "$.inputs.gone"}
    told, ended = execute_chain(project, chain(project, steps), word="go", count=3)
    found_statuses = statuses(ended)
    assert (found_statuses["ask"], found_statuses["between"], found_statuses[taken]) == (
        "done",
        "skipped",
        "done",
    )
    if taken == "no":
        assert found_statuses["yes"] == "skipped"
    skipped = project.of(told["steps"][1]["thread_id"])
    assert (skipped["status"], skipped["reason"]) == ("cancelled", "The chain skipped this step.")


def test_a_failed_step_ends_the_chain_unless_it_is_to_go_on(project: WorkflowProject) -> None:
    speak, bad = project.save(passing_workflow()), project.save(failing_workflow())
    _, ended = execute_chain(project, chain(project, [step("bad", bad), step("next", speak)]), word="so")
    assert (ended["status"], statuses(ended)) == ("failed", {"bad": "failed", "next": "skipped"})
    assert "join takes a list" in ended["step_results"][0]["error"]
    _, ended = execute_chain(
        project, chain(project, [step("bad", bad, continue_on_error=True), step("next", speak)]), word="so"
    )
    assert (ended["status"], statuses(ended)) == ("done", {"bad": "failed", "next": "done"})


def test_a_step_may_choose_the_provider(project: WorkflowProject) -> None:
    pages = project.pages(1)
    marking = project.save(two_steps())
    execute_chain(
        project, chain(project, [step("mark", marking, provider_override="kraken")]), scope_ids=pages
    )
    assert {word for _, word in project.marks()} == {"kraken:one", "kraken:two"}


def test_a_step_that_takes_too_long_is_stopped_before_its_next_node(project: WorkflowProject) -> None:
    marking = project.save(two_steps())
    identity = chain(project, [step("mark", marking, timeout_seconds=1e-9)])
    _, ended = execute_chain(project, identity, scope_ids=project.pages(1))
    assert "took longer than the 1e-09 seconds" in ended["step_results"][0]["error"]
    assert project.marks() == []


def test_a_condition_tells_true_from_one_and_looks_for_texts_alone_in_a_text() -> None:
    inputs = {"yes": True, "one": 1, "word": "a1", "list": [True, 2.0]}
    met = ("yes == true", "one == 1", "one == 1.0", "one != true", "list contains 2", 'word contains "1"')
    unmet = (
        "yes == 1",
        "one == true",
        "yes != true",
        "list contains 1",
        "word contains 1",
        "word contains null",
    )
    assert [one for one in (*met, *unmet) if chaining.holds(f"$.inputs.{one}", {"inputs": inputs})] == [*met]


@pytest.mark.parametrize("scope", [7, "a page", [1], ["nobody"]])
def test_invalid_pages_fail_the_step(project: WorkflowProject, scope: Any) -> None:
    _, ended = execute_chain(
        project, chain(project, [step("mark", project.save(two_steps()))]), scope_ids=scope
    )
    assert statuses(ended) == {"mark": "failed"}
    assert ended["step_results"][0]["error"]


def test_an_empty_folder_fails_the_step(project: WorkflowProject) -> None:
    folder = str(project.do("document.create", {"name": "Box"})["id"])
    _, ended = execute_chain(
        project, chain(project, [step("mark", project.save(two_steps()))]), scope_ids=[folder]
    )
    assert ended["step_results"][0]["error"] == "The documents named contain no pages."


def test_a_chain_begins_at_its_stated_step(project: WorkflowProject) -> None:
    speak = project.save(passing_workflow())
    identity = chain(project, [step("a", speak), step("b", speak)], entry_step="b")
    assert statuses(execute_chain(project, identity, word="so")[1]) == {"a": "skipped", "b": "done"}


def test_cancelling_a_chain_cancels_all_its_runs(project: WorkflowProject) -> None:
    speak = project.save(passing_workflow())
    identity = chain(project, [step("a", speak), step("b", speak)])
    answer = project.client.post(f"/api/chains/{identity}/execute-steps", json={}).json()
    thread = answer["steps"][0]["thread_id"]
    waiting = project.of(thread)
    assert (waiting["status"], [one["status"] for one in waiting["nodes"]]) == (
        "waiting",
        ["waiting", "waiting"],
    )
    for what in ("pause", "cancel"):
        assert (
            project.client.post(f"/api/workflow-execution/threads/{thread}/{what}").json()["code"]
            == "not_begun"
        )
    project.client.post(f"/api/activity/jobs/{answer['execution_id']}/cancel")
    ended = project.client.get(f"/api/chains/executions/{answer['execution_id']}").json()
    assert (ended["status"], statuses(ended)) == ("cancelled", {"a": "cancelled", "b": "cancelled"})


def test_a_paused_step_keeps_its_state_and_its_run_is_paused(
    project: WorkflowProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`step_results` and the execution know only waiting, running, done, failed, skipped and cancelled."""
    speak, bad = project.save(passing_workflow()), project.save(failing_workflow())
    identity = chain(project, [step("bad", bad, continue_on_error=True), step("a", speak), step("b", speak)])
    begin = chaining._begin_step

    def begin_held(job: Any, execution: Any, one: Any, thread_id: str, kept: Any) -> str | None:
        """Pause step a before a lane can take it."""
        if one.id != "a":
            return begin(job, execution, one, thread_id, kept)
        project.do("background.pause", {"paused": True})
        why = begin(job, execution, one, thread_id, kept)
        project.do("run.pause", {"thread_id": thread_id})
        project.do("background.pause", {"paused": False})
        return why

    monkeypatch.setattr(chaining, "_begin_step", begin_held)
    answer = project.client.post(
        f"/api/chains/{identity}/execute-steps", json={"inputs": {"word": "so"}}
    ).json()
    project.idle()
    url = f"/api/chains/executions/{answer['execution_id']}"
    thread = answer["steps"][1]["thread_id"]
    assert project.of(thread)["status"] == "paused"
    standing = project.client.get(url).json()
    assert standing["status"] == "running"
    assert statuses(standing)["bad"] == "failed"
    assert "join takes a list" in standing["step_results"][0]["error"]
    assert (statuses(standing)["a"], statuses(standing)["b"]) == ("waiting", "waiting")
    # A step that ended keeps its state when its run is deleted.
    body = {"thread_ids": [answer["steps"][0]["thread_id"]]}
    assert project.client.post("/api/workflow-execution/runs/delete", json=body).json()["deleted"] == 1
    assert statuses(project.client.get(url).json())["bad"] == "failed"
    resumed = project.client.post(f"/api/workflow-execution/threads/{thread}/resume")
    assert resumed.status_code == 200, resumed.text
    project.idle()
    assert statuses(project.client.get(url).json()) == {"bad": "failed", "a": "done", "b": "done"}


def test_its_start_is_undone_only_while_nothing_was_written(project: WorkflowProject) -> None:
    marking = project.save(two_steps())
    identity = chain(project, [step("mark", marking)])
    begun = project.client.post(
        f"/api/chains/{identity}/execute-steps", json={"inputs": {"scope_ids": project.pages(1)}}
    )
    assert project.client.post(f"/api/actions/audit/{begun.json()['audit_id']}/undo").status_code == 200
    assert project.client.get(f"/api/chains/executions/{begun.json()['execution_id']}").status_code == 404
    told, _ = execute_chain(project, identity, scope_ids=project.pages(1))
    answer = project.client.post(f"/api/actions/audit/{told['audit_id']}/undo")
    assert (answer.status_code, answer.json()["set_id"]) == (409, told["steps"][0]["thread_id"])


@pytest.mark.parametrize(
    ("steps", "more", "told"),
    [
        ([step("a", "X"), step("a", "X")], {}, "Two steps have the id a"),
        ([step("a", "X")], {"entry_step": "z"}, "begins with z, which is not one of its steps"),
        (
            [step("a", "X"), step("b", "X", condition={"expression": "$.inputs.x", "true_step": "a"})],
            {},
            "continues with a, which does not come after it",
        ),
        ([step("a", "X", condition={"expression": "nothing"})], {}, "Step a: 'nothing' is not a path"),
        ([step("a", "X", condition={"expression": "$.inputs.x == go"})], {}, "'go' is not a JSON value"),
        (
            [
                step("a", "X", input_mappings=[{"source_path": "$.nodes.b.x", "target_key": "x"}]),
                step("b", "X"),
            ],
            {},
            "reads step b, which does not come before it",
        ),
        (
            [step("a", "X", input_mappings=[{"source_path": "$.config.x", "target_key": "x"}])],
            {},
            "a chain reads $.nodes.<step>.<key> and $.inputs.<key>",
        ),
        (
            [
                step(
                    "a",
                    "X",
                    input_mappings=[{"source_path": "$.inputs.x", "target_key": "x", "transform": "shout"}],
                )
            ],
            {},
            "'shout' is not a pipe",
        ),
    ],
)
def test_a_faulty_chain_is_refused_in_words(
    project: WorkflowProject, steps: list[dict[str, Any]], more: dict[str, Any], told: str
) -> None:
    speak = project.save(passing_workflow())
    sent = [{**one, "workflow_id": speak} for one in steps]
    answer = project.client.post("/api/chains", json={"name": "Bad", "steps": sent, **more})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_chain")
    assert told in answer.json()["detail"]


def test_a_chain_is_saved_changed_and_removed_and_an_empty_one_is_not_executed(
    project: WorkflowProject,
) -> None:
    identity = chain(project, [])
    answer = project.client.post(f"/api/chains/{identity}/execute-steps", json={})
    assert (answer.status_code, answer.json()["code"]) == (400, "empty_chain")
    changed = project.client.put(f"/api/chains/{identity}", json={"name": "Anew", "steps": []}).json()
    assert changed["name"] == project.client.get(f"/api/chains/{identity}").json()["name"] == "Anew"
    assert project.client.get("/api/chains").json()["count"] == 1
    assert project.client.delete(f"/api/chains/{identity}").json()["status"] == "deleted"
    gone = [
        project.client.get(f"/api/chains/{identity}"),
        project.client.put(f"/api/chains/{identity}", json={"name": "Anew"}),
        project.client.delete(f"/api/chains/{identity}"),
        project.client.post(f"/api/chains/{identity}/execute-steps", json={}),
        project.client.get("/api/chains/executions/nobody"),
        project.client.post("/api/chains", json={"name": "Bad", "steps": [step("a", "nobody")]}),
    ]
    assert [one.status_code for one in gone] == [404] * 6


def test_outputs_of_steps_are_those_of_their_pages_and_can_be_the_scope_of_the_next(
    project: WorkflowProject,
) -> None:
    pages = project.pages(2)
    pass_on = {
        "name": "Pass on",
        "nodes": [
            node("in", "input"),
            node("same", "transform", input_mappings=[{"port_id": "value", "source_path": "$.files[0]"}]),
            node("out", "output"),
        ],
        "edges": [edge("in.pages", "same.value"), edge("same.value", "out.value")],
    }
    workflow_id = project.save(pass_on)
    direct = project.start(workflow_id, pages)
    project.idle()
    assert project.of(direct)["outputs"] == {"out": pages}
    mapping = {"source_path": "$.nodes.a.out", "target_key": "scope_ids"}
    identity = chain(project, [step("a", workflow_id), step("b", workflow_id, input_mappings=[mapping])])
    told, ended = execute_chain(project, identity, scope_ids=pages)
    assert (ended["status"], ended["final_outputs"]) == ("done", {"out": pages})
    assert [project.of(one["thread_id"])["outputs"] for one in told["steps"]] == [{"out": pages}] * 2
    # One page: its own value, not a list.
    _, ended = execute_chain(project, chain(project, [step("a", workflow_id)]), scope_ids=pages[:1])
    assert ended["final_outputs"] == {"out": pages[0]}


def test_a_step_that_cannot_begin_ends_its_run_with_its_stream(project: WorkflowProject) -> None:
    speak = project.save(passing_workflow())
    mapping = {"source_path": "$.nodes.a.result", "target_key": "scope_ids"}
    identity = chain(project, [step("a", speak), step("b", speak, input_mappings=[mapping])])
    told, ended = execute_chain(project, identity, word="no list")
    assert statuses(ended) == {"a": "done", "b": "failed"}
    thread_id = told["steps"][1]["thread_id"]
    run = project.of(thread_id)
    assert (run["status"], run["reason"]) == ("failed", "Its input scope_ids is not a list of ids.")
    assert run["finished_at"] is not None
    stream = project.client.get(told["steps"][1]["stream_url"]).text
    assert "event: snapshot" in stream
    assert "event: end" in stream
    removed = project.client.post("/api/workflow-execution/runs/delete", json={"thread_ids": [thread_id]})
    assert (removed.json()["deleted"], removed.json()["kept"]) == (1, [])


def test_a_run_whose_chain_has_ended_without_it_does_not_wait_for_ever(project: WorkflowProject) -> None:
    speak = project.save(passing_workflow())
    project.client.put("/api/activity/jobs/paused", json={"paused": True})
    accepted = project.client.post(
        f"/api/chains/{chain(project, [step('a', speak)])}/execute-steps", json={"inputs": {"word": "so"}}
    ).json()
    thread_id = accepted["steps"][0]["thread_id"]
    with project.library.db.write() as conn:
        # As when the engine has stopped three times while the chain ran.
        conn.exec_driver_sql("UPDATE job SET state = 'failed' WHERE id = ?", (accepted["execution_id"],))
    assert project.of(thread_id)["status"] == "cancelled"
    reconcile(project.engine, project.library)
    with project.library.db.write() as conn:
        conn.exec_driver_sql("DELETE FROM job WHERE id = ?", (accepted["execution_id"],))
    ended = project.of(thread_id)
    assert (ended["status"], ended["reason"]) == ("cancelled", "The chain ended before this step.")
    execution = project.client.get(f"/api/chains/executions/{accepted['execution_id']}").json()
    assert (execution["status"], statuses(execution)) == ("failed", {"a": "cancelled"})


def test_what_goes_on_does_not_go_on_in_a_copy_without_its_jobs(project: WorkflowProject) -> None:
    """A branch begins without jobs: what was going on in the project it is of has ended there."""
    project.client.put("/api/activity/jobs/paused", json={"paused": True})
    run = project.start(project.save(two_steps()), project.pages(1))
    steps = [step("a", project.save(passing_workflow()))]
    begun = project.client.post(f"/api/chains/{chain(project, steps)}/execute-steps", json={}).json()
    reconcile(project.engine, project.library)
    assert {
        item["status"] for item in project.client.get("/api/workflow-execution/runs").json()["items"]
    } == {"waiting"}
    with project.library.db.write() as conn:
        conn.exec_driver_sql("DELETE FROM job")
    reconcile(project.engine, project.library)
    items = project.client.get("/api/workflow-execution/runs").json()["items"]
    assert {(item["status"], item["finished_at"] is None) for item in items} == {("cancelled", False)}
    execution = project.client.get(f"/api/chains/executions/{begun['execution_id']}").json()
    assert (execution["status"], statuses(execution)) == ("cancelled", {"a": "cancelled"})
    # It can be done here.
    project.client.put("/api/activity/jobs/paused", json={"paused": False})
    assert project.client.post(f"/api/workflow-execution/threads/{run}/read-again").status_code == 200
    project.idle()
    assert len(project.marks()) == 2


def test_a_chain_stored_when_names_could_have_several_lines_still_runs(
    project: WorkflowProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as before:
        before.setattr("armarium.names.proper.proper_name", lambda text: text)
        workflow = passing_workflow()
        workflow["nodes"][0]["label"] = "Say\nit"
        steps = [{**step("first", project.save(workflow)), "name": "First\nof all"}]
        identity = chain(project, steps)
    refused = project.client.post("/api/chains", json={"name": "A chain", "steps": steps})
    assert refused.status_code == 422
    _, ended = execute_chain(project, identity, word="so")
    assert (ended["status"], ended["final_outputs"]) == ("done", {"result": "so"})
    response = project.client.get(f"/api/workflows/{steps[0]['workflow_id']}")
    assert response.json()["nodes"][0]["label"] == "Say\nit"
