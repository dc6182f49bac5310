"""Rows 12 and 15: an area among a million segments against a bare R*Tree, and how operations on a page grow with the
project.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import orjson

from armarium.api import ActionContext, Engine, Library
from benchmarks.harness import Result, compare, seconds
from benchmarks.places import OWNER, bare_database, running_engine, scratch_folder

LARGEST = int(os.environ.get("ARMARIUM_BENCH_SEGMENTS", "1000000"))
"""Segments of the largest project; the others hold a tenth and a hundredth of it."""
A_PAGE = 500
TIMES = 20
"""Operations of one round, each on another page."""


def measure(rounds: int) -> list[Result]:
    """Measure areas of the largest project; list, text, area and edit of each size against those of the smallest."""
    with scratch_folder() as folder:
        small, middle, large = LARGEST // 100, LARGEST // 10, LARGEST
        (folder / "s").mkdir()
        (folder / "m").mkdir()
        (folder / "l").mkdir()
        with (
            running_engine(folder / "s") as at_small,
            running_engine(folder / "m") as at_middle,
            running_engine(folder / "l") as at_large,
        ):
            base = Project(*at_small, small)
            results: list[Result] = []
            for place, size in ((at_middle, middle), (at_large, large)):
                project = Project(*place, size)
                if size == large:
                    results.insert(0, _area(project, folder, rounds))
                results += [
                    compare(
                        15,
                        f"{operation} in a project of {size:,} segments",
                        engine=getattr(project, name),
                        peer=getattr(base, name),
                        peer_name=f"in one of {small:,}",
                        unit="s",
                        rounds=rounds,
                        limit=1.5,
                    )
                    for name, operation in OPERATIONS.items()
                ]
            return results


class Project:
    """A project of many pages of lines, all of them read, and the timed operations."""

    def __init__(self, engine: Engine, library: Library, size: int) -> None:
        self.engine, self.library = engine, library
        self.pages: list[str] = []
        self.segments: list[str] = []
        self.versions: dict[str, int] = {}
        self.chance = random.Random(size)
        for number in range(max(TIMES, size // A_PAGE)):
            self._page(number)

    def _page(self, number: int) -> None:
        from armarium_source_model.api import (
            NewPass,
            NewReading,
            NewSegment,
            add_readings,
            add_segments,
            create_pass,
        )

        result = self.engine.run(
            self.library, "document.create", {"name": f"Page {number}", "doc_type": "page"}, OWNER
        )
        document = str((result.result or {})["id"])
        half = A_PAGE // 2
        new = [
            NewSegment(
                str(n), "line", [0.05 + 0.47 * (n // half), 0.02 + 0.96 * (n % half) / half, 0.42, 0.003]
            )
            for n in range(A_PAGE)
        ]

        def write(ctx: ActionContext) -> None:
            pass_id = create_pass(ctx, NewPass(document, "Lines", provider="reader", model="sample"))
            ids = add_segments(ctx, pass_id, document, None, new)
            add_readings(
                ctx,
                [
                    NewReading(identity, "your letter has come to hand", producer_tool="reader")
                    for identity in ids
                ],
            )
            self.segments.append(ids[A_PAGE // 3])

        self.engine.run(
            self.library,
            "document.create",
            {"name": "Beside", "doc_type": "page"},
            OWNER,
            in_transaction=write,
        )
        self.pages.append(document)

    def _each_page(self, work: Callable[[str], object]) -> float:
        pages = self.chance.sample(self.pages, TIMES)
        return seconds(lambda: [work(page) for page in pages]) / TIMES

    def time_listing(self) -> float:
        """Return the seconds of one listing of a page as JSON."""
        from armarium_source_model.queries.segments import list_segments

        def work(page: str) -> None:
            with self.library.db.read() as conn:
                orjson.dumps(list_segments(conn, page))

        return self._each_page(work)

    def text(self) -> float:
        """Return the seconds of one page text."""
        from armarium_source_model.api import page_text

        def work(page: str) -> None:
            with self.library.db.read() as conn:
                page_text(conn, page)

        return self._each_page(work)

    def in_area(self) -> float:
        """Return the seconds of one area of a page."""
        from armarium_source_model.queries.segments import list_segments

        def work(page: str) -> None:
            with self.library.db.read() as conn:
                orjson.dumps(list_segments(conn, page, area=AREA))

        return self._each_page(work)

    def time_edit(self) -> float:
        """Return the seconds of one changed segment and its undo."""

        def work(segment_id: str) -> None:
            version = self.versions.get(segment_id, 1)
            params = {
                "segment_id": segment_id,
                "expected_version": version,
                "kind_raw": f"heading {version}",
            }
            result = self.engine.run(self.library, "segment.update", params, OWNER)
            self.engine.undo(self.library, [result.audit_id], OWNER)
            self.versions[segment_id] = version + 2

        chosen = self.chance.sample(self.segments, TIMES)
        return seconds(lambda: [work(one) for one in chosen]) / TIMES


OPERATIONS = {
    "listed": "listing of a page",
    "text": "text of a page",
    "in_area": "an area (a quarter) of a page",
    "edited": "edit of one segment and its undo",
}
AREA = (0.25, 0.25, 0.5, 0.5)


def _area(project: Project, folder: Path, rounds: int) -> Result:
    """Query the same boxes in a bare R*Tree, joined to the same rows; both return JSON with the counting readings."""
    bare = bare_database(
        folder / "bare.sqlite",
        "CREATE VIRTUAL TABLE area USING rtree(number, page, page_to, x0, x1, y0, y1)",
        "CREATE TABLE page (number INTEGER PRIMARY KEY, id TEXT UNIQUE)",
    )
    bare.execute("ATTACH ? AS project", (str(project.library.path / "library.sqlite"),))
    bare.execute("INSERT INTO page SELECT rowid, id FROM project.document")
    bare.execute(
        "INSERT INTO area SELECT s.rowid, p.number, p.number, bbox_x, bbox_x + bbox_w, bbox_y, bbox_y + bbox_h "
        "FROM project.segment s JOIN page p ON p.id = s.document_id"
    )

    def theirs(page: str) -> None:
        x, y, w, h = AREA
        number = bare.execute("SELECT number FROM page WHERE id = ?", (page,)).fetchone()[0]
        rows = bare.execute(
            "SELECT s.*, r.content FROM area a CROSS JOIN project.segment s ON s.rowid = a.number "
            "LEFT JOIN project.content_representation r ON r.segment_id = s.id "
            "WHERE page <= ? AND page_to >= ? AND x0 <= ? AND x1 >= ? AND y0 <= ? AND y1 >= ? ORDER BY s.id",
            (number, number, x + w, x, y + h, y),
        )
        names = [column[0] for column in rows.description]
        orjson.dumps([_fragments(dict(zip(names, row, strict=True))) for row in rows.fetchall()])

    try:
        return compare(
            12,
            f"a quarter of a page as an area, among {LARGEST:,} segments",
            engine=project.in_area,
            peer=lambda: project._each_page(theirs),
            peer_name="bare R*Tree, join and orjson",
            unit="s",
            rounds=rounds,
            limit=2.0,
            note="The engine also finds out which reading counts.",
        )
    finally:
        bare.close()


def _fragments(row: dict[str, object]) -> dict[str, object]:
    for name in ("anchor", "baseline", "cell", "metadata"):
        value = row[name]
        if isinstance(value, str):
            row[name] = orjson.Fragment(value)
    return row
