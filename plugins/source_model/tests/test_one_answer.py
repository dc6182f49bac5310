"""Questions that two places once answered differently: each place now gives the same answer."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from source_model_fixtures import AGENT, PERSON, RUN, Desk, anchor

from armarium.api import Conflict, Invalid, Principal
from armarium_documents.api import artifacts
from armarium_source_model.errors import StaleSegment
from armarium_source_model.queries.forwarding import absorbed_into
from armarium_source_model.queries.links import links_of, naming
from armarium_source_model.queries.orders import list_neighbours
from armarium_source_model.queries.passes import list_passes, working
from armarium_source_model.queries.text import page_text

# ---------------------------------------------------------------------------------------------- readings


@pytest.mark.parametrize("blank", ["", " ", "\n\t ", "\u00a0", "\u200b", "\u2003\u2028", "\x00", "\x07 \x1b"])
def test_blanks_are_no_reading(client: Any, desk: Desk, blank: str) -> None:
    (line,) = desk.machine_lines(desk.page(), ["Dear Sir"])["segment_ids"]
    answer = client.post(f"/api/segments/{line}/correct", json={"text": blank})
    assert answer.status_code == 422, answer.text
    assert answer.json()["detail"]
    parts = [{"anchor": {"rect": [x, 0.1, 0.3, 0.04]}, "text": blank} for x in (0.1, 0.5)]
    cut = client.post("/api/segments/split", json={"segment_id": line, "expected_version": 1, "parts": parts})
    assert cut.status_code == (422 if blank else 200)
    response = client.post(f"/api/segments/{line}/correct", json={"text": f"{blank}x{blank}"})
    assert response.json()["content"] == f"{blank}x{blank}"


@pytest.mark.parametrize("provider", ["user", "text-layer", "Text-Layer "])
@pytest.mark.parametrize("who", [PERSON, AGENT, RUN])
def test_no_caller_may_use_a_provider_name_that_ranks_first(
    desk: Desk, who: Principal, provider: str
) -> None:
    """The text layer of a file ranks before every reader's pass, so only the engine itself may use that name."""
    page = desk.page()
    lines = [{"key": "1", "rect": anchor()["rect"], "text": "forged"}]
    with pytest.raises(Invalid, match="name the reader as provider"):
        desk.as_(who).run("segment.take_lines", document_id=page, name="x", provider=provider, lines=lines)
    reading = desk.machine_lines(page, ["Dear Sir"])
    readings = [{"segment_id": reading["segment_ids"][0], "text": "forged"}]
    with pytest.raises(Invalid, match="name the reader as provider"):
        desk.as_(who).run(
            "reading.take", document_id=page, pass_id=reading["pass_id"], provider=provider, readings=readings
        )


def test_a_retracted_reading_does_not_count_as_touched_by_a_person(desk: Desk) -> None:
    """Once the person's reading in the older pass is retracted, the newer machine pass is the working one again."""
    page = desk.page()
    older = desk.machine_lines(page, ["Deer Sir"], "m1")
    newer = desk.machine_lines(page, ["Dear Sir"], "m2")
    mine = desk.correct(older["segment_ids"][0], "Dear Sirs")

    def read_by() -> tuple[str | None, str]:
        with desk.library.db.read() as conn:
            found = working(conn, page)
        return found.pass_id, found.basis

    assert read_by() == (older["pass_id"], "human-touched")
    desk.run("reading.retract", representation_id=mine)
    assert read_by() == (newer["pass_id"], "newest-machine-unchosen")
    desk.undo()
    assert read_by() == (older["pass_id"], "human-touched")


# ----------------------------------------------------------------------------------- what became of a segment


def test_a_deleted_segment_is_resolved_by_its_notes(client: Any, desk: Desk) -> None:
    page = desk.page()
    line, other = desk.lines(page, desk.new_pass(page), 2)
    desk.run("segment.delete", segment_ids=[line], expected_versions=[1])

    def view(segment_id: str) -> tuple[bool, bool]:
        answer = client.get(f"/api/segments/{segment_id}").json()
        return answer["deleted"], answer["resolved_from_forwarding"]

    assert view(line) == (True, True)
    assert view(other) == (False, False)
    desk.undo()
    assert view(line) == (False, False)


