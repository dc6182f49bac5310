"""The command that copies or moves documents from another project, through a serving engine."""

from __future__ import annotations

import pytest

from armarium_testing.command_line import Machine, Pictures


@pytest.fixture
def two_projects(desk: Machine, pictures: Pictures) -> Machine:
    """A project of two pages, and an empty one beside it."""
    pictures(["1.png", "2.png"])
    desk.succeed("create", "Wills")
    desk.succeed("import", "pages", "--library", "Wills")
    desk.succeed("create", "Letters")
    return desk


def ids(machine: Machine, library: str) -> dict[str, str]:
    answer = machine.succeed("ls", "--library", library, "--json").json["items"]
    return {node["name"]: node["id"] for node in answer}


def test_a_plan_a_copy_and_a_move(two_projects: Machine) -> None:
    page, other = ids(two_projects, "Wills")["1.png"], ids(two_projects, "Wills")["2.png"]
    here = ("--library", "Letters")
    answer = two_projects.succeed("transfer", page, "--from", "Wills", "--dry-run", *here).out
    assert answer.startswith("Would be copied: 1 document, 1 rendition, 1 file.")
    assert list(ids(two_projects, "Letters")) == ["Sources"]
    box = two_projects.succeed(
        "action", "run", "document.create", "-p", '{"name": "Box"}', "--json", *here
    ).json["result"]["id"]
    answer = two_projects.succeed("transfer", page, "--from", "Wills.library", "--into", box, *here).out
    assert answer.startswith("Copied 1 document, 1 rendition, 1 file.\nTake it back with: armarium undo ")
    done = two_projects.succeed("transfer", page, other, "--from", "Wills", "--move", "--json", *here).json
    assert (done["mode"], done["written"]["documents"]) == ("move", 2)
    assert sorted(ids(two_projects, "Letters")) == ["1.png", "2.png", "Box", "Sources"]
    assert list(ids(two_projects, "Wills")) == ["Sources", "pages"]
    assert "Moved to the project" in two_projects.succeed("trash", "--library", "Wills").out.replace(
        "\n", " "
    )
    two_projects.succeed("undo", done["audit_id"], *here)
    assert sorted(ids(two_projects, "Wills")) == ["1.png", "2.png", "Sources", "pages"]


def test_what_a_move_cuts_and_leaves_is_reported(two_projects: Machine) -> None:
    page = ids(two_projects, "Wills")["1.png"]
    for number in range(22):
        params = f'{{"target_id": "{page}", "name": "alias {number}"}}'
        two_projects.succeed("action", "run", "bookmark.create", "-p", params, "--library", "Wills")
    two_projects.succeed(
        "action",
        "run",
        "classification.create",
        "-p",
        '{"key": "will", "label": "Will"}',
        "--library",
        "Wills",
    )
    kind = f'{{"document_id": "{page}", "prototype_key": "will"}}'
    two_projects.succeed("action", "run", "document.update", "-p", kind, "--library", "Wills")
    plan = two_projects.succeed(
        "transfer", page, "--from", "Wills", "--move", "--dry-run", "--library", "Letters"
    ).out
    assert "Would be created here: will." in plan
    assert "cut in the other project: What “alias 0” points at is moved" in plan
    assert "… and 2 more cut in the other project." in plan


def test_transfers_that_cannot_be_are_refused(two_projects: Machine) -> None:
    page = ids(two_projects, "Wills")["1.png"]
    here = ("--library", "Letters")
    assert two_projects.expect_refusal("transfer", page, "--from", "./Nowhere.library", *here).startswith(
        "There is no project at"
    )
    assert "No project is called" in two_projects.expect_refusal("transfer", page, "--from", "Nowhere", *here)
    assert "both the source and the target" in two_projects.expect_refusal(
        "transfer", page, "--from", "Letters", *here
    )
    assert "There is no document" in two_projects.expect_refusal(
        "transfer", "f" * 32, "--from", "Wills", *here
    )
    assert "No document here has the id, name or path 'a b'" in two_projects.expect_refusal(
        "transfer", "a b", "--from", "Wills", *here
    )


def test_a_document_of_the_other_project_is_named_by_its_name_too(two_projects: Machine) -> None:
    plan = two_projects.succeed(
        "transfer", "1.png", "--from", "Wills", "--dry-run", "--library", "Letters"
    ).out
    assert plan.startswith("Would be copied: 1 document")
