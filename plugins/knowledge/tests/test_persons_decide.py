"""What a person decided, no machine changes: not directly, not by deleting what it concerns, not by undo or redo."""

from __future__ import annotations

from typing import Any

import pytest
from knowledge_desk import AGENT, Desk, machine

from armarium.api import Forbidden


def invoke(desk: Desk, who: dict[str, str], name: str, **params: Any) -> Any:
    return desk.client.post("/api/actions/invoke", json={"name": name, "params": params}, headers=who)


def expect_person_only(answer: Any) -> None:
    assert (answer.status_code, answer.json()["code"]) == (403, "person_only"), answer.text


def test_a_machine_does_not_lift_what_a_person_refused(desk: Desk) -> None:
    page, juan, who = desk.page(), desk.entity(), machine(desk)
    mention = desk.mention(page, juan, "Juan Garcia", who=AGENT)
    audit_id = desk.client.delete(f"/api/mentions/{mention['id']}").json()["audit_id"]
    expect_person_only(desk.client.post(f"/api/actions/audit/{audit_id}/undo", headers=who))
    # With the entity its refusals would go, and the next run would name the words again.
    expect_person_only(desk.client.delete(f"/api/entities/{juan}", headers=who))
    expect_person_only(invoke(desk, who, "entity.delete", entity_id=juan))
    assert [entry["text"] for entry in desk.names_on(page)["refused"]] == ["Juan Garcia"]
    desk.undo(audit_id)
    assert desk.names_on(page)["refused"] == []


def test_a_machine_may_lift_its_own_refusal(desk: Desk) -> None:
    page, juan, who = desk.page(), desk.entity(), machine(desk)
    mention = desk.mention(page, juan, "Juan Garcia", who=AGENT)
    audit_id = desk.client.delete(f"/api/mentions/{mention['id']}", headers=who).json()["audit_id"]
    answer = desk.client.post(f"/api/actions/audit/{audit_id}/undo", headers=who)
    assert answer.status_code == 200, answer.text
    assert [item["id"] for item in desk.names_on(page)["items"]] == [mention["id"]]


def test_an_entity_goes_by_no_machine_with_a_mention_that_a_person_corrected(desk: Desk) -> None:
    page, juan, other_entity, who = desk.page(), desk.entity(), desk.entity("Another"), machine(desk)
    desk.mention(page, juan, "Juan Garcia", who=AGENT)
    body = {"document_id": page.id, **page.at("Juan Garcia"), "to_entity_id": other_entity}
    desk.client.post(f"/api/entities/{juan}/mentions/repoint", json=body)
    expect_person_only(desk.client.delete(f"/api/entities/{other_entity}", headers=who))
    assert desk.client.delete(f"/api/entities/{other_entity}").status_code == 200


def decisions(desk: Desk) -> dict[str, str]:
    """A step for each kind of decision that only a person takes."""
    page, juan, other_entity, third = desk.page(), desk.entity(), desk.entity("Joan"), desk.entity("Third")
    desk.mention(page, juan, "Juan Garcia")
    claim = desk.claim()["id"]
    pair = {"survivor_id": juan, "candidate_id": other_entity, "score": 0.9}
    match = desk.do("entity.propose_matches", {"pairs": [pair]})["match_ids"][0]
    where = {"document_id": page.id, **page.at("Juan Garcia"), "to_entity_id": third}
    sent = {
        "correct": ("POST", f"/api/entities/{juan}/mentions/repoint", where),
        "curate": ("PATCH", f"/api/claims/{claim}", {"curation_state": "curated"}),
        "verify": ("PATCH", f"/api/entities/{third}", {"curation_state": "verified"}),
        "accept": ("POST", f"/api/entity-matches/{match}/decide", {"state": "accepted"}),
        "merge": ("POST", "/api/entities/merge", {"survivor_id": juan, "ids": [desk.entity("Fourth")]}),
    }
    steps = {}
    for name, (method, path, body) in sent.items():
        answer = desk.client.request(method, path, json=body)
        assert answer.status_code == 200, (name, answer.text)
        steps[name] = str(answer.json()["audit_id"])
    return steps


def test_a_machine_neither_undoes_nor_redoes_a_persons_decision(desk: Desk) -> None:
    who, steps = machine(desk), decisions(desk)
    for step in reversed(steps.values()):
        expect_person_only(desk.client.post(f"/api/actions/audit/{step}/undo", headers=who))
        undone = desk.client.post(f"/api/actions/audit/{step}/undo")
        assert undone.status_code == 200, undone.text
        (redo,) = undone.json()["audit_ids"]
        expect_person_only(desk.client.post(f"/api/actions/audit/{redo}/undo", headers=who))


