"""`armarium set`: attributes and fields of a document written from the command line."""

from __future__ import annotations

import json
from typing import Any

import pytest

from armarium_testing.command_line import Machine, Pictures


@pytest.fixture
def page(desk: Machine, pictures: Pictures) -> str:
    pictures(["1.png"])
    desk.succeed("create", "Wills")
    desk.succeed("import", "pages")
    ids_by_name = {node["name"]: node["id"] for node in desk.succeed("ls", "--json").json["items"]}
    return str(ids_by_name["1.png"])


def show_page(machine: Machine, page: str) -> dict[str, Any]:
    answer: dict[str, Any] = machine.succeed("show", page, "--json").json["document"]
    return answer


def test_attributes_are_written_kept_and_cleared(desk: Machine, page: str) -> None:
    answer = desk.succeed("set", page, "place=Toledo", "pages:=12", 'tags:=["a", "b"]', "odd=a=b").out
    assert "Wrote 4 values of 1.png. Take it back with: armarium undo" in answer
    assert show_page(desk, page)["attributes"] == {
        "place": "Toledo",
        "pages": 12,
        "tags": ["a", "b"],
        "odd": "a=b",
    }
    new_answer = desk.succeed("set", page, "place=", "pages=12", "--json").json
    assert new_answer["changed"] == ["place", "pages"]
    assert show_page(desk, page)["attributes"] == {"pages": "12", "tags": ["a", "b"], "odd": "a=b"}
    desk.succeed("undo", new_answer["audit_id"])
    assert show_page(desk, page)["attributes"]["place"] == "Toledo"
    same_output = desk.succeed("set", page, "place=Toledo")
    assert "already has these values; nothing was changed" in same_output.out


def test_fields_of_the_document_are_named_with_a_prefix(desk: Machine, page: str) -> None:
    desk.succeed("set", page, "document.date_iso=1750-03", "document.is_starred=yes", "document.name=f. 1r")
    found_page = show_page(desk, page)
    assert (found_page["date_iso"], found_page["is_starred"], found_page["name"]) == (
        "1750-03",
        True,
        "f. 1r",
    )
    desk.succeed("set", page, "document.date_iso=", "document.is_starred=no")
    found_page = show_page(desk, page)
    assert (found_page["date_iso"], found_page["is_starred"]) == (None, False)


def test_what_the_kind_declares_is_written_as_declared(desk: Machine, page: str) -> None:
    kind = {
        "key": "will",
        "label": "Will",
        "declarations": [
            {"key": "leaves", "label": "Leaves", "type": "number"},
            {"key": "sealed", "label": "Sealed", "type": "checkbox"},
        ],
    }
    desk.succeed("action", "run", "classification.create", "-p", json.dumps(kind))
    desk.succeed("set", page, "document.prototype_key=will")
    desk.succeed("set", page, "leaves=3", "sealed=true")
    assert show_page(desk, page)["attributes"] == {"leaves": 3, "sealed": True}
    assert "leaves is a number, and 'many' is not one" in desk.expect_refusal("set", page, "leaves=many")
    assert "write sealed=true or sealed=false" in desk.expect_refusal("set", page, "sealed=perhaps")


def test_what_is_no_value_is_refused_and_changes_nothing(desk: Machine, page: str) -> None:
    for words, said in (
        ("place", "is not of the form KEY=VALUE"),
        ("=Toledo", "is not of the form KEY=VALUE"),
        ("n:=twelve", "is not JSON"),
        ("document.created_at=1750", "There is no field document.created_at to set"),
        ("document.name=", "needs a name"),
    ):
        assert said in desk.expect_refusal("set", page, "kept=no", words)
    assert show_page(desk, page)["attributes"] == {}
    assert "There is no document" in desk.expect_refusal("set", "f" * 32, "a=b")
