"""Mentions live on a line and its reading; where they stand in the page's text is worked out, and follows what is done to it."""

from __future__ import annotations

import pytest
from knowledge_desk import AGENT, DEED, Desk

from armarium.api import Conflict, Forbidden


def test_a_mention_is_anchored_on_its_line_and_told_in_the_text_of_the_page(desk: Desk) -> None:
    page, juan = desk.page(), desk.entity()
    mention = desk.mention(page, juan, "Juan Garcia", nth=1)
    text = "\n".join(DEED)
    assert text[mention["char_start"] : mention["char_end"]] == mention["text"] == "Juan Garcia"
    assert mention["segment_id"] == page.lines[2]
    assert DEED[2][mention["segment_char_start"] : mention["segment_char_end"]] == "Juan Garcia"
    listed = desk.get(f"/api/entities/{juan}/mentions")["items"]
    assert [item["id"] for item in listed] == [mention["id"]]
    assert desk.get(f"/api/documents/{page.id}/view")["attachments"]["entity_count"] == 1
    answer = desk.get(f"/api/entities/{juan}")
    assert answer["source_supports"] == [{"document_id": page.id, "mentions": 1}]
    assert answer["corroboration_count"] == 1


def test_a_correction_of_the_first_line_moves_later_mentions_without_touching_their_rows(desk: Desk) -> None:
    page, juan = desk.page(), desk.entity()
    later = desk.mention(page, juan, "Juan Garcia", nth=1)
    before = desk.rows("SELECT * FROM mention")
    desk.correct(page.lines[0], "Before me, the notary, came Juan Garcia of Toledo")
    (item,) = desk.names_on(page)["items"]
    moved_by = len("Before me, the notary, came Juan Garcia of Toledo") - len(DEED[0])
    assert (item["char_start"], item["char_end"]) == (
        later["char_start"] + moved_by,
        later["char_end"] + moved_by,
    )
    assert not item["stale"]
    assert desk.rows("SELECT * FROM mention") == before


def test_a_mention_moves_with_its_words_and_is_in_doubt_until_looked_at(desk: Desk) -> None:
    page, juan = desk.page(), desk.entity()
    desk.mention(page, juan, "Juan Garcia")
    audit = desk.correct(page.lines[0], "In presence of me came Juan Garcia of Toledo")["audit_id"]
    (item,) = desk.names_on(page)["items"]
    assert item["placed"]
    assert item["stale"]
    assert item["text"] == "Juan Garcia"
    assert item["char_start"] == len("In presence of me came ")
    desk.undo(audit)
    (back,) = desk.names_on(page)["items"]
    assert not back["stale"]
    assert back["char_start"] == len("Before me came ")


def test_words_that_stand_twice_are_told_apart_by_their_place(desk: Desk) -> None:
    page, juan = desk.page(["Juan and Juan and Pedro"]), desk.entity("Juan")
    desk.mention(page, juan, "Juan", nth=1)
    desk.correct(page.lines[0], "Juan & Juan & Pedro")
    (item,) = desk.names_on(page)["items"]
    assert item["char_start"] == len("Juan & ")


def test_a_mention_whose_words_went_is_listed_as_unplaced(desk: Desk) -> None:
    page, juan = desk.page(), desk.entity()
    desk.mention(page, juan, "Juan Garcia")
    desk.correct(page.lines[0], "Before me came nobody of Toledo")
    answer = desk.get(f"/api/documents/{page.id}/mentions", unplaced=True)
    assert answer["unplaced"] == 1
    (lost,) = answer["items"]
    assert (lost["char_start"], lost["placed"], lost["stale"]) == (None, False, True)
    assert "do not occur" in lost["unplaced_reason"]


