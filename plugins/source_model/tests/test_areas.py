"""Searching an area of a page: the index finds what comparing every box finds, whatever was drawn, moved, withdrawn and
undone.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from source_model_fixtures import RUN, anchor

from armarium.api import Conflict, Invalid, NotFound, raw_of
from armarium_source_model.queries.segments import Area, list_segments

fractions = st.one_of(
    st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75]), st.floats(0, 0.9, allow_nan=False, width=64)
)
sizes = st.one_of(st.sampled_from([0.1, 0.25]), st.floats(1e-6, 0.1))
rects = st.tuples(fractions, fractions, sizes, sizes)
deeds = st.lists(
    st.tuples(
        st.sampled_from(
            ["draw", "draw", "bulk", "move", "delete", "undelete", "merge", "split", "undo", "undo", "redo"]
        ),
        st.integers(0, 50),
        rects,
    ),
    min_size=3,
    max_size=20,
)


class RandomBoxes:
    """Two pages on which boxes are drawn, moved and withdrawn at random."""

    def __init__(self, desk: Any) -> None:
        self.desk = desk
        self.pages = [desk.page() for _ in range(2)]
        self.passes = [desk.new_pass(page) for page in self.pages]
        self.drawn: list[str] = []
        self.steps: list[str] = []
        self.undone: list[str] = []

    def do(self, what: str, which: int, rect: Area) -> None:
        place = {"document_id": self.pages[which % 2], "pass_id": self.passes[which % 2]}
        one = {**place, "kind": "line", "anchor": {"rect": rect}}
        with suppress(Conflict, Invalid, NotFound, IndexError, ZeroDivisionError):
            if what == "draw":
                self.drawn.append(self.desk.run("segment.create", **one)["id"])
            elif what == "bulk":
                result = self.desk.run("segment.create_many", segments=[one, one])
                self.drawn.extend(item["id"] for item in result["items"])
            elif what in ("undo", "redo"):
                log, other = (self.steps, self.undone) if what == "undo" else (self.undone, self.steps)
                other.append(self.desk.undo(log.pop(which % len(log))))
                return
            else:
                segment_id = self.drawn[which % len(self.drawn)]
                other_id = self.drawn[(which * 7 + 3) % len(self.drawn)]
                version = self._version(segment_id)
                if what == "move":
                    self.desk.run(
                        "segment.update",
                        segment_id=segment_id,
                        expected_version=version,
                        anchor={"rect": rect},
                    )
                elif what == "delete":
                    self.desk.run("segment.delete", segment_ids=[segment_id], expected_versions=[version])
                elif what == "undelete":
                    self.desk.run("segment.undelete", segment_ids=[segment_id])
                elif what == "merge":
                    self.desk.run("segment.merge", segment_ids=[segment_id, other_id], keep_id=segment_id)
                else:
                    parts = [{"anchor": {"rect": rect}}, {"anchor": anchor(which % 10)}]
                    result = self.desk.run(
                        "segment.split", segment_id=segment_id, expected_version=version, parts=parts
                    )
                    self.drawn.extend(result["segment_ids"][1:])
            self.steps.append(self.desk.audit_id)

    def _version(self, segment_id: str) -> int:
        with self.desk.library.db.read() as conn:
            row = conn.exec_driver_sql(
                "SELECT version FROM segment WHERE id = ?", (segment_id,)
            ).one_or_none()
        return row[0] if row else 1

    def check(self, area: Area) -> None:
        x, y, w, h = area
        with self.desk.library.db.read() as conn:
            for page in self.pages:
                segment_rows = list_segments(conn, page)
                meet = [
                    segment_row["id"]
                    for segment_row in segment_rows
                    if segment_row["bbox_x"] <= x + w
                    and segment_row["bbox_x"] + segment_row["bbox_w"] >= x
                    and segment_row["bbox_y"] <= y + h
                    and segment_row["bbox_y"] + segment_row["bbox_h"] >= y
                ]
                assert [segment["id"] for segment in list_segments(conn, page, area=area)] == meet


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(deeds, st.lists(rects, min_size=1, max_size=4))
def test_areas_find_what_a_look_at_every_box_finds(
    desk: Any, history: list[tuple[str, int, Area]], areas: list[Area]
) -> None:
    drawing = RandomBoxes(desk)
    for what, which, rect in history:
        drawing.do(what, which, rect)
        drawing.check(rect)
    for area in areas:
        drawing.check(area)


def test_an_area_is_answered_from_the_index_of_boxes(desk: Any) -> None:
    page = desk.page()
    statements: list[str] = []
    with desk.library.db.read() as conn:
        raw = raw_of(conn)
        raw.set_trace_callback(statements.append)
        list_segments(conn, page, area=(0.0, 0.0, 0.5, 0.5))
        raw.set_trace_callback(None)
        (statement,) = (statement for statement in statements if "FROM segment s" in statement)
        plan = [row[3] for row in raw.execute(f"EXPLAIN QUERY PLAN {statement}")]
    assert any("ix_segment_area (document_id=? AND bbox_y<?)" in one for one in plan), plan


def test_an_area_combines_with_pass_kind_and_readings(desk: Any) -> None:
    page = desk.page()
    reading = desk.machine_lines(page, ["one", "two", None])
    other_outcome = desk.as_(RUN).run(
        "segment.take_lines",
        document_id=page,
        name="Rival",
        provider="reader",
        lines=[{"key": "w", "kind": "word", "rect": anchor(0)["rect"], "text": "ONE"}],
    )
    area = (0.0, 0.0, 1.0, 0.15)
    with desk.library.db.read() as conn:

        def find_areas(**narrowed: Any) -> list[Any]:
            return [
                (segment["id"], segment["text"])
                for segment in list_segments(conn, page, area=area, **narrowed)
            ]

        first, word = (reading["segment_ids"][0], "one"), (other_outcome["segment_ids"][0], "ONE")
        assert find_areas() == [first, word]
        assert find_areas(pass_id=other_outcome["pass_id"]) == [word]
        assert find_areas(kind="line") == [first]
    desk.run("segment.pass_delete", pass_id=other_outcome["pass_id"])
    with desk.library.db.read() as conn:
        assert find_areas() == [first]
