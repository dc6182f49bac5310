"""Every action as a command: what its help says, what it sends, what it refuses."""

from __future__ import annotations

import pytest

from armarium_testing.command_line import Machine


@pytest.fixture(autouse=True)
def project(desk: Machine) -> None:
    desk.succeed("create", "Wills")


def test_the_help_of_an_action_names_its_parameters(desk: Machine) -> None:
    answer = desk.succeed("action", "document.create", "--help").out
    assert "Make a folder, group, note or page" in answer
    assert "--name" in answer
    assert "One of: document, note" in " ".join(answer.split())


def test_an_action_runs_with_its_parameters_as_options(desk: Machine) -> None:
    box = desk.succeed("action", "document.create", "--name", "Box 3", "--is-starred").json
    assert box["result"]["name"] == "Box 3"
    assert box["result"]["is_starred"] is True
    letter = desk.succeed(
        "action",
        "document.create",
        "--name",
        "Letter",
        "--parent-id",
        box["result"]["id"],
        "--attributes",
        '{"n": 1}',
    ).json["result"]
    assert (letter["parent_id"], letter["attributes"]) == (box["result"]["id"], {"n": 1})
    answer = desk.succeed(
        "action", "document.delete", "--ids", letter["id"], "--ids", box["result"]["id"]
    ).json
    assert answer["audit_id"]


def test_yes_and_no_are_two_options(desk: Machine) -> None:
    box = desk.succeed("action", "document.create", "--name", "Box").json["result"]["id"]
    assert (
        desk.succeed("action", "document.lock", "--document-id", box, "--locked").json["result"]["is_locked"]
        is True
    )
    freed = desk.succeed("action", "document.lock", "--document-id", box, "--no-locked").json
    assert freed["result"]["is_locked"] is False


def test_what_an_action_does_not_take_is_refused(desk: Machine) -> None:
    assert "no action 'nothing.here'" in desk.expect_refusal("action", "nothing.here")
    assert "--colour" in desk.expect_misuse("action", "document.create", "--name", "x", "--colour", "red")
    assert "--name" in desk.expect_misuse("action", "document.create")
    assert "--attributes is not JSON" in desk.expect_refusal(
        "action", "document.create", "--name", "x", "--attributes", "{"
    )


def test_a_misspelt_action_is_answered_with_the_one_that_is_nearest(desk: Machine) -> None:
    assert "Did you mean document.update?" in desk.expect_refusal("action", "document.up-date")


def test_the_names_of_actions_are_listed_without_their_schemas_and_each_is_found_by_its_name(
    desk: Machine,
) -> None:
    from armarium_cli.program import engine_session

    with engine_session() as session:
        short, whole = session.get("/api/actions/names"), session.get("/api/actions/registry")
        (item,) = session.get("/api/actions/registry", name="document.create")["items"]
        assert len(session.raw("GET", "/api/actions/names")) * 5 < len(
            session.raw("GET", "/api/actions/registry")
        )
    keys = ("name", "summary", "plugin", "role", "scope")
    assert short["items"] == [{key: item[key] for key in keys} for item in whole["items"]]
    assert item in whole["items"]
