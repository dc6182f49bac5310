"""The shapes of a pass for the reading order, with what determines its writing; the last few are cached.

The cache belongs to the database connection, and an entry is invalid as soon as anything on the pass has
changed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import orjson
from sqlalchemy import Connection

from armarium_source_model.counting import ReadingRule
from armarium_source_model.facts import Ladder, PageFacts
from armarium_source_model.geometry import rect_of
from armarium_source_model.order import Lean, Shape, ladder_of_shapes, lean_of
from armarium_source_model.queries.facts import facts_of_rows, page_facts, page_facts_rows
from armarium_source_model.queries.readings import CountingText, counting_of_pass
from armarium_source_model.queries.segments import SegmentRow
from armarium_source_model.writing import Orders, PageWriting

SAMPLE = 200
"""Baselines looked at to tell how a page leans, and whether it is vertical."""
REMEMBERED = 4
"""Passes whose regions and lines one connection keeps in order."""


_SHAPE_COLUMNS = (
    "s.id, s.kind, s.bbox_x, s.bbox_y, s.bbox_w, s.bbox_h, s.parent_segment_id, s.is_furniture, s.direction, "
    "s.kind_raw, s.script, s.cell, iif(s.kind = 'region', s.metadata ->> '$.line_order', NULL)"
)

SHAPES = f"SELECT {_SHAPE_COLUMNS} FROM segment s WHERE s.pass_id = ? AND s.deleted_at IS NULL ORDER BY s.id"

BLOCKS = f"""
SELECT {_SHAPE_COLUMNS} FROM segment s
WHERE s.pass_id = ? AND s.deleted_at IS NULL AND s.kind <> 'word' ORDER BY s.id
"""

WORDS = f"""
SELECT {_SHAPE_COLUMNS} FROM segment s LEFT JOIN segment line ON line.id = s.parent_segment_id
WHERE s.pass_id = ? AND s.deleted_at IS NULL AND s.kind = 'word'
AND (line.id IS NULL OR line.kind <> 'line' OR line.deleted_at IS NOT NULL
     OR line.id IN (SELECT value FROM json_each(?)))
ORDER BY s.id
"""
"""The words that may be needed: those of lines without a reading of their own, and those in no line."""

_BASELINES = """
SELECT '[' || group_concat(baseline) || ']' FROM (
    SELECT baseline FROM segment WHERE pass_id = ? AND deleted_at IS NULL AND kind = 'line' AND baseline IS NOT NULL
    ORDER BY id LIMIT ?
)
"""
"""One row that is a JSON array: fetched row by row it would wait for the interpreter as often."""


def read_shapes(conn: Connection, query: str, *values: str) -> list[Shape]:
    """Run one of the statements above; boxes in fractions of the page's picture."""
    rows = conn.connection.cursor().execute(query, values).fetchall()
    make = Shape._make
    return [make((*row[:11], *(_cell(row[11]) if row[11] else (None, None)), row[12])) for row in rows]


def _cell(cell: str) -> tuple[int, int]:
    value = orjson.loads(cell)
    return value["row"], value["column"]


def _lean(conn: Connection, pass_id: str, aspect: float) -> Lean:
    (baselines_json,) = conn.connection.cursor().execute(_BASELINES, (pass_id, SAMPLE)).fetchone()
    return lean_of(orjson.loads(baselines_json or "[]"), aspect)


def writing_of_pass(
    conn: Connection, document_id: str, pass_id: str, rule: ReadingRule = "strict"
) -> PageWriting:
    """Return how all segments of a pass are written, including each word."""
    facts = page_facts(conn, document_id, pass_id)
    shapes = read_shapes(conn, SHAPES, pass_id)
    texts = counting_of_pass(conn, pass_id, rule=rule)
    return PageWriting(shapes, facts, _words_of(texts), lean=_lean(conn, pass_id, facts.aspect))


