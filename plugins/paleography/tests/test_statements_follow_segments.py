"""Statements follow their segments: merged, split, corrected, moved to another project, emptied from the
Trash.
"""

from __future__ import annotations

from typing import Any

import pytest
from paleography_project import MACHINE, PaleographyProject, store_vectors

from armarium.principals import LOCAL_OWNER
from armarium_paleography.records.ground import metadata


def facts_of(project: PaleographyProject, line: str) -> list[tuple[str, str]]:
    """Return (kind, the characters in its own reading) of each fact."""
    found = []
    for fact in project.get(f"/editorial/segment/{line}")["facts"]:
        ((text,),) = project.rows(
            "SELECT content FROM content_representation WHERE id = ?", fact["representation_id"]
        )
        found.append((fact["kind"], text[fact["char_start"] : fact["char_end"]]))
    return found


def mark(project: PaleographyProject, line: str, kind: str, start: int, end: int) -> dict[str, Any]:
    return project.post(
        "/editorial", {"segment_id": line, "kind": kind, "char_start": start, "char_end": end}
    )


def test_a_correction_moves_spans_and_says_which_it_could_not(project: PaleographyProject) -> None:
    line = project.page(["erat uerbum erat"]).lines[0]
    word = mark(project, line, "unclear", 5, 11)
    gone = mark(project, line, "deleted", 0, 4)
    hole = mark(project, line, "lost", 16, 16)
    answer = project.post(f"/segments/{line}/correct", {"text": "fuit et uerbum erat"})
    spans = {
        fact["id"]: (fact["char_start"], fact["char_end"])
        for fact in project.get(f"/editorial/segment/{line}")["facts"]
    }
    assert spans[word["id"]] == (8, 14)
    assert spans[hole["id"]] == (19, 19)
    # "erat" occurs once in the new reading, though twice in the old one.
    assert spans[gone["id"]] == (15, 19)
    lost = project.post(f"/segments/{line}/correct", {"text": "nihil"})
    assert {entry["id"] for entry in lost["unplaced"]} == {word["id"], gone["id"]}
    facts_by_id = {fact["id"]: fact for fact in project.get(f"/editorial/segment/{line}")["facts"]}
    assert facts_by_id[word["id"]]["representation_id"] == answer["id"]
    assert len(facts_by_id) == 3
    project.undo(lost["audit_id"])
    project.undo(answer["audit_id"])
    assert facts_of(project, line) == [("deleted", "erat"), ("unclear", "uerbum"), ("lost", "")]


def test_a_machines_correction_moves_nothing(project: PaleographyProject) -> None:
    line = project.page(["uerbum"]).lines[0]
    made = mark(project, line, "unclear", 0, 6)
    project.do("representation.create", {"segment_id": line, "text": "uerbum"}, MACHINE)
    assert (
        project.get(f"/editorial/segment/{line}")["facts"][0]["representation_id"]
        == made["representation_id"]
    )


