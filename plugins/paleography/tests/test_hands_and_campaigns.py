"""Hands with rival attributions, and campaigns of sources, segments and readings."""

from __future__ import annotations

import pytest
from paleography_project import MACHINE, PaleographyProject

from armarium.api import Forbidden


def test_rival_attributions_coexist_and_name_their_maker(project: PaleographyProject) -> None:
    line = project.page().lines[0]
    hand, b = project.hand("A"), project.hand("B")
    project.post(
        "/hands/attributions", {"hand_id": hand, "segment_id": line, "certainty": 0.4, "note": "the g"}
    )
    project.do("hand.attribute", {"hand_id": b, "segment_id": line, "certainty": 0.9}, MACHINE)
    project.do("hand.attribute", {"hand_id": hand, "segment_id": line}, MACHINE)
    items = project.get(f"/hands/segment/{line}")["items"]
    assert [(item["hand_id"], item["provenance_kind"]) for item in items] == [
        (hand, "human"), (b, "agent"), (hand, "agent"),
    ]  # fmt: skip
    second_body = {"hand_id": hand, "segment_id": line}
    refused = project.post("/hands/attributions", second_body, 409)
    assert (refused["code"], refused["id"]) == ("already_exists", items[0]["id"])
    assert project.get(f"/hands/{hand}/attributions")["count"] == 2
    page = project.get(f"/hands/{hand}/attributions", limit=1, offset=1)
    assert (page["count"], page["total"], page["items"][0]["id"]) == (1, 2, items[2]["id"])


def test_a_withdrawn_hand_loses_its_attributions_and_gets_no_new_ones(
    project: PaleographyProject,
) -> None:
    line = project.page().lines[0]
    hand = project.hand()
    answer = project.post("/hands/attributions", {"hand_id": hand, "segment_id": line})
    removed_answer = project.post(f"/hands/{hand}/withdraw")
    assert removed_answer["withdrawn_at"]
    assert project.get(f"/hands/segment/{line}")["items"] == []
    assert project.get("/hands")["count"] == 0
    assert project.get("/hands", include_withdrawn=True)["count"] == 1
    for path, body in (
        ("/hands/attributions", {"hand_id": hand, "segment_id": line}),
        (f"/hands/{hand}/withdraw", None),
        (f"/hands/attributions/{answer['id']}/withdraw", None),
    ):
        assert project.post(path, body, 409)["code"] == "withdrawn", path
    project.undo(removed_answer["audit_id"])
    assert [item["id"] for item in project.get(f"/hands/segment/{line}")["items"]] == [answer["id"]]


def test_no_redo_leaves_a_live_judgement_for_a_withdrawn_hand(project: PaleographyProject) -> None:
    line = project.page().lines[0]
    hand = project.hand()
    answer = project.post("/hands/attributions", {"hand_id": hand, "segment_id": line})
    undone = project.undo(answer["audit_id"])["audit_ids"][0]
    project.post(f"/hands/{hand}/withdraw")
    assert project.undo(undone, 409)["because"] == "withdrawn"


def test_no_redo_creates_a_duplicate_statement(project: PaleographyProject) -> None:
    """One attribution of a segment to a hand by the same person, one instance of a sign on a segment, one
    campaign of a reading.
    """
    page = project.page(["In principio"])
    line, hand = page.lines[0], project.hand()
    ((reading,),) = project.rows("SELECT id FROM content_representation")
    campaign = project.post("/campaigns", {"document_id": page.id, "name": "A"})["id"]
    sign = project.post("/signs", {"name": "et", "picture_segment_id": line})["id"]
    for method, path, body in (
        ("POST", "/hands/attributions", {"hand_id": hand, "segment_id": line}),
        ("POST", f"/signs/{sign}/instances", {"segment_id": line}),
        ("PUT", f"/campaigns/reading/{reading}", {"campaign_ids": [campaign]}),
    ):
        undone = project.undo(project.send(method, path, body)["audit_id"])["audit_ids"][0]
        again = project.send(method, path, body)
        refused = project.undo(undone, 409)
        assert (refused["because"], refused["reason"]) == ("already_exists", "changed"), path
        project.undo(again["audit_id"])
        project.undo(undone)
    assert project.get(f"/hands/{hand}/attributions")["count"] == 1
    assert project.get(f"/signs/{sign}/instances")["count"] == 1
    assert project.rows("SELECT count(*) FROM campaign_reading WHERE superseded_at IS NULL") == [(1,)]


