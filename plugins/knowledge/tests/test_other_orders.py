"""Mentions where a page is read in another order or by another pass: what counts is the text that the page is read by."""

from __future__ import annotations

from typing import Any

import pytest
from knowledge_desk import AGENT, Desk, Page

from armarium.api import Conflict

LEFT, RIGHT, BELOW = "Juan Garcia of Toledo", "and Ana Lopez with Juan Garcia", "sold the mill"


@pytest.fixture
def columns(desk: Desk) -> Page:
    """A page of two lines side by side, and one below them."""
    page_id = str(desk.do("document.create", {"name": "Deed", "doc_type": "page"})["id"])
    pass_id = str(desk.do("segment.pass_create", {"document_id": page_id, "name": "Lines"})["id"])
    of_page = {"document_id": page_id, "pass_id": pass_id}
    rects = ([0.1, 0.1, 0.35, 0.05], [0.55, 0.1, 0.35, 0.05], [0.1, 0.6, 0.8, 0.05])
    shapes = [{**of_page, "kind": "line", "anchor": {"rect": rect}} for rect in rects]
    lines = [item["id"] for item in desk.do("segment.create_many", {"segments": shapes})["items"]]
    texts = [LEFT, RIGHT, BELOW]
    readings = [{"segment_id": line, "text": text} for line, text in zip(lines, texts, strict=True)]
    taken = {**of_page, "provider": "a-reader", "model": "m", "readings": readings}
    return Page(page_id, pass_id, lines, desk.do("reading.take", taken, AGENT)["representation_ids"], texts)


def text_of(desk: Desk, page: Page, **query: str) -> dict[str, Any]:
    answer: dict[str, Any] = desk.get(f"/api/segments/document/{page.id}/text", **query)
    return answer


def at(desk: Desk, page: Page, words: str) -> dict[str, Any]:
    """Where words are in the text the page is read by, as a request sends it."""
    start = text_of(desk, page)["text"].index(words)
    return {"document_id": page.id, "char_start": start, "char_end": start + len(words)}


def turn(desk: Desk, page: Page) -> None:
    """State that the page is written from right to left: its right line then comes first."""
    body = {"level": "node", "key": "direction", "value": "rtl", "target_id": page.id}
    assert desk.client.put("/api/source-settings", json=body).status_code == 200


def order_backwards(desk: Desk, page: Page, kind: str) -> str:
    of_page = {"document_id": page.id, "pass_id": page.pass_id, "name": kind, "kind": kind}
    order = str(desk.do("reading_order.create", of_page)["id"])
    backwards = [{"segment_id": line} for line in reversed(page.lines)]
    desk.do("reading_order.fill", {"order_id": order, "segments": backwards})
    return order


def expect_at_their_words(desk: Desk, page: Page, text: str) -> None:
    """Each mention is at its words in *text*, by the page's list, the line's list and the entity's."""
    for item in desk.names_on(page)["items"]:
        assert (item["placed"], item["stale"]) == (True, False)
        assert text[item["char_start"] : item["char_end"]] == item["text"]
        (of_entity,) = (
            other_item
            for other_item in desk.get(f"/api/entities/{item['entity_id']}/mentions")["items"]
            if other_item["id"] == item["id"]
        )
        (of_line,) = (
            mention
            for mention in desk.get(f"/api/segments/{item['segment_id']}/statements")["mentions"]
            if mention["mention"] == item["id"]
        )
        span = item["char_start"], item["char_end"]
        assert (of_entity["char_start"], of_entity["char_end"]) == span
        assert (of_line["source_char_start"], of_line["source_char_end"]) == span
    assert desk.get("/api/staleness", document_id=page.id)["items"] == []


@pytest.mark.parametrize("kind", ["as-written", "imposed"])
def test_a_named_order_moves_no_offset_and_its_text_has_the_words_on_the_same_lines(
    desk: Desk, columns: Page, kind: str
) -> None:
    for words in ("Juan Garcia", "Ana Lopez", "the mill"):
        desk.mention(columns, desk.entity(words), words)
    before = desk.names_on(columns)["items"]
    order = order_backwards(desk, columns, kind)
    assert desk.names_on(columns)["items"] == before
    text = text_of(desk, columns)
    assert (text["order_id"], text["text"]) == (None, "\n".join((LEFT, RIGHT, BELOW)))
    expect_at_their_words(desk, columns, text["text"])
    named_text = text_of(desk, columns, order=order)
    assert named_text["text"] == "\n".join((BELOW, RIGHT, LEFT))
    starts = {span["segment_id"]: span["char_start"] for span in named_text["spans"]}
    for one in before:
        first, last = (starts[one["segment_id"]] + one[f"segment_char_{end}"] for end in ("start", "end"))
        assert named_text["text"][first:last] == one["text"]


