"""Merging, splitting, matching, carrying and citing: what they write, each refusal, and where citations lead."""

from __future__ import annotations

from typing import Any

import pytest
from source_model_fixtures import AGENT, anchor

from armarium.api import Conflict, Invalid, NotFound, ServiceError
from armarium_source_model.queries.forwarding import follow
from armarium_source_model.queries.readings import readings_of
from armarium_source_model.queries.segments import get_segment
from armarium_source_model.queries.text import page_text


def expect_refusal(kind: type[ServiceError], desk: Any, name: str, /, **params: Any) -> ServiceError:
    with pytest.raises(kind) as caught:
        desk.run(name, **params)
    return caught.value


def leads_to(desk: Any, segment_id: str) -> list[str]:
    with desk.library.db.read() as conn:
        return follow(conn, segment_id)[1]


def text_of(desk: Any, page: str) -> str:
    with desk.library.db.read() as conn:
        return page_text(conn, page).text


def row_of(desk: Any, segment_id: str) -> Any:
    with desk.library.db.read() as conn:
        return get_segment(conn, segment_id)


def parts(*texts: str | None) -> list[dict[str, Any]]:
    width = 0.8 / len(texts)
    return [
        {
            "anchor": {"rect": [0.1 + n * width, 0.1, width, 0.04]},
            **({"text": text} if text is not None else {}),
        }
        for n, text in enumerate(texts)
    ]


# Merging


def test_merging_joins_shapes_and_texts_and_forwards_citations(desk: Any) -> None:
    page = desk.page()
    pass_id = desk.new_pass(page)
    ids = []
    for n, x in enumerate((0.5, 0.1)):
        square = [[x, 0.1], [x + 0.3, 0.1], [x + 0.3, 0.15], [x, 0.15]]
        result = desk.run(
            "segment.create",
            document_id=page,
            pass_id=pass_id,
            kind="line",
            anchor={"rect": [x, 0.1, 0.3, 0.05], "polygon": square},
            baseline=[[x, 0.14], [x + 0.3, 0.14]],
        )
        ids.append(result["id"])
        desk.correct(result["id"], f"piece {n}")
    right, left = ids
    word = desk.run(
        "segment.create",
        document_id=page,
        pass_id=pass_id,
        kind="word",
        anchor=anchor(),
        parent_segment_id=left,
    )["id"]
    merged = desk.run(
        "segment.merge", segment_ids=ids, keep_id=right, expected_versions=[1, 1], reason="one line"
    )
    assert merged["absorbed_ids"] == [left]
    assert merged["anchor"]["rect"] == pytest.approx([0.1, 0.1, 0.7, 0.05])
    assert len(merged["anchor"]["polygon"]) == 4
    assert merged["baseline"][0] == [0.1, 0.14]
    assert merged["text"] == "piece 1\npiece 0"
    assert leads_to(desk, left) == [right]
    assert row_of(desk, word).parent_segment_id == right
    undone = desk.undo()
    assert leads_to(desk, left) == [left]
    assert text_of(desk, page) == "piece 1\npiece 0"
    assert row_of(desk, word).parent_segment_id == left
    desk.undo(undone)
    assert leads_to(desk, left) == [right]


def test_merging_lines_below_each_other_keeps_the_keepers_baseline(desk: Any) -> None:
    page = desk.page()
    pass_id = desk.new_pass(page)
    a, b, c = desk.lines(page, pass_id)
    for segment_id in (a, b):
        desk.run(
            "segment.update", segment_id=segment_id, expected_version=1, baseline=[[0.1, 0.5], [0.9, 0.5]]
        )
    merged = desk.run("segment.merge", segment_ids=[b, c], keep_id=a)
    assert merged["baseline"] == [[0.1, 0.5], [0.9, 0.5]]
    assert "polygon" not in merged["anchor"]
    assert merged["text"] is None
    assert sorted(merged["absorbed_ids"]) == sorted([b, c])


def test_a_region_merged_with_a_line_inside_it_is_not_inside_itself(desk: Any) -> None:
    page = desk.page()
    outer, inner, other = desk.lines(page, desk.new_pass(page))
    desk.run("segment.update", segment_id=inner, expected_version=1, parent_segment_id=outer)
    desk.run("segment.update", segment_id=outer, expected_version=1, parent_segment_id=other)
    desk.run("segment.merge", segment_ids=[outer], keep_id=inner)
    assert row_of(desk, inner).parent_segment_id == other


