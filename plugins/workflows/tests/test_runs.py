"""A run processes its pages node by node, exactly once, however it is interrupted; pages not done can be read
again.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import pytest
from small_jobs import WorkflowProject, edge, node, two_steps

from armarium.api import ServiceError
from armarium_testing.samples import sample
from armarium_workflows.queries import choice_of_run


def test_a_run_goes_over_all_pages_node_by_node(project: WorkflowProject) -> None:
    pages = project.pages(3)
    run = project.run(two_steps(), pages)
    assert (run["status"], run["pages"], run["pages_done"], run["pages_failed"]) == ("done", 3, 3, 0), run
    assert project.marks() == sorted([(page, w) for page in pages for w in ("one", "two")])
    assert [(n["node_id"], n["status"]) for n in run["nodes"]] == [
        (name, "done") for name in ("pages", "first", "second", "result")
    ]
    assert run["outputs"]["result"] == [{"word": "two", "big": "x"}] * 3
    step = f"/api/workflow-execution/threads/{run['thread_id']}/steps/first"
    inner = project.client.get(step, params={"limit": 2, "offset": 1}).json()
    assert [(item["document_id"], item["status"]) for item in inner["items"]] == [
        (page, "done") for page in pages[1:]
    ]
    assert (inner["total"], inner["items"][0]["output"]["word"]) == (3, "one"), inner
    assert project.client.get(f"{step}x").status_code == 404


def test_an_input_of_the_run_is_a_setting_where_the_node_says_nothing_of_it(project: WorkflowProject) -> None:
    (page,) = project.pages(1)
    workflow = two_steps()
    workflow["nodes"][1]["config"] = {}
    project.run(workflow, [page], inputs={"word": "from the run", "unknown": 1})
    assert project.marks() == sorted([(page, "from the run"), (page, "two")])


def test_steps_and_pages_are_jobs_under_the_run(project: WorkflowProject) -> None:
    run = project.run(two_steps(), project.pages(2))
    thread = run["thread_id"]
    tree = project.client.get(f"/api/activity/jobs/{thread}").json()
    assert (tree["state"], tree["done"], tree["total"]) == ("done", 4, 4)
    assert [step["id"] for step in tree["children"]] == [
        f"{thread}:{n}" for n in ("pages", "first", "second", "result")
    ]
    assert [page["kind"] for page in tree["children"][1]["children"]] == ["small-regions"] * 2


def test_a_job_of_one_page_is_called_by_its_label_and_what_it_lies_in(project: WorkflowProject) -> None:
    named, labelled = project.pages(2)
    box = project.do("document.create", {"name": "Wills"})["id"]
    project.do("document.move", {"ids": [labelled], "parent_id": box})
    project.do("document.update", {"document_id": labelled, "page_label": "12r"})
    run = project.run(two_steps(), [named, labelled])
    tree = project.client.get(f"/api/activity/jobs/{run['thread_id']}").json()
    titles = [page["title"].partition(": ")[2] for page in tree["children"][1]["children"]]
    ((name,),) = project.rows("SELECT name FROM document WHERE id = ?", named)
    assert titles[0].startswith(name)
    assert titles[1] == "12r, Wills"


def test_a_page_that_fails_is_named_and_the_others_go_on(project: WorkflowProject) -> None:
    good, bad = project.pages(2)
    run = project.run(two_steps(bad=[bad]), [good, bad])
    assert (run["status"], run["pages_done"], run["pages_failed"]) == ("done", 1, 1)
    assert {
        page_item["document_id"]: (page_item["status"], page_item["reason"])
        for page_item in run["page_items"]
    } == {
        good: ("done", None),
        bad: ("failed", "The page is torn."),
    }
    assert project.marks() == sorted([(good, "one"), (good, "two")])


def test_a_run_without_one_page_done_has_failed(project: WorkflowProject) -> None:
    (bad,) = project.pages(1)
    run = project.run(two_steps(bad=[bad]), [bad])
    assert run["status"] == "failed"
    assert run["reason"].startswith("No page could be done.")


def test_a_run_becomes_a_child_only_of_a_running_job(project: WorkflowProject) -> None:
    (page,) = project.pages(1)
    ended = project.run(two_steps(), [page])
    given = {"workflow_id": ended["workflow_id"], "page_ids": [page]}
    for job_id, said in ((ended["thread_id"], "has ended"), ("nothing", "No job has the id")):
        with pytest.raises(ServiceError, match=said):
            project.do("workflow.execute_in_job", {**given, "job_id": job_id})
    assert len(project.marks()) == 2


def test_what_was_not_done_is_read_again_by_the_same_workflow(project: WorkflowProject) -> None:
    good, bad = project.pages(2)
    workflow = two_steps(bad=[bad])
    run = project.run(workflow, [good, bad])
    answer = project.client.post(f"/api/workflow-execution/threads/{run['thread_id']}/read-again")
    assert answer.status_code == 200, answer.text
    told = answer.json()
    assert (told["read_again_of"], told["pages"]) == (run["thread_id"], 1)
    project.idle()
    again = project.of(told["thread_id"])
    assert [page_item["document_id"] for page_item in again["page_items"]] == [bad]
    assert again["workflow_id"] == run["workflow_id"]


def test_a_run_is_read_again_as_it_was_started_whatever_became_of_its_workflow(
    project: WorkflowProject,
) -> None:
    good, bad = project.pages(2)
    saved = project.save(two_steps(bad=[bad]))
    thread = project.start(saved, [good, bad], provider_override="kraken", inputs={"times": 2})
    project.idle()
    project.client.put(f"/api/workflows/{saved}", json={**two_steps(), "name": "Another"})
    second_answer = project.client.post(f"/api/workflow-execution/threads/{thread}/read-again").json()
    project.idle()
    told = project.of(second_answer["thread_id"])
    assert (told["workflow_name"], told["provider"], told["pages_failed"]) == ("Two steps", "kraken", 1)
    project.client.delete(f"/api/workflows/{saved}")
    answer = project.client.post(f"/api/workflow-execution/threads/{thread}/read-again")
    assert answer.status_code == 200, answer.text
    project.client.delete(f"/api/documents/{bad}")
    answer = project.client.post(f"/api/workflow-execution/threads/{thread}/read-again")
    assert "restore them to read them again" in answer.json()["detail"]


def test_a_run_that_did_everything_has_nothing_to_read_again(project: WorkflowProject) -> None:
    run = project.run(two_steps(), project.pages(1))
    answer = project.client.post(f"/api/workflow-execution/threads/{run['thread_id']}/read-again")
    assert (answer.status_code, answer.json()["code"]) == (409, "nothing_left")


def test_pause_resume_and_two_resumes_at_once(project: WorkflowProject) -> None:
    thread = project.start(project.save(two_steps()), project.pages(2))
    url = f"/api/workflow-execution/threads/{thread}"
    paused = project.client.post(f"{url}/pause").json()
    assert paused["status"] == "paused"
    project.idle()
    assert project.of(thread)["status"] == "paused"
    assert project.marks() == []
    first, second = project.client.post(f"{url}/resume"), project.client.post(f"{url}/resume")
    assert (first.status_code, second.status_code, second.json()["code"]) == (200, 409, "not_paused")
    project.idle()
    assert project.of(thread)["status"] == "done"


def test_of_two_simultaneous_resumes_only_one_takes_effect(project: WorkflowProject) -> None:
    from concurrent.futures import ThreadPoolExecutor

    thread = project.start(project.save(two_steps()), project.pages(2))
    url = f"/api/workflow-execution/threads/{thread}"
    project.client.post(f"{url}/pause")
    with ThreadPoolExecutor(2) as both:
        answers = list(both.map(lambda _: project.client.post(f"{url}/resume").status_code, range(2)))
    assert sorted(answers) == [200, 409]
    project.idle()
    assert len(project.marks()) == 4


def test_cancel_withdraws_what_waits_and_the_rest_can_be_read_again(project: WorkflowProject) -> None:
    pages = project.pages(2)
    thread = project.start(project.save(two_steps()), pages)
    url = f"/api/workflow-execution/threads/{thread}"
    assert project.client.post(f"{url}/cancel").json()["status"] == "cancelled"
    project.idle()
    assert project.of(thread)["status"] == "cancelled"
    assert project.marks() == []
    for what in ("pause", "cancel"):
        assert project.client.post(f"{url}/{what}").json()["code"] == "run_ended"
    second_answer = project.client.post(f"{url}/read-again").json()
    project.idle()
    assert project.of(second_answer["thread_id"])["pages_done"] == 2


def test_a_run_that_goes_on_is_not_read_again_nor_is_its_checkpoint_removed(project: WorkflowProject) -> None:
    thread = project.start(project.save(two_steps()), project.pages(1))
    url = f"/api/workflow-execution/threads/{thread}"
    assert project.client.post(f"{url}/read-again").json()["code"] == "still_going"
    assert project.client.delete(url).json()["code"] == "still_going"


def test_a_page_that_a_run_waits_for_is_not_paused_cancelled_or_retried(project: WorkflowProject) -> None:
    good, bad = project.pages(2)
    run = project.run(two_steps(bad=[bad]), [good, bad])
    (page,) = project.rows("SELECT id FROM job WHERE thread_id = ? AND state = 'failed'", run["thread_id"])
    job = f"/api/activity/jobs/{page[0]}"
    answers = [
        project.client.put(f"{job}/paused", json={"paused": True}),
        project.client.post(f"{job}/cancel"),
        project.client.post(f"{job}/retry"),
        project.client.put(f"/api/activity/jobs/{run['thread_id']}:first/paused", json={"paused": True}),
    ]
    assert [(answer.status_code, answer.json()["code"]) for answer in answers] == [
        (409, "handed_in_by_run")
    ] * 4


def test_a_run_that_ended_is_not_retried_but_read_again(project: WorkflowProject) -> None:
    (bad,) = project.pages(1)
    run = project.run(two_steps(bad=[bad]), [bad])
    answer = project.client.post(f"/api/activity/jobs/{run['thread_id']}/retry")
    assert (answer.status_code, answer.json()["code"]) == (409, "run_ended")


def test_pause_and_cancel_on_the_row_of_the_run_reach_the_run(project: WorkflowProject) -> None:
    thread = project.start(project.save(two_steps()), project.pages(1))
    row = f"/api/activity/jobs/{thread}"
    project.client.put(f"{row}/paused", json={"paused": True})
    assert project.of(thread)["status"] == "paused"
    project.client.post(f"{row}/cancel")
    assert project.of(thread)["status"] == "cancelled"
    log = project.client.get(f"{row}/log").json()["lines"]
    assert [line["data"]["type"] for line in log] == ["workflow_paused", "workflow_cancelled"]


def test_undoing_the_start_undoes_everything_the_run_wrote(project: WorkflowProject) -> None:
    pages = project.pages(2)
    workflow = project.save(two_steps())
    answer = project.client.post(f"/api/workflows/{workflow}/execute", json={"scope_ids": pages}).json()
    project.idle()
    assert len(project.marks()) == 4
    undone = project.client.post(f"/api/actions/audit/{answer['audit_id']}/undo")
    assert undone.status_code == 200, undone.text
    assert project.marks() == []
    assert project.client.get(f"/api/workflow-execution/threads/{answer['thread_id']}").status_code == 404
    project.client.post(f"/api/actions/audit/{undone.json()['audit_ids'][-1]}/undo")
    assert len(project.marks()) == 4
    assert project.of(answer["thread_id"])["status"] == "done"
    # The redo is undone twice: by naming all its steps, then by its start alone.
    listed = project.client.get("/api/actions/audit", params={"undone": False, "limit": 200}).json()["items"]
    done_again = [row["id"] for row in listed if row["inverse_of"]]
    undone = project.client.post("/api/actions/audit/undo", json={"audit_ids": done_again})
    assert undone.status_code == 200, undone.text
    assert project.marks() == []
    undone = project.client.post("/api/actions/audit/undo", json={"audit_ids": undone.json()["audit_ids"]})
    assert len(project.marks()) == 4
    listed = project.client.get("/api/actions/audit", params={"undone": False, "limit": 200}).json()["items"]
    start = next(
        row["id"] for row in listed if row["action_name"] == "workflow.execute" and row["inverse_of"]
    )
    assert project.client.post(f"/api/actions/audit/{start}/undo").status_code == 200
    assert project.marks() == []


def test_read_again_and_resume_are_undone_only_while_nothing_was_written(project: WorkflowProject) -> None:
    pages = project.pages(2)
    thread = project.start(project.save(two_steps()), pages)
    url = f"/api/workflow-execution/threads/{thread}"
    project.client.post(f"{url}/cancel")
    second_answer = project.client.post(f"{url}/read-again").json()
    project.client.post(f"/api/workflow-execution/threads/{second_answer['thread_id']}/pause")
    resumed = project.client.post(
        f"/api/workflow-execution/threads/{second_answer['thread_id']}/resume"
    ).json()
    project.idle()
    for step in (second_answer, resumed):
        answer = project.client.post(f"/api/actions/audit/{step['audit_id']}/undo")
        assert answer.status_code == 409
        told = answer.json()
        assert (told["reason"], told["set_id"]) == ("not-undoable", second_answer["thread_id"])
        assert "4 steps" in told["detail"]


def test_a_read_again_that_has_not_written_is_undone(project: WorkflowProject) -> None:
    thread = project.start(project.save(two_steps()), project.pages(1))
    url = f"/api/workflow-execution/threads/{thread}"
    project.client.post(f"{url}/cancel")
    second_answer = project.client.post(f"{url}/read-again").json()
    assert project.client.post(f"/api/actions/audit/{second_answer['audit_id']}/undo").status_code == 200
    project.idle()
    assert project.marks() == []


def test_the_start_of_a_running_run_is_not_undone(project: WorkflowProject) -> None:
    workflow = project.save(two_steps())
    answer = project.client.post(
        f"/api/workflows/{workflow}/execute", json={"scope_ids": project.pages(1)}
    ).json()
    with project.library.db.write() as conn:
        conn.exec_driver_sql("UPDATE job SET state = 'running' WHERE id = ?", (answer["thread_id"],))
    refused = project.client.post(f"/api/actions/audit/{answer['audit_id']}/undo")
    assert (refused.status_code, refused.json()["reason"]) == (409, "not-undoable")
    assert "Cancel it first" in refused.json()["detail"]


def test_deleting_runs_is_one_step_keeps_checkpoints_and_comes_back(project: WorkflowProject) -> None:
    done = project.run(two_steps(), project.pages(1))
    waiting = project.start_held(two_steps(), project.pages(1))
    body = {"thread_ids": [done["thread_id"], waiting]}
    answer = project.client.post("/api/workflow-execution/runs/delete", json=body).json()
    assert (answer["deleted"], answer["kept"]) == (1, [{"thread_id": waiting, "why": "It is paused."}])
    assert project.client.get(f"/api/workflow-execution/threads/{done['thread_id']}").status_code == 404
    assert project.rows("SELECT count(*) FROM workflow_page WHERE thread_id = ?", done["thread_id"]) == [(5,)]
    project.client.post(f"/api/actions/audit/{answer['audit_id']}/undo")
    assert project.of(done["thread_id"])["pages_done"] == 1


def test_clear_failed_is_a_deletion_by_status(project: WorkflowProject) -> None:
    (bad,) = project.pages(1)
    failed = project.run(two_steps(bad=[bad]), [bad])
    done = project.run(two_steps(), [bad])
    answer = project.client.post("/api/workflow-execution/runs/delete", json={"statuses": ["failed"]}).json()
    assert (answer["deleted"], answer["kept"]) == (1, [])
    listed = project.client.get("/api/workflow-execution/runs").json()["items"]
    assert [run["thread_id"] for run in listed] == [done["thread_id"]]
    assert failed["thread_id"] != done["thread_id"]


def test_one_of_thread_ids_and_statuses_is_needed(project: WorkflowProject) -> None:
    assert project.client.post("/api/workflow-execution/runs/delete", json={}).status_code == 422


def test_a_removed_checkpoint_leaves_the_run_but_nothing_to_read_again(project: WorkflowProject) -> None:
    good, bad = project.pages(2)
    run = project.run(two_steps(bad=[bad]), [good, bad])
    url = f"/api/workflow-execution/threads/{run['thread_id']}"
    assert project.client.delete(url).json()["status"] == "deleted"
    assert project.of(run["thread_id"])["pages_done"] == 1
    assert project.client.post(f"{url}/read-again").json()["code"] == "no_checkpoint"


def test_runs_are_filtered_sorted_and_paged_in_the_query(project: WorkflowProject) -> None:
    pages = project.pages(1)
    first = project.run(two_steps(), pages)
    second = project.run(two_steps(bad=pages), pages)
    waiting = project.start_held(two_steps(), pages)
    listed = project.client.get("/api/workflow-execution/runs", params={"sort_direction": "asc"}).json()
    assert [run["thread_id"] for run in listed["items"]] == [first["thread_id"], second["thread_id"], waiting]
    assert (listed["count"], listed["total"], listed["limit"], listed["offset"]) == (3, 3, 50, 0)
    for words, wanted in (
        (["completed"], [first["thread_id"]]),
        (["paused", "failed"], [waiting, second["thread_id"]]),
    ):
        answer = project.client.get("/api/workflow-execution/runs", params={"status": words}).json()
        assert [run["thread_id"] for run in answer["items"]] == wanted
    page = project.client.get("/api/workflow-execution/runs", params={"limit": 1, "offset": 1}).json()
    assert ([run["thread_id"] for run in page["items"]], page["total"]) == ([second["thread_id"]], 3)
    of_one = project.client.get(
        "/api/workflow-execution/runs", params={"workflow_id": first["workflow_id"]}
    ).json()
    assert of_one["total"] == 1
    for bad in ({"limit": 0}, {"limit": 501}, {"status": ["lost"]}, {"sort_by": "graph"}):
        assert project.client.get("/api/workflow-execution/runs", params=bad).status_code == 422


def test_nine_mebibytes_of_output_fail_the_page_in_words(project: WorkflowProject) -> None:
    pages = project.pages(1)
    workflow = two_steps()
    workflow["nodes"][1]["config"] = {"word": "huge"}
    run = project.run(workflow, pages)
    assert run["page_items"][0]["reason"] == (
        "Node first returned 9.0 MiB for this page; a node passes on at most 8 MiB."
    )


def test_a_job_for_the_whole_scope_gets_all_pages_at_once(project: WorkflowProject) -> None:
    pages = project.pages(3)
    workflow = {
        "name": "All at once",
        "nodes": [node("pages", "input"), node("all", "small-whole"), node("result", "output")],
        "edges": [edge("pages.pages", "all.lines"), edge("all.result", "result.value")],
    }
    run = project.run(workflow, pages)
    assert (run["status"], run["pages_done"]) == ("done", 3)
    assert project.marks() == sorted((page, "seen") for page in pages)
    assert project.rows("SELECT count(*) FROM job WHERE kind = 'small-whole'") == [(1,)]


def test_a_branch_sends_pages_their_ways_and_merge_brings_them_together(project: WorkflowProject) -> None:
    left, right, other = project.pages(3)
    workflow = {
        "name": "Branch",
        "nodes": [
            node("pages", "input"),
            node("ask", "branch", config={"path": "$.files[0]"}),
            node("a", "small-regions", config={"word": "a"}),
            node("b", "small-regions", config={"word": "b"}),
            node("rest", "transform", config={"transform": "upper"}),
            node("both", "merge"),
            node("result", "output"),
        ],
        "edges": [
            edge("pages.pages", "ask.value"),
            edge("ask.value", "a.page_image", when=left),
            edge("ask.value", "b.page_image", when=right),
            edge("ask.value", "rest.value"),
            edge("a.result", "both.value"),
            edge("b.result", "both.value"),
            edge("rest.value", "both.value"),
            edge("both.value", "result.value"),
        ],
    }
    run = project.run(workflow, [left, right, other])
    assert (run["status"], run["pages_done"]) == ("done", 3), run
    assert project.marks() == sorted([(left, "a"), (right, "b")])
    assert run["outputs"]["result"] == [
        {"a": {"word": "a", "big": "x"}},
        {"b": {"word": "b", "big": "x"}},
        {"rest": other.upper()},
    ]
    assert run["reason"] is None
    workflow["edges"][3]["when"] = "of no page"
    run = project.run(workflow, [left, right, other])
    assert run["reason"] == "1 of 3 pages was stopped by a branch without an edge for its value."


def test_settings_come_from_paths_and_a_disabled_node_hands_on(project: WorkflowProject) -> None:
    (page,) = project.pages(1)
    workflow = two_steps()
    mapping = {"port_id": "word", "source_path": "$.inputs.words", "transform": 'join("-") | upper'}
    workflow["nodes"][1]["input_mappings"] = [mapping]
    workflow["nodes"][2]["enabled"] = False
    run = project.run(workflow, [page], inputs={"words": ["so", "be", "it"]})
    assert run["status"] == "done"
    assert project.marks() == [(page, "SO-BE-IT")]


def test_a_list_is_mapped_and_a_value_that_does_not_fit_fails_the_page(project: WorkflowProject) -> None:
    workflow = {
        "name": "Map",
        "nodes": [
            node("each", "map", input_mappings=[{"port_id": "items", "source_path": "$.inputs.names"}],
                 config={"transform": "trim"}),
            node("result", "output"),
        ],
        "edges": [edge("each.items", "result.value")],
    }  # fmt: skip
    saved = project.save(workflow)
    run = project.start(saved, [], inputs={"names": [" Inés ", "Ana"]})
    bad = project.start(saved, [], inputs={"names": "Inés"})
    project.idle()
    assert project.of(run)["outputs"]["result"] == ["Inés", "Ana"]
    assert project.of(bad)["reason"] == "each: map takes a list, and this is not one."


def test_the_run_chooses_the_provider_of_nodes_that_take_one(project: WorkflowProject) -> None:
    (page,) = project.pages(1)
    project.run(two_steps(), [page], provider_override="kraken")
    assert [word for _, word in project.marks()] == ["kraken:one", "kraken:two"]
    workflow = {"name": "None", "nodes": [node("pages", "input")], "edges": []}
    answer = project.client.post(
        f"/api/workflows/{project.save(workflow)}/execute",
        json={"scope_ids": [page], "provider_override": "kraken"},
    )
    assert (answer.status_code, answer.json()["code"]) == (400, "no_node_for_override")


def test_there_is_nothing_to_run_over_in_an_empty_folder(project: WorkflowProject) -> None:
    folder = str(project.do("document.create", {"name": "Box"})["id"])
    saved = project.save(two_steps())
    answer = project.client.post(f"/api/workflows/{saved}/execute", json={"scope_ids": [folder]})
    assert (answer.status_code, answer.json()["code"]) == (422, "no_pages")


def test_episodes_of_a_run_that_is_not_there(project: WorkflowProject) -> None:
    assert project.client.get("/api/workflow-execution/threads/nobody/episodes").status_code == 404
    run = project.run(two_steps(), project.pages(1))
    answer = project.client.get(f"/api/workflow-execution/threads/{run['thread_id']}/episodes").json()
    assert answer == {"thread_id": run["thread_id"], "count": 0, "withheld": 0, "episodes": []}


@pytest.mark.parametrize("each", sample([3, 1], 1))
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_run_stopped_at_any_call_loses_and_repeats_nothing(
    project: WorkflowProject, monkeypatch: pytest.MonkeyPatch, when: str, each: int
) -> None:
    """The state after a kill: the call was made or not, and the body runs again from its checkpoint."""
    from armarium.jobs.body_ends import JobStopped
    from armarium.jobs.context import JobContext

    pages = project.pages(2)
    saved = project.save(two_steps())
    left: list[int | None] = [None]

    def strike_at(call: Any) -> Any:
        def make_or_stop(self: Any, *given: Any, **named: Any) -> Any:
            if left[0] is not None:
                left[0] -= 1
                if left[0] < 0:
                    left[0] = None
                    if when == "after":
                        call(self, *given, **named)
                    raise JobStopped("shutdown")
            return call(self, *given, **named)

        return make_or_stop

    for name in ("save", "spawn_many", "act"):
        monkeypatch.setattr(JobContext, name, strike_at(getattr(JobContext, name)))
    number, expected = 0, 0
    while True:
        left[0] = number
        thread = project.start(saved, pages)
        project.idle()
        expected += 1
        run = project.of(thread)
        assert (run["status"], run["pages_done"]) == ("done", 2), (number, run)
        marks = project.rows("SELECT page_id, word FROM small_mark WHERE run_id = ?", thread)
        assert sorted(marks) == sorted((page, w) for page in pages for w in ("one", "two")), number
        rows = project.rows("SELECT count(*) FROM workflow_page WHERE thread_id = ?", thread)
        assert rows == [(10,)], number
        lines = project.client.get("/api/activity", params={"thread_id": thread, "limit": 100}).json()[
            "items"
        ]
        kinds = [line["type"] for line in lines]
        told = (kinds.count("workflow_completed"), kinds.count("node_completed"))
        assert told == (1, 4), (number, kinds)
        if left[0] is not None:
            break
        number += each
    assert number > 15


def test_a_run_names_the_provider_and_model_that_it_was_started_with_or_that_its_workflow_names(
    project: WorkflowProject,
) -> None:
    def choice(nodes: list[dict[str, Any]], run: Any = (None, None), **graph: Any) -> tuple[Any, Any]:
        chosen = choice_of_run({"provider": run[0], "model": run[1]}, {"nodes": nodes, **graph})
        return chosen["provider"], chosen["model"]

    plain, other_node = node("a", "x"), node("b", "x", provider_name="P", model_name="m")
    by_config = node("c", "x", config={"reader": "hand", "model": "own"})
    assert choice([node("in", "input"), plain], provider="W", model="w") == ("W", "w")
    assert choice([other_node], provider="W", model="w") == ("P", "m")
    assert choice([other_node], ("R", "r"), provider="W", model="w") == ("R", "r")
    assert choice([plain, by_config]) == ("hand", "own")
    # Two that differ: there is not one that the whole run was done by.
    assert choice([plain, other_node], provider="W") == (None, "m")
    assert choice([plain]) == (None, None)
    run = project.run(two_steps(reader="tesseract"), project.pages(1))
    assert run["provider"] == "tesseract"


def test_a_run_that_did_nothing_says_why_and_passed_over_pages_are_counted(project: WorkflowProject) -> None:
    run = project.run(two_steps(), [])
    assert (run["status"], run["pages"]) == ("done", 0)
    assert "without pages" in run["reason"]
    pages = project.pages(3)
    run = project.run(two_steps(withheld=pages[:1]), pages)
    counts = {name: run[name] for name in ("pages", "pages_done", "pages_failed", "pages_skipped")}
    assert counts == {"pages": 3, "pages_done": 2, "pages_failed": 0, "pages_skipped": 1}
    assert run["reason"].startswith("1 of 3 pages was passed over. The first: first: It is closed.")
    (listed,) = [
        item
        for item in project.client.get("/api/workflow-execution/runs").json()["items"]
        if item["thread_id"] == run["thread_id"]
    ]
    assert (listed["pages_skipped"], listed["reason"]) == (1, run["reason"])
    run = project.run(two_steps(withheld=pages[:1]), pages[:1])
    assert (run["status"], run["pages_skipped"], run["pages_done"]) == ("done", 1, 0)
    # The page's own job says so too.
    (reason,) = project.rows(
        "SELECT reason FROM job WHERE thread_id = ? AND kind = 'small-regions'", run["thread_id"]
    )[0]
    assert reason == "Nothing was done. It is closed."


def test_a_project_made_before_runs_counted_pages_passed_over_still_opens(project: WorkflowProject) -> None:
    run = project.run(two_steps(), project.pages(1))
    path = project.library.path
    project.engine.libraries.release(path)
    with closing(sqlite3.connect(path / "library.sqlite")) as raw, raw:
        raw.execute("ALTER TABLE workflow_run_state DROP COLUMN pages_skipped")
        raw.execute("ALTER TABLE workflow_run_state DROP COLUMN results")
        raw.execute(
            "CREATE TABLE workflow_execution_state (id TEXT PRIMARY KEY, status TEXT NOT NULL, results TEXT NOT NULL,"
            " final_outputs TEXT NOT NULL, started_at TEXT, finished_at TEXT)"
        )
        raw.execute("UPDATE schema_version SET version = 1 WHERE family = 'workflows'")
    assert project.of(run["thread_id"])["pages_skipped"] == 0