def writing_of_rows(
    rows: Collection[SegmentRow], facts: PageFacts, texts: Mapping[str, CountingText]
) -> PageWriting:
    """Like `writing_of_pass`, from its segments in the order they were made and its counting transcriptions."""
    shapes = []
    for row in rows:
        line_order = row.metadata.get("line_order") if row.kind == "region" else None
        cell = (row.cell["row"], row.cell["column"]) if row.cell else (None, None)
        box = rect_of(row)
        statements = (row.parent_segment_id, row.is_furniture, row.direction, row.kind_raw, row.script)
        shapes.append(Shape._make((row.id, row.kind, *box, *statements, *cell, line_order)))
    baselines = [row.baseline for row in rows if row.kind == "line" and row.baseline is not None][:SAMPLE]
    return PageWriting(shapes, facts, _words_of(texts), lean=lean_of(baselines, facts.aspect))


def read_page(
    conn: Connection, document_id: str, pass_id: str, rule: ReadingRule = "strict"
) -> tuple[PageWriting, dict[str, CountingText]]:
    """Return how the regions and lines of a pass are written, and their counting transcriptions.

    Words are included only if their line has no reading of its own, or if they are in no line.
    """
    blocks = page_blocks(conn, document_id, pass_id)
    texts = counting_of_pass(conn, pass_id, rule=rule, words=False)
    unread = [line for line in blocks.lines if line not in texts or not texts[line].text]
    words = read_shapes(conn, WORDS, pass_id, orjson.dumps(unread).decode())
    if not words:
        return blocks.writing(texts), texts
    texts = counting_of_pass(conn, pass_id, rule=rule)
    return PageWriting(blocks.shapes + words, blocks.facts, _words_of(texts), lean=blocks.lean), texts


def _words_of(texts: Mapping[str, CountingText]) -> dict[str, str]:
    return {segment_id: reading.text for segment_id, reading in texts.items()}


_STATE = """
SELECT count(*), total(version), max(updated_at), total(rowid) FROM segment WHERE pass_id = ? AND deleted_at IS NULL
"""
"""What changes with any change to a pass: versions and times only grow, and every new row has a new number."""


class PageBlocks:
    """The regions and lines of a pass with what is stated about them, and their reading orders."""

    def __init__(self, shapes: list[Shape], facts: PageFacts, lean: Lean, state: tuple[Any, ...]) -> None:
        self.shapes, self.facts, self.lean, self.state = shapes, facts, lean, state
        self.lines = [shape.id for shape in shapes if shape.kind == "line"]
        self._ladder: Ladder = ladder_of_shapes(shapes, facts)
        self._orders: Orders = {}

    def writing(self, texts: dict[str, CountingText]) -> PageWriting:
        """Return how they are written, given their current texts."""
        return PageWriting(
            self.shapes,
            self.facts,
            _words_of(texts),
            lean=self.lean,
            ladder=self._ladder,
            orders=self._orders,
        )


def page_blocks(conn: Connection, document_id: str, pass_id: str) -> PageBlocks:
    """Return the regions and lines of a pass, cached while neither the pass nor the statements change."""
    cursor = conn.connection.cursor()
    facts = page_facts_rows(conn, document_id, pass_id)
    state = (*cursor.execute(_STATE, (pass_id,)).fetchone(), *facts)
    cache: dict[str, PageBlocks] = conn.info.setdefault("armarium_source_model.pages", {})
    blocks = cache.pop(pass_id, None)
    if blocks is None or blocks.state != state:
        page = facts_of_rows(facts)
        blocks = PageBlocks(
            read_shapes(conn, BLOCKS, pass_id), page, _lean(conn, pass_id, page.aspect), state
        )
    if not cursor.execute("PRAGMA query_only").fetchone()[0]:
        # What a write sees may still be rolled back: only readers cache.
        return blocks
    cache[pass_id] = blocks
    while len(cache) > REMEMBERED:
        del cache[next(iter(cache))]
    return blocks
