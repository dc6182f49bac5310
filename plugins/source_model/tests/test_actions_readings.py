"""Readings through their actions, the counting reading, and the page text that follows from it."""

from __future__ import annotations

from typing import Any

import pytest
from source_model_fixtures import AGENT, PERSON, RUN, anchor

from armarium.api import ActionContext, Conflict, Forbidden, Invalid, NotFound, ServiceError
from armarium_source_model.api import (
    MadePass,
    NewPass,
    NewReading,
    NewSegment,
    add_readings,
    add_segments,
    counting_readings,
    create_pass,
    create_passes,
    page_text,
    ready_segments,
    working_pass,
)
from armarium_source_model.queries.readings import counting_of_segment, readings_of


def expect_refusal(kind: type[ServiceError], desk: Any, name: str, /, **params: Any) -> ServiceError:
    with pytest.raises(kind) as caught:
        desk.run(name, **params)
    return caught.value


def inside(desk: Any, work: Any, principal: Any = PERSON) -> None:
    """Run *work(ctx)* inside a step, as an action of another family would."""
    page = desk.page("Scratch")
    desk.engine.run(
        desk.library,
        "segment.pass_create",
        {"document_id": page, "name": "Scratch"},
        principal,
        in_transaction=work,
    )


def readings(desk: Any, segment_id: str) -> dict[str, Any]:
    with desk.library.db.read() as conn:
        return readings_of(conn, segment_id)


def text_of(desk: Any, page: str, **more: Any) -> Any:
    with desk.library.db.read() as conn:
        return page_text(conn, page, **more)


# Correcting


def test_a_correction_retires_what_it_corrects_and_undo_brings_that_back(desk: Any) -> None:
    page = desk.page()
    segment_id = desk.machine_lines(page, ["Deer Sir"])["segment_ids"][0]
    before = readings(desk, segment_id)
    assert before["counting"]["transcription"] == {
        "representation_id": before["items"][0]["id"],
        "basis": "newest-machine-unchosen",
        "labelled_machine": True,
        "disputed": False,
    }
    result = desk.run(
        "representation.create",
        segment_id=segment_id,
        text="Dear Sir",
        expected_counting_id=before["items"][0]["id"],
        level="as_written",
        language="en",
    )
    assert (result["counting"], result["corrects_representation_id"]) == (True, before["items"][0]["id"])
    assert (result["unplaced"], result["level"], result["language"]) == ([], "as_written", "en")
    after = readings(desk, segment_id)
    assert after["counting"]["transcription"]["basis"] == "correction"
    assert [item["superseded_by"] for item in after["items"]] == [result["id"], None]
    assert text_of(desk, page).text == "Dear Sir"
    desk.undo()
    assert readings(desk, segment_id) == before


def test_a_correction_of_what_no_longer_counts_is_refused_and_names_what_does(desk: Any) -> None:
    page = desk.page()
    segment_id = desk.machine_lines(page, ["Deer Sir"])["segment_ids"][0]
    machine = readings(desk, segment_id)["items"][0]["id"]
    mine = desk.correct(segment_id, "Dear Sir")
    refusal = expect_refusal(
        Conflict, desk, "representation.create", segment_id=segment_id, text="x", expected_counting_id=machine
    )
    assert (refusal.fields["counting_id"], refusal.fields["counting_text"]) == (mine, "Dear Sir")
    assert readings(desk, segment_id)["count"] == 2
    empty = desk.machine_lines(page, [None])["segment_ids"][0]
    refusal = expect_refusal(
        Conflict, desk, "representation.create", segment_id=empty, text="x", expected_counting_id=machine
    )
    assert (refusal.fields["counting_id"], refusal.fields["counting_text"]) == (None, None)
    assert "no reading counts" in refusal.detail


def test_a_reading_needs_words_and_a_kind_the_project_has(desk: Any) -> None:
    segment_id = desk.machine_lines(desk.page(), ["a"])["segment_ids"][0]
    expect_refusal(Invalid, desk, "representation.create", segment_id=segment_id, text="")
    refusal = expect_refusal(
        Invalid, desk, "representation.create", segment_id=segment_id, text="a", kind="paraphrase"
    )
    assert refusal.code == "unknown_kind"
    assert "translation" in refusal.detail
    desk.run("reading_kind.create", key="paraphrase", label="Paraphrase")
    assert desk.run("representation.create", segment_id=segment_id, text="a", kind="paraphrase")["counting"]
    assert (
        expect_refusal(Conflict, desk, "reading_kind.create", key="paraphrase", label="x").code
        == "already_exists"
    )
    assert (
        expect_refusal(Invalid, desk, "reading_kind.create", key="Über", label="x").code == "invalid_request"
    )


