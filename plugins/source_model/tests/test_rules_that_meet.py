"""Where several rules meet: a choice and a merge, a split and a deletion, an undo and later changes."""

from __future__ import annotations

from typing import Any

import pytest
from source_model_fixtures import PERSON, anchor

from armarium.api import ActionContext, Conflict, Invalid, NotFound
from armarium_source_model.api import NewSegment, add_segments
from armarium_source_model.queries.forwarding import follow
from armarium_source_model.queries.readings import (
    counting_of_pass,
    counting_of_segment,
    counting_of_segments,
    readings_of,
)
from armarium_source_model.queries.segments import parsed_answers


def leads_to(desk: Any, segment_id: str) -> list[str]:
    with desk.library.db.read() as conn:
        return follow(conn, segment_id)[1]


def counts(desk: Any, segment_id: str) -> str | None:
    with desk.library.db.read() as conn:
        found = counting_of_segments(conn, [segment_id])
    return found[segment_id].text if segment_id in found else None


def two_parts(*texts: str | None) -> list[dict[str, Any]]:
    return [
        {"anchor": {"rect": [0.1 + 0.4 * n, 0.1, 0.4, 0.04]}, **({"text": text} if text else {})}
        for n, text in enumerate(texts)
    ]


def test_a_merge_by_a_person_counts_even_where_a_reading_was_chosen(desk: Any) -> None:
    page = desk.page()
    one, two = desk.lines(page, desk.new_pass(page), 2)
    chosen = desk.correct(one, "Dear Sir")
    desk.run("reading.choose", segment_id=one, representation_id=chosen)
    desk.correct(two, "your letter")
    merged = desk.run("segment.merge", segment_ids=[one, two], keep_id=one)
    assert merged["text"] == "Dear Sir\nyour letter"
    desk.undo()
    assert counts(desk, one) == "Dear Sir"


def test_a_split_by_a_person_counts_even_where_a_reading_was_chosen(desk: Any) -> None:
    page = desk.page()
    (whole,) = desk.lines(page, desk.new_pass(page), 1)
    chosen = desk.correct(whole, "Dear Sir")
    desk.run("reading.choose", segment_id=whole, representation_id=chosen)
    result = desk.run("segment.split", segment_id=whole, expected_version=1, parts=two_parts("Dear", "Sir"))
    assert [item["text"] for item in result["items"]] == ["Dear", "Sir"]


def test_a_citation_of_a_whole_leads_to_the_part_that_still_lives(desk: Any) -> None:
    page = desk.page()
    (whole,) = desk.lines(page, desk.new_pass(page), 1)
    result = desk.run("segment.split", segment_id=whole, expected_version=1, parts=two_parts(None, None))
    second = result["segment_ids"][1]
    desk.run("segment.delete", segment_ids=[whole], expected_versions=[2])
    assert leads_to(desk, whole) == [second]
    desk.run("segment.undelete", segment_ids=[whole])
    assert leads_to(desk, whole) == [whole, second]


def test_a_citation_of_a_segment_whose_creation_was_undone_has_no_live_segment(
    client: Any, desk: Any
) -> None:
    page = desk.page()
    pass_id = desk.new_pass(page)
    segment_id = desk.run("segment.create", document_id=page, pass_id=pass_id, kind="line", anchor=anchor())[
        "id"
    ]
    cited = client.get(f"/api/segments/{segment_id}/reference").json()["reference"]
    desk.undo()
    answer = client.post("/api/locations/resolve", json={"segmentId": cited}).json()
    assert (answer["documentId"], answer["segmentDeleted"], answer["liveSegmentIds"]) == (page, True, [])
    view = client.get(f"/api/segments/{segment_id}").json()
    assert (view["segment"], view["deleted"], view["live_segment_ids"]) == (None, True, [])
    refused = client.post("/api/locations/resolve", json={"segmentId": segment_id, "documentId": desk.page()})
    assert (refused.status_code, refused.json()["code"]) == (422, "document_disagrees")


def test_one_choice_counts_where_an_undo_restores_an_earlier_one(desk: Any) -> None:
    page = desk.page()
    pass_id = desk.new_pass(page)
    (line,) = desk.lines(page, pass_id, 1)
    first, second = desk.correct(line, "Deer Sir"), desk.correct(line, "Dear Sir")
    desk.run("reading.choose", segment_id=line, representation_id=first)
    desk.run("reading.choose", segment_id=line, representation_id=None)
    withdrawn = desk.audit_id
    desk.run("reading.choose", segment_id=line, representation_id=second)
    desk.undo(withdrawn)
    with desk.library.db.read() as conn:
        listed = readings_of(conn, line)["counting"]["transcription"]["representation_id"]
        assert listed == second
        assert counting_of_segment(conn, line, "transcription").representation_id == second
        assert counting_of_segments(conn, [line])[line].representation_id == second
        assert counting_of_pass(conn, pass_id)[line].representation_id == second
    desk.run("reading.choose", segment_id=line, representation_id=None)
    with desk.library.db.read() as conn:
        standing = conn.exec_driver_sql(
            "SELECT count(*) FROM reading_choice WHERE superseded_at IS NULL"
        ).scalar_one()
    assert standing == 0