def test_merging_refuses_what_does_not_fit(desk: Any) -> None:
    page = desk.page()
    pass_id = desk.new_pass(page)
    a, b, c = desk.lines(page, pass_id)
    foreign = desk.lines(page, desk.new_pass(page), 1)[0]
    merge = "segment.merge"
    assert expect_refusal(Invalid, desk, merge, segment_ids=[a], keep_id=a).code == "nothing_to_merge"
    assert expect_refusal(Invalid, desk, merge, segment_ids=[b, b], keep_id=a).code == "named_twice"
    assert (
        expect_refusal(Invalid, desk, merge, segment_ids=[b], keep_id=a, expected_versions=[1, 1]).code
        == "uneven_lists"
    )
    assert (
        expect_refusal(Invalid, desk, merge, segment_ids=["legacy:a:0"], keep_id=a).code == "provisional_id"
    )
    assert expect_refusal(Conflict, desk, merge, segment_ids=[foreign], keep_id=a).code == "other_pass"
    assert (
        expect_refusal(Conflict, desk, merge, segment_ids=[b], keep_id=a, expected_versions=[7]).code
        == "stale_version"
    )
    expect_refusal(NotFound, desk, merge, segment_ids=["nowhere"], keep_id=a)
    expect_refusal(NotFound, desk, merge, segment_ids=[a], keep_id="nowhere")
    desk.run(merge, segment_ids=[b], keep_id=a)
    refusal = expect_refusal(Conflict, desk, merge, segment_ids=[a], keep_id=b)
    assert refusal.code == "forwarding_would_loop"
    assert expect_refusal(Conflict, desk, merge, segment_ids=[c], keep_id=b).code == "segment_deleted"
    assert expect_refusal(Conflict, desk, merge, segment_ids=[b], keep_id=c).fields["live_segment_ids"] == [a]


def test_a_chain_of_merges_leads_to_its_end(desk: Any) -> None:
    page = desk.page()
    a, b, c = desk.lines(page, desk.new_pass(page))
    desk.run("segment.merge", segment_ids=[a], keep_id=b)
    desk.run("segment.merge", segment_ids=[b], keep_id=c)
    assert leads_to(desk, a) == [c]
    desk.run("segment.delete", segment_ids=[c], expected_versions=[2])
    assert leads_to(desk, a) == []
    desk.run("segment.undelete", segment_ids=[a])
    assert leads_to(desk, a) == [a]


def test_a_merged_segment_whose_return_is_taken_back_leads_to_its_keeper_again(desk: Any) -> None:
    page = desk.page()
    keep, absorbed, deleted = desk.lines(page, desk.new_pass(page), 3)
    desk.run("segment.merge", segment_ids=[keep, absorbed], keep_id=keep, reason="one line")
    desk.run("segment.delete", segment_ids=[deleted], expected_versions=[1])
    desk.run("segment.undelete", segment_ids=[absorbed, deleted])
    returned = desk.audit_id
    assert (leads_to(desk, absorbed), leads_to(desk, deleted)) == ([absorbed], [deleted])
    taken_back = desk.undo(returned)
    assert (leads_to(desk, absorbed), leads_to(desk, deleted)) == ([keep], [])
    with desk.library.db.read() as conn:
        newest = follow(conn, absorbed)[0][-1]
    assert (newest["kind"], newest["new_segment_ids"], newest["reason"]) == ("merged", [keep], "one line")
    desk.undo(taken_back)
    assert (leads_to(desk, absorbed), leads_to(desk, deleted)) == ([absorbed], [deleted])


# Splitting