def test_several_lines_are_corrected_in_one_step_all_or_none(desk: Any) -> None:
    page = desk.page()
    one, two = desk.machine_lines(page, ["Deer Sir", "yuor letter"])["segment_ids"]
    (machine,) = [item["id"] for item in readings(desk, two)["items"]]
    before = [readings(desk, one), readings(desk, two)]
    wanted = [{"segment_id": one, "text": "Dear Sir"}, {"segment_id": two, "text": "your letter"}]
    for kind, second, status, code in (
        (Invalid, {"segment_id": one, "text": "Dear sir"}, 422, "named_twice"),
        (NotFound, {"segment_id": "nowhere", "text": "x"}, 404, "segment_not_found"),
        (
            Conflict,
            {**wanted[1], "expected_counting_id": before[0]["items"][0]["id"]},
            409,
            "other_reading_counts",
        ),
    ):
        refusal = expect_refusal(kind, desk, "representation.create_many", corrections=[wanted[0], second])
        assert (refusal.status, refusal.code, refusal.fields["index"]) == (status, code, 1)
        assert refusal.detail.startswith("corrections[1]: ")
        assert [readings(desk, one), readings(desk, two)] == before
    wanted[1]["expected_counting_id"] = machine
    result = desk.run("representation.create_many", corrections=wanted)
    assert [(item["segment_id"], item["content"]) for item in result["items"]] == [
        (one, "Dear Sir"),
        (two, "your letter"),
    ]
    assert text_of(desk, page).text == "Dear Sir\nyour letter"
    desk.undo()
    assert [readings(desk, one), readings(desk, two)] == before


def test_a_machines_correction_of_a_person_does_not_count(desk: Any) -> None:
    segment_id = desk.machine_lines(desk.page(), ["Deer Sir"])["segment_ids"][0]
    mine = desk.correct(segment_id, "Dear Sir")
    theirs = desk.as_(AGENT).run("representation.create", segment_id=segment_id, text="Dear sir")
    assert (theirs["provenance_kind"], theirs["counting"]) == ("agent", False)
    assert readings(desk, segment_id)["counting"]["transcription"]["representation_id"] == mine


def test_a_correction_of_a_chosen_reading_ends_the_choice(desk: Any) -> None:
    segment_id = desk.machine_lines(desk.page(), ["Deer Sir"])["segment_ids"][0]
    machine = readings(desk, segment_id)["items"][0]["id"]
    desk.run("reading.choose", segment_id=segment_id, representation_id=machine)
    mine = desk.correct(segment_id, "Dear Sir")
    assert readings(desk, segment_id)["counting"]["transcription"] == {
        "representation_id": mine,
        "basis": "correction",
        "labelled_machine": False,
        "disputed": False,
    }
    desk.undo()
    assert readings(desk, segment_id)["counting"]["transcription"]["basis"] == "chosen"


@pytest.mark.parametrize(
    "text", ["𝔄𝔩𝔣𝔞 \U0001d518", "é vs é", "\u200fשלום\u200f", "a\r\nb", " a ", "a\x00b", "ﬀ ſ"]
)
def test_words_are_stored_exactly_as_sent(desk: Any, text: str) -> None:
    page = desk.page()
    segment_id = desk.machine_lines(page, [None])["segment_ids"][0]
    result = desk.run("representation.create", segment_id=segment_id, text=text)
    assert result["content"] == text
    found_text = text_of(desk, page)
    assert found_text.text == text
    assert (found_text.assembled.spans[0].char_start, found_text.assembled.spans[0].char_end) == (
        0,
        len(text),
    )


def test_the_audit_never_holds_the_words(desk: Any) -> None:
    segment_id = desk.machine_lines(desk.page(), ["canary-one"])["segment_ids"][0]
    desk.correct(segment_id, "canary-two")
    with desk.library.db.read() as conn:
        kept = "".join(row[0] for row in conn.exec_driver_sql("SELECT params || changed FROM audit"))
    assert "canary" not in kept