def test_a_late_edit_names_a_withdrawal_and_a_coming_back(desk: Desk) -> None:
    page = desk.page()
    (line,) = desk.lines(page, desk.new_pass(page), 1)
    desk.run("segment.delete", segment_ids=[line], expected_versions=[1])
    with pytest.raises(StaleSegment) as late:
        desk.run("segment.restore_version", segment_id=line, version=1, expected_version=1)
    assert late.value.fields["changed"] == ["deleted"]
    desk.run("segment.undelete", segment_ids=[line])
    with pytest.raises(StaleSegment) as late:
        desk.run("segment.update", segment_id=line, expected_version=2, kind_raw="mine")
    assert late.value.fields["changed"] == ["deleted"]
    with pytest.raises(StaleSegment) as late:
        desk.run("segment.update", segment_id=line, expected_version=1, kind_raw="mine")
    assert late.value.fields["changed"] == []


def annotate(desk: Desk, page: str, segment_id: str, text: str) -> str:
    result = desk.run(
        "annotation.create",
        document_id=page,
        anchor_kind="char_range",
        kind="note",
        text=text,
        targets=[{"segment_id": segment_id, "char_start": 0, "char_end": 1}],
    )
    return str(result["id"])


def test_annotations_of_a_merged_line_are_found_from_the_one_that_contains_it(
    client: Any, desk: Desk
) -> None:
    page = desk.page()
    kept, absorbed, third, far = desk.lines(page, desk.new_pass(page), 4)
    notes = [annotate(desk, page, one, "a note") for one in (kept, absorbed, third)]
    for one in (absorbed, third):
        desk.run("link.create", from_id=far, to_id=one, link_type="glosses")
    desk.run(
        "link.create", from_id=absorbed, to_kind="uri", to_id="https://www.geonames.org/1", link_type="names"
    )

    def find_statements(segment_id: str) -> list[str]:
        items = client.get("/api/annotations", params={"segment_id": segment_id}).json()["items"]
        return [item["id"] for item in items]

    assert find_statements(kept) == notes[:1]
    desk.run("segment.merge", segment_ids=[absorbed, third], keep_id=absorbed)
    desk.run("segment.merge", segment_ids=[kept, absorbed], keep_id=kept)
    assert find_statements(kept) == notes
    assert find_statements(absorbed) == notes[1:2]
    links = client.get(f"/api/links/of/{kept}").json()["links"]
    assert [(link["absorbed_id"], link["inbound"], link["other_id"]) for link in links] == [
        (absorbed, True, far),
        (third, True, far),
        (absorbed, False, "https://www.geonames.org/1"),
    ]
    with desk.library.db.read() as conn:
        assert absorbed_into(conn, far) == []
        assert [segment["segment_id"] for segment in naming(conn, desk.engine)["segments"]] == [kept]
        assert all(link["absorbed_id"] is None for link in links_of(conn, far))
    desk.run("segment.undelete", segment_ids=[absorbed])
    assert find_statements(kept) == notes[:1]
    assert client.get(f"/api/links/of/{kept}").json()["links"] == []


# ---------------------------------------------------------------------------------------------- orders


def make_order(desk: Desk, page: str, pass_id: str, *lines: str) -> tuple[str, list[str]]:
    order = desk.run("reading_order.create", document_id=page, pass_id=pass_id, name="Mine", kind="imposed")[
        "id"
    ]
    entries = [
        desk.run("reading_order.place", order_id=order, segment_id=line, at_end=True)["id"] for line in lines
    ]
    return str(order), entries


def text_by(desk: Desk, page: str, pass_id: str, order: str) -> str:
    with desk.library.db.read() as conn:
        return page_text(conn, page, pass_id=pass_id, order_id=order).text