def test_the_first_part_keeps_the_id_and_the_readings(desk: Any) -> None:
    page = desk.page()
    pass_id = desk.new_pass(page)
    whole = desk.lines(page, pass_id, 1)[0]
    desk.correct(whole, "Dear Sir")
    words = [
        desk.run(
            "segment.create",
            document_id=page,
            pass_id=pass_id,
            kind="word",
            anchor={"rect": [x, 0.1, 0.1, 0.04]},
            parent_segment_id=whole,
        )["id"]
        for x in (0.15, 0.7)
    ]
    result = desk.run("segment.split", segment_id=whole, expected_version=1, parts=parts("Dear", "Sir"))
    assert result["segment_ids"][0] == whole
    second = result["segment_ids"][1]
    assert [item["text"] for item in result["items"]] == ["Dear", "Sir"]
    assert [item["version"] for item in result["items"]] == [2, 1]
    assert leads_to(desk, whole) == [whole, second]
    assert [row_of(desk, word).parent_segment_id for word in words] == [whole, second]
    with desk.library.db.read() as conn:
        assert readings_of(conn, whole)["count"] == 2
    undone = desk.undo()
    assert leads_to(desk, whole) == [whole]
    assert leads_to(desk, second) == [whole]
    assert text_of(desk, page) == "Dear Sir"
    desk.undo(undone)
    assert leads_to(desk, second) == [second]
    assert leads_to(desk, whole) == [whole, second]


def test_what_was_split_can_be_merged_again(desk: Any) -> None:
    page = desk.page()
    whole = desk.lines(page, desk.new_pass(page), 1)[0]
    second = desk.run("segment.split", segment_id=whole, expected_version=1, parts=parts(None, None))[
        "segment_ids"
    ][1]
    desk.run("segment.merge", segment_ids=[second], keep_id=whole)
    assert leads_to(desk, whole) == [whole]
    assert leads_to(desk, second) == [whole]


def test_splitting_refuses_what_does_not_fit(desk: Any) -> None:
    page = desk.page()
    whole = desk.lines(page, desk.new_pass(page), 1)[0]
    split = {"segment_id": whole, "expected_version": 1}
    expect_refusal(Invalid, desk, "segment.split", **split, parts=parts(None))
    bad = [*parts(None), {"anchor": {"rect": [0.5, 0.5, 0.9, 0.1]}}]
    refusal = expect_refusal(Invalid, desk, "segment.split", **split, parts=bad)
    assert (refusal.fields["index"], refusal.detail[:10]) == (1, "parts[1]: ")
    flat = [*parts(None), {**parts(None)[0], "baseline": [[0.1, 0.1]]}]
    assert expect_refusal(Invalid, desk, "segment.split", **split, parts=flat).fields["index"] == 1
    good = parts(None, None)
    refusal = expect_refusal(
        Conflict, desk, "segment.split", segment_id=whole, expected_version=2, parts=good
    )
    assert refusal.code == "stale_version"
    expect_refusal(NotFound, desk, "segment.split", segment_id="nowhere", expected_version=1, parts=good)
    refusal = expect_refusal(
        Invalid, desk, "segment.split", segment_id="legacy:a:0", expected_version=1, parts=good
    )
    assert refusal.code == "provisional_id"


# Matching and carrying


@pytest.fixture
def rivals(desk: Any) -> dict[str, Any]:
    """A page with two passes of two lines each, and a match of their first lines."""
    page = desk.page()
    old = desk.machine_lines(page, ["Deer Sir", "two"])["segment_ids"]
    new = desk.machine_lines(page, [None, None], "m2")["segment_ids"]
    match = desk.as_(AGENT).run(
        "segment.match_propose",
        from_segment_id=old[0],
        to_segment_id=new[0],
        certainty=0.8,
        note="same place",
    )
    return {"page": page, "old": old, "new": new, "match": match["id"]}


def test_a_machine_proposes_and_only_a_person_accepts(desk: Any, rivals: dict[str, Any]) -> None:
    refusal = expect_refusal(Invalid, desk.as_(AGENT), "segment.match_accept", match_id=rivals["match"])
    assert refusal.code == "match_needs_a_person"
    accepted = desk.run("segment.match_accept", match_id=rivals["match"])
    assert (accepted["state"], accepted["proposed_by_kind"], accepted["accepted_by"]) == (
        "accepted",
        "agent",
        "owner",
    )
    for name in ("accept", "reject", "withdraw"):
        refusal = expect_refusal(Conflict, desk, f"segment.match_{name}", match_id=rivals["match"])
        assert refusal.code == "already_decided"
    desk.undo()
    assert desk.as_(AGENT).run("segment.match_reject", match_id=rivals["match"])["state"] == "rejected"