# Choosing and retracting


def test_only_a_person_chooses_the_reading_that_counts(desk: Any) -> None:
    segment_id = desk.machine_lines(desk.page(), ["a"])["segment_ids"][0]
    machine = readings(desk, segment_id)["items"][0]["id"]
    for somebody in (AGENT, RUN):
        refusal = expect_refusal(
            Forbidden, desk.as_(somebody), "reading.choose", segment_id=segment_id, representation_id=machine
        )
        assert refusal.code == "person_only"


def test_a_choice_is_of_one_of_the_segments_own_live_readings_of_that_kind(desk: Any) -> None:
    page = desk.page()
    a, b = desk.machine_lines(page, ["a", "b"])["segment_ids"]
    foreign = readings(desk, b)["items"][0]["id"]
    own = readings(desk, a)["items"][0]["id"]
    choose = {"segment_id": a, "kind": "transcription"}
    expect_refusal(NotFound, desk, "reading.choose", representation_id="nowhere", **choose)
    assert (
        expect_refusal(Invalid, desk, "reading.choose", representation_id=foreign, **choose).code
        == "other_segment"
    )
    refusal = expect_refusal(
        Invalid, desk, "reading.choose", segment_id=a, kind="translation", representation_id=own
    )
    assert refusal.code == "other_kind"
    refusal = expect_refusal(
        Invalid, desk, "reading.choose", segment_id=a, kind="guess", representation_id=own
    )
    assert refusal.code == "unknown_kind"
    desk.run("reading.retract", representation_id=own)
    assert (
        expect_refusal(Invalid, desk, "reading.choose", representation_id=own, **choose).code == "retracted"
    )


def test_earlier_choices_stay_and_null_withdraws(desk: Any) -> None:
    page = desk.page()
    segment_id = desk.machine_lines(page, ["first"])["segment_ids"][0]
    first = readings(desk, segment_id)["items"][0]["id"]
    second = desk.as_(AGENT).run("representation.create", segment_id=segment_id, text="second")["id"]
    assert text_of(desk, page).text == "second"
    chosen = desk.run("reading.choose", segment_id=segment_id, representation_id=first)
    assert chosen["counting"]["basis"] == "chosen"
    assert text_of(desk, page).text == "first"
    desk.run("reading.choose", segment_id=segment_id, representation_id=second)
    desk.run("reading.choose", segment_id=segment_id, representation_id=None)
    desk.run("reading.choose", segment_id=segment_id, representation_id=None)
    assert readings(desk, segment_id)["counting"]["transcription"]["basis"] == "newest-machine-unchosen"
    with desk.library.db.read() as conn:
        rows = conn.exec_driver_sql("SELECT superseded_at IS NULL FROM reading_choice").all()
    assert [row[0] for row in rows] == [0, 0]


def test_a_retracted_reading_stays_readable_and_stops_counting(desk: Any) -> None:
    page = desk.page()
    segment_id = desk.machine_lines(page, ["Deer Sir"])["segment_ids"][0]
    mine = desk.correct(segment_id, "Dear Sir")
    assert (
        expect_refusal(Forbidden, desk.as_(AGENT), "reading.retract", representation_id=mine).code
        == "person_only"
    )
    answer = desk.run("reading.retract", representation_id=mine)
    assert (answer["retracted"], answer["counting"]) == (True, False)
    assert text_of(desk, page).text == "Deer Sir"
    assert readings(desk, segment_id)["count"] == 2
    assert (
        expect_refusal(Conflict, desk, "reading.retract", representation_id=mine).code == "already_retracted"
    )
    expect_refusal(NotFound, desk, "reading.retract", representation_id="nowhere")
    assert (
        expect_refusal(Invalid, desk, "reading.retract", representation_id="legacy:a:0").code
        == "provisional_id"
    )


def test_a_text_of_a_whole_document_is_no_reading(desk: Any) -> None:
    page = desk.page()

    def write(ctx: ActionContext) -> None:
        ctx.conn.exec_driver_sql(
            "INSERT INTO content_representation (id, document_id, kind, content, retracted, review_state, "
            "provenance_kind, created_at) VALUES ('whole', ?, 'transcription', 'x', 0, 'source', 'human', '2024')",
            (page,),
        )

    inside(desk, write)
    assert (
        "whole document"
        in expect_refusal(NotFound, desk, "reading.retract", representation_id="whole").detail
    )