def test_a_machine_takes_none_of_these_decisions_by_way_of_the_registry(desk: Desk) -> None:
    juan, other_entity, who = desk.entity(), desk.entity("Joan"), machine(desk)
    claim = desk.claim()["id"]
    pair = {"survivor_id": juan, "candidate_id": other_entity, "score": 0.9}
    match = desk.do("entity.propose_matches", {"pairs": [pair]})["match_ids"][0]
    for name, params in (
        ("entity.update", {"entity_id": juan, "curation_state": "verified"}),
        ("entity.update", {"entity_id": juan, "curation_state": "rejected"}),
        ("entity.merge", {"survivor_id": juan, "ids": [other_entity]}),
        ("entity.decide_match", {"match_id": match, "state": "accepted"}),
        ("claim.update", {"claim_id": claim, "curation_state": "curated"}),
    ):
        expect_person_only(invoke(desk, who, name, **params))
    for state in ("curated", "verified", "accepted", "merged"):
        assert invoke(desk, who, "claim.create", text="x", curation_state=state).status_code == 422


def test_a_candidate_that_is_accepted_and_rejected_at_once_is_decided_once(desk: Desk) -> None:
    from concurrent.futures import ThreadPoolExecutor

    entity, second_entity = desk.entity(), desk.entity("Joan Garcia")
    pair = {"survivor_id": entity, "candidate_id": second_entity, "score": 0.9}
    match = desk.do("entity.propose_matches", {"pairs": [pair]})["match_ids"][0]

    def decide(state: str) -> int:
        path = f"/api/entity-matches/{match}/decide"
        return int(desk.client.post(path, json={"state": state}).status_code)

    with ThreadPoolExecutor(2) as pool:
        answers = dict(zip(("accepted", "rejected"), pool.map(decide, ("accepted", "rejected")), strict=True))
    assert sorted(answers.values()) == [200, 409]
    (won,) = [state for state, status in answers.items() if status == 200]
    assert desk.get("/api/entity-matches")["items"][0]["state"] == won
    assert (desk.get(f"/api/entities/{second_entity}")["merged_into_id"] == entity) is (won == "accepted")


def test_no_machine_names_a_refused_span_by_any_way(desk: Desk) -> None:
    page, juan, other_entity = desk.page(), desk.entity(), desk.entity("Other")
    mention = desk.mention(page, juan, "Juan Garcia")
    desk.client.delete(f"/api/mentions/{mention['id']}")
    where = {"document_id": page.id, **page.at("Juan Garcia")}
    who = machine(desk)
    answer = desk.client.post("/api/mentions", json={"entity_id": juan, **where}, headers=who)
    assert (answer.status_code, answer.json()["code"]) == (409, "refused_span")
    desk.mention(page, other_entity, "Juan Garcia", who=AGENT)
    moved = desk.client.post(
        f"/api/entities/{other_entity}/mentions/repoint", json={**where, "to_entity_id": juan}, headers=who
    )
    assert (moved.status_code, moved.json()["code"]) == (409, "refused_span")
    desk.mention(page, juan, "Toledo", who=AGENT)
    there = page.at("Toledo")
    respan = {"document_id": page.id, **there}
    respan |= {"new_char_start": where["char_start"], "new_char_end": where["char_end"]}
    answer = desk.client.post(f"/api/entities/{juan}/mentions/respan", json=respan, headers=who)
    assert (answer.status_code, answer.json()["code"]) == (409, "refused_span")
    with pytest.raises(Forbidden):
        desk.do("entity.delete", {"entity_id": juan}, AGENT)


def test_a_statement_that_a_person_curated_is_rewritten_by_no_machine(desk: Desk) -> None:
    juan, who = desk.entity(), machine(desk)
    claim = desk.claim(subject_entity_id=juan)["id"]
    own = desk.client.patch(f"/api/claims/{claim}", json={"text": "He sold it"}, headers=who)
    assert own.status_code == 200, own.text
    for state in ("curated", "rejected"):
        desk.client.patch(f"/api/claims/{claim}", json={"curation_state": state})
        for body in ({"text": "He stole it"}, {"source_ids": []}, {"curation_state": "unreviewed"}):
            expect_person_only(desk.client.patch(f"/api/claims/{claim}", json=body, headers=who))
        # Without its subject the statement would say something else.
        expect_person_only(desk.client.delete(f"/api/entities/{juan}", headers=who))
    answer = desk.get(f"/api/claims/{claim}")
    assert (answer["text"], answer["subject_entity_id"]) == ("He sold it", juan)


