"""From a model's call to its correction and back: each consequence, including undo and redo, is an episode
that names the call.
"""

from __future__ import annotations

from typing import Any

from gateway_helpers import episodes
from reading_project import ReadingProject

from armarium.principals import LOCAL_OWNER
from armarium_reading.api import Standing, standing_of


def read_page(project: ReadingProject) -> tuple[str, list[tuple[str, str]]]:
    """Create a page read by the fake reader; return the call's episode, and (segment, reading) of its lines."""
    page = project.page()
    project.job("reading.read_pages", scope_ids=[page])
    (call,) = [episode for episode in episodes(project) if episode["document_id"] == page]
    rows = project.rows(
        "SELECT segment_id, id FROM content_representation WHERE document_id = ? AND segment_id IS NOT NULL "
        "ORDER BY segment_id",
        page,
    )
    assert len(rows) == 2
    return call["id"], [(row[0], row[1]) for row in rows]


def act(project: ReadingProject, name: str, **params: Any) -> str:
    return str(project.engine.run(project.library, name, params, LOCAL_OWNER).audit_id)


def undo(project: ReadingProject, *audit_ids: str) -> list[str]:
    return list(project.engine.undo(project.library, audit_ids, LOCAL_OWNER)["audit_ids"])


def consequences_of(project: ReadingProject, call: str) -> Standing:
    with project.library.db.read() as conn:
        return standing_of(conn, call)


def notes(project: ReadingProject) -> list[tuple[str, str, str | None]]:
    return [
        (episode["kind"], episode["corrects_episode_id"], episode["caused_by_episode_id"])
        for episode in episodes(project)
        if episode["kind"] != "model_call"
    ]


def test_reading_alone_has_no_consequence(project: ReadingProject) -> None:
    call, _ = read_page(project)
    assert notes(project) == []
    assert consequences_of(project, call) == Standing()


def test_a_correction_names_the_call_and_undo_takes_it_back(project: ReadingProject) -> None:
    call, ((segment, _), _) = read_page(project)
    representation = act(project, "representation.create", segment_id=segment, text="Dear Sir")
    (_, note) = episodes(project)
    assert (note["kind"], note["corrects_episode_id"], note["segment_id"]) == ("correction", call, segment)
    assert (note["exchange"]["corrected_text"], note["actor"]) == ("Dear Sir", "owner")
    original = episodes(project)[0]
    assert [note[key] for key in ("provider", "model", "use_case", "document_id")] == [
        original[key] for key in ("provider", "model", "use_case", "document_id")
    ]
    assert consequences_of(project, call).corrections == {segment: "Dear Sir"}
    (undone,) = undo(project, representation)
    assert notes(project)[-1] == ("invalidation", call, note["id"])
    assert consequences_of(project, call) == Standing()
    undo(project, undone)
    assert notes(project)[-1] == ("correction", call, None)
    assert consequences_of(project, call).corrections == {segment: "Dear Sir"}


def test_the_last_of_several_corrections_applies(project: ReadingProject) -> None:
    call, ((first, _), (second, _)) = read_page(project)
    corrections = [{"segment_id": first, "text": "Dear Sir"}, {"segment_id": second, "text": "Madam"}]
    act(project, "representation.create_many", corrections=corrections)
    second_representation = act(project, "representation.create", segment_id=first, text="Dear Sirs")
    assert consequences_of(project, call).corrections == {first: "Dear Sirs", second: "Madam"}
    undo(project, second_representation)
    assert consequences_of(project, call).corrections == {first: "Dear Sir", second: "Madam"}


def test_a_persons_choice_of_another_reading_is_a_consequence(project: ReadingProject) -> None:
    call, ((segment, reading), _) = read_page(project)
    choice = {"segment_id": segment, "kind": "transcription"}
    outcome = act(project, "reading.choose", **choice, representation_id=reading)
    (text,) = project.rows("SELECT content FROM content_representation WHERE id = ?", reading)[0]
    assert consequences_of(project, call).corrections == {segment: text}
    act(project, "reading.choose", **choice, representation_id=reading)
    assert len(notes(project)) == 1
    act(project, "reading.choose", **choice, representation_id=None)
    assert consequences_of(project, call) == Standing()
    act(project, "reading.choose", **choice, representation_id=reading)
    assert consequences_of(project, call).corrections == {segment: text}
    assert [kind for kind, named, _ in notes(project) if named == call] == [
        "correction",
        "invalidation",
        "correction",
    ]
    assert outcome


def test_a_retracted_reading_is_invalid_until_that_is_undone(project: ReadingProject) -> None:
    call, ((segment, reading), _) = read_page(project)
    outcome = act(project, "reading.retract", representation_id=reading)
    assert notes(project) == [("invalidation", call, None)]
    assert consequences_of(project, call).invalid == {segment}
    undo(project, outcome)
    assert consequences_of(project, call) == Standing()


def test_undoing_the_reading_invalidates_the_call(project: ReadingProject) -> None:
    call, lines = read_page(project)
    page = project.rows("SELECT document_id FROM segment WHERE id = ?", lines[0][0])[0][0]
    again, _ = project.job("reading.read_lines", scope_ids=[page])
    (second,) = [row[0] for row in project.rows("SELECT id FROM episode WHERE job_id = ?", again)]
    (step,) = [row[0] for row in project.rows("SELECT id FROM audit WHERE action_name = 'reading.take'")]
    (undone,) = undo(project, step)
    assert notes(project) == [("invalidation", second, None)]
    assert consequences_of(project, second).invalid == {None}
    (redone,) = undo(project, undone)
    assert consequences_of(project, second) == Standing()
    undo(project, redone)
    assert consequences_of(project, second).invalid == {None}
    assert consequences_of(project, call) == Standing()


def test_a_persons_own_reading_corrects_no_call(project: ReadingProject) -> None:
    page = project.page()
    project.job("reading.find_lines", scope_ids=[page])
    segment = project.rows("SELECT id FROM segment WHERE document_id = ? AND kind = 'line'", page)[0][0]
    for text in ("Dear", "Dear Sir"):
        act(project, "representation.create", segment_id=segment, text=text)
    assert notes(project) == []


def test_a_failed_ledger_write_does_not_prevent_a_correction(project: ReadingProject) -> None:
    _, ((segment, _), _) = read_page(project)
    with project.library.db.write() as conn:
        conn.exec_driver_sql(
            "CREATE TRIGGER full BEFORE INSERT ON episode BEGIN SELECT RAISE(ABORT, 'no room'); END"
        )
    act(project, "representation.create", segment_id=segment, text="Dear Sir")
    assert project.rows("SELECT count(*) FROM content_representation WHERE content = 'Dear Sir'") == [(1,)]
    assert notes(project) == []
    assert [fault.name for fault in project.engine.plugins.faults] == ["reading"]
