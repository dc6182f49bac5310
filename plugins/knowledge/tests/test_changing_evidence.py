"""A change of a statement's sources changes what it names, and nothing else."""

from __future__ import annotations

from typing import Any

from knowledge_desk import Desk, Page

from test_statements import resting_on


def change(desk: Desk, claim_id: str, **fields: Any) -> dict[str, Any]:
    answer = desk.client.patch(f"/api/claims/{claim_id}", json=fields)
    assert answer.status_code == 200, answer.text
    return {name: value for name, value in answer.json().items() if name not in ("audit_id", "updated_at")}


def a_statement(desk: Desk) -> tuple[Page, dict[str, Any]]:
    page = desk.page()
    return page, desk.claim(**resting_on(page, "Lopez his wife\nand sold"))


def test_what_a_change_leaves_out_stays(desk: Desk) -> None:
    page, said = a_statement(desk)
    told = change(desk, said["id"], source_type="synthesis")
    assert told["source_type"] == "synthesis"
    assert told["evidence"] == said["evidence"]
    assert change(desk, said["id"], confidence=0.9)["evidence"] == said["evidence"]
    other_page = desk.page(name="Other")
    both = change(desk, said["id"], source_ids=[page.id, other_page.id])
    assert both["evidence"][:2] == said["evidence"]
    assert (both["source_type"], both["source_ids"]) == ("synthesis", [page.id, other_page.id])
    assert (both["source_char_start"], both["source_excerpt"]) == (
        said["source_char_start"],
        "Lopez his wife\nand sold",
    )
    assert change(desk, said["id"], source_type=None)["source_type"] == "multiple"
    assert change(desk, said["id"], source_document_id=page.id)["evidence"] == both["evidence"]
    turned = change(desk, said["id"], source_ids=[other_page.id, page.id])
    assert turned["source_ids"] == [other_page.id, page.id]
    assert turned["evidence"][1:] == said["evidence"]


def test_the_characters_are_changed_one_by_one(desk: Desk) -> None:
    page, said = a_statement(desk)
    end = page.at("and sold the mill")["char_end"]
    longer = change(desk, said["id"], source_char_end=end)
    assert (longer["source_char_start"], longer["source_char_end"]) == (said["source_char_start"], end)
    assert longer["source_excerpt"] == "Lopez his wife\nand sold the mill"
    whole = change(desk, said["id"], source_char_start=None, source_char_end=None)
    assert [one["segment_id"] for one in whole["evidence"]] == [None]
    assert whole["source_ids"] == [page.id]
    nothing = desk.claim()["id"]
    desk.expect_refusal(
        "PATCH", f"/api/claims/{nothing}", 422, "incomplete_span", source_char_start=1, source_char_end=3
    )


def test_a_source_is_taken_out_by_the_list_or_by_null(desk: Desk) -> None:
    page, said = a_statement(desk)
    other_page = desk.page(name="Other")
    change(desk, said["id"], source_ids=[page.id, other_page.id])
    assert change(desk, said["id"], source_ids=[other_page.id])["source_ids"] == [other_page.id]
    change(desk, said["id"], source_ids=[other_page.id, page.id], source_document_id=page.id)
    assert change(desk, said["id"], source_document_id=None)["source_ids"] == [other_page.id]
    before = change(desk, said["id"], source_ids=[])
    assert (before["source_ids"], before["source_type"], before["evidence"]) == ([], "document", [])


def test_a_change_of_the_sources_is_undone_exactly(desk: Desk) -> None:
    page, said = a_statement(desk)
    before = desk.rows("SELECT * FROM claim_source ORDER BY id")
    changed = desk.client.patch(
        f"/api/claims/{said['id']}", json={"source_ids": [desk.page(name="Other").id, page.id]}
    )
    desk.undo(changed.json()["audit_id"])
    assert desk.rows("SELECT * FROM claim_source ORDER BY id") == before


def test_a_statement_carries_the_fingerprint_of_its_line(desk: Desk) -> None:
    page, said = a_statement(desk)
    assert said["text_fingerprint"] == said["evidence"][0]["text_fingerprint"] != None  # noqa: E711
    assert desk.claim(source_ids=[page.id])["text_fingerprint"] is None