def test_offsets_follow_when_the_page_is_read_from_the_right(desk: Desk, columns: Page) -> None:
    juan, ana = desk.entity(), desk.entity("Ana Lopez")
    desk.mention(columns, juan, "Juan Garcia")
    desk.mention(columns, ana, "Ana Lopez")
    rows = desk.rows("SELECT * FROM mention ORDER BY id")
    turn(desk, columns)
    text = text_of(desk, columns)["text"]
    assert text == "\n".join((RIGHT, LEFT, BELOW))
    assert desk.rows("SELECT * FROM mention ORDER BY id") == rows
    expect_at_their_words(desk, columns, text)


def test_refused_spans_and_corrections_follow_when_the_page_is_read_from_the_right(
    desk: Desk, columns: Page
) -> None:
    juan, ana = desk.entity(), desk.entity("Ana Lopez")
    there = desk.mention(columns, juan, "Juan Garcia")
    desk.mention(columns, ana, "Ana Lopez")
    old = at(desk, columns, "Ana Lopez")
    desk.client.delete(f"/api/mentions/{there['id']}")
    turn(desk, columns)
    now = at(desk, columns, LEFT)
    refused = {"document_id": columns.id, "char_start": now["char_start"], "char_end": now["char_start"] + 11}
    (shown,) = desk.names_on(columns)["refused"]
    assert (shown["char_start"], shown["char_end"]) == (refused["char_start"], refused["char_end"])
    with pytest.raises(Conflict) as refusal:
        desk.do("mention.create", {"entity_id": juan, **refused}, AGENT)
    assert refusal.value.code == "refused_span"
    # The same name on the other line, which now comes first, was never refused.
    desk.do("mention.create", {"entity_id": juan, **at(desk, columns, "Juan Garcia")}, AGENT)
    path, new = f"/api/entities/{ana}/mentions/respan", at(desk, columns, "Ana")
    moved_to = {"new_char_start": new["char_start"], "new_char_end": new["char_end"]}
    desk.expect_refusal("POST", path, 404, "no_mention_there", **old, **moved_to)
    moved = desk.client.post(path, json={**at(desk, columns, "Ana Lopez"), **moved_to})
    assert moved.status_code == 200, moved.text
    answer = moved.json()["mention"]
    assert (answer["text"], answer["segment_id"], answer["segment_char_start"]) == (
        "Ana",
        columns.lines[1],
        4,
    )
    target = {**new, "to_entity_id": juan}
    pointed = desk.client.post(f"/api/entities/{ana}/mentions/repoint", json=target)
    assert pointed.status_code == 200, pointed.text
    expect_at_their_words(desk, columns, text_of(desk, columns)["text"])


def test_the_other_pass_is_asked_for_by_name(desk: Desk, columns: Page) -> None:
    juan = desk.entity()
    mention = desk.mention(columns, juan, "Juan Garcia")
    other_pass_id = str(desk.do("segment.pass_create", {"document_id": columns.id, "name": "Second"})["id"])
    second = desk.lay(columns.id, other_pass_id, ["Nothing", LEFT])
    desk.do("segment.pass_choose", {"pass_id": columns.pass_id, "working": True})
    sides = {"reference": {"pass_id": columns.pass_id}, "hypothesis": {"pass_id": other_pass_id}}
    compared = desk.client.post(f"/api/documents/{columns.id}/readings/compare", json=sides)
    assert compared.status_code == 200, compared.text
    assert text_of(desk, columns, pass_id=other_pass_id)["text"] == f"Nothing\n{LEFT}"
    # Neither the comparison nor a text asked for by its pass changes by which pass the page is read.
    expect_at_their_words(desk, columns, text_of(desk, columns)["text"])
    desk.do("segment.pass_choose", {"pass_id": other_pass_id, "working": True})
    (lost,) = desk.names_on(columns)["items"]
    assert (lost["placed"], lost["char_start"], lost["stale"]) == (False, None, True)
    where = {"document_id": columns.id, "char_start": mention["char_start"], "char_end": mention["char_end"]}
    moved = {"new_char_start": 0, "new_char_end": 7}
    desk.expect_refusal(
        "POST", f"/api/entities/{juan}/mentions/respan", 404, "no_mention_there", **where, **moved
    )
    # In the text of its own pass its line and its characters say where it is.
    own = text_of(desk, columns, pass_id=columns.pass_id)
    (line,) = (span for span in own["spans"] if span["segment_id"] == lost["segment_id"])
    first, last = (line["char_start"] + lost[f"segment_char_{end}"] for end in ("start", "end"))
    assert own["text"][first:last] == "Juan Garcia"
    second_mention = desk.do("mention.create", {"entity_id": juan, **at(desk, columns, "Juan Garcia")})
    assert second_mention["segment_id"] == second.lines[1]
    desk.do("segment.pass_choose", {"pass_id": columns.pass_id, "working": True})
    placed = {item["id"]: item["placed"] for item in desk.names_on(columns)["items"]}
    assert placed == {mention["id"]: True, second_mention["id"]: False}