def test_an_entity_that_a_person_verified_or_rejected_is_rewritten_by_no_machine(desk: Desk) -> None:
    who, above = machine(desk), desk.entity("The family")
    juan = desk.entity(names=[{"text": "Joannes"}], parent_id=above)
    own = desk.client.patch(f"/api/entities/{juan}", json={"description": "A miller"}, headers=who)
    assert own.status_code == 200, own.text
    date = {"as_written": "1642", "iso_start": "1642", "precision": "year"}
    link = {"authority": "viaf", "authority_id": "1", "uri": "http://viaf.org/viaf/1"}
    changes: tuple[dict[str, Any], ...] = (
        {"canonical_name": "Another"},
        {"names": []},
        {"date_values": [date]},
        {"authority_links": [link]},
        {"description": None},
        {"entity_type": "location"},
        {"parent_id": None},
        {"curation_state": "unreviewed"},
    )
    for state in ("verified", "rejected"):
        desk.client.patch(f"/api/entities/{juan}", json={"curation_state": state})
        before = desk.get(f"/api/entities/{juan}")
        for body in changes:
            expect_person_only(desk.client.patch(f"/api/entities/{juan}", json=body, headers=who))
            expect_person_only(invoke(desk, who, "entity.update", entity_id=juan, **body))
        # With what it is below, it would say less.
        expect_person_only(desk.client.delete(f"/api/entities/{above}", headers=who))
        renamed = desk.client.patch(f"/api/entities/{juan}", json={"canonical_name": "Juan"}).json()
        undo = f"/api/actions/audit/{renamed['audit_id']}/undo"
        expect_person_only(desk.client.post(undo, headers=who))
        (redo,) = desk.client.post(undo).json()["audit_ids"]
        expect_person_only(desk.client.post(f"/api/actions/audit/{redo}/undo", headers=who))
        after = desk.get(f"/api/entities/{juan}")
        assert {**after, "updated_at": ""} == {**before, "updated_at": ""}


def test_jobs_add_what_they_find_to_a_verified_entity_and_leave_what_it_has(desk: Desk) -> None:
    page, who = desk.page(), machine(desk)
    kept = {"as_written": "1640", "iso_start": "1640", "precision": "year"}
    juan = desk.entity(date_values=[kept])
    desk.client.patch(f"/api/entities/{juan}", json={"curation_state": "verified"})
    date = {"as_written": "1642", "iso_start": "1642", "precision": "year"}
    link = {"authority": "viaf", "authority_id": "1", "uri": "http://viaf.org/viaf/1"}
    dates = {"document_id": page.id, "dates": [{"entity_id": juan, "date": date}]}
    links = {"document_id": page.id, "links": [{"entity_id": juan, "link": link}]}
    for name, params in (("entity.take_dates", dates), ("entity.take_links", links)):
        assert invoke(desk, who, name, **params).status_code == 200
    answer = desk.get(f"/api/entities/{juan}")
    assert [date_value["as_written"] for date_value in answer["date_values"]] == ["1640", "1642"]
    assert [authority_link["uri"] for authority_link in answer["authority_links"]] == [link["uri"]]
    assert (answer["canonical_name"], answer["curation_state"]) == ("Juan Garcia", "verified")


def propose(desk: Desk, one: str, other: str) -> list[str]:
    pair = {"survivor_id": one, "candidate_id": other, "score": 0.9}
    result: list[str] = desk.do("entity.propose_matches", {"pairs": [pair]})["match_ids"]
    return result


def test_a_match_that_a_person_rejected_stays_rejected(desk: Desk) -> None:
    first_entity, other_entity, who = desk.entity(), desk.entity("Joan"), machine(desk)
    (match,) = propose(desk, first_entity, other_entity)
    decided = desk.client.post(f"/api/entity-matches/{match}/decide", json={"state": "rejected"}).json()
    assert "decided_by_person" not in decided
    undo = f"/api/actions/audit/{decided['audit_id']}/undo"
    expect_person_only(desk.client.post(undo, headers=who))
    # Without one of the two the decision would go, and the next run would propose them again.
    for entity in (first_entity, other_entity):
        expect_person_only(desk.client.delete(f"/api/entities/{entity}", headers=who))
    assert propose(desk, first_entity, other_entity) == []
    (redo,) = desk.client.post(undo).json()["audit_ids"]
    expect_person_only(desk.client.post(f"/api/actions/audit/{redo}/undo", headers=who))
    assert desk.get("/api/entity-matches")["items"][0]["state"] == "pending"


