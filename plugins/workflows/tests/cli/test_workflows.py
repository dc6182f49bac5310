"""Workflows from the command line: listed, run with progress for each step, watched, compared, read again."""

from __future__ import annotations

from armarium_testing.command_line import Machine, Pictures


def test_a_workflow_is_run_watched_compared_and_read_again(desk: Machine, pictures: Pictures) -> None:
    pictures(["1.png", "2.png"])
    desk.succeed("create", "Letters")
    desk.succeed("import", "pages")
    listed = desk.succeed("workflow", "list", "--json").json["items"]
    assert "system-find-and-read" in [item["id"] for item in listed]
    assert "system-find-and-read" in desk.succeed("workflow", "list").out

    words = ("workflow", "run", "Find and read lines", "--provider", "pretend")
    first = desk.succeed(*words)
    assert "Find and read lines: done, 2 of 2 pages done." in first.out
    assert "read: done, 2 of 2 pages" in first.err
    second = desk.succeed(*words, "--json").json
    assert (second["status"], second["pages_done"]) == ("done", 2)

    runs = desk.succeed("workflow", "list", "--runs", "--json").json["items"]
    assert [run["status"] for run in runs] == ["done", "done"]
    one, other = (run["thread_id"] for run in runs)
    assert one in desk.succeed("workflow", "list", "--runs", "--status", "done").out
    answer = desk.succeed("workflow", "compare", one, other).out
    assert answer.count("2 the same, 0.0% of the characters differ") == 2
    assert desk.succeed("workflow", "watch", one, "--json").json["thread_id"] == one
    assert "there is nothing left to read again" in desk.expect_refusal("workflow", "read-again", one)
    assert "Neither" not in answer


def test_missing_workflows_and_runs_are_reported(desk: Machine, pictures: Pictures) -> None:
    pictures(["1.png"])
    desk.succeed("create", "Others")
    desk.succeed("import", "pages")
    assert desk.expect_refusal("workflow", "run", "dance").startswith("There is no workflow called 'dance';")
    assert desk.expect_refusal("workflow", "watch", "feed").startswith("No run begins with 'feed';")


def test_pages_that_failed_are_named_with_what_to_do(desk: Machine, pictures: Pictures) -> None:
    pictures(["1.png", "faint.png"])
    desk.succeed("create", "Faint")
    desk.succeed("import", "pages")
    answer = desk.succeed("workflow", "run", "system-find-lines", "--provider", "pretend").out
    assert "done, 1 of 2 pages done." in answer
    assert "too faint to find lines on" in answer
    assert "continues with the rest" in answer
    (run,) = desk.succeed("workflow", "list", "--runs", "--json").json["items"]
    second_answer = desk.succeed("workflow", "read-again", run["thread_id"], "--no-wait", "--json").json
    assert second_answer["read_again_of"] == run["thread_id"]