def test_what_was_derived_from_a_corrected_reading_is_stale(desk: Any) -> None:
    segment_id = desk.machine_lines(desk.page(), ["Deer Sir"])["segment_ids"][0]
    source = readings(desk, segment_id)["items"][0]["id"]

    def derive(ctx: ActionContext) -> None:
        (reading,) = add_readings(ctx, [NewReading(segment_id, "Cher Monsieur", kind="translation")])
        ctx.conn.exec_driver_sql(
            "UPDATE content_representation SET derived_from_representation_id = ? WHERE id = ?",
            (source, reading),
        )

    inside(desk, derive)
    stale = {item["kind"]: item["stale"] for item in readings(desk, segment_id)["items"]}
    assert stale == {"transcription": False, "translation": False}
    desk.correct(segment_id, "Dear Sir")
    assert any(item["stale"] for item in readings(desk, segment_id)["items"] if item["kind"] == "translation")


# Readings from readers and imports


def test_readings_of_a_reader_are_for_lines_of_the_pass_it_names(desk: Any) -> None:
    page = desk.page()
    machine_lines = desk.machine_lines(page, [None, None])
    second_machine_lines = desk.machine_lines(page, [None], "m2")
    take = {"document_id": page, "pass_id": machine_lines["pass_id"], "provider": "reader", "model": "m3"}
    text = {"segment_id": machine_lines["segment_ids"][0], "text": "read", "confidence": 0.5}
    outcome = desk.as_(RUN).run("reading.take", readings=[text], **take)
    item = readings(desk, machine_lines["segment_ids"][0])["items"][0]
    assert item["id"] == outcome["representation_ids"][0]
    assert (item["provenance_kind"], item["producer_tool"], item["producer_model"], item["confidence"]) == (
        "workflow",
        "reader",
        "m3",
        0.5,
    )
    foreign = {"segment_id": second_machine_lines["segment_ids"][0], "text": "x"}
    assert expect_refusal(Conflict, desk, "reading.take", readings=[foreign], **take).code == "other_pass"
    expect_refusal(NotFound, desk, "reading.take", readings=[{"segment_id": "nowhere", "text": "x"}], **take)
    legacy = {"segment_id": "legacy:a:1", "text": "x"}
    assert expect_refusal(Invalid, desk, "reading.take", readings=[legacy], **take).code == "provisional_id"
    assert (
        expect_refusal(Invalid, desk, "reading.take", readings=[], kind="guess", **take).code
        == "unknown_kind"
    )
    expect_refusal(Conflict, desk, "reading.take", readings=[], **{**take, "document_id": desk.page()})
    desk.run("segment.delete", segment_ids=[text["segment_id"]], expected_versions=[1])
    assert expect_refusal(Conflict, desk, "reading.take", readings=[text], **take).code == "segment_deleted"


def test_an_import_has_no_maker_here_and_is_used_only_without_another_pass(desk: Any) -> None:
    page = desk.page()
    made: dict[str, Any] = {}

    def take(ctx: ActionContext) -> None:
        made["pass"] = create_pass(ctx, NewPass(page, "PAGE", import_file="a.xml", import_format="page"))
        new = [
            NewSegment("r", "region", [0, 0, 1, 1], kind_raw="paragraph"),
            NewSegment("l", "line", anchor()["rect"], parent_key="r", metadata={"raw": 1}),
        ]
        made["ids"] = add_segments(ctx, made["pass"], page, None, new)
        add_readings(ctx, [NewReading(made["ids"][1], "imported")], provenance_kind="external_import")

    inside(desk, take)
    with desk.library.db.read() as conn:
        assert working_pass(conn, page) == (made["pass"], "imported-only")
        counted = counting_readings(conn, made["pass"])
    assert counted[made["ids"][1]].labelled_machine is False
    text = text_of(desk, page)
    assert (text.text, text.pass_basis) == ("imported", "imported-only")
    assert readings(desk, made["ids"][1])["items"][0]["provenance_kind"] == "external_import"