def test_a_match_in_the_other_direction_is_the_same_match(desk: Any) -> None:
    page = desk.page()
    (old,) = desk.lines(page, desk.new_pass(page), 1)
    (new,) = desk.lines(page, desk.new_pass(page, "Again"), 1)
    match = desk.run("segment.match_propose", from_segment_id=old, to_segment_id=new)["id"]
    with pytest.raises(Conflict) as refused:
        desk.run("segment.match_propose", from_segment_id=new, to_segment_id=old)
    assert (refused.value.code, refused.value.fields["id"]) == ("already_exists", match)


def test_a_reading_is_carried_where_each_pass_has_one_segment_of_the_line(desk: Any) -> None:
    """A line matched with one line in each of two other passes has a one-to-one match in either."""
    page = desk.page()
    (line,) = desk.lines(page, desk.new_pass(page), 1)
    others = [desk.lines(page, desk.new_pass(page, name), 1)[0] for name in ("Second", "Third")]
    desk.correct(line, "Dear Sir")
    for other in others:
        match = desk.run("segment.match_propose", from_segment_id=line, to_segment_id=other)["id"]
        desk.run("segment.match_accept", match_id=match)
        carried = desk.run("segment.carry", match_id=match, kinds=["reading"])
        assert len(carried["carried"]) == 1
        assert counts(desk, other) == "Dear Sir"


def test_a_withdrawn_or_merged_segment_is_no_rival(desk: Any) -> None:
    page = desk.page()
    (line,) = desk.lines(page, desk.new_pass(page), 1)
    kept, absorbed = desk.lines(page, desk.new_pass(page, "Second"), 2)
    desk.correct(line, "Dear Sir")
    for other in (absorbed, kept):
        match = desk.run("segment.match_propose", from_segment_id=line, to_segment_id=other)["id"]
        desk.run("segment.match_accept", match_id=match)
    assert desk.run("segment.carry", match_id=match, kinds=["reading"])["carried"] == []
    desk.run("segment.merge", segment_ids=[absorbed], keep_id=kept)
    assert len(desk.run("segment.carry", match_id=match, kinds=["reading"])["carried"]) == 1


def test_a_provisional_id_is_no_uri_to_link_with(desk: Any) -> None:
    page = desk.page()
    (line,) = desk.lines(page, desk.new_pass(page), 1)
    with pytest.raises(Invalid) as refused:
        desk.run("link.create", from_id=line, to_id="legacy:a:0", to_kind="uri", link_type="same_as")
    assert refused.value.code == "provisional_id"


def test_a_withdrawn_pass_is_not_read_drawn_or_compared(client: Any, desk: Any) -> None:
    page = desk.page()
    reading = desk.machine_lines(page, ["Dear Sir"])
    other_pass_id = desk.machine_lines(page, ["Dear Sir"], "m2")["pass_id"]
    desk.run("segment.pass_delete", pass_id=reading["pass_id"])
    query = {"pass_id": reading["pass_id"]}
    for answer in (
        client.get(f"/api/segments/document/{page}/text", params=query),
        client.get(f"/api/segments/document/{page}/picture", params=query),
        client.post(
            f"/api/documents/{page}/readings/compare",
            json={"reference": query, "hypothesis": {"pass_id": other_pass_id}},
        ),
    ):
        assert (answer.status_code, answer.json()["code"]) == (409, "pass_deleted"), answer.text
    desk.run("segment.pass_restore", pass_id=reading["pass_id"])
    assert client.get(f"/api/segments/document/{page}/text", params=query).json()["text"] == "Dear Sir"


def test_a_version_whose_shape_is_not_accepted_any_more_is_not_restored(desk: Any) -> None:
    """An older engine may have written such a version; here it is written beside another step."""
    page = desk.page()
    (line,) = desk.lines(page, desk.new_pass(page), 1)

    def write(ctx: ActionContext) -> None:
        ctx.conn.exec_driver_sql(
            "UPDATE segment SET version = 2, anchor = json_set(anchor, '$.rect', json('[0, 0, 7, 7]')) WHERE id = ?",
            (line,),
        )

    desk.engine.run(desk.library, "document.create", {"name": "Beside"}, PERSON, in_transaction=write)
    desk.run("segment.update", segment_id=line, expected_version=2, anchor=anchor(2))
    with pytest.raises(Conflict, match="Version 2 has a shape that is no longer accepted"):
        desk.run("segment.restore_version", segment_id=line, version=2, expected_version=3)


def test_what_other_families_name_must_be_there(desk: Any) -> None:
    page = desk.page()

    def write(ctx: ActionContext) -> None:
        add_segments(ctx, "nowhere", page, None, [NewSegment("a", "line", (0.1, 0.1, 0.5, 0.1))])

    with pytest.raises(NotFound, match="no pass nowhere"):
        desk.engine.run(desk.library, "document.create", {"name": "Beside"}, PERSON, in_transaction=write)
    with desk.library.db.read() as conn, pytest.raises(NotFound, match="no segment nowhere"):
        parsed_answers(conn, ["nowhere"])
