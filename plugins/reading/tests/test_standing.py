"""From a model's call to its correction and back: each consequence, including undo and redo, is an episode
that names the call.
"""

from __future__ import annotations

from typing import Any

from gateway_desk import episodes
from reading_desk import Desk

from armarium.principals import LOCAL_OWNER
from armarium_reading.api import Standing, standing_of


def read_page(desk: Desk) -> tuple[str, list[tuple[str, str]]]:
    """Create a page read by the fake reader; return the call's episode, and (segment, reading) of its lines."""
    page = desk.page()
    desk.job("reading.read_pages", scope_ids=[page])
    (call,) = [one for one in episodes(desk) if one["document_id"] == page]
    rows = desk.rows(
        "SELECT segment_id, id FROM content_representation WHERE document_id = ? AND segment_id IS NOT NULL "
        "ORDER BY segment_id",
        page,
    )
    assert len(rows) == 2
    return call["id"], [(row[0], row[1]) for row in rows]


def act(desk: Desk, name: str, **params: Any) -> str:
    return str(desk.engine.run(desk.library, name, params, LOCAL_OWNER).audit_id)


def undo(desk: Desk, *audit_ids: str) -> list[str]:
    return list(desk.engine.undo(desk.library, audit_ids, LOCAL_OWNER)["audit_ids"])


def standing(desk: Desk, call: str) -> Standing:
    with desk.library.db.read() as conn:
        return standing_of(conn, call)


def notes(desk: Desk) -> list[tuple[str, str, str | None]]:
    return [
        (one["kind"], one["corrects_episode_id"], one["caused_by_episode_id"])
        for one in episodes(desk)
        if one["kind"] != "model_call"
    ]


def test_reading_alone_has_no_consequence(desk: Desk) -> None:
    call, _ = read_page(desk)
    assert notes(desk) == []
    assert standing(desk, call) == Standing()


def test_a_correction_names_the_call_and_undo_takes_it_back(desk: Desk) -> None:
    call, ((segment, _), _) = read_page(desk)
    done = act(desk, "representation.create", segment_id=segment, text="Dear Sir")
    (_, note) = episodes(desk)
    assert (note["kind"], note["corrects_episode_id"], note["segment_id"]) == ("correction", call, segment)
    assert (note["exchange"]["corrected_text"], note["actor"]) == ("Dear Sir", "owner")
    original = episodes(desk)[0]
    assert [note[key] for key in ("provider", "model", "use_case", "document_id")] == [
        original[key] for key in ("provider", "model", "use_case", "document_id")
    ]
    assert standing(desk, call).corrections == {segment: "Dear Sir"}
    (undone,) = undo(desk, done)
    assert notes(desk)[-1] == ("invalidation", call, note["id"])
    assert standing(desk, call) == Standing()
    undo(desk, undone)
    assert notes(desk)[-1] == ("correction", call, None)
    assert standing(desk, call).corrections == {segment: "Dear Sir"}


def test_the_last_of_several_corrections_stands(desk: Desk) -> None:
    call, ((first, _), (second, _)) = read_page(desk)
    corrections = [{"segment_id": first, "text": "Dear Sir"}, {"segment_id": second, "text": "Madam"}]
    act(desk, "representation.create_many", corrections=corrections)
    again = act(desk, "representation.create", segment_id=first, text="Dear Sirs")
    assert standing(desk, call).corrections == {first: "Dear Sirs", second: "Madam"}
    undo(desk, again)
    assert standing(desk, call).corrections == {first: "Dear Sir", second: "Madam"}


def test_a_reading_that_a_person_chose(desk: Desk) -> None:
    call, ((segment, reading), _) = read_page(desk)
    choice = {"segment_id": segment, "kind": "transcription"}
    done = act(desk, "reading.choose", **choice, representation_id=reading)
    (text,) = desk.rows("SELECT content FROM content_representation WHERE id = ?", reading)[0]
    assert standing(desk, call).corrections == {segment: text}
    act(desk, "reading.choose", **choice, representation_id=reading)
    assert len(notes(desk)) == 1
    act(desk, "reading.choose", **choice, representation_id=None)
    assert standing(desk, call) == Standing()
    act(desk, "reading.choose", **choice, representation_id=reading)
    assert standing(desk, call).corrections == {segment: text}
    assert [kind for kind, named, _ in notes(desk) if named == call] == [
        "correction",
        "invalidation",
        "correction",
    ]
    assert done


def test_a_retracted_reading_is_invalid_until_that_is_undone(desk: Desk) -> None:
    call, ((segment, reading), _) = read_page(desk)
    done = act(desk, "reading.retract", representation_id=reading)
    assert notes(desk) == [("invalidation", call, None)]
    assert standing(desk, call).invalid == {segment}
    undo(desk, done)
    assert standing(desk, call) == Standing()


def test_taking_the_reading_itself_back_invalidates_the_call(desk: Desk) -> None:
    call, lines = read_page(desk)
    page = desk.rows("SELECT document_id FROM segment WHERE id = ?", lines[0][0])[0][0]
    again, _ = desk.job("reading.read_lines", scope_ids=[page])
    (second,) = [row[0] for row in desk.rows("SELECT id FROM episode WHERE job_id = ?", again)]
    (step,) = [row[0] for row in desk.rows("SELECT id FROM audit WHERE action_name = 'reading.take'")]
    (undone,) = undo(desk, step)
    assert notes(desk) == [("invalidation", second, None)]
    assert standing(desk, second).invalid == {None}
    (redone,) = undo(desk, undone)
    assert standing(desk, second) == Standing()
    undo(desk, redone)
    assert standing(desk, second).invalid == {None}
    assert standing(desk, call) == Standing()


def test_a_persons_own_reading_corrects_no_call(desk: Desk) -> None:
    page = desk.page()
    desk.job("reading.find_lines", scope_ids=[page])
    segment = desk.rows("SELECT id FROM segment WHERE document_id = ? AND kind = 'line'", page)[0][0]
    for text in ("Dear", "Dear Sir"):
        act(desk, "representation.create", segment_id=segment, text=text)
    assert notes(desk) == []


def test_a_ledger_that_cannot_be_written_hinders_no_correction(desk: Desk) -> None:
    _, ((segment, _), _) = read_page(desk)
    with desk.library.db.write() as conn:
        conn.exec_driver_sql(
            "CREATE TRIGGER full BEFORE INSERT ON episode BEGIN SELECT RAISE(ABORT, 'no room'); END"
        )
    act(desk, "representation.create", segment_id=segment, text="Dear Sir")
    assert desk.rows("SELECT count(*) FROM content_representation WHERE content = 'Dear Sir'") == [(1,)]
    assert notes(desk) == []
    assert [fault.name for fault in desk.engine.plugins.faults] == ["reading"]
