"""Statements: what they rest on, who curates them, the graph, the Trash, what a correction puts in doubt."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from knowledge_desk import AGENT, Desk, Page

from armarium.api import Forbidden, ServiceError


def resting_on(page: Page, words: str) -> dict[str, Any]:
    span = page.at(words)
    return {
        "source_document_id": page.id,
        "source_char_start": span["char_start"],
        "source_char_end": span["char_end"],
    }


def test_a_statement_rests_on_characters_line_by_line(desk: Desk) -> None:
    page = desk.page()
    claim = desk.claim(**resting_on(page, "Lopez his wife\nand sold"))
    assert [one["excerpt"] for one in claim["evidence"]] == ["Lopez his wife", "and sold"]
    assert [one["segment_id"] for one in claim["evidence"]] == page.lines[1:]
    assert claim["source_excerpt"] == "Lopez his wife\nand sold"
    span = page.at("Lopez his wife\nand sold")
    assert (claim["source_char_start"], claim["source_char_end"]) == (span["char_start"], span["char_end"])
    assert (claim["source_type"], claim["source_ids"], claim["stale"]) == ("document", [page.id], False)
    answer = desk.client.post("/api/locations/resolve", json={"claimId": claim["id"]}).json()
    assert (answer["documentId"], answer["resolvedSegmentId"]) == (page.id, page.lines[1])


def test_a_statement_is_curated_by_persons_only(desk: Desk) -> None:
    claim = desk.claim()["id"]
    desk.do("claim.update", {"claim_id": claim, "curation_state": "shortlisted"}, AGENT)
    for state in ("curated", "rejected"):
        with pytest.raises(Forbidden):
            desk.do("claim.update", {"claim_id": claim, "curation_state": state}, AGENT)
    response = desk.client.patch(
        f"/api/claims/{claim}", json={"curation_state": "curated", "qualifier": "perhaps"}
    )
    assert response.json()["curation_state"] == "curated"
    assert response.json()["text"] == "Juan Garcia sold the mill"
    with pytest.raises(Forbidden):
        desk.do("claim.delete", {"claim_id": claim}, AGENT)
    assert desk.client.delete(f"/api/claims/{claim}").json()["status"] == "deleted"
    desk.expect_refusal("GET", f"/api/claims/{claim}", 404, "claim_not_found")


def test_what_a_statement_may_not_rest_on(desk: Desk) -> None:
    page, claim_id = desk.page(), desk.claim()["id"]
    other_claim = desk.claim(source_ids=[claim_id])
    assert (other_claim["source_type"], other_claim["source_ids"]) == ("claim", [claim_id])
    desk.expect_refusal(
        "PATCH", f"/api/claims/{claim_id}", 422, "rests_on_itself", source_ids=[other_claim["id"]]
    )
    path, text = "/api/claims", {"text": "x"}
    desk.expect_refusal("POST", path, 404, "source_not_found", **text, source_ids=["nothing"])
    desk.expect_refusal("POST", path, 422, "incomplete_span", **text, source_char_start=1, source_char_end=3)
    desk.expect_refusal(
        "POST", path, 422, "incomplete_span", **text, source_document_id=page.id, source_char_start=1
    )
    desk.expect_refusal(
        "POST",
        path,
        422,
        "not_words",
        **text,
        source_document_id=page.id,
        source_char_start=0,
        source_char_end=9999,
    )
    for kind, sources in (("document", [claim_id]), ("claim", [page.id]), ("multiple", [claim_id])):
        desk.expect_refusal("POST", path, 422, "source_type", **text, source_type=kind, source_ids=sources)
    desk.expect_refusal("POST", path, 422, "interval_reversed", **text, time_start="1700", time_end="1650")
    desk.expect_refusal("POST", path, 404, "entity_not_found", **text, subject_entity_id="nobody")
    desk.expect_refusal("POST", path, 422, None, **text, curation_state="curated")


def test_lists_and_search_of_statements(desk: Desk) -> None:
    page, juan, mill = desk.page(), desk.entity(), desk.entity("The mill", "location")
    claim = desk.claim(
        subject_entity_id=juan,
        object_entity_id=mill,
        predicate_verb="sold",
        **resting_on(page, "sold the mill"),
    )
    desk.claim("Ana Lopez was his wife", claim_type="analysis")
    assert claim["subject_canonical"] == "Juan Garcia"
    for query in ({"q": "MILL sold"}, {"entity_id": mill}, {"document_id": page.id}, {"claim_type": "fact"}):
        assert [item["id"] for item in desk.get("/api/claims", **query)["items"]] == [claim["id"]], query
    assert desk.get("/api/claims", curation_state="curated")["total"] == 0
    assert [item["id"] for item in desk.get("/api/entities", entity_id=juan)["items"]] == [mill]
    answer = desk.get("/api/kg/search", q="mill")
    assert (
        [entity["id"] for entity in answer["entities"]],
        [claim["id"] for claim in answer["claims"]],
        answer["count"],
    ) == (
        [mill],
        [claim["id"]],
        2,
    )
    assert desk.get("/api/kg/search", q="mill", kinds=["entities"])["claims"] == []


def test_the_neighbourhood_of_an_entity(desk: Desk) -> None:
    ids = [desk.entity(f"N{number}") for number in range(5)]
    for one, other in itertools.pairwise(ids):
        desk.claim(
            f"{one} knows {other}", subject_entity_id=one, object_entity_id=other, predicate_verb="knows"
        )
    desk.claim("again", subject_entity_id=ids[0], object_entity_id=ids[1], predicate_verb="knows")
    rejected = desk.claim("no", subject_entity_id=ids[0], object_entity_id=ids[4], predicate_verb="hates")[
        "id"
    ]
    desk.do("claim.update", {"claim_id": rejected, "curation_state": "rejected"})
    path = f"/api/kg/entities/{ids[0]}/neighbourhood"
    near = desk.get(path)
    assert {node["id"]: node["depth"] for node in near["nodes"]} == {ids[0]: 0, ids[1]: 1}
    assert [(edge["source"], edge["target"], len(edge["claim_ids"])) for edge in near["edges"]] == [
        (ids[0], ids[1], 2)
    ]
    far = desk.get(path, depth=3)
    assert {node["id"]: node["depth"] for node in far["nodes"]} == {
        identity: depth for depth, identity in enumerate(ids[:4])
    }
    few = desk.get(path, depth=3, limit=2)
    assert (len(few["nodes"]), few["truncated"]) == (2, True)
    assert desk.client.get(path, params={"depth": 4}).status_code == 422


def trash(desk: Desk, *pages: Page) -> str:
    answer = desk.client.post("/api/documents/delete", json={"ids": [page.id for page in pages]})
    if answer.status_code == 404:
        return str(
            desk.engine.run(
                desk.library, "document.delete", {"ids": [page.id for page in pages]}, owner()
            ).audit_id
        )
    return str(answer.json()["audit_id"])


def owner() -> Any:
    from armarium.principals import LOCAL_OWNER

    return LOCAL_OWNER


def test_what_rests_on_the_trash_alone_is_left_out_and_removed_with_it(desk: Desk) -> None:
    page, stays = desk.page(name="Gone"), desk.page(name="Stays")
    only, both, checked, bare = (desk.entity(name) for name in ("Only", "Both", "Checked", "Bare"))
    for entity_id in (only, both, checked):
        desk.mention(page, entity_id, "Juan Garcia")
    desk.mention(stays, both, "Juan Garcia")
    # What was the one's once and is another's now does not go with the one.
    desk.mention(stays, only, "Ana Lopez")
    where = {"entity_id": only, "document_id": stays.id, **stays.at("Ana Lopez")}
    step = desk.client.post(
        f"/api/entities/{only}/mentions/repoint",
        json={**{k: v for k, v in where.items() if k != "entity_id"}, "to_entity_id": both},
    )
    assert step.status_code == 200, step.text
    desk.do("entity.update", {"entity_id": checked, "curation_state": "verified"})
    lost = desk.claim("lost", subject_entity_id=only, **resting_on(page, "sold the mill"))["id"]
    claim = desk.claim("kept", source_ids=[page.id, stays.id])["id"]
    second = desk.claim("second hand", source_ids=[lost])["id"]
    free = desk.claim("free")["id"]

    def list_ids() -> tuple[set[str], set[str]]:
        names = {item["id"] for item in desk.get("/api/entities")["items"]}
        ids = {item["id"] for item in desk.get("/api/claims")["items"]}
        stats = desk.get("/api/library/stats")
        assert (stats["entities"], stats["claims"]) == (len(names), len(ids))
        return names, ids

    everything = ({only, both, checked, bare}, {lost, claim, second, free})
    assert list_ids() == everything
    trash(desk, page)
    assert list_ids() == ({both, checked, bare}, {claim, free})
    assert desk.get("/api/kg/search", q="only")["count"] == 0
    assert desk.get(f"/api/entities/{both}")["source_document_ids"] == [stays.id]
    desk.client.post(f"/api/documents/{page.id}/restore")
    assert list_ids() == everything
    trash(desk, page)
    plan = desk.get("/api/documents/trash/empty")
    assert (plan["statements"], plan["entities"]) == (2, 1)
    assert "1 document in all, and 2 statements and 1 entity that rest on them alone?" in plan["question"]
    answer = desk.client.post("/api/documents/trash/empty", json={})
    assert answer.status_code == 200, answer.text
    assert (answer.json()["removed"]["statements"], answer.json()["removed"]["entities"]) == (2, 1)
    assert list_ids() == ({both, checked, bare}, {claim, free})
    assert desk.get(f"/api/claims/{claim}")["source_ids"] == [stays.id]
    desk.expect_refusal("GET", f"/api/entities/{only}", 404, "entity_not_found")
    assert [item["text"] for item in desk.names_on(stays)["items"]] == ["Juan Garcia", "Ana Lopez"]
    with pytest.raises(ServiceError):
        desk.undo(step.json()["audit_id"])


def test_what_hangs_on_an_entity_does_not_keep_the_trash_from_being_emptied(desk: Desk) -> None:
    page, mill = desk.page(), desk.entity("The mill", "location")
    juan, child = desk.entity(), desk.entity("His house", "location")
    twin, merged = desk.entity("Joan"), desk.entity("J. Garcia")
    desk.mention(page, juan, "Juan Garcia")
    desk.do("entity.merge", {"survivor_id": juan, "ids": [merged]})
    desk.do("entity.update", {"entity_id": child, "parent_id": juan})
    desk.do("entity.propose_matches", {"pairs": [{"survivor_id": twin, "candidate_id": juan, "score": 0.9}]})
    predicted = {"source_entity_id": juan, "relation": "owned", "target_entity_id": mill, "score": 0.5}
    review = desk.do("prediction_review.create", predicted)["id"]
    claim = desk.claim("free")["id"]
    decided = {"review_id": review, "state": "accepted", "resulting_claim_id": claim}
    desk.do("prediction_review.decide", decided)
    desk.do("link.create", {"from_id": juan, "from_kind": "entity", "to_id": mill, "to_kind": "entity",
                            "link_type": "related_to"})  # fmt: skip
    trash(desk, page)
    plan = desk.get("/api/documents/trash/empty")
    answer = desk.client.post("/api/documents/trash/empty", json={})
    assert answer.status_code == 200, answer.text
    assert plan["entities"] == answer.json()["removed"]["entities"] == 2
    assert {item["id"] for item in desk.get("/api/entities")["items"]} == {mill, child, twin}
    assert desk.get(f"/api/entities/{child}")["parent_id"] is None
    assert desk.get("/api/kg/kgembed/reviews")["count"] == desk.get("/api/entity-matches")["total"] == 0
    assert [item["id"] for item in desk.get("/api/claims")["items"]] == [claim]


def test_a_correction_puts_its_line_in_doubt_and_nothing_else(desk: Desk) -> None:
    page, juan = desk.page(), desk.entity()
    first = desk.mention(page, juan, "Juan Garcia")["id"]
    desk.mention(page, juan, "Juan Garcia", nth=1)
    claim = desk.claim(**resting_on(page, "came Juan Garcia"))["id"]
    claim_id = desk.claim("He was of Toledo", **resting_on(page, "of Toledo"))["id"]
    view = desk.do(
        "interpretation.create",
        {"document_id": page.id, "framework_id": "f", "framework_name": "F", "text": "t"},
    )
    assert desk.get("/api/staleness", document_id=page.id)["items"] == []
    audit = desk.correct(page.lines[0], "Before me came Juan Garcia of Talavera")["audit_id"]
    answer = desk.get("/api/staleness", audit_id=audit)
    told = {(item["kind"], item["id"]): item["todo"] for item in answer["items"]}
    assert told == {
        ("mention", first): "confirm",
        ("statement", claim): "confirm",
        ("statement", claim_id): "review",
        ("interpretation", view["id"]): "confirm",
    }
    assert desk.get("/api/staleness", segment_id=page.lines[2])["count"] == 1
    stale = {item["id"]: item["stale"] for item in desk.get("/api/claims")["items"]}
    assert stale == {claim: True, claim_id: True}
    # The list takes lines from the texts as they are kept, one statement works its page's text out.
    for item in desk.get("/api/claims")["items"]:
        assert item == desk.get(f"/api/claims/{item['id']}")
    items = [{"kind": "mention", "id": first}, {"kind": "statement", "id": claim}]
    confirmed = desk.client.post("/api/staleness/confirm", json={"items": items})
    assert confirmed.json()["confirmed"] == 2
    ids = {item["id"] for item in desk.get("/api/staleness", segment_id=page.lines[0])["items"]}
    assert ids == {claim_id, view["id"]}
    desk.undo(confirmed.json()["audit_id"])
    assert desk.get("/api/staleness", document_id=page.id)["count"] == 4
    desk.undo(audit)
    assert desk.get("/api/staleness", document_id=page.id)["count"] == 0


def test_what_is_in_doubt_in_the_whole_project_is_listed_part_by_part(desk: Desk) -> None:
    juan, pages = desk.entity(), [desk.page(), desk.page(), desk.page()]
    named = {page.id: desk.mention(page, juan, "Juan Garcia")["id"] for page in pages}
    corrected = [pages[2], pages[0]]
    for page in corrected:
        desk.correct(page.lines[0], "Before me came Juan Garcia of Talavera")
    answer = desk.get("/api/staleness")
    # Newest first; the page that was not corrected is looked through too, and has nothing.
    assert [item["id"] for item in answer["items"]] == [named[page.id] for page in reversed(corrected)]
    assert (answer["pages"], answer["pages_left"]) == (3, 0)
    parts = [desk.get("/api/staleness", limit=1, offset=at) for at in range(3)]
    assert [part["pages_left"] for part in parts] == [2, 1, 0]
    assert [row for part in parts for row in part["items"]] == answer["items"]
    desk.client.delete(f"/api/documents/{pages[0].id}")
    assert [item["document_id"] for item in desk.get("/api/staleness")["items"]] == [pages[2].id]


def test_verdicts_on_what_is_in_doubt_are_in_doubt_until_it_is_confirmed(desk: Desk) -> None:
    page, juan = desk.page(), desk.entity()
    named = desk.mention(page, juan, "Juan Garcia")["id"]
    claim = desk.claim(**resting_on(page, "came Juan Garcia"))["id"]
    for layer, target in (("claims", claim), ("entities", juan)):
        for _ in range(2):
            desk.do(
                "check.verdict", {"layer": layer, "target_id": target, "verdict": "confirm", "reasons": "so"}
            )

    def list_verdicts() -> list[dict[str, Any]]:
        items = desk.get("/api/staleness", document_id=page.id)["items"]
        return [item for item in items if item["kind"] == "verdict"]

    assert list_verdicts() == []
    audit = desk.correct(page.lines[0], "Before me came Juan Garcia of Talavera")["audit_id"]
    assert [(verdict["todo"], verdict["segment_id"]) for verdict in list_verdicts()] == [
        ("redo", page.lines[0])
    ] * 2
    one = {"kind": "verdict", "id": list_verdicts()[0]["id"]}
    assert desk.client.post("/api/staleness/confirm", json={"items": [one]}).status_code in (404, 409)
    desk.do(
        "check.verdict", {"layer": "claims", "target_id": claim, "verdict": "confirm", "reasons": "still"}
    )
    assert len(list_verdicts()) == 1
    confirmed = desk.client.post("/api/staleness/confirm", json={"items": [{"kind": "mention", "id": named}]})
    assert list_verdicts() == []
    desk.undo(confirmed.json()["audit_id"])
    assert len(list_verdicts()) == 1
    desk.undo(audit)
    assert list_verdicts() == []


def test_refusals_of_staleness(desk: Desk) -> None:
    page = desk.page()
    juan = desk.entity()
    mention = desk.mention(page, juan, "Juan Garcia")["id"]
    claim = desk.claim(**resting_on(page, "Juan Garcia"))["id"]
    desk.correct(page.lines[0], "Nothing")
    desk.expect_refusal("GET", "/api/staleness?audit_id=none", 404, "audit_not_found")
    confirm = "/api/staleness/confirm"
    for kind, identity in (("mention", mention), ("statement", claim)):
        desk.expect_refusal("POST", confirm, 409, "words_gone", items=[{"kind": kind, "id": identity}])
    for kind in ("mention", "statement", "interpretation", "artifact", "reading", "tale"):
        desk.expect_refusal("POST", confirm, 404, "nothing_rests", items=[{"kind": kind, "id": "none"}])


def test_interpretations(desk: Desk) -> None:
    page = desk.page()
    body = {
        "document_id": page.id,
        "framework_id": "f",
        "framework_name": "F",
        "text": "t",
        "key_insights": ["a"],
    }
    response = desk.client.post("/api/interpretations", json=body)
    assert response.json()["key_insights"] == ["a"]
    assert desk.get("/api/interpretations", document_id=page.id, framework_id="f")["total"] == 1
    assert desk.get("/api/interpretations", framework_id="g")["total"] == 0
    assert desk.client.delete(f"/api/interpretations/{response.json()['id']}").json()["status"] == "deleted"
    desk.expect_refusal(
        "DELETE", f"/api/interpretations/{response.json()['id']}", 404, "interpretation_not_found"
    )


def test_evidence_is_carried_across_a_match(desk: Desk) -> None:
    page = desk.page()
    claim = desk.claim(**resting_on(page, "sold the mill"))["id"]
    desk.claim("other", **resting_on(page, "Juan Garcia"))
    other_pass_id = str(desk.do("segment.pass_create", {"document_id": page.id, "name": "Second"})["id"])
    new = desk.lay(page.id, other_pass_id, ["Before me", "and Ana", "and he sold the mill to Juan"])
    match = desk.do(
        "segment.match_propose", {"from_segment_id": page.lines[2], "to_segment_id": new.lines[2]}
    )["id"]
    desk.do("segment.match_accept", {"match_id": match})
    carried = desk.client.post("/api/segments/carry", json={"match_id": match, "kinds": ["claim_evidence"]})
    assert carried.status_code == 200, carried.text
    assert len(carried.json()["carried"]) == 1
    assert [one["segment_id"] for one in desk.get(f"/api/claims/{claim}")["evidence"]] == [
        page.lines[2],
        new.lines[2],
    ]
    second_answer = desk.client.post(
        "/api/segments/carry", json={"match_id": match, "kinds": ["claim_evidence"]}
    )
    assert "already" in second_answer.json()["not_carried"][0]["why"]
