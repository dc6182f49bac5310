"""History, undo, redo and any action by name, at the command line, in a project of pages that were read."""

from __future__ import annotations

import pytest

from armarium_testing.command_line import Machine, ids


def test_sets_are_undone_newest_first_and_redone(read_pages: Machine) -> None:
    assert (
        read_pages.succeed("undo").out == "Undid 2 steps: Read the lines of 2.png; Read the lines of 1.png.\n"
    )
    assert "linea" not in read_pages.succeed("text").out
    assert read_pages.succeed("undo", "--json").json["undone"]
    assert (
        read_pages.succeed("redo").out
        == "Redid 2 steps: Found the lines of 1.png; Found the lines of 2.png.\n"
    )
    assert (
        read_pages.succeed("redo").out == "Redid 2 steps: Read the lines of 1.png; Read the lines of 2.png.\n"
    )
    assert read_pages.succeed("text").out.count("linea 1") == 2
    assert "nothing to redo" in read_pages.expect_refusal("redo")


def test_a_large_set_that_nobody_named_is_undone_only_by_agreement_and_redo_is_named(
    read_pages: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = read_pages.succeed("undo", "--dry-run").out
    assert answer.startswith("Would undo 2 steps, begun ")
    assert answer.endswith(": Read the lines of 2.png; Read the lines of 1.png.\n")
    assert len(read_pages.succeed("undo", "--dry-run", "--json").json["audit_ids"]) == 2
    monkeypatch.setattr("armarium_cli.steps.LARGE", 1)
    monkeypatch.setattr("armarium_cli.steps._NAMED", 1)
    refused = read_pages.expect_refusal("undo")
    assert refused.startswith("This undoes 2 steps, begun ")
    assert "One step alone: armarium undo NUMBER" in refused
    assert "linea" in read_pages.succeed("text").out
    assert (
        read_pages.succeed("undo", "--yes").out
        == "Undid 2 steps: Read the lines of 2.png; and 1 more. Back again: armarium redo.\n"
    )
    assert "linea" not in read_pages.succeed("text").out


def test_undo_and_redo_of_a_named_set_and_of_a_named_step(read_pages: Machine) -> None:
    rows = read_pages.succeed("history", "--action", "reading.take", "--json").json["items"]
    whole, step, number = rows[0]["set_id"], rows[0]["id"], rows[0]["seq"]
    assert read_pages.succeed("undo", str(number)).out == "Undid 1 step: Read the lines of 2.png.\n"
    assert read_pages.expect_refusal("undo", "999") == "There is no step #999; armarium history lists them."
    assert read_pages.succeed("undo", whole).out == "Undid 1 step: Read the lines of 1.png.\n"
    assert "already undone" in read_pages.expect_refusal("undo", whole)
    assert read_pages.expect_refusal("undo", step)
    assert read_pages.succeed("redo", step).out == "Redid 1 step: Read the lines of 2.png.\n"
    assert read_pages.succeed("redo", whole).out == "Redid 1 step: Read the lines of 1.png.\n"
    assert "in effect" in read_pages.expect_refusal("redo", whole)


def test_undo_of_what_is_not_there_or_was_never_done_is_refused(desk: Machine) -> None:
    desk.succeed("create", "Letters")
    assert desk.expect_refusal("undo") == "There is nothing to undo."
    assert desk.expect_refusal("redo") == "There is nothing to redo."
    for command in ("undo", "redo"):
        assert (
            desk.expect_refusal(command, "nosuch")
            == "There is no step or set nosuch; armarium history lists them."
        )


def test_history_lists_filters_and_verifies(read_pages: Machine) -> None:
    read_pages.succeed("undo")
    answer = read_pages.succeed("history").out
    assert "Created the project" in answer
    assert "undone" in answer
    rows = read_pages.succeed("history", "--json").json["items"]
    row = next(row for row in rows if row["inverse_of"] is None and row["action_name"] == "reading.take")
    assert f"Undid #{row['seq']}: {row['words']}" in answer
    assert [one["name"] for one in row["about"]] == [row["words"].removeprefix("Read the lines of ")]
    only = read_pages.succeed("history", "--action", "segment.take_lines", "--json").json
    assert only["total"] == 2
    assert read_pages.succeed("history", "--verify").out == "The log is intact.\n"
    assert read_pages.succeed("history", "--verify", "--json").json["ok"] is True
    read_pages.expect_misuse("history", "--limit", "0")


def test_history_of_one_document_by_name_path_or_id(read_pages: Machine) -> None:
    nodes = {item["name"]: item for item in read_pages.succeed("ls", "--json").json["items"]}
    page = nodes["1.png"]
    by_id = read_pages.succeed("history", "--target", page["id"], "--json").json
    everything = read_pages.succeed("history", "--limit", "1000", "--json").json["items"]
    assert [row["seq"] for row in by_id["items"]] == [
        row["seq"] for row in everything if page["id"] in row["target_ids"]
    ]
    assert 0 < by_id["total"] < len(everything)
    for named in (
        "1.png",
        f"{next(node['name'] for node in nodes.values() if node['id'] == page['parent_id'])}/1.png",
    ):
        assert read_pages.succeed("history", "--target", named, "--json").json == by_id
    assert "'nowhere.png'" in read_pages.expect_refusal("history", "--target", "nowhere.png")


def test_on_eighty_columns_ids_are_whole_and_times_are_on_one_line(
    read_pages: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("armarium_cli.tables._room", lambda: 80)
    answer = read_pages.succeed("history").out
    for row in read_pages.succeed("history", "--json").json["items"]:
        assert row["created_at"][:19].replace("T", " ") in answer
    assert max(map(len, answer.splitlines())) <= 80
    answer = read_pages.succeed("ls").out
    for row in read_pages.succeed("ls", "--json").json["items"]:
        assert row["id"] in answer


def test_any_action_runs_by_its_name(desk: Machine) -> None:
    desk.succeed("create", "Letters")
    assert "document.create" in desk.succeed("action", "list").out
    assert desk.succeed("action", "show", "document.create").json["name"] == "document.create"
    answer = desk.succeed(
        "action", "run", "document.create", "-p", '{"name": "Box", "doc_type": "folder"}'
    ).json
    assert answer["result"]["id"]
    assert desk.succeed("action", "run", "token.create", "-p", '{"name": "bot", "role": "viewer"}').json["ok"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("show", "no.such"), "There is no action 'no.such'"),
        (("run", "no.such"), "There is no action 'no.such'"),
        (("show", "document-create"), "Did you mean document.create?"),
        (("run", "document.create", "-p", "{"), "--params is not JSON"),
        (("run", "document.create", "-p", "[]"), "--params must be a JSON object."),
        (("run", "document.create"), "name: Field required"),
    ],
)
def test_an_action_that_cannot_run_is_refused(desk: Machine, words: tuple[str, ...], why: str) -> None:
    desk.succeed("create", "Letters")
    assert why in desk.expect_refusal("action", *words)


def test_history_takes_only_ids_where_no_plugin_resolves_names(
    wills: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = ids(wills)["1.png"]
    answer = wills.succeed("history", "--target", "1.png", "--json").json
    assert answer["total"] > 0
    monkeypatch.setattr("armarium_cli.tree.Tree.name_finder", lambda tree: None)
    assert wills.succeed("history", "--target", page, "--json").json == answer
    assert wills.succeed("history", "--target", "1.png", "--json").json["total"] == 0
