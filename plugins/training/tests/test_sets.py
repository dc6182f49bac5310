"""What a training set holds and leaves out, counted by hand here."""

from __future__ import annotations

from typing import Any

import pytest
from training_desk import Desk

NOWHERE = "f" * 32


def test_lines_are_counted_by_who_made_what_counts(desk: Desk) -> None:
    page, lines = desk.page(["one", "two", "", "null", "five", "six"])
    desk.correct(lines[1], "deux")
    desk.correct(lines[5], "NULL")
    desk.verdict(lines[4], "confirm")
    desk.verdict(lines[4], "reject")
    desk.verdict(lines[0], "reject")
    desk.verdict(lines[0], "confirm")
    found = desk.set([page])
    assert (found["pages"], found["lines"]) == (1, 2)
    # One line was corrected, one confirmed by a person; nobody let a model check them.
    assert (found["lines_read_by_a_model"], found["lines_checked_by_a_person"]) == (0, 2)
    assert found["left_out"] == {"empty_reading": 1, "null_reading": 2, "rejected_by_check": 1}
    assert found["lines_left_out"] == 4
    assert {(line["segment_id"], line["flag"]) for line in found["left_out_lines"]} == {
        (lines[2], "empty_reading"),
        (lines[3], "null_reading"),
        (lines[4], "rejected_by_check"),
        (lines[5], "null_reading"),
    }
    assert (found["lines_with_a_verdict"], found["check_ran"]) == (2, False)
    assert found["flags_checked"] == ["empty_reading", "null_reading", "rejected_by_check"]


def test_held_out_pages_are_known_by_their_pictures_too(desk: Desk) -> None:
    page, _ = desk.page(["one"])
    held, _ = desk.page(["two"], shade=90)
    twin, _ = desk.page(["three"], shade=90)
    found = desk.set([page, held, twin], held_out_ids=[held])
    assert (found["pages"], found["lines"]) == (1, 1)
    assert [entry["document_id"] for entry in found["missing"]] == [twin]
    assert "same picture" in found["missing"][0]["why"]
    ((checksum,),) = desk.rows("SELECT checksum FROM rendition WHERE document_id = ? AND is_primary", held)
    assert found["held_out"] == [{"document_id": held, "checksum": checksum}]


def test_pages_without_the_teacher_or_a_right_to_train_are_missing_in_words(desk: Desk) -> None:
    other, _ = desk.page(["one"], by="somebody else")
    barred, _ = desk.page(["two"])
    local, _ = desk.page(["three"])
    for page, use in ((barred, "none"), (local, "local")):
        desk.do("rights.set", {"target_kind": "document", "target_id": page, "model_use": use})
    found = desk.set([other, barred, local])
    why = {entry["document_id"]: entry["why"] for entry in found["missing"]}
    assert set(why) == {other, barred}
    assert "teacher" in why[other]
    assert "no model" in why[barred]
    assert found["lines"] == 1


def test_the_newest_pass_of_the_teacher_is_taught(desk: Desk) -> None:
    page, _ = desk.page(["old"])
    pass_id = str(desk.do("segment.pass_create", {"document_id": page, "name": "Again"})["id"])
    lines = desk.lines(page, pass_id, 2)
    desk.read(page, pass_id, dict(zip(lines, ("new", "newer"), strict=True)), "teacher")
    assert desk.set([page])["lines"] == 2


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ({"teacher": "t", "scope_ids": [NOWHERE]}, 404, None),
        ({"teacher": "t"}, 422, None),
        ({"teacher": "", "scope_ids": [NOWHERE]}, 422, None),
    ],
)
def test_what_is_asked_wrongly(desk: Desk, query: dict[str, Any], status: int, code: str | None) -> None:
    assert desk.client.get("/api/training/set", params=query).status_code == status


def test_a_scope_without_pages(desk: Desk) -> None:
    folder = desk.do("document.create", {"name": "Empty", "doc_type": "folder"})["id"]
    answer = desk.client.get("/api/training/set", params={"teacher": "t", "scope_ids": [folder]})
    assert (answer.status_code, answer.json()["code"]) == (422, "no_pages")
