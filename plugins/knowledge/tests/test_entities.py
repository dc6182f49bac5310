"""Entities: names, merges and their undo, matches that only persons accept, lists, biographies."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from knowledge_desk import AGENT, Desk

from armarium.api import Forbidden, ServiceError, raw_of


def test_an_entity_made_by_hand_stands_in_the_list_without_any_source(desk: Desk) -> None:
    response = desk.client.post(
        "/api/entities",
        json={
            "canonical_name": "Münster",
            "entity_type": "location",
            "names": [
                {"text": "Monasterium", "language": "la", "script": "Latn"},
                {"text": "ミュンスター", "script": "Jpan"},
            ],
            "date_values": [{"as_written": "anno 793", "iso_start": "0793", "precision": "year"}],
            "place_values": [
                {"label": "Münster", "geometry_type": "point", "lat": 51.96, "lon": 7.62, "basis": "atlas"}
            ],
            "authority_links": [
                {"authority": "gnd", "authority_id": "4040608-4", "uri": "https://d-nb.info/gnd/4040608-4"}
            ],
        },
    )
    assert response.status_code == 200, response.text
    answer = response.json()
    assert answer["aliases"] == ["Monasterium", "ミュンスター"]
    assert answer["audit_id"]
    assert answer["names"][0]["provenance_kind"] == "human"
    for words in ("munster", "MONASTER", "ミュンスター", "mün"):
        assert [item["id"] for item in desk.get("/api/entities", q=words)["items"]] == [answer["id"]], words
    assert desk.get("/api/entities", q="paderborn")["total"] == 0
    assert desk.get("/api/entities", entity_type="person")["total"] == 0
    assert desk.get("/api/library/stats")["entities"] == 1
    named_answer = desk.get("/api/links/naming", uri="https://d-nb.info/gnd/4040608-4")
    assert named_answer["entity_ids"] == [answer["id"]]


def test_a_name_that_stays_keeps_who_gave_it(desk: Desk) -> None:
    entity = desk.do(
        "entity.create",
        {"canonical_name": "Juan", "entity_type": "person", "names": [{"text": "Iohannes"}]},
        AGENT,
    )
    kept = entity["names"][0]
    answer = desk.client.patch(
        f"/api/entities/{entity['id']}",
        json={
            "names": [{"id": kept["id"], "text": "Iohannes"}, {"text": "Jean"}],
            "description": "A vintner",
        },
    )
    names = answer.json()["names"]
    assert names[0] == kept
    assert names[1]["provenance_kind"] == "human"
    assert answer.json()["canonical_name"] == "Juan"
    cleared = desk.client.patch(f"/api/entities/{entity['id']}", json={"description": None})
    assert cleared.json()["description"] is None
    assert desk.client.patch(f"/api/entities/{entity['id']}", json={"entity_type": None}).status_code == 422


def test_refusals_of_entities(desk: Desk) -> None:
    juan, ana = desk.entity(), desk.entity("Ana Lopez")
    desk.expect_refusal("GET", "/api/entities/none", 404, "entity_not_found")
    desk.expect_refusal(
        "POST", "/api/entities", 422, "unknown_entity_type", canonical_name="X", entity_type="ship"
    )
    desk.expect_refusal(
        "POST", "/api/entities", 422, None, canonical_name="X", entity_type="person", created_by="me"
    )
    desk.expect_refusal("PATCH", f"/api/entities/{juan}", 422, "merge_it", curation_state="merged")
    desk.do("entity.update", {"entity_id": ana, "parent_id": juan})
    desk.expect_refusal("PATCH", f"/api/entities/{juan}", 422, "parent_in_circle", parent_id=ana)
    reversed_date = [{"as_written": "x", "iso_start": "1700", "iso_end": "1600"}]
    desk.expect_refusal("PATCH", f"/api/entities/{juan}", 422, "interval_reversed", date_values=reversed_date)
    desk.client.patch("/api/library/settings", json={"entity_types": ["ship"]})
    assert (
        desk.client.post("/api/entities", json={"canonical_name": "X", "entity_type": "ship"}).status_code
        == 200
    )


def test_only_a_person_verifies(desk: Desk) -> None:
    juan = desk.entity()
    with pytest.raises(Forbidden):
        desk.do("entity.update", {"entity_id": juan, "curation_state": "verified"}, AGENT)
    desk.do("entity.update", {"entity_id": juan, "curation_state": "verified"})
    with pytest.raises(Forbidden):
        desk.do("entity.delete", {"entity_id": juan}, AGENT)
    assert desk.client.delete(f"/api/entities/{juan}").json()["status"] == "deleted"


def test_a_merge_takes_all_along_and_its_undo_parts_them_again(desk: Desk) -> None:
    page = desk.page()
    juan, other_entity = desk.entity(), desk.entity("Joan Garsia")
    desk.mention(page, juan, "Juan Garcia")
    desk.mention(page, other_entity, "Juan Garcia")
    desk.mention(page, other_entity, "Juan Garcia", nth=1)
    claim = desk.claim(subject_entity_id=other_entity, entity_ids=[juan])
    before = {name: desk.rows(f"SELECT * FROM {name} ORDER BY id") for name in ("mention", "claim_entity")}
    merged = desk.client.post("/api/entities/merge", json={"survivor_id": juan, "ids": [other_entity]})
    assert merged.status_code == 200, merged.text
    assert merged.json()["entity"]["aliases"] == ["Joan Garsia"]
    assert desk.get(f"/api/entities/{juan}/mentions")["total"] == 2
    assert desk.get(f"/api/claims/{claim['id']}")["entity_ids"] == [juan]
    assert desk.get("/api/entities")["total"] == 1
    assert desk.get("/api/entities", curation_state="merged")["items"][0]["merged_into_id"] == juan
    desk.expect_refusal("PATCH", f"/api/entities/{other_entity}", 409, "entity_merged", description="x")
    desk.expect_refusal("DELETE", f"/api/entities/{juan}", 409, "holds_merged")
    links = {"from_id": other_entity, "from_kind": "entity", "to_id": page.lines[0], "link_type": "names"}
    assert desk.expect_refusal("POST", "/api/links", 409, "entity_merged", **links)["live_id"] == juan
    assert desk.get(f"/api/kg/entities/{other_entity}/neighbourhood")["entity_id"] == juan
    desk.undo(merged.json()["audit_id"])
    assert {name: desk.rows(f"SELECT * FROM {name} ORDER BY id") for name in before} == before
    assert desk.get("/api/entities")["total"] == 2


def test_merges_in_a_circle_and_by_machines_are_refused(desk: Desk) -> None:
    entity, second_entity, third_entity = desk.entity("A"), desk.entity("B"), desk.entity("C")
    desk.do("entity.merge", {"survivor_id": second_entity, "ids": [entity]})
    desk.do("entity.merge", {"survivor_id": third_entity, "ids": [second_entity]})
    refusal = desk.expect_refusal(
        "POST", "/api/entities/merge", 409, "entity_merged", survivor_id=entity, ids=[third_entity]
    )
    assert refusal["live_id"] == third_entity
    desk.expect_refusal(
        "POST", "/api/entities/merge", 422, "merged_with_itself", survivor_id=third_entity, ids=[third_entity]
    )
    with pytest.raises(Forbidden):
        desk.do("entity.merge", {"survivor_id": third_entity, "ids": [desk.entity("D")]}, AGENT)


def test_a_storm_of_merges_and_undos_comes_back_to_the_beginning(desk: Desk) -> None:
    page = desk.page()
    ids = [desk.entity(f"Name {number}") for number in range(6)]
    for identity in ids:
        desk.mention(page, identity, "Juan Garcia")
    before = desk.rows("SELECT id, entity_id FROM mention ORDER BY id")
    steps = [
        desk.client.post("/api/entities/merge", json={"survivor_id": ids[0], "ids": [one]}).json()["audit_id"]
        for one in ids[1:]
    ]
    assert desk.get(f"/api/entities/{ids[0]}/mentions")["total"] == 1
    with pytest.raises(ServiceError):
        desk.undo(steps[0])
    for step in reversed(steps):
        desk.undo(step)
    assert desk.rows("SELECT id, entity_id FROM mention ORDER BY id") == before
    assert {row[0] for row in desk.rows("SELECT curation_state FROM entity")} == {"unreviewed"}


def a_match(desk: Desk) -> tuple[str, str, str]:
    entity, second_entity = desk.entity(), desk.entity("Joan Garcia")
    pair = {"survivor_id": entity, "candidate_id": second_entity, "score": 0.9, "method": "name_variant"}
    result = desk.do("entity.propose_matches", {"pairs": [pair]}, AGENT)
    assert desk.do("entity.propose_matches", {"pairs": [pair]}, AGENT) == {"match_ids": []}
    return entity, second_entity, result["match_ids"][0]


def test_a_match_is_accepted_by_a_person_once(desk: Desk) -> None:
    one, two, match = a_match(desk)
    assert desk.get("/api/entity-matches", state="pending")["items"][0]["id"] == match
    with pytest.raises(Forbidden):
        desk.do("entity.decide_match", {"match_id": match, "state": "accepted"}, AGENT)
    decide = lambda: desk.client.post(f"/api/entity-matches/{match}/decide", json={"state": "accepted"})  # noqa: E731
    with ThreadPoolExecutor(2) as pool:
        answers = sorted(one.result().status_code for one in [pool.submit(decide), pool.submit(decide)])
    assert answers == [200, 409]
    assert desk.get(f"/api/entities/{two}")["merged_into_id"] == one
    assert desk.get("/api/entity-matches", entity_id=one)["items"][0]["state"] == "accepted"
    desk.expect_refusal("POST", "/api/entity-matches/none/decide", 404, "match_not_found", state="rejected")
    desk.expect_refusal(
        "POST", f"/api/entity-matches/{match}/decide", 409, "already_decided", state="rejected"
    )


def test_a_machine_may_reject_a_match_and_it_does_not_come_back(desk: Desk) -> None:
    one, two, match = a_match(desk)
    desk.do("entity.decide_match", {"match_id": match, "state": "rejected"}, AGENT)
    pair = {"survivor_id": two, "candidate_id": one, "score": 1.0}
    assert desk.do("entity.propose_matches", {"pairs": [pair]})["match_ids"] == []
    with pytest.raises(ServiceError):
        desk.do("entity.propose_matches", {"pairs": [{**pair, "candidate_id": two}]})


def test_reviews_of_predictions(desk: Desk) -> None:
    entity, second_entity = desk.entity(), desk.entity("The mill", "location")
    body = {"source_entity_id": entity, "relation": "owned", "target_entity_id": second_entity, "score": 0.7}
    path = "/api/kg/kgembed/reviews"
    answer = desk.client.post(path, json=body).json()
    desk.expect_refusal("POST", path, 409, "already_exists", **body)
    claim = desk.claim()["id"]
    own = f"{path}/{answer['id']}"
    desk.expect_refusal("PATCH", own, 422, "not_accepted", state="rejected", resulting_claim_id=claim)
    assert desk.client.patch(own, json={"state": "deferred", "note": "later"}).json()["note"] == "later"
    assert desk.client.patch(own, json={"state": "rejected"}).json()["note"] == "later"
    desk.expect_refusal("PATCH", own, 409, "already_decided", state="pending")
    done = desk.client.patch(own, json={"state": "accepted", "resulting_claim_id": claim})
    assert done.json()["resulting_claim_id"] == claim
    assert done.json()["reviewed_by"]
    assert (
        desk.expect_refusal("PATCH", own, 409, "already_decided", state="rejected")["resulting_claim_id"]
        == claim
    )
    desk.expect_refusal("DELETE", f"/api/entities/{entity}", 409, "has_reviews")
    desk.expect_refusal("PATCH", f"{path}/none", 404, "review_not_found", state="accepted")
    assert desk.get(path, state="accepted")["count"] == 1
    assert desk.get(path, state="pending")["count"] == 0


def test_the_biography_in_its_three_formats(desk: Desk) -> None:
    page = desk.page()
    juan = desk.entity(
        "Juan/García: *el Viejo*", description="A vintner", names=[{"text": "Joannes", "language": "la"}]
    )
    mill = desk.entity("The mill", "location")
    span = page.at("sold the mill")
    source = {
        "source_document_id": page.id,
        "source_char_start": span["char_start"],
        "source_char_end": span["char_end"],
    }
    about = {"subject_entity_id": juan, "object_entity_id": mill, "predicate_verb": "sold"}
    desk.claim("He sold it later", time_start="1650", **about)
    desk.claim("He sold it", time_start="1642", **about, **source)
    path = f"/api/entities/{juan}/export"
    response = desk.client.get(path, params={"format": "json"})
    found = json.loads(response.content)
    assert list(found) == [
        "entity",
        "names",
        "dates",
        "places",
        "statements",
        "relations",
        "sources",
        "generated_at",
    ]
    assert [statement["text"] for statement in found["statements"]] == ["He sold it", "He sold it later"]
    assert found["statements"][0]["citation"] == "Deed"
    assert found["relations"][0]["target_name"] == "The mill"
    assert len(found["relations"][0]["claim_ids"]) == 2
    marked = desk.client.get(path)
    assert "attachment" in marked.headers["content-disposition"]
    assert f"{juan[:8]}.md" in marked.headers["content-disposition"]
    assert "%2F" not in marked.headers["content-disposition"]
    assert r"# Juan/García: \*el Viejo\*" in marked.text
    sections = [line[3:] for line in marked.text.splitlines() if line.startswith("## ")]
    assert sections == ["Names", "Description", "Statements", "Relations", "Sources"]
    plain = desk.client.get(path, params={"format": "text"})
    assert plain.headers["content-type"].startswith("text/plain")
    assert "#" not in plain.text
    desk.expect_refusal("GET", "/api/entities/none/export", 404, "entity_not_found")
    assert desk.client.get(path, params={"format": "pdf"}).status_code == 422


def test_what_is_known_to_be_before_a_date_is_not_told_as_of_that_date(desk: Desk) -> None:
    dates = [
        {"as_written": "before 1700", "iso_end": "1700", "precision": "interval"},
        {"as_written": "after 1640", "iso_start": "1640", "precision": "interval"},
        {"as_written": "1642 to 1650", "iso_start": "1642", "iso_end": "1650", "precision": "interval"},
    ]
    juan = desk.entity("Juan", date_values=dates)
    about = {"subject_entity_id": juan}
    for text, times in (
        ("undated", {}),
        ("the second", {"time_start": "1650"}),
        ("the first", {"time_start": "1642", "time_end": "1650"}),
        ("earlier", {"time_end": "1799"}),
    ):
        desk.claim(text, **about, **times)
    told = desk.client.get(f"/api/entities/{juan}/export", params={"format": "text"}).text
    assert [line[2:] for line in told.splitlines() if line.startswith("- ")] == [
        "before 1700 (../1700)",
        "after 1640 (1640/..)",
        "1642 to 1650 (1642/1650)",
        "../1799: earlier",
        "1642/1650: the first",
        "1650: the second",
        "undated",
    ]


def test_a_hundred_names_in_many_scripts(desk: Desk) -> None:
    names = [
        "王安石",
        "محمّد",
        "דָּוִד",
        "सीता",
        "Ἀριστοτέλης",
        "Владимир",
        "გიორგი",
        "Հայկ",
        "ทองคำ",
        "မောင်",
        "ᏣᎳᎩ",
        "ፈቃደ",
        "ភូមិ",
        "རྒྱལ",
        "ಕನ್ನಡ",
        "தமிழ்",
        "తెలుగు",
        "ગુજરાતી",
        "ਪੰਜਾਬੀ",
        "বাংলা",
        "山田",
        "김철수",
        "ᠮᠣᠩᠭᠣᠯ",
        "ߒߞߏ",
        "ⴰⵎⴰⵣⵉⵖ",
        "𐌰𐍄𐍄𐌰",
        "𒀭",
        "𓂀",
        "𐤀𐤋𐤐",
        "ꦗꦮ",
    ]
    made = {name: desk.entity(name) for name in names}
    for name, identity in made.items():
        assert identity in {item["id"] for item in desk.get("/api/entities", q=name)["items"]}, name
    assert desk.get("/api/entities", q="محمد")["items"][0]["id"] == made["محمّد"]
    assert desk.get("/api/entities", q="דוד")["items"][0]["id"] == made["דָּוִד"]


def test_a_list_finds_names_however_they_are_spelled_and_turned(desk: Desk) -> None:
    made = {
        name: desk.entity(name) for name in ("Łódź", "O'Hare, Nora", "Köhler", "Saint‑Denis", "Juan García.")
    }
    for asked, name in (
        ("lodz", "Łódź"),
        ("Nora O’Hare", "O'Hare, Nora"),
        ("O'Hare, Nora", "O'Hare, Nora"),
        ("koehler", "Köhler"),
        ("kohler", "Köhler"),
        ("saint-denis", "Saint‑Denis"),
        ("García, Juan", "Juan García."),
    ):
        assert [item["id"] for item in desk.get("/api/entities", q=asked)["items"]] == [made[name]], asked
    koehler = desk.entity("Koehler")
    assert koehler in [item["id"] for item in desk.get("/api/entities", q="Köhler")["items"]]


def test_a_found_name_goes_to_the_entity_that_has_it_turned_round(desk: Desk) -> None:
    page, juan = desk.page(["Juan de la Cruz came"]), desk.entity("Cruz, Juan de la")
    place = {
        "segment_id": page.lines[0],
        "representation_id": page.readings[0],
        "char_start": 0,
        "char_end": 15,
    }
    desk.do("mention.take", {"document_id": page.id, "names": [{**place, "entity_type": "person"}]}, AGENT)
    assert [item["entity_id"] for item in desk.names_on(page)["items"]] == [juan]


def test_names_folded_by_an_older_engine_are_folded_again_when_the_project_opens(desk: Desk) -> None:
    place = desk.library.path
    juan = desk.entity("Cruz, Juan de la", names=[{"text": "Köhler"}])
    step = desk.do("entity.update", {"entity_id": juan, "canonical_name": "Cruz, Iuan"})
    assert step["canonical_name"] == "Cruz, Iuan"
    with desk.library.db.write() as conn:
        raw = raw_of(conn)
        for (trigger,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            raw.execute(f'DROP TRIGGER "{trigger}"')
        raw.execute("UPDATE entity SET folded_names = 'cruz, iuan' || char(10) || 'kohler'")
        raw.execute(
            "UPDATE entity__history SET folded_names = 'cruz, juan de la' WHERE folded_names IS NOT NULL"
        )
        raw.execute("UPDATE schema_version SET version = 1 WHERE family = 'knowledge'")
    desk.engine.libraries.release(place)
    desk.library = desk.engine.libraries.get(place)
    assert desk.rows("SELECT folded_names FROM entity") == [("cruz iuan\niuan cruz\nkohler\nkoehler",)]
    (audit_id,) = desk.rows("SELECT max(id) FROM audit")[0]
    desk.undo(audit_id)
    assert desk.rows("SELECT folded_names FROM entity") == [("cruz juan de la\njuan de la cruz",)]


HARMFUL = ('"', "%", "_", "\0", "\u0301", "\u200f", "' OR 1=1 --", "a" * 900)


def test_whatever_is_looked_for_is_only_words(desk: Desk) -> None:
    desk.entity()
    for words in HARMFUL:
        for path in ("/api/entities", "/api/kg/search", "/api/claims"):
            assert desk.client.get(path, params={"q": words}).status_code == 200, (path, words)