def redo(desk: Desk, audit_id: str) -> str:
    """Undo a step; the step by which it is done again."""
    from armarium.principals import LOCAL_OWNER

    return str(desk.engine.undo(desk.library, [audit_id], LOCAL_OWNER)["audit_ids"][0])


def refuse_undo(desk: Desk, audit_id: str) -> str:
    """The sentence by which the undo of a step is refused."""
    answer = desk.client.post(f"/api/actions/audit/{audit_id}/undo")
    told = answer.json()
    assert (answer.status_code, told["code"], told["reason"]) == (409, "undo_refused", "changed"), told
    assert told["audit_id"] == audit_id
    return str(told["detail"])


def test_no_redo_lets_a_statement_rest_on_itself(desk: Desk) -> None:
    claim_id, other_claim_id = desk.claim("one")["id"], desk.claim("other")["id"]
    step = desk.client.patch(f"/api/claims/{other_claim_id}", json={"source_ids": [claim_id]}).json()[
        "audit_id"
    ]
    again = redo(desk, step)
    change(desk, claim_id, source_ids=[other_claim_id])
    assert "rest on itself" in refuse_undo(desk, again)
    assert desk.get(f"/api/claims/{other_claim_id}")["source_ids"] == []


def test_no_redo_names_a_merged_entity_or_names_one_twice(desk: Desk) -> None:
    page, juan, other_entity = desk.page(), desk.entity(), desk.entity("Joan")
    body = {"entity_id": other_entity, "document_id": page.id, **page.at("Juan Garcia")}
    first = desk.client.post("/api/mentions", json=body).json()["audit_id"]
    again = redo(desk, first)
    desk.client.post("/api/mentions", json=body)
    assert "already a mention" in refuse_undo(desk, again)
    spoken = desk.client.post("/api/claims", json={"text": "x", "subject_entity_id": other_entity}).json()
    named_again = redo(desk, spoken["audit_id"])
    toledo = desk.client.post("/api/mentions", json={**body, **page.at("Toledo")}).json()["audit_id"]
    mentioned_again = redo(desk, toledo)
    desk.do("entity.merge", {"survivor_id": juan, "ids": [other_entity]})
    for step in (named_again, mentioned_again):
        assert f"merged into {juan}" in refuse_undo(desk, step)


def test_a_deleted_entity_leaves_its_name_in_statements(desk: Desk) -> None:
    juan, mill = desk.entity(), desk.entity("The mill", "location")
    claim = desk.claim("He sold it", subject_entity_id=juan, object_entity_id=mill)["id"]
    desk.client.delete(f"/api/entities/{mill}")
    answer = desk.get(f"/api/claims/{claim}")
    assert (answer["object_entity_id"], answer["object_phrase"]) == (None, "The mill")
    assert (answer["subject_entity_id"], answer["subject_canonical"]) == (juan, "Juan Garcia")
    assert [item["id"] for item in desk.get("/api/claims", q="mill")["items"]] == [claim]


def test_evidence_is_carried_to_the_same_place_of_the_other_line(desk: Desk) -> None:
    page = desk.page(["Juan and Juan came"])
    start = page.at("Juan", 1)["char_start"]
    claim = desk.claim(source_document_id=page.id, source_char_start=start, source_char_end=start + 4)["id"]
    other_pass_id = str(desk.do("segment.pass_create", {"document_id": page.id, "name": "Second"})["id"])
    new = desk.lay(page.id, other_pass_id, ["Juan & Juan came"])
    ends = {"from_segment_id": page.lines[0], "to_segment_id": new.lines[0]}
    match = desk.do("segment.match_propose", ends)["id"]
    desk.do("segment.match_accept", {"match_id": match})
    carried = desk.client.post("/api/segments/carry", json={"match_id": match, "kinds": ["claim_evidence"]})
    assert carried.status_code == 200, carried.text
    copy = desk.get(f"/api/claims/{claim}")["evidence"][1]
    assert (copy["segment_id"], copy["segment_char_start"]) == (new.lines[0], len("Juan & "))
    undone = desk.client.post(f"/api/actions/audit/{carried.json()['audit_id']}/undo")
    assert undone.status_code == 200, undone.text
    assert len(desk.get(f"/api/claims/{claim}")["evidence"]) == 1