def test_several_passes_are_made_at_once_with_their_segments_all_or_none(desk: Any) -> None:
    pages = [desk.page(), desk.page()]
    new = [
        NewSegment("r", "region", [0, 0, 1, 1]),
        NewSegment("l", "line", anchor()["rect"], parent_key="r", metadata={"raw": 1}),
    ]
    ready = ready_segments(new)
    made: list[MadePass] = []

    def make(documents: list[str]) -> Any:
        given = [NewPass(document, "PAGE", import_format="page", segments=ready) for document in documents]
        return lambda ctx: made.extend(create_passes(ctx, given))

    inside(desk, make(pages))
    assert [len(item.segment_ids) for item in made] == [2, 2]
    seen = (
        "SELECT document_id, pass_id, parent_segment_id, provenance_kind, by_hand, version, metadata,"
        " json_extract(anchor, '$.document_id') = document_id, json_extract(anchor, '$.rect[2]') = bbox_w"
        " FROM segment WHERE kind = 'line' ORDER BY id"
    )
    with desk.library.db.read() as conn:
        assert [tuple(row) for row in conn.exec_driver_sql(seen)] == [
            (page, one.pass_id, one.segment_ids[0], "external_import", 0, 1, '{"raw":1}', 1, 1)
            for page, one in zip(pages, made, strict=True)
        ]
        assert counting_readings(conn, made[0].pass_id) == {}
    desk.run("document.delete", ids=[pages[1]])
    with pytest.raises(Conflict, match="Trash"):
        inside(desk, make(pages))
    with pytest.raises(NotFound):
        inside(desk, make(["nowhere"]))
    inside(desk, make([]))
    assert len(made) == 2


def test_a_machine_never_writes_a_persons_reading_or_row(desk: Any) -> None:
    page = desk.page()
    by_hand = desk.new_pass(page)

    def write(ctx: ActionContext) -> None:
        (identity,) = add_segments(
            ctx, by_hand, page, None, [NewSegment("l", "line", anchor()["rect"])], provenance_kind="human"
        )
        add_readings(ctx, [NewReading(identity, "x")], provenance_kind="human")

    inside(desk, write, AGENT)
    with desk.library.db.read() as conn:
        kinds = conn.exec_driver_sql(
            "SELECT provenance_kind FROM segment UNION ALL SELECT provenance_kind FROM content_representation"
        ).all()
        assert [row[0] for row in kinds] == ["agent", "agent"]
        assert conn.exec_driver_sql("SELECT sum(by_hand) FROM segment").scalar_one() == 0


def test_bulk_writes_refuse_what_does_not_fit(desk: Any) -> None:
    page = desk.page()
    pass_id = desk.new_pass(page)
    line = NewSegment("l", "line", anchor()["rect"])

    def add(new: list[NewSegment]) -> Any:
        return lambda ctx: add_segments(ctx, pass_id, page, None, new)

    with pytest.raises(Invalid, match="Segment bad: "):
        inside(desk, add([line, NewSegment("bad", "line", [0, 0, 2, 2])]))
    with pytest.raises(Conflict, match="same key"):
        inside(desk, add([line, line]))
    with pytest.raises(Conflict, match="not in this call"):
        inside(desk, add([NewSegment("l", "line", anchor()["rect"], parent_key="x")]))
    with pytest.raises(NotFound):
        inside(desk, lambda ctx: add_readings(ctx, [NewReading("nowhere", "x")]))
    inside(desk, lambda ctx: add_readings(ctx, []))


# The text of a page


def test_the_text_names_its_pass_its_spans_and_what_it_leaves_out(desk: Any) -> None:
    page = desk.page()
    reading = desk.machine_lines(page, ["one", "two", None, "head"])
    head = reading["segment_ids"][3]
    desk.run("segment.update", segment_id=head, expected_version=1, is_furniture=True)
    answer = text_of(desk, page).answer()
    assert answer["text"] == "one\ntwo"
    assert (answer["pass_id"], answer["pass_basis"], answer["pass_name"]) == (
        reading["pass_id"],
        "human-touched",
        "Lines of m1",
    )
    assert answer["order_id"] is None
    assert [(span["char_start"], span["char_end"]) for span in answer["spans"]] == [(0, 3), (4, 7)]
    assert {(entry["segment_id"], entry["reason"]) for entry in answer["omitted"]} == {
        (reading["segment_ids"][2], "unknown"),
        (head, "furniture"),
    }
    assert text_of(desk, page, include_furniture=True).text == "head\none\ntwo"


