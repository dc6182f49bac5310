"""The laws of the source model hold over random histories, whatever is done and undone in whatever order.

Where a citation leads is compared with a model in `test_citations`, and what counts in `test_counting_model`.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from source_model_fixtures import AGENT, anchor

from armarium.api import Conflict, Invalid, NotFound
from armarium_documents.api import representations
from armarium_source_model import notes
from armarium_source_model.actions import joins, segments
from armarium_source_model.actions import readings as reading_actions
from armarium_source_model.queries import readings
from armarium_source_model.queries.forwarding import follow
from armarium_source_model.queries.locations import SCHEME, resolve_location
from armarium_source_model.queries.readings import (
    counting_of_pass,
    counting_of_segment,
    counting_of_segments,
    readings_of,
)
from armarium_source_model.queries.segments import EDITABLE, segment_versions
from armarium_source_model.queries.text import page_text
from armarium_source_model.schemas.joins import LocationRequest

OPERATIONS = (
    "draw",
    "merge",
    "split",
    "delete",
    "undelete",
    "move",
    "restore_version",
    "correct",
    "machine",
    "choose",
    "retract",
    "undo",
    "undo",
    "redo",
)

LOST = """
SELECT h.id FROM content_representation__history h JOIN audit a ON a.seq = h.audit_seq
WHERE h.op = 'I' AND a.undone = 0 AND NOT EXISTS (SELECT 1 FROM content_representation r WHERE r.id = h.id)
AND NOT EXISTS (SELECT 1 FROM content_representation__history d JOIN audit b ON b.seq = d.audit_seq
                WHERE d.id = h.id AND d.op = 'D' AND d.seq > h.seq AND b.undone = 0 AND b.inverse_of IS NOT NULL)