def test_after_a_merge_all_statements_are_on_the_kept_line(project: PaleographyProject) -> None:
    page = project.page(["In principio", "erat uerbum"])
    one, two = page.lines
    hand, b = project.hand("A"), project.hand("B")
    campaigns = [project.post("/campaigns", {"document_id": page.id, "name": name})["id"] for name in "AB"]
    sign = project.post("/signs", {"name": "et", "picture_segment_id": two})["id"]
    for line in (one, two):
        project.post("/hands/attributions", {"hand_id": hand, "segment_id": line})
        project.post(f"/signs/{sign}/instances", {"segment_id": line})
        project.send("PUT", f"/letterforms/segment/{line}", {"character": "e" if line == one else "t"})
    project.post("/hands/attributions", {"hand_id": b, "segment_id": two})
    for line, campaign in zip((one, two), campaigns, strict=True):
        project.send("PUT", f"/campaigns/segment/{line}", {"campaign_id": campaign})
    mark(project, one, "unclear", 3, 12)
    mark(project, two, "supplied", 5, 11)
    before = (
        project.rows("SELECT * FROM hand_attribution ORDER BY id"),
        project.rows("SELECT * FROM editorial_fact"),
    )
    merged = project.post("/segments/merge", {"segment_ids": [one, two], "keep_id": one})
    for asked in (one, two):
        assert {item["hand_id"] for item in project.get(f"/hands/segment/{asked}")["items"]} == {hand, b}
        assert project.get(f"/campaigns/segment/{asked}")["campaign"]["id"] == campaigns[0]
        assert project.get(f"/letterforms/segment/{asked}")["letterform"]["character"] == "e"
        assert facts_of(project, asked) == [("unclear", "principio"), ("supplied", "uerbum")]
    assert project.get(f"/hands/{hand}/attributions")["count"] == 1
    assert project.get(f"/signs/{sign}/instances")["count"] == 1
    assert project.get("/signs")["items"][0]["picture_segment_id"] == one
    assert project.rows("SELECT count(*) FROM campaign_member WHERE superseded_at IS NULL") == [(1,)]
    project.undo(merged["audit_id"])
    assert (
        project.rows("SELECT * FROM hand_attribution ORDER BY id"),
        project.rows("SELECT * FROM editorial_fact"),
    ) == before
    assert project.get(f"/campaigns/segment/{two}")["campaign"]["id"] == campaigns[1]


def test_the_kept_line_takes_over_what_it_lacks_from_the_absorbed_one(project: PaleographyProject) -> None:
    page = project.page(lines=2)
    one, two = page.lines
    campaign = project.post("/campaigns", {"document_id": page.id, "name": "A"})["id"]
    project.send("PUT", f"/campaigns/segment/{two}", {"campaign_id": campaign})
    project.send("PUT", f"/letterforms/segment/{two}", {"character": "t"})
    project.post("/editorial", {"segment_id": two, "kind": "added"})
    project.post("/segments/merge", {"segment_ids": [one, two], "keep_id": one})
    assert project.get(f"/campaigns/segment/{one}")["campaign"]["id"] == campaign
    assert project.get(f"/letterforms/segment/{one}")["letterform"]["character"] == "t"
    assert [fact["kind"] for fact in project.get(f"/editorial/segment/{one}")["facts"]] == ["added"]


def test_a_split_gives_each_part_its_hand_and_its_facts(project: PaleographyProject) -> None:
    page = project.page(["In principio erat uerbum"])
    line = page.lines[0]
    hand = project.hand()
    campaign = project.post("/campaigns", {"document_id": page.id, "name": "A"})["id"]
    project.post("/hands/attributions", {"hand_id": hand, "segment_id": line})
    project.send("PUT", f"/campaigns/segment/{line}", {"campaign_id": campaign})
    mark(project, line, "unclear", 3, 12)
    mark(project, line, "supplied", 18, 24)
    parts = [
        {"anchor": {"rect": [0.1, 0.03, 0.4, 0.05]}, "text": "In principio"},
        {"anchor": {"rect": [0.5, 0.03, 0.4, 0.05]}, "text": "erat uerbum"},
    ]
    answer = project.post("/segments/split", {"segment_id": line, "expected_version": 1, "parts": parts})
    second = answer["segment_ids"][1]
    assert [item["hand_id"] for item in project.get(f"/hands/segment/{second}")["items"]] == [hand]
    assert project.get(f"/campaigns/segment/{second}")["campaign"]["id"] == campaign
    assert (facts_of(project, line), facts_of(project, second)) == (
        [("unclear", "principio")],
        [("supplied", "uerbum")],
    )
    project.undo(answer["audit_id"])
    assert facts_of(project, line) == [("unclear", "principio"), ("supplied", "uerbum")]


