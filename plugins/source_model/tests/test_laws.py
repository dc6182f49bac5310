"""The laws of the source model, over random histories: whatever is done and undone in whatever order, they hold."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from source_model_desk import AGENT

from armarium.api import Conflict, Invalid, NotFound
from armarium_source_model.queries.forwarding import follow
from armarium_source_model.queries.readings import readings_of
from armarium_source_model.queries.segments import segment_versions
from armarium_source_model.queries.text import page_text

OPERATIONS = (
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
                WHERE d.id = h.id AND d.op = 'D' AND d.seq > h.seq AND b.undone = 0)
"""
"""Readings that a step still in effect made and that are not there, though no undo still in effect took them."""


class History:
    """One page on which random things happen."""

    def __init__(self, desk: Any) -> None:
        self.desk = desk
        self.page = desk.page()
        self.pass_id = desk.new_pass(self.page)
        self.cited: list[str] = desk.lines(self.page, self.pass_id, 4)
        self.steps: list[str] = []
        self.undone: list[str] = []
        self.newest: dict[str, int] = {}

    def do(self, what: str, one: int, two: int) -> None:
        segment_id = self.cited[one % len(self.cited)]
        other = self.cited[two % len(self.cited)]
        # What does not fit is refused in words, and nothing changes.
        with suppress(Conflict, Invalid, NotFound):
            getattr(self, what)(segment_id, other, two)

    def _ran(self) -> None:
        self.steps.append(self.desk.audit_id)

    def _version(self, segment_id: str) -> int:
        with self.desk.library.db.read() as conn:
            row = conn.exec_driver_sql(
                "SELECT version FROM segment WHERE id = ?", (segment_id,)
            ).one_or_none()
        return row[0] if row else 1

    def merge(self, one: str, other: str, _: int) -> None:
        self.desk.run("segment.merge", segment_ids=[one, other], keep_id=one)
        self._ran()

    def split(self, one: str, _other: str, two: int) -> None:
        y = 0.1 + (two % 10) / 20
        parts = [
            {"anchor": {"rect": [0.1, y, 0.3, 0.04]}, "text": f"left {two}"},
            {"anchor": {"rect": [0.5, y, 0.3, 0.04]}},
        ]
        made = self.desk.run(
            "segment.split", segment_id=one, expected_version=self._version(one), parts=parts
        )
        self.cited += made["segment_ids"][1:]
        self._ran()

    def delete(self, one: str, _other: str, _: int) -> None:
        self.desk.run("segment.delete", segment_ids=[one], expected_versions=[self._version(one)])
        self._ran()

    def undelete(self, one: str, _other: str, _: int) -> None:
        self.desk.run("segment.undelete", segment_ids=[one])
        self._ran()

    def move(self, one: str, _other: str, two: int) -> None:
        rect = [0.1, 0.05 + (two % 16) / 20, 0.5, 0.04]
        self.desk.run(
            "segment.update", segment_id=one, expected_version=self._version(one), anchor={"rect": rect}
        )
        self._ran()

    def restore_version(self, one: str, _other: str, two: int) -> None:
        version = self._version(one)
        self.desk.run(
            "segment.restore_version", segment_id=one, expected_version=version, version=1 + two % version
        )
        self._ran()

    def correct(self, one: str, _other: str, two: int) -> None:
        self.desk.run("representation.create", segment_id=one, text=f"text {two}")
        self._ran()

    def machine(self, one: str, _other: str, two: int) -> None:
        self.desk.as_(AGENT).run("representation.create", segment_id=one, text=f"machine {two}")

    def choose(self, one: str, _other: str, two: int) -> None:
        with self.desk.library.db.read() as conn:
            items = readings_of(conn, one)["items"]
        chosen = items[two % len(items)]["id"] if items else None
        self.desk.run("reading.choose", segment_id=one, representation_id=chosen)
        self._ran()

    def retract(self, one: str, _other: str, two: int) -> None:
        with self.desk.library.db.read() as conn:
            items = readings_of(conn, one)["items"]
        if items:
            self.desk.run("reading.retract", representation_id=items[two % len(items)]["id"])
            self._ran()

    def undo(self, _one: str, _other: str, two: int) -> None:
        if self.steps:
            self.undone.append(self.desk.undo(self.steps[-1 - two % len(self.steps)]))

    def redo(self, _one: str, _other: str, two: int) -> None:
        if self.undone:
            self.steps.append(self.desk.undo(self.undone[-1 - two % len(self.undone)]))

    def check(self) -> None:
        with self.desk.library.db.read() as conn:
            standing = {
                row[0]: row[1:]
                for row in conn.exec_driver_sql(
                    "SELECT id, version, deleted_at FROM segment WHERE pass_id = ?", (self.pass_id,)
                )
            }
            for segment_id in self.cited:
                trail, live = follow(conn, segment_id)
                assert segment_id in standing or trail, "a citation leads nowhere and nothing says why"
                assert all(one in standing and standing[one][1] is None for one in live)
                if segment_id in standing and standing[segment_id][1] is None:
                    assert segment_id in live
                if segment_id not in standing:
                    continue
                version = standing[segment_id][0]
                assert version >= self.newest.get(segment_id, 0), "a version went back"
                self.newest[segment_id] = version
                numbers = [one["version"] for one in segment_versions(conn, segment_id)]
                assert numbers == sorted(set(numbers))
                assert not numbers or numbers[-1] == version
                found = readings_of(conn, segment_id)
                counting = [item["id"] for item in found["items"] if item["counting"]]
                assert len(counting) <= 1, "two readings of one kind count"
                assert all(item["counting"] is False for item in found["items"] if item["retracted"])
            assert conn.exec_driver_sql(LOST).all() == [], "a reading is lost"
            text = page_text(conn, self.page, pass_id=self.pass_id)
            for span in text.assembled.spans:
                assert standing[span.segment_id][1] is None


steps = st.lists(
    st.tuples(st.sampled_from(OPERATIONS), st.integers(0, 9), st.integers(0, 99)), min_size=3, max_size=25
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps)
def test_the_laws_hold_whatever_is_done_and_undone(desk: Any, history: list[tuple[str, int, int]]) -> None:
    page = History(desk)
    for what, one, two in history:
        page.do(what, one, two)
        page.check()


def test_the_laws_notice_a_citation_that_leads_nowhere(desk: Any, monkeypatch: Any) -> None:
    import pytest

    from armarium_source_model.actions import forward

    monkeypatch.setattr(forward, "add_notes", lambda *args, **more: None)
    page = History(desk)
    page.do("split", 0, 1)
    page.do("undo", 0, 0)
    with pytest.raises(AssertionError, match="leads nowhere"):
        page.check()
