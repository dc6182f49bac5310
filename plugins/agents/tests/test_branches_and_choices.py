"""Which reading of a line counts is decided by correcting it or by choosing one: both sides deciding differently is a conflict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from branch_pair import MACHINE, OTHER, Pair

from armarium.actions import Example
from armarium.api import Conflict, Library, raw_of
from armarium.principals import LOCAL_OWNER
from armarium_testing.digest import differences
from armarium_testing.sample_pages import sample_reading


@pytest.fixture
def second(pair: Pair, tmp_path: Path) -> str:
    """Another reading of the first line, in both copies; the branch is made anew. It does not count: the first is a person's."""
    pair.correct(pair.project, "Dear Sir")
    reading = sample_reading(Example(pair.engine, pair.project, MACHINE, tmp_path), pair.page, "Deer Sire")
    result = pair.run(pair.project, "branches.create", {"name": "Choices"})
    pair.id, pair.path = result["id"], Path(result["library_path"])
    return reading


def choose(pair: Pair, library: Library, reading: str | None) -> str:
    given = {"segment_id": pair.page.segment_ids[0], "kind": "transcription", "representation_id": reading}
    return str(pair.run(library, "reading.choose", given)["audit_id"])


def standing(library: Library) -> list[str]:
    with library.db.read() as conn:
        rows = raw_of(conn).execute(
            "SELECT representation_id FROM reading_choice WHERE superseded_at IS NULL"
        )
        return [row[0] for row in rows]


def first_line(pair: Pair, library: Library | None = None) -> str:
    return pair.counting(library or pair.project).split("\n")[0]


def rows_in_conflict(pair: Pair) -> list[dict[str, Any]]:
    groups = pair.changes()["items"]
    return [row for group in groups for row in group["rows"] if row["status"] == "conflict"]


def test_a_correction_in_the_branch_meets_a_choice_of_another_reading(pair: Pair, second: str) -> None:
    choose(pair, pair.project, second)
    corrected = pair.correct(pair.branch, "Dear Sirs", who=OTHER)
    (row,) = rows_in_conflict(pair)
    assert (row["id"], row["why"]) == (corrected, "rival")
    assert [maker["action_name"] for maker in row["ours_by"]] == ["reading.choose"]
    ours = {value["column"]: value["ours"] for value in row["values"]}
    assert (ours["id"], ours["content"]) == (second, "Deer Sire")
    with pytest.raises(Conflict):
        pair.merge()
    before = pair.state()
    for decided, text, readings in (
        ("keep_ours", "Deer Sire", 0), ("keep_both", "Deer Sire", 1), ("take_theirs", "Dear Sirs", 1)
    ):  # fmt: skip
        merged = pair.merge(on_conflict=decided)
        assert (first_line(pair), merged["inserted"]) == (text, readings)
        assert len(standing(pair.project)) == 1
        pair.engine.undo(pair.project, [merged["audit_id"]], LOCAL_OWNER)
        assert differences(before, pair.state()) == []


def test_a_choice_in_the_branch_meets_a_correction(pair: Pair, second: str) -> None:
    choose(pair, pair.branch, second)
    corrected = pair.correct(pair.project, "Dear Sirs")
    (row,) = rows_in_conflict(pair)
    assert (row["label"], row["why"]) == ("choice of a reading", "rival")
    assert {"column": "representation_id", "base": None, "theirs": second, "ours": corrected, "conflict": True} in (
        row["values"]
    )  # fmt: skip
    before = pair.state()
    for decided, text in (
        ("keep_ours", "Dear Sirs"),
        ("keep_both", "Dear Sirs"),
        ("take_theirs", "Deer Sire"),
    ):
        merged = pair.merge(on_conflict=decided)
        assert first_line(pair) == text
        pair.engine.undo(pair.project, [merged["audit_id"]], LOCAL_OWNER)
        assert differences(before, pair.state()) == []


@pytest.mark.parametrize("ours", [choose, Pair.correct])
@pytest.mark.parametrize("theirs", [choose, Pair.correct])
def test_what_leads_to_the_same_text_is_no_conflict(pair: Pair, second: str, ours: Any, theirs: Any) -> None:
    for decide, library in ((ours, pair.project), (theirs, pair.branch)):
        decide(pair, library, second if decide is choose else "Deer Sire")
    assert rows_in_conflict(pair) == []
    pair.merge()
    assert first_line(pair) == "Deer Sire"
    assert len(standing(pair.project)) <= 1


