"""Merges: what is above and below, what waits for a decision, what links lead to, and what is named again."""

from __future__ import annotations

from typing import Any

from knowledge_desk import AGENT, Desk


def merge(desk: Desk, survivor: str, *ids: str) -> str:
    answer = desk.client.post("/api/entities/merge", json={"survivor_id": survivor, "ids": list(ids)})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["audit_id"])


def parents(desk: Desk) -> dict[str, str | None]:
    return dict(desk.rows("SELECT id, parent_id FROM entity"))


def test_an_entity_merged_with_those_above_it_is_not_below_itself(desk: Desk) -> None:
    top, county, town = (
        desk.entity("Top", "location"),
        desk.entity("C", "location"),
        desk.entity("T", "location"),
    )
    below, quarter = desk.entity("B", "location"), desk.entity("Q", "location")
    for one, parent in ((county, top), (below, county), (town, below), (quarter, county)):
        desk.do("entity.update", {"entity_id": one, "parent_id": parent})
    before = parents(desk)
    # What stood between the two stays above the one they become.
    step = merge(desk, town, county)
    assert {one: parents(desk)[one] for one in (town, below, quarter)} == {
        town: below,
        below: top,
        quarter: town,
    }
    desk.undo(step)
    assert parents(desk) == before
    merge(desk, town, below)
    assert parents(desk)[town] == county
    merge(desk, town, county, top)
    assert parents(desk)[town] is None


def match(desk: Desk, one: str, other: str, state: str | None = None) -> None:
    pair = {"survivor_id": one, "candidate_id": other, "score": 0.9}
    (match_id,) = desk.do("entity.propose_matches", {"pairs": [pair]})["match_ids"]
    if state is not None:
        desk.do("entity.decide_match", {"match_id": match_id, "state": state})


def pairs(desk: Desk, state: str) -> list[frozenset[str]]:
    items = desk.get("/api/entity-matches", state=state)["items"]
    return [frozenset((item["survivor_entity_id"], item["candidate_entity_id"])) for item in items]


def test_a_pair_waits_once_and_not_again_once_it_was_rejected(desk: Desk) -> None:
    one, two, three, four = (desk.entity(name) for name in ("A", "B", "C", "D"))
    match(desk, one, three)
    match(desk, two, three)
    match(desk, four, one, "rejected")
    match(desk, two, four)
    match(desk, one, two)
    before = desk.rows("SELECT * FROM entity_match ORDER BY id")
    step = merge(desk, one, two)
    assert pairs(desk, "pending") == [frozenset((one, three))]
    assert pairs(desk, "rejected") == [frozenset((one, four))]
    desk.undo(step)
    assert desk.rows("SELECT * FROM entity_match ORDER BY id") == before
    merge(desk, two, one)
    pair = {"survivor_id": two, "candidate_id": four, "score": 1.0}
    assert desk.do("entity.propose_matches", {"pairs": [pair]}, AGENT)["match_ids"] == []
    assert pairs(desk, "rejected") == [frozenset((two, four))]


def test_a_prediction_of_two_that_become_one_waits_once(desk: Desk) -> None:
    entity, second_entity, mill = desk.entity("A"), desk.entity("B"), desk.entity("Mill", "location")
    for source in (entity, second_entity):
        body = {"source_entity_id": source, "relation": "owned", "target_entity_id": mill, "score": 0.5}
        assert desk.client.post("/api/kg/kgembed/reviews", json=body).status_code == 200
    step = merge(desk, entity, second_entity)
    (item,) = desk.get("/api/kg/kgembed/reviews", state="pending")["items"]
    assert item["source_entity_id"] == entity
    desk.undo(step)
    assert desk.get("/api/kg/kgembed/reviews", state="pending")["count"] == 2


def link(desk: Desk, **ends: Any) -> str:
    answer = desk.client.post("/api/links", json=ends)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["result"]["link_id"])


