"""A branch goes on after a merge: what stood here before still stands against what the branch does later."""

from __future__ import annotations

from typing import Any

import pytest
from branch_pair import Pair
from test_branches_and_structure import conflicts, join, live, split, withdraw

from armarium.api import Conflict
from armarium.principals import LOCAL_OWNER
from armarium_testing.digest import differences


def whys(pair: Pair) -> set[str]:
    return {why for _, why in conflicts(pair.changes())}


@pytest.mark.parametrize("restructure", [split, join, withdraw])
@pytest.mark.parametrize("elsewhere", [True, False])
def test_a_change_of_structure_here_stands_against_corrections_after_a_merge(
    pair: Pair, restructure: Any, elsewhere: bool
) -> None:
    restructure(pair, pair.project)
    if elsewhere:
        pair.run(
            pair.branch,
            "representation.create",
            {"segment_id": pair.page.segment_ids[0], "kind": "translation", "text": "Lieber"},
        )
    else:
        pair.correct(pair.branch, "Dear Sir")
    pair.merge(on_conflict="keep_ours")
    before, shown = pair.state(), live(pair)
    pair.correct(pair.branch, "Dear Sirs")
    assert whys(pair) == {"restructured" if restructure is withdraw else "remade"}
    with pytest.raises(Conflict):
        pair.merge()
    pair.merge(on_conflict="keep_ours")
    assert live(pair) == shown
    assert set(differences(before, pair.state())) == {"branch_settled"}


def test_a_line_split_here_before_another_was_merged_is_a_conflict_when_the_branch_corrects_it(
    pair: Pair,
) -> None:
    split(pair, pair.project)
    pair.correct(pair.branch, "Elsewhere", line=1)
    pair.merge()
    pair.correct(pair.branch, "Dear Sirs")
    assert whys(pair) == {"remade"}


def test_a_split_that_a_branch_did_not_take_in_is_a_conflict_where_it_corrected_the_line(pair: Pair) -> None:
    split(pair, pair.project, ("Deer", "Sir"))
    pair.correct(pair.branch, "Dear Sir")
    pair.run(pair.branch, "branches.update", {"on_conflict": "keep_ours"})
    assert whys(pair) == {"remade"}


def test_a_reading_made_here_before_another_was_merged_is_a_rival(pair: Pair) -> None:
    pair.correct(pair.project, "Ours")
    pair.correct(pair.branch, "Elsewhere", line=1)
    pair.merge()
    pair.correct(pair.branch, "Dear Sirs")
    assert whys(pair) == {"rival"}
    (row,) = pair.changes()["items"][0]["rows"]
    assert [maker["action_name"] for maker in row["ours_by"]] == ["representation.create"]


def test_a_reading_left_out_comes_with_the_one_that_corrects_it_and_is_decided_again(pair: Pair) -> None:
    pair.correct(pair.project, "Ours")
    pair.correct(pair.branch, "Theirs")
    pair.merge(on_conflict="keep_ours")
    pair.correct(pair.branch, "Theirs at last")
    assert whys(pair) == {"rival"}
    before, shown = pair.state(), live(pair)
    kept = pair.merge(on_conflict="keep_ours")
    assert live(pair) == shown
    pair.engine.undo(pair.project, [kept["audit_id"]], LOCAL_OWNER)
    assert differences(before, pair.state()) == []
    pair.merge(on_conflict="take_theirs")
    assert "Theirs at last" in pair.counting(pair.project)
    # What was decided is not asked again.
    pair.correct(pair.branch, "Theirs indeed")
    assert whys(pair) == set()
    pair.merge()
    assert "Theirs indeed" in pair.counting(pair.project)


def test_an_update_leaves_a_branch_what_was_merged_taken_back_and_then_left_out(pair: Pair) -> None:
    pair.correct(pair.project, "Ours")
    theirs = pair.correct(pair.branch, "Theirs")
    merged = pair.merge(on_conflict="take_theirs")
    pair.engine.undo(pair.project, [merged["audit_id"]], LOCAL_OWNER)
    pair.merge(on_conflict="keep_ours")
    pair.run(pair.branch, "branches.update", {"on_conflict": "keep_ours"})
    assert "Theirs" in pair.counting(pair.branch)
    assert [row["id"] for group in pair.changes()["items"] for row in group["rows"]] in ([], [theirs])


def test_what_a_branch_took_back_after_it_was_merged_does_not_come_again_with_what_hangs_on_it(
    pair: Pair,
) -> None:
    folder = pair.run(pair.branch, "document.create", {"name": "Found", "doc_type": "folder"})
    pair.merge()
    pair.engine.undo(pair.branch, [folder["audit_id"]], LOCAL_OWNER)
    inside = {"name": "Inside", "doc_type": "folder", "parent_id": folder["id"]}
    pair.run(pair.project, "document.create", inside)
    items = pair.changes(incoming=True)["items"]
    assert {row["why"] for group in items for row in group["rows"] if row["status"] == "conflict"} == {"gone"}


def test_a_correction_of_what_was_turned_down_brings_it_along(pair: Pair) -> None:
    pair.correct(pair.branch, "Dear Sir")
    (group,) = pair.changes()["items"]
    given = {"branch_id": pair.id, "groups": [group["id"]], "reason": "It says deer"}
    pair.run(pair.project, "branches.reject", given)
    pair.correct(pair.branch, "Dear Sirs")
    pair.merge()
    assert "Dear Sirs" in pair.counting(pair.project)


def test_what_the_branch_writes_on_the_parts_of_a_split_that_was_left_out_cannot_be_taken(pair: Pair) -> None:
    parts = split(pair, pair.branch, ("Deer", "Sir"))
    pair.correct(pair.project, "Ours")
    pair.merge(on_conflict="keep_ours")
    shown = live(pair)
    pair.run(pair.branch, "representation.create", {"segment_id": parts[-1], "text": "Madam"})
    for groups in (None, *([group["id"]] for group in pair.changes()["items"])):
        with pytest.raises(Conflict):
            pair.merge(groups=groups, on_conflict="take_theirs")
    pair.merge(on_conflict="keep_ours")
    assert live(pair) == shown


def test_the_text_of_a_part_is_not_taken_without_the_split(pair: Pair) -> None:
    split(pair, pair.branch)
    pair.correct(pair.branch, "Deer")
    groups = {group["kind"]: group["id"] for group in pair.changes()["items"]}
    with pytest.raises(Conflict) as refused:
        pair.merge(groups=[groups["readings"]])
    assert (refused.value.code, refused.value.fields["groups"]) == ("needs_groups", [groups["shapes"]])
    pair.merge(groups=[groups["shapes"]])
    pair.merge(groups=[groups["readings"]])
    assert pair.changes()["total"] == 0