@pytest.mark.parametrize("who", [LOCAL_OWNER, MACHINE], ids=["a person", "a machine"])
def test_a_reading_that_is_carried_to_another_pass_takes_its_facts_and_campaigns_along(
    project: PaleographyProject, who: Any
) -> None:
    page = project.page(["In principio erat uerbum"])
    line = page.lines[0]
    mark(project, line, "unclear", 3, 12)
    withdrawn = mark(project, line, "deleted", 0, 2)
    project.post(f"/editorial/{withdrawn['id']}/withdraw")
    campaign = project.post("/campaigns", {"document_id": page.id, "name": "A"})["id"]
    ((reading,),) = project.rows("SELECT id FROM content_representation")
    project.send("PUT", f"/campaigns/reading/{reading}", {"campaign_ids": [campaign]})
    other_pass_id = project.do("segment.pass_create", {"document_id": page.id, "name": "Second look"})["id"]
    rect = {"rect": [0.1, 0.03, 0.8, 0.05]}
    made = {"document_id": page.id, "pass_id": other_pass_id, "kind": "line", "anchor": rect}
    there = project.do("segment.create_many", {"segments": [made]})["items"][0]["id"]
    match = project.do("segment.match_propose", {"from_segment_id": line, "to_segment_id": there})["id"]
    project.do("segment.match_accept", {"match_id": match})
    before = facts_of(project, line)
    outcome = project.engine.run(
        project.library, "segment.carry", {"match_id": match, "kinds": ["reading"]}, who
    )
    ((copy, maker),) = project.rows(
        "SELECT id, provenance_kind FROM content_representation WHERE segment_id = ?", there
    )
    (fact,) = project.get(f"/editorial/segment/{there}")["facts"]
    assert (fact["kind"], fact["representation_id"], fact["char_start"], fact["char_end"]) == (
        "unclear", copy, 3, 12,
    )  # fmt: skip
    assert fact["provenance_kind"] == maker == ("human" if who is LOCAL_OWNER else "agent")
    assert project.get(f"/campaigns/reading/{copy}")["campaign_ids"] == [campaign]
    assert facts_of(project, line) == before
    project.undo(outcome.audit_id)
    assert project.rows("SELECT count(*) FROM editorial_fact WHERE segment_id = ?", there) == [(0,)]
    assert project.get(f"/campaigns/reading/{reading}")["campaign_ids"] == [campaign]


def test_no_undo_of_a_merge_and_no_redo_of_a_split_brings_back_what_was_withdrawn(
    project: PaleographyProject,
) -> None:
    """Statements restored to the absorbed line, or copied to a part, need a live hand, sign or campaign."""
    page = project.page(lines=2)
    one, two = page.lines
    hand = project.hand()
    campaign = project.post("/campaigns", {"document_id": page.id, "name": "A"})["id"]
    sign = project.post("/signs", {"name": "et", "picture_segment_id": one})["id"]
    for line in page.lines:
        project.post("/hands/attributions", {"hand_id": hand, "segment_id": line})
        project.post(f"/signs/{sign}/instances", {"segment_id": line})
        project.send("PUT", f"/campaigns/segment/{line}", {"campaign_id": campaign})
    merged = project.post("/segments/merge", {"segment_ids": [one, two], "keep_id": one})
    for path in (f"/hands/{hand}", f"/signs/{sign}", f"/campaigns/{campaign}"):
        removed_answer = project.post(f"{path}/withdraw")
        assert project.undo(merged["audit_id"], 409)["because"] == "withdrawn", path
        project.undo(removed_answer["audit_id"])
    project.undo(merged["audit_id"])

    parts = [{"anchor": {"rect": [x, 0.03, 0.4, 0.05]}} for x in (0.1, 0.5)]
    ((version,),) = project.rows("SELECT version FROM segment WHERE id = ?", one)
    answer = project.post("/segments/split", {"segment_id": one, "expected_version": version, "parts": parts})
    undone = project.undo(answer["audit_id"])["audit_ids"][0]
    removed_answer = project.post(f"/hands/{hand}/withdraw")
    assert project.undo(undone, 409)["because"] == "withdrawn"
    project.undo(removed_answer["audit_id"])
    project.undo(undone)