def test_words_replace_a_line_without_reading_and_a_region_its_lines(desk: Any) -> None:
    page = desk.page()
    made: dict[str, list[str]] = {}

    def write(ctx: ActionContext) -> None:
        pass_id = create_pass(ctx, NewPass(page, "Words", provider="reader"))
        new = [
            NewSegment("r1", "region", [0.1, 0.1, 0.8, 0.2]),
            NewSegment("l1", "line", [0.1, 0.1, 0.8, 0.05], parent_key="r1"),
            NewSegment("w1", "word", [0.1, 0.1, 0.2, 0.05], parent_key="l1"),
            NewSegment("w2", "word", [0.4, 0.1, 0.2, 0.05], parent_key="l1"),
            NewSegment("l2", "line", [0.1, 0.2, 0.8, 0.05], parent_key="r1"),
            NewSegment("w3", "word", [0.1, 0.2, 0.2, 0.05], parent_key="l2"),
            NewSegment("r2", "region", [0.1, 0.4, 0.8, 0.2]),
            NewSegment("l3", "line", [0.1, 0.4, 0.8, 0.05], parent_key="r2"),
        ]
        made["ids"] = add_segments(ctx, pass_id, page, None, new)
        texts = ["block one", None, "Dear", "Sir", "a line", "ignored", "block two", None]
        add_readings(
            ctx,
            [
                NewReading(identity, text, producer_tool="reader")
                for identity, text in zip(made["ids"], texts, strict=True)
                if text is not None
            ],
        )

    inside(desk, write)
    text = text_of(desk, page)
    assert text.text == "Dear Sir\na line\n\nblock two"
    assert [one.segment_id for one in text.assembled.omitted] == [made["ids"][7]]


def test_a_page_without_a_pass_has_no_text_and_an_unknown_one_is_refused(desk: Any) -> None:
    page = desk.page()
    assert text_of(desk, page).answer() == {
        "document_id": page,
        "text": "",
        "pass_id": None,
        "pass_basis": "none",
        "pass_name": None,
        "order_id": None,
        "order_basis": "none",
        "spans": [],
        "omitted": [],
    }
    with pytest.raises(NotFound):
        text_of(desk, "nowhere")
    with pytest.raises(NotFound):
        text_of(desk, page, pass_id="nowhere")
    with pytest.raises(NotFound, match="another page"):
        text_of(desk, page, pass_id=desk.new_pass(desk.page()))


def test_a_page_of_hebrew_is_read_from_the_right(desk: Any) -> None:
    page = desk.page()

    def write(ctx: ActionContext) -> None:
        pass_id = create_pass(ctx, NewPass(page, "Lines", provider="reader"))
        new = [
            NewSegment(f"{side}{row}", "line", [x, 0.1 + 0.05 * row, 0.38, 0.03])
            for side, x in (("left", 0.08), ("right", 0.54))
            for row in range(4)
        ]
        ids = add_segments(ctx, pass_id, page, None, new)
        add_readings(ctx, [NewReading(identity, f"שלום {n}") for n, identity in enumerate(ids)])

    inside(desk, write)
    text = text_of(desk, page)
    assert text.text.split("\n")[0] == "שלום 4"
    assert {span.direction for span in text.assembled.spans} == {"rtl"}


def test_strict_and_relaxed_projects_differ_where_persons_disagree(desk: Any) -> None:
    page = desk.page()
    segment_id = desk.machine_lines(page, [None])["segment_ids"][0]
    inside(
        desk,
        lambda ctx: add_readings(ctx, [NewReading(segment_id, "one"), NewReading(segment_id, "two")]),
    )
    counting = readings(desk, segment_id)["counting"]["transcription"]
    assert (counting["basis"], counting["disputed"]) == ("newest-human", True)
    assert text_of(desk, page).text == text_of(desk, page, rule="relaxed").text == "two"
    with desk.library.db.read() as conn:
        assert not counting_of_segment(conn, segment_id, "transcription", "relaxed").disputed


def test_the_fingerprint_of_a_page_changes_with_its_text_and_comes_back_with_an_undo(desk: Any) -> None:
    page = desk.page()
    segment_id = desk.machine_lines(page, ["Deer Sir"])["segment_ids"][0]
    before = text_of(desk, page).fingerprint
    desk.correct(segment_id, "Dear Sir")
    assert text_of(desk, page).fingerprint != before
    desk.undo()
    assert text_of(desk, page).fingerprint == before