def test_another_working_pass_furniture_split_and_merge(desk: Desk) -> None:
    page, juan, ana = desk.page(), desk.entity(), desk.entity("Ana Lopez")
    desk.mention(page, juan, "Juan Garcia")
    desk.mention(page, ana, "Ana Lopez")
    merged = desk.client.post(
        "/api/segments/merge", json={"keep_id": page.lines[0], "segment_ids": page.lines[:2]}
    )
    assert merged.status_code == 200, merged.text
    items = desk.names_on(page)["items"]
    text = desk.get(f"/api/segments/document/{page.id}/text")["text"]
    assert {text[item["char_start"] : item["char_end"]] for item in items if item["placed"]} >= {
        "Juan Garcia"
    }
    assert all(
        text[item["char_start"] : item["char_end"]] == item["text"] for item in items if item["placed"]
    )
    desk.undo(merged.json()["audit_id"])
    assert all(item["placed"] for item in desk.names_on(page)["items"])
    other_pass_id = str(desk.do("segment.pass_create", {"document_id": page.id, "name": "Second"})["id"])
    desk.lay(page.id, other_pass_id, ["nothing of the kind"])
    desk.do("segment.pass_choose", {"pass_id": other_pass_id, "working": True})
    assert [item["placed"] for item in desk.names_on(page)["items"]] == [False, False]
    desk.do("segment.pass_choose", {"pass_id": page.pass_id, "working": True})
    assert all(item["placed"] for item in desk.names_on(page)["items"])
    desk.do(
        "segment.update",
        {"segment_id": page.lines[0], "expected_version": version(desk, page.lines[0]), "is_furniture": True},
    )
    placed = {item["entity_id"]: item["placed"] for item in desk.names_on(page)["items"]}
    assert placed == {juan: False, ana: True}


def version(desk: Desk, segment_id: str) -> int:
    rows: int = desk.rows("SELECT version FROM segment WHERE id = ?", segment_id)[0][0]
    return rows


def test_repoint_moves_the_mention_and_the_entity_left_refuses_the_span(desk: Desk) -> None:
    page, elder, younger = desk.page(), desk.entity(), desk.entity("Juan Garcia the younger")
    desk.mention(page, elder, "Juan Garcia", who=AGENT)
    where = {"document_id": page.id, **page.at("Juan Garcia")}
    path = f"/api/entities/{elder}/mentions/repoint"
    moved = desk.client.post(path, json={**where, "to_entity_id": younger})
    assert moved.status_code == 200, moved.text
    answer = moved.json()["mention"]
    assert answer["entity_id"] == younger
    assert answer["corrected_by_person"]
    assert answer["refused_entity_ids"] == [elder]
    with pytest.raises(Conflict) as refused:
        desk.do("mention.create", {"entity_id": elder, **where}, AGENT)
    assert refused.value.code == "refused_span"
    with pytest.raises(Forbidden):
        desk.do("mention.delete", {"mention_id": answer["id"]}, AGENT)
    desk.undo(moved.json()["audit_id"])
    (back,) = desk.names_on(page)["items"]
    assert back["entity_id"] == elder
    assert desk.names_on(page)["refused"] == []


def test_a_refused_span_stays_refused_when_its_words_are_corrected(desk: Desk) -> None:
    page, juan = desk.page(["came Iuan Garcla of Toledo"]), desk.entity()
    mention = desk.mention(page, juan, "Iuan Garcla")
    desk.client.delete(f"/api/mentions/{mention['id']}")
    corrected = "came Juan Garcia of Toledo"
    desk.correct(page.lines[0], corrected)
    where = {"document_id": page.id, "char_start": 5, "char_end": 16}
    with pytest.raises(Conflict):
        desk.do("mention.create", {"entity_id": juan, **where}, AGENT)
    (line,) = desk.rows("SELECT id FROM content_representation WHERE content = ?", corrected)
    name = {"segment_id": page.lines[0], "representation_id": line[0], "char_start": 5, "char_end": 16}
    named = {**name, "canonical_name": "Juan Garcia", "entity_type": "person"}
    result = desk.do("mention.take", {"document_id": page.id, "names": [named]}, AGENT)
    assert (result["mention_ids"], result["left_out"]) == ([], 1)
    desk.do("mention.create", {"entity_id": juan, **where})
    assert desk.names_on(page)["refused"] == []