def test_a_line_that_is_split_keeps_both_halves_in_its_orders(desk: Desk) -> None:
    page = desk.page()
    reading = desk.machine_lines(page, ["one two", "three"])
    first, second = reading["segment_ids"]
    order, _ = make_order(desk, page, reading["pass_id"], second, first)
    withdrawn, _ = make_order(desk, page, reading["pass_id"], first, second)
    desk.run("reading_order.withdraw", order_id=withdrawn)
    parts = [
        {"anchor": {"rect": [0.1, 0.1, 0.3, 0.04]}, "text": "one"},
        {"anchor": {"rect": [0.5, 0.1, 0.3, 0.04]}, "text": "two"},
    ]
    cut = desk.run("segment.split", segment_id=first, expected_version=1, parts=parts)
    audit_id = desk.audit_id
    part = cut["segment_ids"][1]
    assert text_by(desk, page, reading["pass_id"], order) == "three\none\ntwo"
    with desk.library.db.read() as conn:
        assert list_neighbours(conn, order, part)["before"]["segment_id"] == first
    desk.run("reading_order.restore", order_id=withdrawn)
    assert text_by(desk, page, reading["pass_id"], withdrawn) == "one\ntwo\nthree"
    desk.undo()
    desk.undo(audit_id)
    assert text_by(desk, page, reading["pass_id"], order) == "three\none two"


def test_there_is_room_for_parts_however_often_a_line_is_split(desk: Desk) -> None:
    page = desk.page()
    reading = desk.machine_lines(page, ["first", "last"])
    first, last = reading["segment_ids"]
    order, _ = make_order(desk, page, reading["pass_id"], first, last)
    for n in range(40):
        parts = [
            {"anchor": anchor(0), "text": "first"},
            {"anchor": {"rect": [0.5, 0.1, 0.1, 0.04]}, "text": str(n)},
        ]
        with desk.library.db.read() as conn:
            version = conn.exec_driver_sql("SELECT version FROM segment WHERE id = ?", (first,)).scalar_one()
        desk.run("segment.split", segment_id=first, expected_version=version, parts=parts)
    with desk.library.db.read() as conn:
        rows = conn.exec_driver_sql("SELECT position FROM reading_order_entry ORDER BY position")
        places = [row[0] for row in rows]
    assert min(b - a for a, b in pairwise(places)) >= 1e-9
    words = text_by(desk, page, reading["pass_id"], order).split("\n")
    assert words == ["first", *(str(n) for n in reversed(range(40))), "last"]


def test_a_line_outside_an_order_takes_the_place_of_what_it_absorbs(desk: Desk) -> None:
    page = desk.page()
    reading = desk.machine_lines(page, ["one", "two", "three"])
    one, two, three = reading["segment_ids"]
    order, _ = make_order(desk, page, reading["pass_id"], three, two)
    desk.run("segment.merge", segment_ids=[one, two], keep_id=one)
    assert text_by(desk, page, reading["pass_id"], order) == "three\none\ntwo"


def test_neighbours_are_what_the_text_reads_and_say_what_is_withdrawn(client: Any, desk: Desk) -> None:
    page = desk.page()
    reading = desk.machine_lines(page, ["heading", "inside", "after", "last"])
    heading, inside, after, last = reading["segment_ids"]
    order, entries = make_order(desk, page, reading["pass_id"], heading, after, last)
    desk.run("reading_order.place", order_id=order, segment_id=inside, parent_entry_id=entries[0])
    assert text_by(desk, page, reading["pass_id"], order) == "heading\ninside\nafter\nlast"

    def around(segment_id: str) -> list[tuple[str, bool] | None]:
        answer = client.get(
            f"/api/reading-orders/{order}/neighbours", params={"segment_id": segment_id}
        ).json()
        sides = (answer["before"], answer["after"])
        return [side and (side["segment_id"], side["deleted"]) for side in sides]

    assert around(heading) == [None, (inside, False)]
    assert around(inside) == [(heading, False), (after, False)]
    assert around(after) == [(inside, False), (last, False)]
    desk.run("segment.delete", segment_ids=[after], expected_versions=[1])
    assert around(last) == [(after, True), None]