def test_no_redo_of_a_correction_gives_its_reading_a_withdrawn_campaign(project: PaleographyProject) -> None:
    page = project.page(["In principio"])
    campaign = project.post("/campaigns", {"document_id": page.id, "name": "A"})["id"]
    ((reading,),) = project.rows("SELECT id FROM content_representation")
    project.send("PUT", f"/campaigns/reading/{reading}", {"campaign_ids": [campaign]})
    answer = project.post(f"/segments/{page.lines[0]}/correct", {"text": "In principio erat"})
    undone = project.undo(answer["audit_id"])["audit_ids"][0]
    project.post(f"/campaigns/{campaign}/withdraw")
    assert project.undo(undone, 409)["because"] == "withdrawn"


def test_a_machine_that_splits_copies_nothing_as_a_persons(project: PaleographyProject) -> None:
    page = project.page(lines=1)
    said = {"hand_id": project.hand(), "segment_id": page.lines[0]}
    project.post("/hands/attributions", said)
    # The machine states the same itself, so its copy of the person's statement merges with its own.
    project.do("hand.attribute", said, MACHINE)
    parts = [{"anchor": {"rect": [x, 0.03, 0.4, 0.05]}} for x in (0.1, 0.5)]
    body = {"segment_id": page.lines[0], "expected_version": 1, "parts": parts}
    result = project.do("segment.split", body, MACHINE)
    (copy,) = project.get(f"/hands/segment/{result['segment_ids'][1]}")["items"]
    assert copy["provenance_kind"] == "agent"


def test_empty_trash_removes_statements_about_the_page_and_leaves_the_hand(
    project: PaleographyProject,
) -> None:
    page, other_page = project.page(["erat"], lines=1), project.page(lines=1)
    line, hand = page.lines[0], project.hand()
    ((reading,),) = project.rows("SELECT id FROM content_representation")
    sign = project.post("/signs", {"name": "et", "picture_segment_id": line})["id"]
    form = project.post("/letterforms/allographs", {"character": "e", "name": "round e"})["id"]
    campaign = project.post("/campaigns", {"document_id": page.id, "name": "A"})["id"]
    project.post("/hands/attributions", {"hand_id": hand, "segment_id": line})
    project.post(f"/signs/{sign}/instances", {"segment_id": line})
    project.send("PUT", f"/campaigns/segment/{line}", {"campaign_id": campaign})
    project.send("PUT", f"/campaigns/reading/{reading}", {"campaign_ids": [campaign]})
    mark(project, line, "unclear", 0, 4)
    project.send("PUT", f"/letterforms/segment/{line}", {"character": "e", "allograph_id": form})
    looks = {line: [1.0, 0.0], other_page.lines[0]: [1.0, 0.1]}
    store_vectors(project, looks)
    # Proposed for a line that stays, because of its likeness to one that will be deleted.
    assert (
        project.post("/likeness/proposals", {"kind": "hand", "segment_ids": other_page.lines})["count"] == 1
    )
    project.do("document.delete", {"ids": [page.id]})
    assert project.get(f"/hands/{hand}/attributions")["items"] == []
    assert project.get(f"/signs/{sign}/instances")["items"] == []
    assert project.get("/letterforms", character="e")["items"] == []
    assert project.get("/letterforms/features")["items"] == []
    assert project.get("/likeness", segment_id=other_page.lines[0])["items"] == []
    project.post("/documents/trash/empty")
    here = {table.name for table in metadata.sorted_tables} - {"hand", "sign", "letterform_allograph"}
    for table in here - {"likeness_vector"}:
        assert project.rows(f"SELECT count(*) FROM {table}") == [(0,)], table
    assert project.rows("SELECT segment_id FROM likeness_vector") == [(other_page.lines[0],)]
    assert project.get("/letterforms/allographs")["count"] == 1
    assert [item["id"] for item in project.get("/hands")["items"]] == [hand]
    assert project.get("/signs")["items"][0]["picture_segment_id"] is None
