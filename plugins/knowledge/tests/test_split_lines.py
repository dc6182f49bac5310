"""What stands on a line that is split goes where its words go."""

from __future__ import annotations

from typing import Any

import pytest
from knowledge_desk import AGENT, Desk, Page

from armarium.api import Conflict
from test_statements import resting_on

LINE = "Juan Garcia and Ana Lopez his wife"


def split(desk: Desk, page: Page, first: str, second: str) -> tuple[list[str], str]:
    """Split the first line; the ids of the parts, and the step."""
    rects = ([0.1, 0.1, 0.3, 0.2], [0.45, 0.1, 0.4, 0.2])
    parts = [
        {"anchor": {"rect": rect}, "text": text} for rect, text in zip(rects, (first, second), strict=True)
    ]
    answer = desk.client.post(
        "/api/segments/split", json={"segment_id": page.lines[0], "expected_version": 1, "parts": parts}
    )
    assert answer.status_code == 200, answer.text
    return answer.json()["segment_ids"], answer.json()["audit_id"]


def names_by_entity(desk: Desk, page: Page) -> dict[str, dict[str, Any]]:
    return {item["entity_id"]: item for item in desk.names_on(page)["items"]}


def test_mentions_and_evidence_are_found_in_the_part_that_has_their_words(desk: Desk) -> None:
    page = desk.page([LINE, "and sold the mill"])
    juan, ana = desk.entity(), desk.entity("Ana Lopez")
    desk.mention(page, juan, "Juan Garcia")
    mention = desk.mention(page, ana, "Ana Lopez")["id"]
    claim = desk.claim(**resting_on(page, "Ana Lopez his wife"))["id"]
    (old, new), step = split(desk, page, "Juan Garcia and", "Ana Lopez his wife")
    text = desk.get(f"/api/segments/document/{page.id}/text")["text"]
    names = names_by_entity(desk, page)
    assert (names[juan]["segment_id"], names[ana]["segment_id"]) == (old, new)
    for one in names.values():
        assert one["placed"]
        assert one["stale"]
        assert text[one["char_start"] : one["char_end"]] == one["text"]
    on_it = desk.get(f"/api/segments/{new}/statements")
    assert [mention["mention"] for mention in on_it["mentions"]] == [mention]
    assert [(statement["claim_id"], statement["char_start"]) for statement in on_it["statements"]] == [
        (claim, 0)
    ]
    (listed,) = desk.get("/api/claims")["items"]
    assert listed == desk.get(f"/api/claims/{claim}")
    assert text[listed["source_char_start"] : listed["source_char_end"]] == "Ana Lopez his wife"
    todo = {
        (item["kind"], item["id"]): item["todo"]
        for item in desk.get("/api/staleness", segment_id=new)["items"]
    }
    assert todo == {("mention", mention): "confirm", ("statement", claim): "confirm"}
    items = [{"kind": "mention", "id": mention}, {"kind": "statement", "id": claim}]
    confirmed = desk.client.post("/api/staleness/confirm", json={"items": items}).json()
    assert not names_by_entity(desk, page)[ana]["stale"]
    assert not desk.get(f"/api/claims/{claim}")["stale"]
    desk.undo(confirmed["audit_id"])
    desk.undo(step)
    assert all(item["placed"] and not item["stale"] for item in desk.names_on(page)["items"])
    assert desk.get("/api/staleness", document_id=page.id)["count"] == 0


def test_of_the_same_words_in_both_parts_each_is_found_in_its_own(desk: Desk) -> None:
    page = desk.page(["Juan and Juan", "and sold the mill"])
    first, second = desk.entity("The first"), desk.entity("The second")
    desk.mention(page, first, "Juan")
    desk.mention(page, second, "Juan", nth=1)
    (old, new), _ = split(desk, page, "Juan and", "Juan")
    names = names_by_entity(desk, page)
    assert (names[first]["segment_id"], names[second]["segment_id"]) == (old, new)


def test_a_refused_span_is_refused_in_the_part_that_has_it(desk: Desk) -> None:
    page, ana = desk.page([LINE]), desk.entity("Ana Lopez")
    mention = desk.mention(page, ana, "Ana Lopez")
    desk.client.delete(f"/api/mentions/{mention['id']}")
    split(desk, page, "Juan Garcia and", "Ana Lopez his wife")
    (refused,) = desk.names_on(page)["refused"]
    assert refused["text"] == "Ana Lopez"
    where = {"document_id": page.id, "char_start": refused["char_start"], "char_end": refused["char_end"]}
    with pytest.raises(Conflict) as refusal:
        desk.do("mention.create", {"entity_id": ana, **where}, AGENT)
    assert refusal.value.code == "refused_span"
    items = desk.get(f"/api/documents/{page.id}/known-names", misread=False)["items"]
    assert items == []


def test_what_is_named_after_the_split_is_not_looked_for_in_the_other_part(desk: Desk) -> None:
    page, juan = desk.page([LINE]), desk.entity()
    split(desk, page, "Juan Garcia and", "Ana Lopez, of Juan Garcia his wife")
    desk.mention(page, juan, "Juan Garcia")
    desk.correct(page.lines[0], "Nobody and")
    (lost,) = desk.names_on(page)["items"]
    assert not lost["placed"]


def test_of_words_that_stood_twice_the_one_left_is_not_taken_for_the_other(desk: Desk) -> None:
    page, second = desk.page(["Juan and Juan"]), desk.entity("The second")
    desk.mention(page, second, "Juan", nth=1)
    desk.correct(page.lines[0], "Juan and Pedro")
    (lost,) = desk.names_on(page)["items"]
    assert not lost["placed"]


def test_doubts_of_a_line_that_was_merged_away_are_those_of_its_text(desk: Desk) -> None:
    page, ana = desk.page([LINE, "and sold the mill"]), desk.entity("Ana Lopez")
    mention = desk.mention(page, ana, "Ana Lopez")["id"]
    body = {"keep_id": page.lines[1], "segment_ids": page.lines}
    assert desk.client.post("/api/segments/merge", json=body).status_code == 200
    for line in page.lines:
        items = desk.get("/api/staleness", segment_id=line)["items"]
        assert [(item["id"], item["todo"]) for item in items] == [(mention, "confirm")], line