def test_respan_takes_words_of_one_line_only(desk: Desk) -> None:
    page, juan = desk.page(), desk.entity()
    desk.mention(page, juan, "Juan Garcia")
    where = {"document_id": page.id, **page.at("Juan Garcia")}
    path = f"/api/entities/{juan}/mentions/respan"
    new = page.at("Juan Garcia of Toledo")
    moved = desk.client.post(
        path, json={**where, "new_char_start": new["char_start"], "new_char_end": new["char_end"]}
    )
    assert moved.status_code == 200, moved.text
    assert moved.json()["mention"]["text"] == "Juan Garcia of Toledo"
    where = {"document_id": page.id, **new}
    for start, end, code in (
        (0, 9999, "not_words"),
        (5, 5, "not_words"),
        (6, 7, "not_words"),
        (20, 60, "several_lines"),
    ):
        desk.expect_refusal("POST", path, 422, code, **where, new_char_start=start, new_char_end=end)
    desk.expect_refusal(
        "POST", path, 404, "no_mention_there", **{**where, "char_end": 20}, new_char_start=0, new_char_end=6
    )
    desk.expect_refusal(
        "POST",
        path,
        409,
        "already_exists",
        **where,
        new_char_start=new["char_start"],
        new_char_end=new["char_end"],
    )


def test_refusals_of_repoint_and_create(desk: Desk) -> None:
    page, juan, ana = desk.page(), desk.entity(), desk.entity("Ana Lopez")
    desk.mention(page, juan, "Juan Garcia")
    desk.mention(page, ana, "Juan Garcia")
    where = {"document_id": page.id, **page.at("Juan Garcia")}
    path = f"/api/entities/{juan}/mentions/repoint"
    desk.expect_refusal("POST", path, 422, "same_entity", **where, to_entity_id=juan)
    desk.expect_refusal("POST", path, 409, "already_exists", **where, to_entity_id=ana)
    desk.expect_refusal("POST", path, 404, "entity_not_found", **where, to_entity_id="nobody")
    desk.expect_refusal("POST", "/api/mentions", 409, "already_exists", entity_id=juan, **where)
    desk.expect_refusal("POST", "/api/mentions", 422, None, entity_id=juan, **where, created_by="me")
    desk.expect_refusal("DELETE", "/api/mentions/none", 404, "mention_not_found")


SCRIPTS = (
    ("王 安 王安石寫此書", "王安"),
    ("قال مُحَمَّد بن علي", "مُحَمَّد"),
    ("אמר דָּוִד המלך", "דָּוִד"),
    ("राम और सीता वन में", "सीता"),
    ("die Straße nach Weiß", "Straße"),
    ("Conſtantinus ﬁlius", "Conſtantinus"),
    ("the sign 𝔍𝔲𝔞𝔫 here", "𝔍𝔲𝔞𝔫"),
)


def test_offsets_count_characters_in_every_script(desk: Desk) -> None:
    page = desk.page([line for line, _ in SCRIPTS])
    for _, words in SCRIPTS:
        assert desk.mention(page, desk.entity(words), words)["text"] == words


def test_a_span_does_not_part_a_letter_from_its_mark(desk: Desk) -> None:
    page, entity = desk.page(["Jose\u0301 came"]), desk.entity("José")
    desk.expect_refusal(
        "POST",
        "/api/mentions",
        422,
        "cuts_a_character",
        entity_id=entity,
        document_id=page.id,
        char_start=0,
        char_end=4,
    )


def test_statements_of_a_segment(desk: Desk) -> None:
    page, juan = desk.page(), desk.entity()
    desk.mention(page, juan, "Juan Garcia", nth=1)
    span = page.at("sold the mill")
    claim = desk.claim(
        source_document_id=page.id, source_char_start=span["char_start"], source_char_end=span["char_end"]
    )
    answer = desk.get(f"/api/segments/{page.lines[2]}/statements")
    (statement,) = answer["statements"]
    assert (statement["claim_id"], statement["char_start"], statement["char_end"]) == (claim["id"], 4, 17)
    assert statement["representation_id"] == page.readings[2]
    (mention,) = answer["mentions"]
    at = page.at("Juan Garcia", 1)
    assert (mention["source_char_start"], mention["source_char_end"]) == (at["char_start"], at["char_end"])
    assert DEED[2][mention["char_start"] : mention["char_end"]] == "Juan Garcia"
    assert desk.get(f"/api/segments/{page.lines[0]}/statements")["mentions"] == []
