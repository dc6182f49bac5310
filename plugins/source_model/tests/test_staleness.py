"""What a correction makes stale: rows with the fingerprint of a text, and readings made from other readings."""

from __future__ import annotations

from typing import Any

from source_model_fixtures import RUN

from armarium_source_model.api import (
    DerivedRow,
    page_text,
    segment_fingerprints,
    stale_readings,
    stale_rows,
    text_fingerprint,
)


def test_rows_are_stale_once_their_text_is_another_and_fresh_again_when_it_is_taken_back(desk: Any) -> None:
    page, other_page = desk.page(), desk.page("Other")
    one, two, bare = desk.machine_lines(page, ["Deer Sir", "the end", None])["segment_ids"]
    desk.machine_lines(other_page, ["elsewhere"])
    with desk.library.db.read() as conn:
        lines = segment_fingerprints(conn, [one, two, bare])
        assert lines == {one: text_fingerprint("Deer Sir"), two: text_fingerprint("the end")}
        rows = [
            DerivedRow("name", page, lines[one], one),
            DerivedRow("date", page, lines[two], two),
            DerivedRow("summary", page, page_text(conn, page).fingerprint),
            DerivedRow("vector", other_page, page_text(conn, other_page).fingerprint),
            DerivedRow("ghost", page, lines[one], bare),
        ]
        assert stale_rows(conn, rows) == ["ghost"]
    desk.correct(one, "Dear Sir")
    corrected = desk.audit_id
    with desk.library.db.read() as conn:
        assert stale_rows(conn, rows) == ["name", "summary", "ghost"]
        assert stale_rows(conn, []) == []
    desk.undo(corrected)
    with desk.library.db.read() as conn:
        assert stale_rows(conn, rows) == ["ghost"]


def test_readings_made_from_a_corrected_or_retracted_one_are_stale(desk: Any) -> None:
    page = desk.page()
    old = desk.machine_lines(page, ["Deer Sir"])["segment_ids"][0]
    new = desk.machine_lines(page, [None], "m2")["segment_ids"][0]
    match = desk.run("segment.match_propose", from_segment_id=old, to_segment_id=new)["id"]
    desk.run("segment.match_accept", match_id=match)
    (copy,) = desk.run("segment.carry", match_id=match, kinds=["reading"])["carried"]
    with desk.library.db.read() as conn:
        assert stale_readings(conn, page) == []
    # A machine's rival reading corrects nothing; a person's correction of the original does, for copies on any segment.
    rival = desk.as_(RUN)
    rival.run("representation.create", segment_id=old, text="Dear Sin")
    with desk.library.db.read() as conn:
        assert stale_readings(conn, page) == []
    desk.undo(rival.audit_id)
    desk.correct(old, "Dear Sir")
    corrected = desk.audit_id
    with desk.library.db.read() as conn:
        (stale,) = stale_readings(conn, page)
    assert (stale["id"], stale["segment_id"], stale["stale"]) == (copy["copy_id"], new, True)
    desk.undo(corrected)
    desk.run("reading.retract", representation_id=copy["original_id"])
    with desk.library.db.read() as conn:
        assert [stale_reading["id"] for stale_reading in stale_readings(conn, page)] == [copy["copy_id"]]
    desk.run("reading.retract", representation_id=copy["copy_id"])
    with desk.library.db.read() as conn:
        assert stale_readings(conn, page) == []