def test_missing_ids_and_server_fields_are_refused(project: PaleographyProject) -> None:
    page = project.page()
    line, hand = page.lines[0], project.hand()
    bodies = [
        ("/hands/attributions", {"hand_id": "no", "segment_id": line}, 404),
        ("/hands/attributions", {"hand_id": hand, "segment_id": "no"}, 404),
        ("/hands/attributions", {"hand_id": hand, "segment_id": "legacy:a:0"}, 422),
        ("/hands/attributions", {"hand_id": hand, "segment_id": line, "certainty": 1.5}, 422),
        ("/hands/attributions", {"hand_id": hand, "segment_id": line, "created_by": "me"}, 422),
        ("/hands", {"label": ""}, 422),
        ("/hands", {"label": "A", "id": "mine"}, 422),
        ("/hands/no/withdraw", None, 404),
        ("/hands/attributions/no/withdraw", None, 404),
        ("/campaigns", {"document_id": "no", "name": "x"}, 404),
        ("/campaigns", {"document_id": page.id, "name": "x", "hand_id": "no"}, 404),
        ("/campaigns", {"document_id": page.id, "name": "x", "sequence": 0}, 422),
        ("/campaigns/no/withdraw", None, 404),
    ]
    for path, body, status in bodies:
        assert project.post(path, body, status)["detail"], path
    for path in (
        "/hands/no/attributions",
        "/hands/segment/no",
        "/campaigns/segment/no",
        "/campaigns/reading/no",
    ):
        project.get(path, 404)
    project.get("/campaigns/document/no", 404)
    assert project.get("/hands")["count"] == 1


def test_deleted_lines_and_withdrawn_passes_get_no_attribution(project: PaleographyProject) -> None:
    page = project.page()
    hand = project.hand()
    project.post("/hands/attributions", {"hand_id": hand, "segment_id": page.lines[0]})
    project.post("/segments/delete", {"segment_ids": [page.lines[0]], "expected_versions": [1]})
    refused = project.post("/hands/attributions", {"hand_id": hand, "segment_id": page.lines[0]}, 409)
    assert refused["code"] == "segment_deleted"
    assert project.get(f"/hands/{hand}/attributions")["items"] == []
    assert project.get(f"/hands/segment/{page.lines[0]}")["items"] == []
    project.post("/segments/undelete", {"segment_ids": [page.lines[0]]})
    assert project.get(f"/hands/{hand}/attributions")["count"] == 1
    project.do("segment.pass_delete", {"pass_id": page.pass_id})
    refused = project.post("/hands/attributions", {"hand_id": hand, "segment_id": page.lines[1]}, 409)
    assert refused["code"] == "pass_deleted"
    assert project.get(f"/hands/{hand}/attributions")["items"] == []


def test_campaigns_are_listed_in_their_stated_sequence(project: PaleographyProject) -> None:
    page = project.page()
    names = [("Text", None), ("Rubrics", None), ("Ruling", 1)]
    made = {
        name: project.post("/campaigns", {"document_id": page.id, "name": name, "sequence": number})
        for name, number in names
    }
    assert [made[name]["sequence"] for name in made] == [1, 2, 1]
    listed = project.get(f"/campaigns/document/{page.id}")["items"]
    assert [item["name"] for item in listed] == ["Text", "Ruling", "Rubrics"]
    path = f"/campaigns/{made['Text']['id']}"
    changed = project.send("PATCH", path, {"sequence": 3, "date": "about 1300"})
    assert (changed["name"], changed["sequence"], changed["date"]) == ("Text", 3, "about 1300")
    assert project.send("PATCH", path, {"date": None})["date"] is None
    assert project.send("PATCH", path, {"hand_id": project.hand()})["hand_id"]
    project.send("PATCH", path, {"hand_id": "no"}, 404)
    project.send("PATCH", path, {"name": None}, 422)
    project.send("PATCH", "/campaigns/no", {"name": "x"}, 404)
    assert [item["name"] for item in project.get(f"/campaigns/document/{page.id}")["items"]][-1] == "Text"


def test_a_segment_belongs_to_one_campaign(project: PaleographyProject) -> None:
    page = project.page()
    line = page.lines[0]
    one, two = (project.post("/campaigns", {"document_id": page.id, "name": name})["id"] for name in "AB")
    project.send("PUT", f"/campaigns/segment/{line}", {"campaign_id": one})
    second = project.send("PUT", f"/campaigns/segment/{line}", {"campaign_id": two})
    assert second["campaign"]["id"] == two
    assert project.rows("SELECT count(*) FROM campaign_member WHERE superseded_at IS NULL") == [(1,)]
    assert project.send("PUT", f"/campaigns/segment/{line}", {"campaign_id": None})["campaign"] is None
    project.send("PUT", f"/campaigns/segment/{line}", {}, 422)
    project.send("PUT", f"/campaigns/segment/{line}", {"campaign_id": "no"}, 404)
    answer = project.post(f"/campaigns/{two}/withdraw")
    assert project.send("PUT", f"/campaigns/segment/{line}", {"campaign_id": two}, 409)["code"] == "withdrawn"
    assert project.send("PATCH", f"/campaigns/{two}", {"name": "x"}, 409)["code"] == "withdrawn"
    project.undo(answer["audit_id"])
    assert project.get(f"/campaigns/document/{page.id}")["count"] == 2


