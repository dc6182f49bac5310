"""A branch goes on after a merge: what stood here before still stands against what the branch does later."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from agent_fixtures import Place
from branch_pair import Pair
from test_branches_and_structure import conflicts, join, live, split, trash, version_of, withdraw

from armarium.api import NOT_THERE, Conflict, raw_of
from armarium.principals import LOCAL_OWNER
from armarium_testing.digest import differences
from armarium_testing.sample_pages import sample_page
from armarium_workflows.api import find_run


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


def widen(pair: Pair) -> None:
    """Draw the outline of the line anew in the project."""
    line = pair.page.segment_ids[0]
    given = {"segment_id": line, "expected_version": version_of(pair.project, line)}
    pair.run(pair.project, "segment.update", {**given, "anchor": {"rect": [0.1, 0.1, 0.7, 0.06]}})


@pytest.mark.parametrize("restructure", [split, join])
def test_an_update_does_not_put_a_line_beside_the_parts_that_the_branch_made_of_it(
    pair: Pair, restructure: Any
) -> None:
    restructure(pair, pair.branch)
    widen(pair)
    pair.merge(on_conflict="keep_ours")
    shown = pair.counting(pair.branch)
    assert {why for _, why in conflicts(pair.changes(incoming=True))} == {"remade"}
    pair.run(pair.branch, "branches.update", {"on_conflict": "keep_ours"})
    assert pair.counting(pair.branch) == shown


@pytest.mark.parametrize("is_tried_first", [False, True])
def test_an_update_leaves_withdrawn_what_the_project_kept_and_did_not_touch(
    pair: Pair, is_tried_first: bool
) -> None:
    withdraw(pair, pair.branch)
    pair.correct(pair.project, "Ours")
    if is_tried_first:
        tried = pair.merge(on_conflict="take_theirs")
        pair.engine.undo(pair.project, [tried["audit_id"]], LOCAL_OWNER)
    pair.merge(on_conflict="keep_ours")
    pair.run(pair.branch, "branches.update", {"on_conflict": "keep_ours"})
    with pair.branch.db.read() as conn:
        lines = raw_of(conn).execute("SELECT id FROM segment WHERE deleted_at IS NULL").fetchall()
    assert pair.page.segment_ids[0] not in {row[0] for row in lines}


def test_what_a_branch_removed_after_it_was_brought_there_is_removed_whatever_else_was_brought_since(
    pair: Pair,
) -> None:
    note = {"kind": "note", "anchor_kind": "bbox", "anchor": {"rect": [0.1, 0.1, 0.2, 0.1]}}
    made = pair.run(pair.project, "annotation.create", {"document_id": pair.page.document_id, **note})
    pair.run(pair.branch, "branches.update", {})
    pair.run(pair.branch, "annotation.delete", {"annotation_id": made["id"]})
    pair.run(pair.project, "annotation.create", {"document_id": pair.page.document_id, **note})
    pair.run(pair.branch, "branches.update", {})
    pair.merge()
    with pair.project.db.read() as conn:
        notes = raw_of(conn).execute("SELECT id FROM annotation").fetchall()
    assert len(notes) == 1
    assert notes != [(made["id"],)]


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


def test_a_run_that_goes_on_in_the_project_does_not_go_on_in_a_branch(place: Place) -> None:
    """It begins without jobs: a run that waited there for ever could be neither cancelled nor removed."""
    ex = place.example
    page = sample_page(ex)
    started = {"workflow_id": "system-put-in-order", "scope_ids": [page.document_id]}
    thread_id = ex.run("workflow.execute", started)["thread_id"]
    branch = place.engine.libraries.open_only(
        Path(ex.run("branches.create", {"name": "Later"})["library_path"])
    )
    states = []
    for library in (place.library, branch):
        with library.db.read() as conn:
            run = find_run(conn, thread_id)
            assert run is not None
            states.append((run["status"], run["reason"]))
    assert states == [("waiting", None), NOT_THERE]


@pytest.mark.parametrize("tried_before", [True, False])
def test_an_update_takes_no_column_back_that_the_project_left_alone(pair: Pair, tried_before: bool) -> None:
    page = pair.page.document_id
    pair.run(pair.branch, "document.update", {"document_id": page, "page_label": "3r"})
    if tried_before:
        tried = pair.merge()
        pair.engine.undo(pair.project, [tried["audit_id"]], LOCAL_OWNER)
    trash(pair, pair.project)
    pair.merge(on_conflict="keep_ours")
    (group,) = pair.changes(incoming=True)["items"]
    assert {value["column"] for row in group["rows"] for value in row["values"]} >= {"deleted_at"}
    pair.run(pair.branch, "branches.update", {"on_conflict": "take_theirs"})
    with pair.branch.db.read() as conn:
        label, deleted_at = (
            raw_of(conn)
            .execute("SELECT page_label, deleted_at FROM document WHERE id = ?", (page,))
            .fetchone()
        )
    assert label == "3r"
    assert deleted_at is not None
    assert pair.changes()["total"] == pair.changes(incoming=True)["total"] == 0


def test_what_the_project_put_back_after_a_merge_is_offered_to_the_branch_also_after_another(
    pair: Pair,
) -> None:
    page = pair.page.document_id
    with pair.project.db.read() as conn:
        (name,) = raw_of(conn).execute("SELECT name FROM document WHERE id = ?", (page,)).fetchone()
    pair.run(pair.branch, "document.update", {"document_id": page, "name": "Theirs"})
    pair.merge()
    pair.run(pair.project, "document.update", {"document_id": page, "name": name})
    pair.run(pair.branch, "document.update", {"document_id": page, "page_label": "3r"})
    pair.merge()
    (group,) = pair.changes(incoming=True)["items"]
    assert [(value["column"], value["base"], value["theirs"]) for value in group["rows"][0]["values"]] == [
        ("name", "Theirs", name)
    ]


def test_a_reading_that_was_left_out_and_taken_back_is_no_change(pair: Pair) -> None:
    pair.correct(pair.project, "Ours")
    params = {"segment_id": pair.page.segment_ids[0], "text": "Theirs"}
    made = pair.run(pair.branch, "representation.create", params)
    pair.merge(on_conflict="keep_ours")
    pair.engine.undo(pair.branch, [made["audit_id"]], LOCAL_OWNER)
    assert pair.changes()["total"] == 0


def test_a_classification_that_a_branch_took_off_its_last_page_and_deleted_goes_in_the_project(
    pair: Pair,
) -> None:
    page = {"document_id": pair.page.document_id}
    pair.run(pair.project, "classification.create", {"key": "deed", "label": "Deed"})
    pair.run(pair.project, "document.update", {**page, "prototype_key": "deed"})
    pair.run(pair.branch, "branches.update", {})
    pair.run(pair.branch, "document.update", {**page, "prototype_key": None})
    pair.run(pair.branch, "classification.delete", {"key": "deed"})
    assert pair.merge()["left_out"] == 0
    with pair.project.db.read() as conn:
        assert raw_of(conn).execute("SELECT 1 FROM classification WHERE key = 'deed'").fetchone() is None
