"""Spans on a reading: a correction moves them where its characters are certain, and a match carries them across."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from source_model_fixtures import AGENT, PERSON, Desk, anchor

from armarium.api import raw_of
from armarium_documents.plugin import armarium_plugin as documents_plugin
from armarium_source_model.hookspecs import ReadingChange
from armarium_source_model.plugin import armarium_plugin
from armarium_source_model.spans import span_in_new_text
from armarium_testing.answers import add_answers


@pytest.fixture
def line(desk: Any) -> dict[str, str]:
    page = desk.page()
    segment_id = desk.machine_lines(page, ["Deer Sir, the the end"])["segment_ids"][0]
    return {"page": page, "id": segment_id}


def mark(desk: Any, page: str, *targets: dict[str, Any], **more: Any) -> str:
    given = {"anchor_kind": "char_range", "kind": "highlight", **more}
    return str(desk.run("annotation.create", document_id=page, targets=list(targets), **given)["id"])


def span(segment_id: str, start: int, end: int) -> dict[str, Any]:
    return {"segment_id": segment_id, "char_start": start, "char_end": end}


def targets_of(desk: Any, annotation_id: str) -> Any:
    import orjson

    with desk.library.db.read() as conn:
        raw = raw_of(conn)
        row = raw.execute("SELECT targets FROM annotation WHERE id = ?", (annotation_id,)).fetchone()
    return orjson.loads(row[0])


def test_spans_move_with_their_characters_or_are_listed(client: Any, desk: Any, line: dict[str, str]) -> None:
    line_id, page = line["id"], line["page"]
    other_line = desk.lines(page, desk.new_pass(page), 1)[0]
    sir = mark(desk, page, span(line_id, 5, 8), {"segment_id": other_line, "char_start": 0, "char_end": 3})
    deer = mark(desk, page, span(line_id, 0, 4))
    twice = mark(desk, page, span(line_id, 10, 13))
    far = mark(desk, page, span(line_id, 10, 99))
    whole = mark(
        desk, page, {"segment_id": line_id}, anchor_kind="bbox", anchor={"rect": [0.1, 0.1, 0.1, 0.1]}
    )
    answer = client.post(f"/api/segments/{line_id}/correct", json={"text": "My dear Sir, the the end"}).json()
    assert targets_of(desk, sir) == [
        span(line_id, 8, 11),
        {"segment_id": other_line, "char_start": 0, "char_end": 3},
    ]
    assert answer["unplaced"] == [
        {"id": deer, "why": "Its characters do not occur in the new reading."},
        {"id": twice, "why": "Its characters occur more than once in the new reading."},
        {"id": far, "why": "Its characters are outside the earlier reading."},
    ]
    assert targets_of(desk, deer) == [span(line_id, 0, 4)]
    assert targets_of(desk, whole)[0].get("char_start") is None
    desk.undo(answer["audit_id"])
    assert targets_of(desk, sir)[0] == span(line_id, 5, 8)


def test_an_annotation_of_the_folder_a_page_is_in_moves_too(desk: Any) -> None:
    folder = desk.run("document.create", name="Book")["id"]
    page = desk.run("document.create", name="p", doc_type="page", parent_id=folder)["id"]
    segment_id = desk.machine_lines(page, ["Deer Sir"])["segment_ids"][0]
    sir = mark(desk, folder, span(segment_id, 5, 8))
    desk.correct(segment_id, "Dear, dear Sir")
    assert targets_of(desk, sir) == [span(segment_id, 11, 14)]


def test_an_anchor_that_names_the_reading_names_the_new_one(desk: Any, line: dict[str, str]) -> None:
    import orjson

    line_id, page = line["id"], line["page"]
    with desk.library.db.read() as conn:
        old = conn.exec_driver_sql("SELECT id FROM content_representation").scalar_one()
    place = {"representation_id": old, "segment_id": line_id, "char_start": 5, "char_end": 8}
    note = mark(desk, page, anchor=place)
    new = desk.correct(line_id, "O Sir")
    with desk.library.db.read() as conn:
        found = conn.exec_driver_sql("SELECT anchor FROM annotation WHERE id = ?", (note,)).scalar_one()
    there = orjson.loads(found)
    assert (there["representation_id"], there["char_start"], there["char_end"]) == (new, 2, 5)


def test_a_reading_that_does_not_count_moves_nothing(desk: Any, line: dict[str, str]) -> None:
    line_id, page = line["id"], line["page"]
    desk.correct(line_id, "Dear Sir")
    sir = mark(desk, page, span(line_id, 5, 8))
    representation = desk.as_(AGENT).run("representation.create", segment_id=line_id, text="xx Sir")
    assert (representation["counting"], representation["unplaced"]) == (False, [])
    representation = desk.run(
        "representation.create", segment_id=line_id, text="Cher Sir", kind="translation"
    )
    assert representation["unplaced"] == []
    assert targets_of(desk, sir) == [span(line_id, 5, 8)]


@given(st.text("ab", max_size=8), st.text("ab", max_size=10), st.integers(0, 9), st.integers(0, 9))
def test_a_span_is_placed_where_its_characters_occur_exactly_once(
    old: str, new: str, start: int, end: int
) -> None:
    found_span = span_in_new_text(start, end, old, new)
    words = old[start:end] if end <= len(old) else ""
    places = [n for n in range(len(new)) if words and new.startswith(words, n)]
    if len(places) == 1:
        assert found_span == (places[0], places[0] + len(words))
    else:
        assert isinstance(found_span, str)


def test_annotations_cross_an_accepted_match_and_are_uncarried(client: Any, desk: Any) -> None:
    page = desk.page()
    old = desk.machine_lines(page, ["Deer Sir"])["segment_ids"][0]
    new = desk.machine_lines(page, ["My dear Sir"], "m2")["segment_ids"][0]
    sir = mark(desk, page, span(old, 5, 8), tags=["address"], color="#aa0000")
    deer = mark(desk, page, span(old, 0, 4))
    note = mark(
        desk, page, {"segment_id": old}, anchor_kind="bbox", kind="note", text="a second hand",
        anchor={**anchor(0), "segment_id": old},
    )  # fmt: skip
    match = desk.run("segment.match_propose", from_segment_id=old, to_segment_id=new)["id"]
    desk.run("segment.match_accept", match_id=match)
    answer = client.post("/api/segments/carry", json={"match_id": match, "kinds": ["annotation"]}).json()
    copies = {one["original_id"]: one["copy_id"] for one in answer["carried"]}
    assert set(copies) == {sir, note}
    assert answer["not_carried"] == [
        {"kind": "annotation", "original_id": deer, "why": "Its characters do not occur in the new reading."}
    ]
    assert targets_of(desk, copies[sir]) == [span(new, 8, 11)]
    assert targets_of(desk, sir) == [span(old, 5, 8)]
    with desk.library.db.read() as conn:
        copy = conn.exec_driver_sql(
            "SELECT text, json_extract(anchor, '$.segment_id') FROM annotation WHERE id = ?", (copies[note],)
        ).one()
    assert tuple(copy) == ("a second hand", new)
    second_answer = client.post(
        "/api/segments/carry", json={"match_id": match, "kinds": ["annotation"]}
    ).json()
    assert second_answer["carried"] == []
    assert {one["original_id"] for one in second_answer["not_carried"]} == {sir, deer, note}
    desk.undo(answer["audit_id"])
    with desk.library.db.read() as conn:
        assert conn.exec_driver_sql("SELECT count(*) FROM annotation").scalar_one() == 3


def test_other_families_move_their_spans_too(make_engine: Any, tmp_path: Any) -> None:
    met: list[ReadingChange] = []

    def move(corrected: ReadingChange) -> list[tuple[str, str]]:
        met.append(corrected)
        return [("mention-1", "It says no.")]

    engine = make_engine(plugins=[documents_plugin(), armarium_plugin()])
    add_answers(engine, armarium_source_model_move_spans=move)
    engine.run(None, "library.create", {"path": str(tmp_path / "A.library")}, PERSON)
    desk = Desk(engine, engine.libraries.get(tmp_path / "A.library"))
    page = desk.page()
    (segment_id,) = desk.machine_lines(page, ["Deer"])["segment_ids"]
    result = desk.run("representation.create", segment_id=segment_id, text="Dear")
    assert result["unplaced"] == [{"id": "mention-1", "why": "It says no."}]
    assert [(c.old_text, c.new_text, c.segment_id) for c in met] == [("Deer", "Dear", segment_id)]


def test_a_merge_takes_the_spans_of_the_kept_reading_along(desk: Any) -> None:
    page = desk.page()
    first, kept = desk.machine_lines(page, ["Deer Sir", "your letter"])["segment_ids"]
    letter = mark(desk, page, span(kept, 5, 11))
    desk.run("segment.merge", segment_ids=[first, kept], keep_id=kept)
    start = len("Deer Sir\nyour ")
    assert targets_of(desk, letter) == [span(kept, start, start + 6)]
