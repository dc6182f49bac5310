"""The versions of a segment: read from the history and restored, also of a withdrawn segment."""

from __future__ import annotations

from typing import Any

import pytest
from source_model_fixtures import AGENT, PERSON, anchor

from armarium.api import Conflict, NotFound, ServiceError
from armarium_source_model.queries.forwarding import follow
from armarium_source_model.queries.segments import segment_versions


def expect_refusal(kind: type[ServiceError], desk: Any, name: str, /, **params: Any) -> ServiceError:
    """Return the refusal of an action, and check that nothing was written."""
    with desk.library.db.read() as conn:
        before = conn.exec_driver_sql("SELECT count(*) FROM audit").scalar_one()
    with pytest.raises(kind) as caught:
        desk.run(name, **params)
    with desk.library.db.read() as conn:
        assert conn.exec_driver_sql("SELECT count(*) FROM audit").scalar_one() == before
    return caught.value


def test_versions_come_out_of_history_and_one_can_be_written_back(desk: Any) -> None:
    page = desk.page()
    segment_id = desk.lines(page, desk.new_pass(page), 1)[0]
    with desk.library.db.read() as conn:
        assert segment_versions(conn, segment_id) == []
    refusal = expect_refusal(
        NotFound, desk, "segment.restore_version", segment_id=segment_id, version=1, expected_version=1
    )
    assert refusal.code == "unknown_version"
    desk.run(
        "segment.update",
        segment_id=segment_id,
        expected_version=1,
        anchor=anchor(7),
        baseline=[[0, 0.5], [1, 0.5]],
    )
    desk.as_(AGENT).run("segment.update", segment_id=segment_id, expected_version=2, language="la")
    result = desk.run("segment.restore_version", segment_id=segment_id, version=1, expected_version=3)
    assert (result["version"], result["anchor"]["rect"], result["baseline"], result["language"]) == (
        4,
        anchor()["rect"],
        None,
        None,
    )
    assert result["bbox_y"] == anchor()["rect"][1]
    with desk.library.db.read() as conn:
        versions = segment_versions(conn, segment_id)
    assert [version["version"] for version in versions] == [1, 2, 3, 4]
    assert [version["provenance_kind"] for version in versions] == ["human", "human", "agent", "human"]
    assert versions[1]["baseline"] == versions[2]["baseline"] == [[0, 0.5], [1, 0.5]]
    assert versions[0]["anchor"] == versions[3]["anchor"]
    expect_refusal(
        NotFound, desk, "segment.restore_version", segment_id=segment_id, version=9, expected_version=4
    )
    expect_refusal(
        Conflict, desk, "segment.restore_version", segment_id=segment_id, version=1, expected_version=3
    )


def test_a_withdrawn_segment_comes_back_with_the_version_that_is_written_back(desk: Any) -> None:
    page = desk.page()
    pass_id = desk.new_pass(page)
    a, b, c = desk.lines(page, pass_id, 3)
    desk.run("segment.update", segment_id=a, expected_version=1, anchor=anchor(7))
    desk.run("segment.delete", segment_ids=[a], expected_versions=[2])
    desk.run("segment.merge", segment_ids=[c, b], keep_id=c)

    def live(segment_id: str) -> list[str]:
        with desk.library.db.read() as conn:
            return follow(conn, segment_id)[1]

    go = "segment.restore_version"
    refusal = expect_refusal(Conflict, desk, go, segment_id=a, version=1, expected_version=2)
    assert (refusal.code, refusal.fields["current_version"]) == ("stale_version", 3)
    expect_refusal(NotFound, desk, go, segment_id=a, version=9, expected_version=3)
    assert (live(a), live(b)) == ([], [c])
    result = desk.run(go, segment_id=a, version=1, expected_version=3)
    assert (result["version"], result["deleted_at"], result["anchor"]["rect"]) == (4, None, anchor()["rect"])
    restored = desk.audit_id
    # The newest version is the withdrawn state: its shape is restored, not its being withdrawn.
    merged = desk.run(go, segment_id=b, version=2, expected_version=2)
    assert (merged["version"], merged["deleted_at"]) == (3, None)
    assert (live(a), live(b)) == ([a], [b])
    back = [desk.undo(desk.audit_id), desk.undo(restored)]
    assert (live(a), live(b)) == ([], [c])
    desk.undo(*back)
    assert (live(a), live(b)) == ([a], [b])
    desk.run("segment.pass_delete", pass_id=pass_id)
    assert (
        expect_refusal(Conflict, desk, go, segment_id=a, version=1, expected_version=6).code == "pass_deleted"
    )


def test_a_version_whose_parent_is_now_inside_the_segment_is_not_restored(desk: Any) -> None:
    page = desk.page()
    a, b = desk.lines(page, desk.new_pass(page), 2)
    desk.run("segment.update", segment_id=a, expected_version=1, parent_segment_id=b)
    desk.run("segment.update", segment_id=a, expected_version=2, parent_segment_id=None)
    desk.run("segment.update", segment_id=b, expected_version=1, parent_segment_id=a)
    refusal = expect_refusal(
        Conflict, desk, "segment.restore_version", segment_id=a, version=2, expected_version=3
    )
    assert refusal.code == "parent_ring"


def test_the_notes_of_merged_segments_let_their_page_go(desk: Any) -> None:
    page = desk.page()
    audit_id = desk.audit_id
    passed = desk.new_pass(page)
    steps = [audit_id, desk.audit_id]
    one, two = desk.lines(page, passed, 2)
    steps.append(desk.audit_id)
    desk.run("segment.merge", segment_ids=[one, two], keep_id=one)
    steps.append(desk.audit_id)
    desk.engine.undo(desk.library, steps, PERSON)
    with desk.library.db.read() as conn:
        assert conn.exec_driver_sql("SELECT count(*) FROM document WHERE doc_type = 'page'").scalar_one() == 0
        assert conn.exec_driver_sql("SELECT count(*) FROM segment_forwarding").scalar_one() > 0