def test_a_region_with_words_is_no_neighbour_where_its_lines_have_them(desk: Desk) -> None:
    """In the page text the region's own words are replaced by those of its lines."""
    page = desk.page()
    outcome = desk.as_(RUN).run(
        "segment.take_lines",
        document_id=page,
        name="Lines",
        provider="reader",
        lines=[
            {"key": "r", "kind": "region", "rect": [0.05, 0.05, 0.9, 0.1], "text": "all of it"},
            {"key": "l", "rect": [0.1, 0.06, 0.8, 0.04], "parent_key": "r", "text": "the line"},
            {"key": "m", "rect": [0.1, 0.3, 0.8, 0.04], "text": "more"},
        ],
    )
    region, line, more = outcome["segment_ids"]
    order, entries = make_order(desk, page, outcome["pass_id"], region, more)
    desk.run("reading_order.place", order_id=order, segment_id=line, parent_entry_id=entries[0])
    assert text_by(desk, page, outcome["pass_id"], order) == "the line\n\nmore"
    with desk.library.db.read() as conn:
        assert list_neighbours(conn, order, line)["before"] is None
        assert list_neighbours(conn, order, more)["before"]["segment_id"] == line
    desk.run("segment.delete", segment_ids=[line], expected_versions=[1])
    with desk.library.db.read() as conn:
        assert list_neighbours(conn, order, line)["before"]["segment_id"] == region


def test_lines_of_a_leaning_page_are_read_by_its_slope(desk: Desk) -> None:
    """The lines drop to the right by more than their distance, so the columns of a row only line up after levelling."""
    page = desk.page()
    pass_id = desk.new_pass(page)
    fall, rows = 0.2, 4
    made: dict[tuple[int, int], str] = {}
    for row in range(rows):
        for column, x in enumerate((0.05, 0.3, 0.55, 0.8)):
            y = 0.1 + 0.03 * row + fall * x
            box = {"rect": [x, y, 0.15, 0.02 + fall * 0.15]}
            baseline = [[x, y + 0.02], [x + 0.15, y + 0.02 + fall * 0.15]]
            made[row, column] = desk.run(
                "segment.create",
                document_id=page,
                pass_id=pass_id,
                kind="word",
                anchor=box,
                baseline=baseline,
            )["id"]
            desk.correct(made[row, column], f"{row}{column}")
    for row in range(rows):
        y = 0.1 + 0.03 * row
        desk.run(
            "segment.create",
            document_id=page,
            pass_id=pass_id,
            kind="line",
            anchor={"rect": [0.05, y, 0.9, 0.02 + fall * 0.9]},
            baseline=[[0.05, y + 0.03], [0.95, y + 0.03 + fall * 0.9]],
        )
    with desk.library.db.read() as conn:
        words = page_text(conn, page, pass_id=pass_id).text.split()
    assert words == [f"{row}{column}" for row in range(rows) for column in range(4)]


# ------------------------------------------------------------------------------------- older geometry


def old_page(desk: Desk, *boxes: dict[str, Any]) -> tuple[str, str]:
    """Create a page with one artifact that has boxes; return the ids of the page and of the provisional pass."""
    page = desk.page()

    def write(ctx: Any) -> None:
        ctx.conn.execute(
            artifacts.insert().values(
                id="blob", document_id=page, artifact_type="transcription", data={},
                ocr_geometry={"provider": "reader", "model": "m0", "boxes": list(boxes)},
                version=1, sequence=1, reviewed=False, run_id="run-0", created_at=ctx.now,
            )
        )  # fmt: skip

    other = {"name": "x", "doc_type": "page"}
    desk.engine.run(desk.library, "document.create", other, desk.principal, in_transaction=write)
    return page, "legacy:blob"


LATIN = ("Dear Sir", "your letter", "of May", "has come")
ARABIC = ("بسم", "الله", "الرحمن", "الرحيم")