def test_a_machine_may_undo_its_own_rejection_of_a_match(desk: Desk) -> None:
    entity, other_entity, who = desk.entity(), desk.entity("Joan"), machine(desk)
    (match,) = propose(desk, entity, other_entity)
    path = f"/api/entity-matches/{match}/decide"
    step = desk.client.post(path, json={"state": "rejected"}, headers=who).json()["audit_id"]
    assert desk.client.post(f"/api/actions/audit/{step}/undo", headers=who).status_code == 200
    assert desk.get("/api/entity-matches")["items"][0]["state"] == "pending"


def test_a_curated_statement_loses_no_evidence_to_a_machine(desk: Desk) -> None:
    who, first = machine(desk), desk.claim("He sold the mill")["id"]
    second = desk.claim("So the mill was sold", source_ids=[first])["id"]
    desk.client.patch(f"/api/claims/{second}", json={"curation_state": "curated"})
    expect_person_only(desk.client.delete(f"/api/claims/{first}", headers=who))
    assert desk.get(f"/api/claims/{second}")["source_ids"] == [first]
    assert desk.client.delete(f"/api/claims/{first}").status_code == 200
    assert desk.get(f"/api/claims/{second}")["source_ids"] == []


def test_no_job_gives_back_a_link_or_a_date_that_a_person_took_away(desk: Desk) -> None:
    page, juan, who = desk.page(), desk.entity(), machine(desk)
    date = {"as_written": "1642", "iso_start": "1642", "precision": "year"}
    link = {"authority": "viaf", "authority_id": "1", "uri": "http://viaf.org/viaf/1"}
    dates = {"document_id": page.id, "dates": [{"entity_id": juan, "date": date}]}
    links = {"document_id": page.id, "links": [{"entity_id": juan, "link": link}]}

    def work() -> tuple[int, int]:
        for name, params in (("entity.take_dates", dates), ("entity.take_links", links)):
            assert invoke(desk, who, name, **params).status_code == 200
        answer = desk.get(f"/api/entities/{juan}")
        return len(answer["date_values"]), len(answer["authority_links"])

    assert work() == (1, 1)
    answer = desk.client.patch(f"/api/entities/{juan}", json={"authority_links": []}).json()
    assert work() == (1, 0)
    desk.client.patch(f"/api/entities/{juan}", json={"date_values": []})
    desk.client.patch(f"/api/entities/{juan}", json={"curation_state": "verified"})
    assert work() == (0, 0)
    # Another of the kind is new; and what a person gives again is there again.
    link["uri"] = "http://viaf.org/viaf/2"
    assert work() == (0, 1)
    desk.client.patch(f"/api/entities/{juan}", json={"date_values": [date]})
    assert work() == (1, 1)
    assert answer["audit_id"]


def test_a_machine_neither_accepts_a_predicted_relation_nor_decides_or_asks_anew(desk: Desk) -> None:
    entity, other_entity, who = desk.entity(), desk.entity("The vineyard"), machine(desk)
    about = {"source_entity_id": entity, "relation": "owned", "target_entity_id": other_entity, "score": 0.8}
    path = "/api/kg/kgembed/reviews"
    review = desk.client.post(path, json=about, headers=who).json()["id"]
    expect_person_only(desk.client.patch(f"{path}/{review}", json={"state": "accepted"}, headers=who))
    assert desk.client.patch(f"{path}/{review}", json={"state": "deferred"}, headers=who).status_code == 200
    rejected = desk.client.patch(f"{path}/{review}", json={"state": "rejected"}).json()
    for state in ("accepted", "deferred", "rejected"):
        expect_person_only(desk.client.patch(f"{path}/{review}", json={"state": state}, headers=who))
    expect_person_only(desk.client.post(f"/api/actions/audit/{rejected['audit_id']}/undo", headers=who))
    again = desk.client.post(path, json=about, headers=who)
    assert (again.status_code, again.json()["code"], again.json()["id"]) == (409, "already_decided", review)
    assert desk.client.post(path, json=about).status_code == 200  # a person may