def test_a_machine_takes_no_rejection_back_and_proposes_no_rejected_match_again(
    desk: Any, rivals: dict[str, Any]
) -> None:
    desk.run("segment.match_reject", match_id=rivals["match"])
    with pytest.raises(ServiceError) as refusal:
        desk.engine.undo(desk.library, [desk.audit_id], AGENT)
    assert refusal.value.code == "match_needs_a_person"
    ends = {"from_segment_id": rivals["old"][0], "to_segment_id": rivals["new"][0]}
    assert expect_refusal(Conflict, desk.as_(AGENT), "segment.match_propose", **ends).code == "already_exists"
    desk.undo()


def test_a_match_is_between_two_passes_of_one_page(desk: Any, rivals: dict[str, Any]) -> None:
    old, new = rivals["old"], rivals["new"]
    propose = "segment.match_propose"
    elsewhere = desk.machine_lines(desk.page(), [None])["segment_ids"][0]
    refusal = expect_refusal(Conflict, desk, propose, from_segment_id=old[0], to_segment_id=elsewhere)
    assert refusal.code == "other_document"
    assert (
        expect_refusal(Conflict, desk, propose, from_segment_id=old[0], to_segment_id=old[1]).code
        == "same_pass"
    )
    refusal = expect_refusal(Conflict, desk, propose, from_segment_id=old[0], to_segment_id=new[0])
    assert (refusal.code, refusal.fields["id"]) == ("already_exists", rivals["match"])
    expect_refusal(NotFound, desk, propose, from_segment_id=old[0], to_segment_id="nowhere")
    assert (
        expect_refusal(Invalid, desk, propose, from_segment_id=old[0], to_segment_id="legacy:a:1").code
        == "provisional_id"
    )
    expect_refusal(Invalid, desk, propose, from_segment_id=old[0], to_segment_id=new[1], certainty=1.5)


def test_a_withdrawn_proposal_is_gone(desk: Any, rivals: dict[str, Any]) -> None:
    desk.run("segment.match_withdraw", match_id=rivals["match"])
    for name in ("accept", "reject", "withdraw"):
        expect_refusal(NotFound, desk, f"segment.match_{name}", match_id=rivals["match"])
    desk.run("segment.match_propose", from_segment_id=rivals["old"][0], to_segment_id=rivals["new"][0])


def test_readings_are_copied_across_an_accepted_match_and_uncarried(
    desk: Any, rivals: dict[str, Any]
) -> None:
    old, new = rivals["old"][0], rivals["new"][0]
    mine = desk.correct(old, "Dear Sir")
    assert (
        expect_refusal(Conflict, desk, "segment.carry", match_id=rivals["match"]).code == "match_not_accepted"
    )
    desk.run("segment.match_accept", match_id=rivals["match"])
    answer = desk.run("segment.carry", match_id=rivals["match"])
    assert len(answer["carried"]) == 2
    assert {one["kind"] for one in answer["not_carried"]} == {"claim_evidence"}
    with desk.library.db.read() as conn:
        carried, readings = readings_of(conn, new), readings_of(conn, old)
    assert readings["counting"]["transcription"]["representation_id"] == mine
    assert carried["counting"]["transcription"]["basis"] == "correction"
    assert [item["content"] for item in carried["items"]] == ["Deer Sir", "Dear Sir"]
    assert [item["provenance_kind"] for item in carried["items"]] == ["workflow", "human"]
    step = desk.audit_id
    second_outcome = desk.run("segment.carry", match_id=rivals["match"], kinds=["reading"])
    assert second_outcome["carried"] == []
    assert all("already been carried" in one["why"] for one in second_outcome["not_carried"])
    desk.undo(step)
    with desk.library.db.read() as conn:
        assert readings_of(conn, new)["items"] == []
        assert readings_of(conn, old)["count"] == 2
        names = conn.exec_driver_sql("SELECT action_name FROM audit ORDER BY seq DESC LIMIT 1").scalar_one()
    assert names == "segment.uncarry"


