"""Two runs side by side: line by line for transcriptions, item by item for other results."""

from __future__ import annotations

from typing import Any

from small_jobs import WorkflowProject, edge, node

from armarium_workflows.comparing import differences, error_rate


def workflow(tool: str, **config: Any) -> dict[str, Any]:
    return {
        "name": tool,
        "nodes": [node("pages", "input"), node("work", tool, label="The work", config=config)],
        "edges": [edge("pages.pages", "work.page_image")],
    }


def compare_runs(project: WorkflowProject, left: dict[str, Any], right: dict[str, Any]) -> Any:
    return project.client.get(
        "/api/workflow-execution/comparisons", params={"left": left["thread_id"], "right": right["thread_id"]}
    )


def test_a_reading_step_leaves_a_transcription_that_names_its_pass(project: WorkflowProject) -> None:
    (page,) = project.pages(1)
    run = project.run(workflow("small-read", text="Dear Sir|I write"), [page])
    assert run["status"] == "done", run
    (pass_id,) = project.rows("SELECT id FROM segment_pass")[0]
    rows = project.rows(
        "SELECT document_id, artifact_type, content, data ->> '$.pass_id', run_id, step_name FROM artifact"
    )
    assert rows == [(page, "transcription", "Dear Sir\nI write", pass_id, run["thread_id"], "The work")]


def test_transcriptions_are_compared_line_by_line(project: WorkflowProject) -> None:
    first, second = project.pages(2)
    left = project.run(workflow("small-read", text="Dear Sir|I write|to you"), [first, second])
    right = project.run(workflow("small-read", text="Dear Sir|I wrote|to you|now"), [first])
    answer = compare_runs(project, left, right).json()
    (pair,) = answer["pairs"]
    assert (pair["document_id"], pair["artifact_type"], pair["both"]) == (first, "transcription", 2)
    assert [(line["op"], line["left_text"], line["right_text"]) for line in pair["lines"]] == [
        ("equal", "Dear Sir", "Dear Sir"),
        ("replace", "I write", "I wrote"),
        ("equal", "to you", "to you"),
        ("insert", None, "now"),
    ]
    assert [(line["left_line"], line["right_line"]) for line in pair["lines"]] == [
        (0, 0),
        (1, 1),
        (2, 2),
        (None, 3),
    ]
    # i to o in the second line, a line break and "now" at the end: five changes.
    assert pair["rate"] == 5 / len("Dear Sir\nI write\nto you")
    assert [(one["document_id"], one["side"]) for one in answer["unpaired"]] == [(second, "left")]
    assert (answer["left"]["thread_id"], answer["right"]["thread_id"]) == (
        left["thread_id"],
        right["thread_id"],
    )


def test_what_was_extracted_is_compared_item_by_item(project: WorkflowProject) -> None:
    (page,) = project.pages(1)
    left = project.run(workflow("small-people", people=["Ana", "Inés"]), [page])
    right = project.run(workflow("small-people", people=["Inés", "Juan"]), [page])
    (pair,) = compare_runs(project, left, right).json()["pairs"]
    assert (pair["only_left"], pair["only_right"], pair["both"], pair["lines"], pair["rate"]) == (
        ["Ana"],
        ["Juan"],
        1,
        [],
        None,
    )


def test_a_page_that_only_one_run_did_is_not_compared_and_one_without_results_has_missed_them(
    project: WorkflowProject,
) -> None:
    one, both, torn = project.pages(3)
    left = project.run(workflow("small-regions", word="Ana"), [one, both, torn])
    right = project.run(workflow("small-regions", word="Inés", bad=[torn]), [both, torn])
    answer = compare_runs(project, left, right).json()
    assert [(pair["document_id"], pair["only_left"], pair["only_right"]) for pair in answer["pairs"]] == [
        (both, ["Ana"], ["Inés"])
    ]
    assert [(row["document_id"], row["side"], row["artifact_id"]) for row in answer["unpaired"]] == [
        (one, "left", None),
        (torn, "left", None),
    ]
    nothing = project.run(workflow("small-people", people=[]), [both])
    answer = compare_runs(project, left, nothing).json()
    assert [(pair["document_id"], pair["only_left"]) for pair in answer["pairs"]] == [(both, ["Ana"])]


def test_only_two_runs_that_are_done_are_compared(project: WorkflowProject) -> None:
    pages = project.pages(1)
    done = project.run(workflow("small-read"), pages)
    paused = {"thread_id": project.start_held(workflow("small-read"), pages)}
    answer = compare_runs(project, done, paused)
    assert (answer.status_code, answer.json()["code"], answer.json()["reason"]) == (
        409,
        "run_not_done",
        "paused",
    )
    answer = compare_runs(project, done, done)
    assert (answer.status_code, answer.json()["code"]) == (422, "same_run")
    assert compare_runs(project, done, {"thread_id": "nobody"}).status_code == 404


def test_lines_that_are_gone_or_new_have_one_side() -> None:
    assert [
        (difference["op"], difference["left_line"], difference["right_line"])
        for difference in differences(["a", "b"], ["b"])
    ] == [
        ("delete", 0, None),
        ("equal", 1, 0),
    ]
    assert differences([], []) == []


def test_the_rate_without_text_is_null() -> None:
    assert error_rate("", "a") is None
    assert error_rate("abcd", "abxd") == 0.25
    # Composed or not, and with more or fewer blanks, it is the same text by the one definition.
    assert error_rate("Łódź 1812", "Ło\u0301dz\u0301  1812") == 0
    assert [difference["op"] for difference in differences(["Łódź"], ["Ło\u0301dz\u0301"])] == ["equal"]