@pytest.mark.parametrize("words", [LATIN, ARABIC])
def test_a_provisional_pass_has_the_text_it_will_have_as_segments(
    client: Any, desk: Desk, words: tuple[str, ...]
) -> None:
    """Two columns of two lines, a line without a reading, and a box off the page."""
    places = ((0.1, 0.1), (0.1, 0.2), (0.6, 0.1), (0.6, 0.2))
    boxes = [
        {"bbox": [x, y, 0.3, 0.05], "text": text, "level": "line"}
        for text, (x, y) in zip(words, places, strict=True)
    ]
    page, pass_id = old_page(
        desk, *boxes, {"bbox": [0.1, 0.5, 0.3, 0.05], "level": "line"}, {"bbox": [5, 5, 1, 1]}
    )
    place = f"/api/segments/document/{page}/text"
    before = client.get(place, params={"pass_id": pass_id})
    assert before.status_code == 200, before.text
    answer = before.json()
    assert sorted(answer["text"].split("\n")) == sorted(words)
    assert (answer["pass_id"], answer["pass_basis"], answer["pass_name"]) == (pass_id, "named", "m0")
    for span in answer["spans"]:
        segment = client.get(f"/api/segments/{span['segment_id']}").json()["segment"]
        assert answer["text"][span["char_start"] : span["char_end"]] == segment["text"]
    assert [(entry["segment_id"], entry["reason"]) for entry in answer["omitted"]] == [
        ("legacy:blob:4", "unknown")
    ]
    assert client.get(place, params={"pass_id": "legacy:none"}).status_code == 404
    other = f"/api/segments/document/{desk.page()}/text"
    assert client.get(other, params={"pass_id": pass_id}).status_code == 404
    (page_pass,) = desk.run("segment.convert_page", document_id=page)["passes"]
    after = client.get(place, params={"pass_id": page_pass["pass_id"]}).json()
    assert after["text"] == answer["text"]
    assert [span["direction"] for span in after["spans"]] == [span["direction"] for span in answer["spans"]]


def test_an_order_is_of_no_provisional_pass(client: Any, desk: Desk) -> None:
    page, pass_id = old_page(desk, {"bbox": [0.1, 0.1, 0.3, 0.05], "text": "x", "level": "line"})
    order, _ = make_order(desk, page, desk.new_pass(page))
    place = f"/api/segments/document/{page}/text"
    answer = client.get(place, params={"pass_id": pass_id, "order": order})
    assert (answer.status_code, answer.json()["code"]) == (422, "order_other_pass")
    assert client.get(place, params={"pass_id": pass_id, "order": "none"}).status_code == 404


@pytest.mark.parametrize(("direction", "words"), [(None, "A B"), ("rtl", "B A")])
def test_boxes_are_combined_as_their_page_is_written(desk: Desk, direction: str | None, words: str) -> None:
    """Directions stated for the folder or the project apply like those of the page."""
    folder = desk.run("document.create", name="Folder", doc_type="folder")["id"]
    page = desk.run("document.create", name="Page", doc_type="page", parent_id=folder)["id"]
    if direction is not None:
        desk.run("source_setting.set", level="node", key="direction", target_id=folder, value=direction)
    assert _combine(desk, page, "A", "B") == words


def test_boxes_are_combined_as_their_letters_run_where_nothing_is_stated(desk: Desk) -> None:
    assert _combine(desk, desk.page(), "بسم", "الله") == "الله بسم"


def _combine(desk: Desk, page: str, left: str, right: str) -> str:
    boxes = [
        {"bbox": [0.1, 0.1, 0.2, 0.05], "text": left},
        {"bbox": [0.5, 0.1, 0.2, 0.05], "text": right},
    ]
    result = desk.run(
        "artifact.create",
        document_id=page,
        artifact_type="transcription",
        ocr_geometry={"provider": "reader", "boxes": boxes},
    )["id"]
    edit = {"op": "combine", "indices": [0, 1]}
    outcome = desk.run("artifact.edit_regions", artifact_id=result, edit=edit)
    return str(outcome["geometry"]["boxes"][0]["text"])


# ---------------------------------------------------------------------------------------------- passes


def import_pass(desk: Desk, page: str, checksum: str = "0" * 64) -> str:
    """Create a pass as an import does; return its id."""
    from armarium_source_model.api import NewPass, create_pass

    made: list[str] = []

    def write(ctx: Any) -> None:
        made.append(
            create_pass(ctx, NewPass(page, "From a file", import_file="a.xml", import_checksum=checksum))
        )

    other = {"name": "beside", "doc_type": "page"}
    desk.engine.run(desk.library, "document.create", other, desk.principal, in_transaction=write)
    return made[0]