def test_of_two_choices_one_stands(pair: Pair, second: str) -> None:
    choose(pair, pair.project, pair.first)
    choose(pair, pair.branch, second)
    assert [row["why"] for row in rows_in_conflict(pair)] == ["rival"]
    for decided, reading in (("keep_ours", pair.first), ("keep_both", pair.first), ("take_theirs", second)):
        merged = pair.merge(on_conflict=decided)
        assert standing(pair.project) == [reading]
        pair.engine.undo(pair.project, [merged["audit_id"]], LOCAL_OWNER)


def test_keeping_ours_keeps_the_choice_that_the_branch_ended(pair: Pair, second: str) -> None:
    choose(pair, pair.project, second)
    pair.run(pair.branch, "branches.update", {})
    pair.correct(pair.branch, "Dear Sirs")
    pair.correct(pair.project, "Deer Sires", who=MACHINE)
    assert first_line(pair) == "Deer Sire"
    pair.merge(on_conflict="keep_ours")
    assert (first_line(pair), standing(pair.project)) == ("Deer Sire", [second])


def test_a_choice_that_was_withdrawn_stands_against_nothing(pair: Pair, second: str) -> None:
    choose(pair, pair.project, second)
    choose(pair, pair.project, None)
    pair.correct(pair.branch, "Dear Sirs")
    assert rows_in_conflict(pair) == []
    pair.merge()
    assert first_line(pair) == "Dear Sirs"


def test_taking_theirs_lets_count_what_counts_in_the_branch(pair: Pair, second: str) -> None:
    """Not what was added last: an agent's reading stands beside a person's there too."""
    pair.correct(pair.branch, "Dear Sirs")
    pair.correct(pair.branch, "Bare Sirs", who=MACHINE)
    pair.correct(pair.project, "Dear Madam")
    assert first_line(pair, pair.branch) == "Dear Sirs"
    pair.merge(on_conflict="take_theirs")
    assert first_line(pair) == "Dear Sirs"


def test_what_was_decided_between_a_choice_and_a_correction_is_not_asked_again(
    pair: Pair, second: str
) -> None:
    choose(pair, pair.project, second)
    pair.correct(pair.branch, "Dear Sirs")
    pair.merge(on_conflict="take_theirs")
    pair.correct(pair.branch, "Dear Sirs and Madams")
    assert rows_in_conflict(pair) == []
    pair.merge()
    assert first_line(pair) == "Dear Sirs and Madams"
    choose(pair, pair.project, second)
    pair.correct(pair.branch, "My dear Sirs")
    assert [row["why"] for row in rows_in_conflict(pair)] == ["rival"]


@pytest.mark.parametrize("decide", [choose, Pair.correct])
@pytest.mark.parametrize("retracted_here", [True, False])
def test_a_reading_that_one_side_retracted_and_the_other_chose_or_corrected_is_a_conflict(
    pair: Pair, second: str, decide: Any, retracted_here: bool
) -> None:
    here, there = (pair.project, pair.branch) if retracted_here else (pair.branch, pair.project)
    if decide is choose:
        choose(pair, there, second)
    else:
        choose(pair, pair.project, second)
        pair.run(pair.branch, "branches.update", {})
        pair.correct(there, "Dear Sirs")
    pair.run(here, "reading.retract", {"representation_id": second})
    assert {row["why"] for row in rows_in_conflict(pair)} == {"restructured"}
    shown = first_line(pair)
    with pytest.raises(Conflict):
        pair.merge()
    pair.merge(on_conflict="keep_ours")
    assert first_line(pair) == shown


def test_two_sides_that_choose_different_passes_to_work_on_are_a_conflict(pair: Pair) -> None:
    made = {"document_id": pair.page.document_id, "name": "By hand"}
    passes = [pair.run(pair.project, "segment.pass_create", made)["id"] for _ in range(2)]
    result = pair.run(pair.project, "branches.create", {"name": "Passes"})
    pair.id, pair.path = result["id"], Path(result["library_path"])
    for library, chosen in ((pair.project, passes[0]), (pair.branch, passes[1])):
        pair.run(library, "segment.pass_choose", {"pass_id": chosen, "working": True})
    (row,) = rows_in_conflict(pair)
    assert (row["label"], row["why"]) == ("choice of the working pass", "both_changed")
    for decided, chosen in (("keep_ours", passes[0]), ("take_theirs", passes[1])):
        merged = pair.merge(on_conflict=decided)
        with pair.project.db.read() as conn:
            rows = raw_of(conn).execute("SELECT pass_id FROM segment_pass_choice").fetchall()
        assert rows == [(chosen,)]
        pair.engine.undo(pair.project, [merged["audit_id"]], LOCAL_OWNER)