def test_links_of_what_was_merged_are_those_of_the_survivor(desk: Desk) -> None:
    page = desk.page()
    entity, second_entity = desk.entity("Toledo", "location"), desk.entity("Toletum", "location")
    uri = "https://sws.geonames.org/2510409/"
    named_link = link(desk, from_id=page.lines[0], to_id=second_entity, to_kind="entity", link_type="names")
    same_link = link(desk, from_id=entity, from_kind="entity", to_id=uri, to_kind="uri", link_type="same_as")
    assert desk.get("/api/links/naming", uri=uri)["segments"] == []
    step = merge(desk, entity, second_entity)
    assert {item["id"] for item in desk.get(f"/api/links/of/{entity}")["links"]} == {named_link, same_link}
    for query in ({"uri": uri}, {}):
        answer = desk.get("/api/links/naming", **query)
        assert answer["entity_ids"] == [entity]
        assert [(at["segment_id"], at["entity_id"]) for at in answer["segments"]] == [(page.lines[0], entity)]
    desk.undo(step)
    assert {item["id"] for item in desk.get(f"/api/links/of/{entity}")["links"]} == {same_link}
    merge(desk, second_entity, entity)
    assert desk.get("/api/links/naming", uri=uri)["entity_ids"] == [second_entity]
    assert len(desk.get("/api/links/naming", uri=uri)["segments"]) == 1


def test_a_name_of_what_was_merged_goes_to_the_survivor(desk: Desk) -> None:
    juan, joan = desk.entity("Juan Garcia"), desk.entity("Joan Garsia")
    merge(desk, juan, joan)
    page = desk.page(["Joan Garsia came", "with Juan Garcia"])

    def name_on(line: int, words: str, **more: Any) -> dict[str, Any]:
        start = page.texts[line].index(words)
        on_line = {"segment_id": page.lines[line], "representation_id": page.readings[line]}
        return {
            **on_line,
            "char_start": start,
            "char_end": start + len(words),
            "entity_type": "person",
            **more,
        }

    # A model writes the name out; a run that began before the merge gives the id it knew.
    names = [
        name_on(0, "Joan Garsia", canonical_name="Joan Garsia"),
        name_on(1, "Juan Garcia", entity_id=joan),
    ]
    result = desk.do("mention.take", {"document_id": page.id, "names": names}, AGENT)
    assert (len(result["mention_ids"]), result["entity_ids"]) == (2, [])
    assert {item["entity_id"] for item in desk.names_on(page)["items"]} == {juan}
    ((changed,),) = desk.rows("SELECT changed FROM audit WHERE action_name = 'mention.take'")
    assert juan in changed


def test_a_name_that_several_have_beside_their_own_makes_a_new_entity(desk: Desk) -> None:
    for name in ("Juan Garcia", "Joannes Garsias"):
        desk.entity(name, names=[{"text": "J. Garcia"}])
    page = desk.page(["J. Garcia came"])
    on_line = {"segment_id": page.lines[0], "representation_id": page.readings[0], "entity_type": "person"}
    name = {**on_line, "char_start": 0, "char_end": 9, "canonical_name": "J. Garcia"}
    result = desk.do("mention.take", {"document_id": page.id, "names": [name]}, AGENT)
    assert len(result["entity_ids"]) == 1


def test_the_names_that_are_looked_for_are_those_of_now(desk: Desk) -> None:
    page = desk.page(["Ana Lopez and Benito Cruz", "with Carlos Diaz"])
    ana, benito, _ = (desk.entity(name) for name in ("Ana Lopez", "Benito Cruz", "Carlos Diaz"))

    def known() -> list[str]:
        answer = desk.get(f"/api/documents/{page.id}/known-names", misread=False)["items"]
        return [item["text"] for item in answer]

    audit_id = desk.client.delete(f"/api/entities/{ana}").json()["audit_id"]
    assert known() == ["Benito Cruz", "Carlos Diaz"]
    desk.undo(audit_id)
    desk.client.delete(f"/api/entities/{benito}")
    assert known() == ["Ana Lopez", "Carlos Diaz"]


def test_a_merged_entity_is_asked_about_as_the_one_it_was_merged_into(desk: Desk) -> None:
    page, juan, joan = desk.page(), desk.entity("Juan Garcia"), desk.entity("Joan Garsia")
    mill = desk.entity("The mill", "location")
    mention = desk.mention(page, joan, "Juan Garcia")["id"]
    claim = desk.claim(subject_entity_id=joan, object_entity_id=mill)["id"]
    merge(desk, juan, joan)
    for one in (juan, joan):
        assert [item["id"] for item in desk.get(f"/api/entities/{one}/mentions")["items"]] == [mention]
        assert [item["id"] for item in desk.get("/api/claims", entity_id=one)["items"]] == [claim]
        assert [item["id"] for item in desk.get("/api/entities", entity_id=one)["items"]] == [mill]