"""
"""Readings written by a step still in effect that have no row, although no undo in effect deleted them."""

RIVAL_CHOICES = """
SELECT segment_id, kind FROM reading_choice WHERE superseded_at IS NULL GROUP BY segment_id, kind HAVING count(*) > 1
"""

STANDING = f"""
SELECT id, version, deleted_at, json_array({", ".join(EDITABLE)}, deleted_at IS NULL) FROM segment WHERE pass_id = ?
"""


class RandomPage:
    """A page that is changed at random."""

    def __init__(self, desk: Any) -> None:
        self.desk = desk
        self.page = desk.page()
        self.pass_id = desk.new_pass(self.page)
        self.cited: list[str] = desk.lines(self.page, self.pass_id, 4)
        self.drawn: set[str] = set()
        self.steps: list[str] = []
        self.undone: list[str] = []
        self.newest: dict[str, tuple[int, str]] = {}

    def do(self, what: str, one: int, two: int) -> None:
        segment_id = self.cited[one % len(self.cited)]
        other = self.cited[two % len(self.cited)]
        # What is impossible is refused with a sentence and changes nothing.
        with suppress(Conflict, Invalid, NotFound):
            getattr(self, what)(segment_id, other, two)

    def _check_after_run(self) -> None:
        self.steps.append(self.desk.audit_id)

    def _version(self, segment_id: str) -> int:
        with self.desk.library.db.read() as conn:
            row = conn.exec_driver_sql(
                "SELECT version FROM segment WHERE id = ?", (segment_id,)
            ).one_or_none()
        return row[0] if row else 1

    def draw(self, _one: str, _other: str, two: int) -> None:
        result = self.desk.run(
            "segment.create",
            document_id=self.page,
            pass_id=self.pass_id,
            kind="line",
            anchor=anchor(two % 10),
        )
        self.cited.append(result["id"])
        self.drawn.add(result["id"])
        self._check_after_run()

    def merge(self, one: str, other: str, _: int) -> None:
        self.desk.run("segment.merge", segment_ids=[one, other], keep_id=one)
        self._check_after_run()

    def split(self, one: str, _other: str, two: int) -> None:
        y = 0.1 + (two % 10) / 20
        parts = [
            {"anchor": {"rect": [0.1, y, 0.3, 0.04]}, "text": f"left {two}"},
            {"anchor": {"rect": [0.5, y, 0.3, 0.04]}},
        ]
        result = self.desk.run(
            "segment.split", segment_id=one, expected_version=self._version(one), parts=parts
        )
        self.cited += result["segment_ids"][1:]
        self._check_after_run()

    def delete(self, one: str, _other: str, _: int) -> None:
        self.desk.run("segment.delete", segment_ids=[one], expected_versions=[self._version(one)])
        self._check_after_run()

    def undelete(self, one: str, _other: str, _: int) -> None:
        self.desk.run("segment.undelete", segment_ids=[one])
        self._check_after_run()

    def move(self, one: str, _other: str, two: int) -> None:
        rect = [0.1, 0.05 + (two % 16) / 20, 0.5, 0.04]
        self.desk.run(
            "segment.update", segment_id=one, expected_version=self._version(one), anchor={"rect": rect}
        )
        self._check_after_run()

    def restore_version(self, one: str, _other: str, two: int) -> None:
        version = self._version(one)
        self.desk.run(
            "segment.restore_version", segment_id=one, expected_version=version, version=1 + two % version
        )
        self._check_after_run()

    def correct(self, one: str, _other: str, two: int) -> None:
        self.desk.run("representation.create", segment_id=one, text=f"text {two}")
        self._check_after_run()

    def machine(self, one: str, _other: str, two: int) -> None:
        self.desk.as_(AGENT).run("representation.create", segment_id=one, text=f"machine {two}")

    def choose(self, one: str, _other: str, two: int) -> None:
        with self.desk.library.db.read() as conn:
            items = readings_of(conn, one)["items"]
        chosen = items[two % len(items)]["id"] if items else None
        self.desk.run("reading.choose", segment_id=one, representation_id=chosen)
        self._check_after_run()

    def retract(self, one: str, _other: str, two: int) -> None:
        with self.desk.library.db.read() as conn:
            items = readings_of(conn, one)["items"]
        if items:
            self.desk.run("reading.retract", representation_id=items[two % len(items)]["id"])
            self._check_after_run()

    def undo(self, _one: str, _other: str, two: int) -> None:
        if self.steps:
            self.undone.append(self.desk.undo(self.steps[-1 - two % len(self.steps)]))

    def redo(self, _one: str, _other: str, two: int) -> None:
        if self.undone:
            self.steps.append(self.desk.undo(self.undone[-1 - two % len(self.undone)]))

    def check(self) -> None:
        with self.desk.library.db.read() as conn:
            standing = {row[0]: row[1:] for row in conn.exec_driver_sql(STANDING, (self.pass_id,))}
            of_pass = counting_of_pass(conn, self.pass_id)
            for segment_id in self.cited:
                self._check_citation(conn, segment_id, standing)
                if segment_id not in standing:
                    continue
                self._check_versions(conn, segment_id, *standing[segment_id])
                self._check_readings(conn, segment_id)
                if standing[segment_id][1] is None:
                    counting = counting_of_segment(conn, segment_id, "transcription").representation_id
                    told = of_pass.get(segment_id)
                    assert (told and told.representation_id) == counting, "the page counts another reading"
            assert conn.exec_driver_sql(LOST).all() == [], "a reading is lost"
            assert conn.exec_driver_sql(RIVAL_CHOICES).all() == [], "two choices of one kind stand"
            text = page_text(conn, self.page, pass_id=self.pass_id)
            for span in text.assembled.spans:
                assert standing[span.segment_id][1] is None

    def _check_citation(self, conn: Any, segment_id: str, standing: dict[str, Any]) -> None:
        library = self.desk.library
        citation = f"{SCHEME}{library.uuid}/{self.page}/{segment_id}"
        location = resolve_location(conn, self.desk.engine, library, LocationRequest(segmentId=citation))
        trail, live = follow(conn, segment_id)
        # A segment whose creation was undone leads to no other, so it needs no note.
        assert segment_id in standing or segment_id in self.drawn or trail, "a citation leads nowhere"
        assert location["liveSegmentIds"] == live
        assert location["segmentDeleted"] is (not live)
        assert location["resolvedSegmentId"] == (segment_id if segment_id in live else (live or [None])[0])
        assert all(item in standing and standing[item][1] is None for item in live)

    def _check_versions(
        self, conn: Any, segment_id: str, version: int, _deleted: str | None, state: str
    ) -> None:
        before, was = self.newest.get(segment_id, (0, state))
        assert version >= before, "a version went back"
        assert version > before or state == was, "a change without a version of its own"
        self.newest[segment_id] = (version, state)
        numbers = [segment_version["version"] for segment_version in segment_versions(conn, segment_id)]
        assert numbers == sorted(set(numbers))
        assert not numbers or numbers[-1] == version

    def _check_readings(self, conn: Any, segment_id: str) -> None:
        found_readings = readings_of(conn, segment_id)
        counting = [item["id"] for item in found_readings["items"] if item["counting"]]
        assert len(counting) <= 1, "two readings of one kind count"
        assert all(item["counting"] is False for item in found_readings["items"] if item["retracted"])
        alone = counting_of_segment(conn, segment_id, "transcription").representation_id
        among = counting_of_segments(conn, [segment_id]).get(segment_id)
        assert [alone] * (alone is not None) == counting, "the list and the line count different readings"
        assert (among and among.representation_id) == alone, (
            "one line and many lines count different readings"
        )


steps = st.lists(
    st.tuples(st.sampled_from(OPERATIONS), st.integers(0, 9), st.integers(0, 99)), min_size=3, max_size=25
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps)
def test_the_laws_hold_whatever_is_done_and_undone(desk: Any, history: list[tuple[str, int, int]]) -> None:
    page = RandomPage(desk)
    for what, one, two in history:
        page.do(what, one, two)
        page.check()


def test_the_laws_notice_a_citation_that_leads_nowhere(desk: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(notes, "add_notes", lambda *args, **more: None)
    page = RandomPage(desk)
    page.do("split", 0, 1)
    page.do("undo", 0, 0)
    with pytest.raises(AssertionError, match="leads nowhere"):
        page.check()


def test_the_laws_notice_a_reading_that_an_action_takes_away(desk: Any, monkeypatch: Any) -> None:
    plain = joins.write_correction

    def forgetful(ctx: Any, segment: Any, text: str, counting: Any) -> Any:
        made = plain(ctx, segment, text, counting)
        # The texts are joined already; this deletes the readings of the absorbed line.
        ctx.conn.execute(representations.delete().where(representations.c.segment_id != segment.id))
        return made

    monkeypatch.setattr(joins, "write_correction", forgetful)
    page = RandomPage(desk)
    page.do("correct", 0, 1)
    page.do("correct", 1, 2)
    page.check()
    page.do("merge", 0, 1)
    with pytest.raises(AssertionError, match="a reading is lost"):
        page.check()


def test_the_laws_notice_two_readings_that_count(desk: Any, monkeypatch: Any) -> None:
    plain = readings._Standing.answer
    monkeypatch.setattr(
        readings._Standing, "answer", lambda standing, row: plain(standing, row) | {"counting": True}
    )
    page = RandomPage(desk)
    page.do("correct", 0, 1)
    page.check()
    page.do("correct", 0, 2)
    with pytest.raises(AssertionError, match="two readings of one kind count"):
        page.check()


def test_the_laws_notice_two_choices_in_effect(desk: Any, monkeypatch: Any) -> None:
    page = RandomPage(desk)
    for number in (1, 2):
        page.do("machine", 0, number)
    page.do("choose", 0, 0)
    page.check()
    monkeypatch.setattr(reading_actions, "_withdraw_choice", lambda *args, **more: None)
    page.do("choose", 0, 1)
    with pytest.raises(AssertionError, match="two choices of one kind stand"):
        page.check()


@pytest.mark.parametrize(
    ("statement", "rule"),
    [("_CHOSEN_OF_SEGMENTS", "one line and many"), ("_CHOSEN_IN_PASS", "the page counts")],
)
def test_the_laws_notice_statements_that_count_differently(
    desk: Any, monkeypatch: Any, statement: str, rule: str
) -> None:
    """Which reading counts is computed for a line, for several lines and for a pass: one rule, three statements."""
    monkeypatch.setattr(readings, statement, f"{getattr(readings, statement)} AND 0")
    page = RandomPage(desk)
    page.do("machine", 0, 1)
    page.do("machine", 0, 2)
    page.do("choose", 0, 0)
    with pytest.raises(AssertionError, match=rule):
        page.check()


@pytest.mark.parametrize(("step", "rule"), [(1, "without a version of its own"), (2, "a version went back")])
def test_the_laws_notice_versions_that_do_not_grow(desk: Any, monkeypatch: Any, step: int, rule: str) -> None:
    plain = segments.write_version

    def sleepy(ctx: Any, row: Any, changes: Any) -> None:
        plain(ctx, row, changes)
        ctx.conn.exec_driver_sql("UPDATE segment SET version = version - ? WHERE id = ?", (step, row.id))

    page = RandomPage(desk)
    page.do("move", 0, 1)
    page.check()
    monkeypatch.setattr(segments, "write_version", sleepy)
    page.do("move", 0, 2)
    with pytest.raises(AssertionError, match=rule):
        page.check()