def test_a_machine_that_carries_does_not_become_the_person(desk: Any, rivals: dict[str, Any]) -> None:
    desk.correct(rivals["old"][0], "Dear Sir")
    desk.run("segment.match_accept", match_id=rivals["match"])
    desk.as_(AGENT).run("segment.carry", match_id=rivals["match"], kinds=["reading"])
    with desk.library.db.read() as conn:
        kinds = [item["provenance_kind"] for item in readings_of(conn, rivals["new"][0])["items"]]
    assert kinds == ["workflow", "agent"]


def test_no_reading_is_carried_where_several_lines_match_one(desk: Any, rivals: dict[str, Any]) -> None:
    second = desk.run(
        "segment.match_propose", from_segment_id=rivals["old"][1], to_segment_id=rivals["new"][0]
    )
    for match_id in (rivals["match"], second["id"]):
        desk.run("segment.match_accept", match_id=match_id)
    answer = desk.run("segment.carry", match_id=second["id"], kinds=["reading"])
    assert answer["carried"] == []
    assert [("one to one" in one["why"], bool(one["original_id"])) for one in answer["not_carried"]] == [
        (True, True)
    ]


# Over HTTP


def test_joins_over_http(client: Any, desk: Any, rivals: dict[str, Any]) -> None:
    page, old, new = rivals["page"], rivals["old"], rivals["new"]
    listed = client.get(f"/api/segments/document/{page}/matches").json()
    assert (listed["count"], listed["items"][0]["note"]) == (1, "same place")
    assert client.get("/api/segments/document/nowhere/matches").status_code == 404
    body = {"from_segment_id": old[1], "to_segment_id": new[1]}
    second = client.post("/api/segments/matches", json=body).json()["id"]
    assert client.post(f"/api/segments/matches/{second}/reject").json()["state"] == "rejected"
    third = client.post("/api/segments/matches", json={**body, "to_segment_id": new[0]}).json()["id"]
    assert client.post(f"/api/segments/matches/{third}/withdraw").status_code == 200
    assert client.post(f"/api/segments/matches/{rivals['match']}/accept").json()["state"] == "accepted"
    carried = client.post("/api/segments/carry", json={"match_id": rivals["match"], "kinds": ["reading"]})
    assert len(carried.json()["carried"]) == 1
    answer = client.post(
        "/api/segments/split", json={"segment_id": old[0], "expected_version": 1, "parts": parts(None, None)}
    ).json()
    merged = client.post(
        "/api/segments/merge", json={"segment_ids": answer["segment_ids"], "keep_id": old[0]}
    )
    assert merged.json()["absorbed_ids"] == answer["segment_ids"][1:]
    view = client.get(f"/api/segments/{answer['segment_ids'][1]}").json()
    assert (view["resolved_from_forwarding"], view["segment"]["id"]) == (True, old[0])
    loop = client.post(
        "/api/segments/merge", json={"segment_ids": [old[0]], "keep_id": answer["segment_ids"][1]}
    )
    assert (loop.status_code, loop.json()["code"]) == (409, "forwarding_would_loop")


def test_a_citation_leads_to_what_the_segment_became(client: Any, desk: Any, rivals: dict[str, Any]) -> None:
    page, (one, two) = rivals["page"], rivals["old"]
    cited = client.get(f"/api/segments/{one}/reference").json()
    assert cited["reference"] == f"service:segment/{desk.library.uuid}/{page}/{one}"
    desk.run("segment.merge", segment_ids=[one], keep_id=two)
    answer = client.post("/api/locations/resolve", json={"segmentId": cited["reference"]}).json()
    assert (answer["documentId"], answer["resolvedSegmentId"], answer["liveSegmentIds"]) == (page, two, [two])
    assert [note["kind"] for note in answer["segmentForwarding"]] == ["merged"]
    assert answer["path"][-1] == {"id": page, "name": "Page"}
    assert answer["pageId"] == page
    assert not answer["segmentDeleted"]
    desk.run("segment.delete", segment_ids=[two], expected_versions=[2])
    answer = client.post("/api/locations/resolve", json={"segmentId": one, "documentId": page}).json()
    assert (answer["segmentDeleted"], answer["liveSegmentIds"], answer["resolvedSegmentId"]) == (
        True,
        [],
        None,
    )
    assert client.get("/api/segments/nowhere/reference").status_code == 404
    assert client.get("/api/segments/legacy:a:0/reference").status_code == 422