def test_a_withdrawn_import_does_not_come_back_beside_its_twin(desk: Desk) -> None:
    page = desk.page()
    first = import_pass(desk, page)
    desk.run("segment.pass_delete", pass_id=first)
    withdrawal = desk.audit_id
    second = import_pass(desk, page)
    with pytest.raises(Conflict, match="imported again") as refused:
        desk.run("segment.pass_restore", pass_id=first)
    assert (refused.value.code, refused.value.fields["pass_id"]) == ("already_a_pass", second)
    with pytest.raises(Conflict, match="imported again"):
        desk.undo(withdrawal)
    with desk.library.db.read() as conn:
        assert [page_pass["id"] for page_pass in list_passes(conn, page)] == [second]
    desk.run("segment.pass_delete", pass_id=second)
    desk.run("segment.pass_restore", pass_id=first)
    elsewhere = import_pass(desk, desk.page())
    desk.run("segment.pass_delete", pass_id=elsewhere)
    desk.run("segment.pass_restore", pass_id=elsewhere)


def test_a_page_says_that_its_text_is_in_another_pass(client: Any, desk: Desk) -> None:
    page = desk.page()
    read = desk.machine_lines(page, ["one", "two", None], "m1")
    place = f"/api/segments/document/{page}"
    assert client.get(place).json()["notice"] is None
    answer = client.get(f"{place}/text").json()
    assert (answer["text"], answer["notice"], answer["read_elsewhere"]) == ("one\ntwo", None, [])
    desk.machine_lines(page, [None, None], "m2")
    answer = client.get(f"{place}/text").json()
    assert (answer["text"], answer["pass_basis"]) == ("", "newest-machine-unchosen")
    assert answer["read_elsewhere"] == [{"pass_id": read["pass_id"], "name": "Lines of m1", "lines_read": 2}]
    assert "'Lines of m2', has no text; the pass 'Lines of m1' has 2 lines read" in answer["notice"]
    assert f"armarium passes {page} --use {read['pass_id']}" in answer["notice"]
    assert client.get(place).json()["notice"] == answer["notice"]
    desk.run("segment.pass_choose", pass_id=read["pass_id"])
    answer = client.get(f"{place}/text").json()
    assert (answer["text"], answer["notice"]) == ("one\ntwo", None)


def test_of_two_passes_of_one_name_the_notice_says_which_is_meant(client: Any, desk: Desk) -> None:
    page = desk.page()
    read = desk.machine_lines(page, ["one"], "m1")
    desk.machine_lines(page, [None], "m1")
    notice = client.get(f"/api/segments/document/{page}").json()["notice"]
    assert "'Lines of m1', has no text; an earlier pass of this name has 1 line read" in notice
    assert f"--use {read['pass_id']}" in notice


def test_the_text_gives_the_confidence_of_each_line_on_request(client: Any, desk: Any) -> None:
    page = desk.page()
    lines = [
        {"key": f"l{n}", "rect": [0.1, 0.1 + n / 10, 0.8, 0.05], "text": text, "confidence": sure}
        for n, (text, sure) in enumerate([("Dear Sir", 0.91), ("I remain", None), ("yours", 0.25)])
    ]
    taken = {"document_id": page, "name": "Read", "provider": "fake", "lines": lines}
    desk.run("segment.take_lines", **taken)
    where = f"/api/segments/document/{page}/text"
    spans = client.get(where, params={"confidence": True}).json()["spans"]
    assert [span["confidence"] for span in spans] == [0.91, None, 0.25]
    assert all(span.get("confidence") is None for span in client.get(where).json()["spans"])
    client.post(f"/api/segments/{spans[2]['segment_id']}/correct", json={"text": "Yours"})
    spans = client.get(where, params={"confidence": True}).json()["spans"]
    assert [span["confidence"] for span in spans] == [0.91, None, None]
