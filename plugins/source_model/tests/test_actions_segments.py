"""Passes and segments through their actions: what they write, each refusal, and what undo leaves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from source_model_fixtures import AGENT, PERSON, RUN, anchor

from armarium.api import Conflict, Forbidden, Invalid, NotFound, ServiceError
from armarium_source_model.api import list_passes, segments_of, working_pass
from armarium_source_model.queries.forwarding import follow
from armarium_source_model.queries.segments import get_segment, segment_versions


def expect_refusal(kind: type[ServiceError], desk: Any, name: str, /, **params: Any) -> ServiceError:
    """Return the refusal of an action, and check that nothing was written."""
    with desk.library.db.read() as conn:
        before = conn.exec_driver_sql("SELECT count(*) FROM audit").scalar_one()
    with pytest.raises(kind) as caught:
        desk.run(name, **params)
    with desk.library.db.read() as conn:
        assert conn.exec_driver_sql("SELECT count(*) FROM audit").scalar_one() == before
    return caught.value


# Passes


def test_who_made_a_pass_follows_from_who_asks_and_never_from_the_body(desk: Any) -> None:
    page = desk.page()
    assert desk.run("segment.pass_create", document_id=page, name="a")["provenance_kind"] == "human"
    assert (
        desk.run("segment.pass_create", document_id=page, name="b", run_id="r")["provenance_kind"]
        == "workflow"
    )
    agent = desk.as_(AGENT).run("segment.pass_create", document_id=page, name="c")
    assert (agent["provenance_kind"], agent["created_by"]) == ("agent", "an agent")
    refusal = expect_refusal(
        Invalid, desk, "segment.pass_create", document_id=page, name="x", provenance_kind="human"
    )
    assert refusal.code == "invalid_request"


def test_a_pass_needs_a_page_that_is_there_and_an_artifact_of_it(desk: Any) -> None:
    assert expect_refusal(NotFound, desk, "segment.pass_create", document_id="0" * 32, name="a").status == 404
    page = desk.page()
    refusal = expect_refusal(
        Invalid, desk, "segment.pass_create", document_id=page, name="a", source_artifact_id="legacy:a:0"
    )
    assert refusal.code == "provisional_id"
    expect_refusal(
        NotFound, desk, "segment.pass_create", document_id=page, name="a", source_artifact_id="nowhere"
    )


def test_an_artifact_of_another_page_gives_no_pass(desk: Any) -> None:
    from armarium_documents.api import artifacts

    page, other_page = desk.page(), desk.page()
    from armarium.api import ActionContext

    def write(ctx: ActionContext) -> None:
        ctx.conn.execute(
            artifacts.insert().values(
                id="a1", document_id=other_page, artifact_type="transcription", data={}, version=1, sequence=1,
                reviewed=False, created_at=ctx.now,
            )
        )  # fmt: skip

    desk.engine.run(
        desk.library,
        "segment.pass_create",
        {"document_id": other_page, "name": "from artifact"},
        PERSON,
        in_transaction=write,
    )
    refusal = expect_refusal(
        Invalid, desk, "segment.pass_create", document_id=page, name="a", source_artifact_id="a1"
    )
    assert refusal.code == "foreign_artifact"
    result = desk.run("segment.pass_create", document_id=other_page, name="a", source_artifact_id="a1")
    assert result["artifact_type"] == "transcription"


def test_a_withdrawn_pass_disappears_with_its_segments_and_comes_back(desk: Any) -> None:
    page = desk.page()
    pass_id = desk.new_pass(page)
    segment_id = desk.lines(page, pass_id, 1)[0]
    assert desk.run("segment.pass_delete", pass_id=pass_id)["deleted_at"]
    with desk.library.db.read() as conn:
        assert list_passes(conn, page) == []
        assert working_pass(conn, page) == (None, "none")
        assert follow(conn, segment_id)[1] == []
    expect_refusal(Conflict, desk, "segment.pass_delete", pass_id=pass_id)
    expect_refusal(Conflict, desk, "segment.update", segment_id=segment_id, expected_version=1, kind="word")
    desk.run("segment.pass_restore", pass_id=pass_id)
    with desk.library.db.read() as conn:
        assert [page_pass["id"] for page_pass in list_passes(conn, page)] == [pass_id]
    expect_refusal(Conflict, desk, "segment.pass_restore", pass_id=pass_id)


@pytest.mark.parametrize("name", ["pass_delete", "pass_restore", "pass_choose", "pass_ground_truth"])
def test_an_unknown_or_provisional_pass_is_refused(desk: Any, name: str) -> None:
    more = {"ground_truth": True} if name == "pass_ground_truth" else {}
    expect_refusal(NotFound, desk, f"segment.{name}", pass_id="nowhere", **more)
    assert (
        expect_refusal(Invalid, desk, f"segment.{name}", pass_id="legacy:a", **more).code == "provisional_id"
    )


def test_only_a_person_chooses_the_working_pass(desk: Any) -> None:
    page = desk.page()
    first, second = desk.new_pass(page), desk.new_pass(page)
    assert (
        expect_refusal(Forbidden, desk.as_(AGENT), "segment.pass_choose", pass_id=first).code == "person_only"
    )
    expect_refusal(Conflict, desk, "segment.pass_choose", pass_id=first, working=False)
    chosen = desk.run("segment.pass_choose", pass_id=first)
    assert (chosen["working"], chosen["working_basis"]) == (True, "chosen")
    desk.run("segment.pass_choose", pass_id=second)
    with desk.library.db.read() as conn:
        assert working_pass(conn, page) == (second, "chosen")
    desk.undo()
    with desk.library.db.read() as conn:
        assert working_pass(conn, page) == (first, "chosen")
    released = desk.run("segment.pass_choose", pass_id=first, working=False)
    assert not released["working"]
    with desk.library.db.read() as conn:
        assert working_pass(conn, page) == (second, "human-touched")


def test_only_a_person_says_that_a_pass_is_ground_truth(desk: Any) -> None:
    pass_id = desk.new_pass(desk.page())
    refusal = expect_refusal(
        Invalid, desk.as_(RUN), "segment.pass_ground_truth", pass_id=pass_id, ground_truth=True
    )
    assert refusal.code == "ground_truth_needs_a_person"
    assert desk.run("segment.pass_ground_truth", pass_id=pass_id, ground_truth=True)["ground_truth"]
    assert not desk.as_(RUN).run("segment.pass_ground_truth", pass_id=pass_id, ground_truth=False)[
        "ground_truth"
    ]


def test_an_edit_by_a_person_lifts_a_machine_pass_and_undo_takes_that_back(desk: Any) -> None:
    page = desk.page()
    old = desk.machine_lines(page, [None])
    new = desk.machine_lines(page, [None], "m2")
    with desk.library.db.read() as conn:
        assert working_pass(conn, page) == (new["pass_id"], "newest-machine-unchosen")
    desk.run("segment.update", segment_id=old["segment_ids"][0], expected_version=1, kind_raw="heading")
    with desk.library.db.read() as conn:
        assert working_pass(conn, page) == (old["pass_id"], "human-touched")
    desk.undo()
    with desk.library.db.read() as conn:
        assert working_pass(conn, page) == (new["pass_id"], "newest-machine-unchosen")


# Creating segments


def test_a_segment_takes_its_box_from_its_anchor(desk: Any) -> None:
    page = desk.page()
    result = desk.run(
        "segment.create",
        document_id=page,
        pass_id=desk.new_pass(page),
        kind="line",
        anchor={"rect": [0.1, 0.5, 0.4, 0.05], "polygon": [[0.1, 0.5], [0.5, 0.5], [0.3, 0.55]]},
        baseline=[[0.1, 0.54], [0.5, 0.54]],
        language="la",
        script="Latn",
        direction="ltr",
        cell={"row": 0, "column": 2},
    )
    assert [result[f"bbox_{c}"] for c in "xywh"] == [0.1, 0.5, 0.4, 0.05]
    assert result["tile"] == 8 * 16 + 4
    assert result["anchor"]["document_id"] == page
    assert result["cell"] == {"row": 0, "column": 2, "row_span": 1, "column_span": 1}
    assert (result["version"], result["provenance_kind"], result["text"]) == (1, "human", None)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"anchor": {"rect": [0.1, 0.1, 0.1, 1.5]}}, "outside"),
        ({"anchor": {"rect": [0.1, 0.1, 0.0, 0.5]}}, "no area"),
        ({"anchor": {"rect": [float("nan"), 0.1, 0.1, 0.5]}}, "finite"),
        ({"anchor": {"rect": [0.1, 0.1, 0.1, float("inf")]}}, "finite"),
        (
            {"anchor": {"rect": [0.1, 0.1, 0.1, 0.1], "polygon": [[0.1, 0.1], [0.9, 0.1], [0.1, 0.2]]}},
            "encloses",
        ),
        ({"anchor": {"rect": [0.1, 0.1, 0.1, 0.1], "polygon": [[0.1, 0.1], [0.2, 0.1]]}}, "at least 3"),
        (
            {"anchor": {"rect": [0, 0, 1, 1], "polygon": [[0.1, 0.1], [0.2, 0.2], [0.1, 0.3]] * 40_000}},
            "simplify",
        ),
        ({"anchor": anchor(), "baseline": [[0.1, 0.1]]}, "at least 2"),
        ({"anchor": {**anchor(), "document_id": "another"}}, "must agree"),
        ({"anchor": {**anchor(), "char_start": 3}}, "go together"),
        ({"anchor": {**anchor(), "char_start": 3, "char_end": 1}}, "go together"),
        ({"anchor": {**anchor(), "refines": {"rect": [0, 0, 2, 2]}}}, "refining rect"),
        ({"anchor": {**anchor(), "refines": {"polygon": [[0, 0]]}}}, "refining polygon"),
        ({"anchor": anchor(), "id": "mine"}, "id"),
        ({"anchor": anchor(), "bbox_x": 0.1}, "bbox_x"),
        ({"anchor": anchor(), "tile": 1}, "tile"),
        ({"anchor": anchor(), "version": 1}, "version"),
        ({"anchor": anchor(), "provenance_kind": "human"}, "provenance_kind"),
        ({"anchor": anchor(), "script": "latin"}, "script"),
        ({"anchor": anchor(), "direction": "up"}, "direction"),
        ({"anchor": anchor(), "kind": "glyph"}, "kind"),
        ({"anchor": anchor(), "pass_id": "legacy:a"}, "provisional"),
        ({"anchor": anchor(), "parent_segment_id": "legacy:a:0"}, "provisional"),
    ],
)
def test_a_segment_that_cannot_be_held_is_refused_in_words(
    desk: Any, more: dict[str, Any], words: str
) -> None:
    page = desk.page()
    params = {"document_id": page, "pass_id": desk.new_pass(page), "kind": "line", **more}
    assert words in expect_refusal(Invalid, desk, "segment.create", **params).detail


def test_a_segment_needs_a_pass_and_a_parent_of_its_own_page(desk: Any) -> None:
    page, other_page = desk.page(), desk.page()
    pass_id, rival, foreign = desk.new_pass(page), desk.new_pass(page), desk.new_pass(other_page)
    base = {"kind": "line", "anchor": anchor()}
    expect_refusal(NotFound, desk, "segment.create", document_id="nowhere", pass_id=pass_id, **base)
    expect_refusal(NotFound, desk, "segment.create", document_id=page, pass_id="nowhere", **base)
    refusal = expect_refusal(Conflict, desk, "segment.create", document_id=page, pass_id=foreign, **base)
    assert refusal.code == "other_document"
    base |= {"document_id": page, "pass_id": pass_id}
    stranger = desk.lines(page, rival, 1)[0]
    assert (
        expect_refusal(Conflict, desk, "segment.create", parent_segment_id=stranger, **base).code
        == "other_pass"
    )
    expect_refusal(NotFound, desk, "segment.create", parent_segment_id="nowhere", **base)
    merged, kept = desk.lines(page, pass_id, 2)
    desk.run("segment.merge", segment_ids=[merged, kept], keep_id=kept)
    refusal = expect_refusal(
        Conflict, desk, "segment.update", segment_id=merged, expected_version=2, kind="word"
    )
    assert refusal.detail.endswith(
        f"cannot be edited. Its content is now in {kept}; edit that, or undelete it."
    )
    parent = desk.lines(page, pass_id, 1)[0]
    desk.run("segment.delete", segment_ids=[parent], expected_versions=[1])
    assert (
        expect_refusal(Conflict, desk, "segment.create", parent_segment_id=parent, **base).code
        == "segment_deleted"
    )
    expect_refusal(
        NotFound, desk, "segment.create", **{**base, "anchor": {**anchor(), "rendition_id": "no-picture"}}
    )


def test_a_refusal_of_many_names_the_index_and_nothing_is_written(desk: Any) -> None:
    page = desk.page()
    pass_id = desk.new_pass(page)
    good = {"document_id": page, "pass_id": pass_id, "kind": "line", "anchor": anchor()}
    bad = {**good, "anchor": {"rect": [0.5, 0.5, 0.9, 0.1]}}
    refusal = expect_refusal(Invalid, desk, "segment.create_many", segments=[good, good, bad])
    assert refusal.fields["index"] == 2
    assert refusal.detail.startswith("segments[2]: ")
    with desk.library.db.read() as conn:
        assert segments_of(conn, pass_id) == []
    expect_refusal(Invalid, desk, "segment.create_many", segments=[])


def test_a_page_in_the_trash_or_under_a_lock_takes_no_segments(desk: Any) -> None:
    page = desk.page()
    pass_id = desk.new_pass(page)
    desk.run("document.lock", document_id=page, locked=True)
    editor = desk.as_(replace(PERSON, role="editor", name="an editor"))
    params = {"document_id": page, "pass_id": pass_id, "kind": "line", "anchor": anchor()}
    assert expect_refusal(Forbidden, editor, "segment.create", **params).code == "node_locked"
    expect_refusal(Forbidden, editor, "segment.pass_create", document_id=page, name="a")
    desk.run("document.lock", document_id=page, locked=False)
    desk.run("document.delete", ids=[page])
    assert expect_refusal(Conflict, desk, "segment.create", **params).code == "document_in_trash"


# Changing segments


def test_a_stale_edit_names_exactly_the_fields_that_moved(desk: Any) -> None:
    page = desk.page()
    segment_id = desk.lines(page, desk.new_pass(page), 1)[0]
    desk.run("segment.update", segment_id=segment_id, expected_version=1, anchor=anchor(5), direction="rtl")
    desk.run("segment.update", segment_id=segment_id, expected_version=2, language="he")
    refusal = expect_refusal(
        Conflict, desk, "segment.update", segment_id=segment_id, expected_version=1, kind="word"
    )
    assert refusal.body() == {
        "detail": refusal.detail,
        "code": "stale_version",
        "message": refusal.detail,
        "segment_id": segment_id,
        "expected_version": 1,
        "current_version": 3,
        "changed": ["anchor", "language", "direction"],
    }
    refusal = expect_refusal(
        Conflict, desk, "segment.update", segment_id=segment_id, expected_version=2, kind="word"
    )
    assert refusal.fields["changed"] == ["language"]
    refusal = expect_refusal(
        Conflict, desk, "segment.update", segment_id=segment_id, expected_version=9, kind="word"
    )
    assert refusal.fields["changed"] == []


def test_what_moved_and_moved_back_did_not_move(desk: Any) -> None:
    page = desk.page()
    segment_id = desk.lines(page, desk.new_pass(page), 1)[0]
    desk.run("segment.update", segment_id=segment_id, expected_version=1, kind_raw="heading")
    desk.undo()
    refusal = expect_refusal(
        Conflict, desk, "segment.update", segment_id=segment_id, expected_version=1, kind="word"
    )
    assert refusal.fields["changed"] == []
    assert refusal.fields["current_version"] == 3
    assert "nothing but the version" in refusal.detail


def test_an_update_changes_what_is_sent_and_null_clears(desk: Any) -> None:
    page = desk.page()
    pass_id = desk.new_pass(page)
    segment_id, parent = desk.lines(page, pass_id, 2)
    result = desk.run(
        "segment.update",
        segment_id=segment_id,
        expected_version=1,
        baseline=[[0.1, 0.12], [0.9, 0.13]],
        parent_segment_id=parent,
        is_furniture=True,
        kind_raw="header",
        cell={"row": 1, "column": 1},
    )
    assert result["baseline"] == [[0.1, 0.12], [0.9, 0.13]]
    assert (result["parent_segment_id"], result["is_furniture"], result["version"]) == (parent, True, 2)
    result = desk.run(
        "segment.update",
        segment_id=segment_id,
        expected_version=2,
        baseline=None,
        parent_segment_id=None,
        cell=None,
    )
    assert (result["baseline"], result["parent_segment_id"], result["cell"]) == (None, None, None)
    assert (result["is_furniture"], result["kind_raw"]) == (True, "header")
    same_outcome = desk.run("segment.update", segment_id=segment_id, expected_version=3, kind_raw="header")
    assert same_outcome["version"] == 3
    for name in ("anchor", "kind", "is_furniture"):
        refusal = expect_refusal(
            Invalid, desk, "segment.update", segment_id=segment_id, expected_version=3, **{name: None}
        )
        assert "cannot be cleared" in refusal.detail
    expect_refusal(
        Invalid, desk, "segment.update", segment_id=segment_id, expected_version=3, pass_id=pass_id
    )
    expect_refusal(
        Invalid, desk, "segment.update", segment_id=segment_id, expected_version=3, baseline=[[0, 0]]
    )


def test_a_segment_is_never_inside_itself(desk: Any) -> None:
    page = desk.page()
    a, b = desk.lines(page, desk.new_pass(page), 2)
    desk.run("segment.update", segment_id=b, expected_version=1, parent_segment_id=a)
    refusal = expect_refusal(
        Conflict, desk, "segment.update", segment_id=a, expected_version=1, parent_segment_id=b
    )
    assert refusal.code == "parent_ring"
    expect_refusal(Conflict, desk, "segment.update", segment_id=a, expected_version=1, parent_segment_id=a)


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("segment.update", {"expected_version": 1}),
        ("segment.restore_version", {"expected_version": 1, "version": 1}),
        ("representation.create", {"text": "a"}),
        ("reading.choose", {"kind": "transcription", "representation_id": None}),
    ],
)
def test_an_unknown_or_provisional_segment_is_refused(desk: Any, name: str, more: dict[str, Any]) -> None:
    expect_refusal(NotFound, desk, name, segment_id="nowhere", **more)
    assert expect_refusal(Invalid, desk, name, segment_id="legacy:a:3", **more).code == "provisional_id"


# Withdrawing and undeleting


def test_deleting_is_soft_noted_and_versioned(desk: Any) -> None:
    page = desk.page()
    pass_id = desk.new_pass(page)
    a, b, c = desk.lines(page, pass_id)
    desk.run("segment.delete", segment_ids=[a, b], expected_versions=[1, 1], reason="bleed-through")
    with desk.library.db.read() as conn:
        assert [row.id for row in segments_of(conn, pass_id)] == [c]
        trail, live = follow(conn, a)
        assert [(note["kind"], note["reason"]) for note in trail] == [("deleted", "bleed-through")]
        assert live == []
        versions = segment_versions(conn, a)
    assert [(version["version"], version["deleted"]) for version in versions] == [(1, False), (2, True)]
    assert versions[1]["reason"] == "bleed-through"
    refusal = expect_refusal(Conflict, desk, "segment.update", segment_id=a, expected_version=2, kind="word")
    assert refusal.code == "segment_deleted"
    assert refusal.detail.endswith("merged away and cannot be edited. Undelete it first.")
    expect_refusal(Conflict, desk, "segment.delete", segment_ids=[a], expected_versions=[2])
    expect_refusal(Conflict, desk, "representation.create", segment_id=a, text="x")
    desk.run("segment.undelete", segment_ids=[a])
    with desk.library.db.read() as conn:
        trail, live = follow(conn, a)
        assert [note["kind"] for note in trail] == ["deleted", "restored"]
        assert live == [a]
    expect_refusal(Conflict, desk, "segment.undelete", segment_ids=[a])


def test_undo_of_a_deletion_leaves_a_note_that_resolves(desk: Any) -> None:
    page = desk.page()
    line = desk.lines(page, desk.new_pass(page), 1)[0]
    desk.run("segment.delete", segment_ids=[line], expected_versions=[1])
    undone = desk.undo()
    with desk.library.db.read() as conn:
        trail, live = follow(conn, line)
        assert ([note["kind"] for note in trail], live) == (["deleted", "restored"], [line])
    desk.undo(undone)
    with desk.library.db.read() as conn:
        trail, live = follow(conn, line)
        assert ([note["kind"] for note in trail], live) == (["deleted", "restored", "deleted"], [])
        assert get_segment(conn, line).version == 4
    desk.run("segment.undelete", segment_ids=[line])
    desk.undo()
    with desk.library.db.read() as conn:
        assert follow(conn, line)[0][-1]["kind"] == "deleted"


def test_deleting_refuses_what_does_not_fit(desk: Any) -> None:
    page = desk.page()
    line = desk.lines(page, desk.new_pass(page), 1)[0]
    b = desk.lines(page, desk.new_pass(page), 1)[0]
    assert (
        expect_refusal(Invalid, desk, "segment.delete", segment_ids=[line], expected_versions=[]).code
        == "uneven_lists"
    )
    refusal = expect_refusal(
        Invalid, desk, "segment.delete", segment_ids=[line, line], expected_versions=[1, 1]
    )
    assert refusal.code == "named_twice"
    assert (
        expect_refusal(Conflict, desk, "segment.delete", segment_ids=[line, b], expected_versions=[1, 1]).code
        == "other_pass"
    )
    assert (
        expect_refusal(Conflict, desk, "segment.delete", segment_ids=[line], expected_versions=[2]).code
        == "stale_version"
    )
    expect_refusal(NotFound, desk, "segment.delete", segment_ids=["nowhere"], expected_versions=[1])
    expect_refusal(NotFound, desk, "segment.undelete", segment_ids=["nowhere"])
    for name, more in (("segment.delete", {"expected_versions": [1]}), ("segment.undelete", {})):
        assert (
            expect_refusal(Invalid, desk, name, segment_ids=["legacy:a:0"], **more).code == "provisional_id"
        )


# Lines from readers


def test_lines_of_a_reader_become_a_pass_of_their_own_in_one_step(desk: Any) -> None:
    page = desk.page()
    reading = desk.machine_lines(page, ["one", None, ""])
    with desk.library.db.read() as conn:
        (page_pass,) = list_passes(conn, page)
        rows = segments_of(conn, reading["pass_id"])
    assert (page_pass["provenance_kind"], page_pass["provider"], page_pass["model"], page_pass["run_id"]) == (
        "workflow",
        "reader",
        "m1",
        "run-1",
    )
    assert [row.id for row in rows] == reading["segment_ids"]
    assert all(not row.by_hand and row.provenance_kind == "workflow" for row in rows)


def test_a_person_who_starts_a_reader_does_not_become_its_author(desk: Any) -> None:
    page = desk.page()
    result = desk.run(
        "segment.take_lines",
        document_id=page,
        name="Lines",
        provider="reader",
        lines=[{"key": "1", "rect": anchor()["rect"], "text": "one"}],
    )
    with desk.library.db.read() as conn:
        assert list_passes(conn, page)[0]["provenance_kind"] == "workflow"
        assert segments_of(conn, result["pass_id"])[0].provenance_kind == "workflow"
        assert (
            conn.exec_driver_sql("SELECT provenance_kind FROM content_representation").scalar_one()
            == "workflow"
        )
    for name, more in (
        ("segment.take_lines", {"name": "x", "lines": []}),
        ("reading.take", {"readings": []}),
    ):
        if name == "reading.take":
            more |= {"pass_id": result["pass_id"]}
        refusal = expect_refusal(Invalid, desk.as_(RUN), name, document_id=page, provider="user", **more)
        assert refusal.code == "not_a_person"


def test_shapes_of_a_reader_are_clipped_to_the_image_or_dropped_with_the_reason(desk: Any) -> None:
    page = desk.page()
    lines = [
        {
            "key": "over",
            "rect": [-0.01, 0.1, 1.02, 0.05],
            "polygon": [[-0.01, 0.1], [1.01, 0.1], [1.0, 0.15]],
        },
        {"key": "flat", "rect": [0.1, 0.2, 0.5, 0.05], "polygon": [[0.1, 0.2], [0.2, 0.2], [0.6, 0.2]]},
        {"key": "nan", "rect": [0.1, 0.3, 0.5, 0.05], "baseline": [[0.1, float("nan")], [0.6, 0.34]]},
    ]
    outcome = desk.as_(RUN).run(
        "segment.take_lines", document_id=page, name="Lines", provider="reader", lines=lines
    )
    with desk.library.db.read() as conn:
        over, flat, nan = segments_of(conn, outcome["pass_id"])
    assert (over.bbox_x, over.bbox_w) == (0.0, 1.0)
    assert over.metadata == {}
    assert flat.anchor.get("polygon") is None
    assert "one line" in flat.metadata["geometry_problem"]
    assert nan.baseline is None
    assert "finite" in nan.metadata["geometry_problem"]
    refusal = expect_refusal(
        Invalid,
        desk,
        "segment.take_lines",
        document_id=page,
        name="Lines",
        provider="reader",
        lines=[{"key": "gone", "rect": [2, 2, 1, 1]}],
    )
    assert refusal.detail.startswith("Line gone: ")


def test_a_reader_names_parents_by_its_own_keys(desk: Any) -> None:
    page = desk.page()
    params = {"document_id": page, "name": "Lines", "provider": "reader"}
    region = {"key": "r", "kind": "region", "rect": [0, 0, 1, 1]}
    line = {"key": "l", "rect": anchor()["rect"], "parent_key": "r"}
    result = desk.run("segment.take_lines", lines=[line, region], **params)
    with desk.library.db.read() as conn:
        assert get_segment(conn, result["segment_ids"][0]).parent_segment_id == result["segment_ids"][1]
    expect_refusal(Conflict, desk, "segment.take_lines", lines=[{**line, "parent_key": "nobody"}], **params)
    expect_refusal(Conflict, desk, "segment.take_lines", lines=[line, line], **params)
    expect_refusal(Conflict, desk, "segment.take_lines", lines=[], rendition_id="nowhere", **params)
    expect_refusal(NotFound, desk, "segment.take_lines", lines=[], **{**params, "document_id": "nowhere"})