def test_an_annotation_leads_to_its_place(client: Any, desk: Any, rivals: dict[str, Any]) -> None:
    page, (one, two) = rivals["page"], rivals["old"]

    def annotate(**fields: Any) -> str:
        body = {"document_id": page, "kind": "note", "text": "see here", **fields}
        answer = client.post("/api/annotations", json=body)
        assert answer.status_code < 300, answer.text
        return str(answer.json()["id"])

    def resolve(**body: Any) -> dict[str, Any]:
        answer = client.post("/api/locations/resolve", json=body)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    boxed = annotate(anchor_kind="bbox", anchor={"rect": [0.1, 0.2, 0.3, 0.1]})
    found = resolve(annotationId=boxed)
    assert (found["documentId"], found["pageId"]) == (page, page)
    assert found["anchor"]["rect"] == [0.1, 0.2, 0.3, 0.1]
    assert (found["liveSegmentIds"], found["segmentDeleted"]) == ([], False)
    spanned = annotate(
        anchor_kind="char_range", targets=[{"segment_id": one, "char_start": 2, "char_end": 5}]
    )
    found = resolve(annotationId=spanned)
    assert (found["documentId"], found["charStart"], found["charEnd"]) == (page, 2, 5)
    assert (found["resolvedSegmentId"], found["segmentForwarding"]) == (one, [])
    assert found["anchor"]["rect"] == client.get(f"/api/segments/{one}").json()["segment"]["anchor"]["rect"]
    desk.run("segment.merge", segment_ids=[one], keep_id=two)
    found = resolve(annotationId=spanned, documentId=page)
    assert (found["resolvedSegmentId"], found["liveSegmentIds"]) == (two, [two])
    other_page = desk.page()
    refused = client.post("/api/locations/resolve", json={"annotationId": boxed, "documentId": other_page})
    assert (refused.status_code, refused.json()["code"]) == (422, "document_disagrees")
    client.delete(f"/api/annotations/{boxed}")
    assert client.post("/api/locations/resolve", json={"annotationId": boxed}).status_code == 404


def test_a_place_that_cannot_be_is_refused_in_words(client: Any, desk: Any, rivals: dict[str, Any]) -> None:
    page, one = rivals["page"], rivals["old"][0]
    uuid = desk.library.uuid

    def answer(**body: Any) -> tuple[int, str | None]:
        response = client.post("/api/locations/resolve", json=body)
        assert response.json()["detail"]
        return response.status_code, response.json().get("code")

    assert answer()[0] == 422
    assert answer(charStart=1)[0] == 422
    assert answer(segmentId=f"service:segment/{'0' * 32}/{page}/{one}") == (422, "other_library")
    assert answer(segmentId="service:segment/one") == (422, "bad_reference")
    assert answer(segmentId="service:page/a/b/c") == (422, "bad_reference")
    other_page = desk.page()
    assert answer(segmentId=one, documentId=other_page) == (422, "document_disagrees")
    assert answer(segmentId=f"service:segment/{uuid}/{page}/{one}", documentId=other_page) == (
        422,
        "document_disagrees",
    )
    assert answer(segmentId=f"service:segment/{uuid}/{other_page}/{one}") == (422, "document_disagrees")
    assert answer(segmentId="nowhere")[0] == 404
    assert answer(segmentId="legacy:a:0") == (422, "provisional_id")
    assert answer(documentId="nowhere")[0] == 404
    assert answer(artifactId="nowhere")[0] == 404
    assert answer(annotationId="nowhere")[0] == 404
    assert answer(claimId="nowhere")[0] == 404
    assert answer(documentId=page, charStart=3, charEnd=1) == (422, "bad_span")
    assert answer(documentId=page, anchor={"rect": [0, 0, 9, 9]})[0] == 422
    place = {"documentId": page, "charStart": 1, "charEnd": 3, "anchor": anchor()}
    assert client.post("/api/locations/resolve", json=place).json()["charEnd"] == 3