def test_no_undo_gives_a_segment_two_campaigns(project: PaleographyProject) -> None:
    page = project.page()
    line = page.lines[0]
    one, two = (project.post("/campaigns", {"document_id": page.id, "name": name})["id"] for name in "AB")
    project.send("PUT", f"/campaigns/segment/{line}", {"campaign_id": one})
    answer = project.post(f"/campaigns/{one}/withdraw")
    project.send("PUT", f"/campaigns/segment/{line}", {"campaign_id": two})
    refused = project.undo(answer["audit_id"], 409)
    assert (refused["because"], refused["reason"]) == ("campaign_stands", "changed")


def test_no_redo_leaves_a_segment_or_a_reading_in_a_withdrawn_campaign(project: PaleographyProject) -> None:
    page = project.page(["In principio"])
    line = page.lines[0]
    ((reading,),) = project.rows("SELECT id FROM content_representation")
    answer = project.post("/campaigns", {"document_id": page.id, "name": "A"})["id"]
    assigned = [
        project.send("PUT", f"/campaigns/segment/{line}", {"campaign_id": answer})["audit_id"],
        project.send("PUT", f"/campaigns/reading/{reading}", {"campaign_ids": [answer]})["audit_id"],
    ]
    taken_back = [project.undo(one)["audit_ids"][0] for one in assigned]
    removed_answer = project.post(f"/campaigns/{answer}/withdraw")
    for one in taken_back:
        assert project.undo(one, 409)["because"] == "withdrawn"
    assert project.get(f"/campaigns/segment/{line}")["campaign"] is None
    project.undo(removed_answer["audit_id"])
    for one in taken_back:
        project.undo(one)
    assert project.get(f"/campaigns/segment/{line}")["campaign"]["id"] == answer
    assert project.get(f"/campaigns/reading/{reading}")["campaign_ids"] == [answer]


def test_a_campaign_contains_only_segments_of_its_source_and_of_pages_within_it(
    project: PaleographyProject,
) -> None:
    page, other_page = project.page(), project.page()
    made = project.post("/campaigns", {"document_id": other_page.id, "name": "A"})["id"]
    refused = project.send("PUT", f"/campaigns/segment/{page.lines[0]}", {"campaign_id": made}, 422)
    assert refused["code"] == "other_source"
    box = project.do("document.create", {"name": "A codex"})["id"]
    project.do("document.move", {"ids": [page.id], "parent_id": box})
    codex = project.post("/campaigns", {"document_id": box, "name": "A"})["id"]
    answer = project.send("PUT", f"/campaigns/segment/{page.lines[0]}", {"campaign_id": codex})
    assert answer["campaign"]["id"] == codex


def test_a_correction_takes_over_the_campaigns_of_its_reading(project: PaleographyProject) -> None:
    page = project.page(["In principio"])
    ids = [project.post("/campaigns", {"document_id": page.id, "name": name})["id"] for name in "AB"]
    ((reading,),) = project.rows("SELECT id FROM content_representation")
    answer = project.send("PUT", f"/campaigns/reading/{reading}", {"campaign_ids": ids})
    assert answer["campaign_ids"] == ids
    new_answer = project.post(f"/segments/{page.lines[0]}/correct", {"text": "In principio erat"})
    assert project.get(f"/campaigns/reading/{new_answer['id']}")["campaign_ids"] == ids
    assert project.send("PUT", f"/campaigns/reading/{reading}", {"campaign_ids": []})["campaign_ids"] == []
    other = project.post("/campaigns", {"document_id": project.page().id, "name": "C"})["id"]
    project.send("PUT", f"/campaigns/reading/{reading}", {"campaign_ids": [other]}, 422)
    project.send("PUT", "/campaigns/reading/no", {"campaign_ids": []}, 404)
    project.undo(new_answer["audit_id"])
    assert project.rows("SELECT count(*) FROM campaign_reading WHERE superseded_at IS NULL") == [(0,)]


def test_a_machines_attribution_is_not_a_persons(project: PaleographyProject) -> None:
    with pytest.raises(Forbidden):
        project.do("document.lock", {"document_id": project.page().id, "locked": True}, MACHINE)
    result = project.do("hand.create", {"label": "M"}, MACHINE)
    assert result["provenance_kind"] == "agent"
