"""The shapes of a pass as the order sees them, with what is known of the page; the last few are remembered.

What is remembered hangs on the database connection and is asked for anew as soon as anything on the pass has changed.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Connection

from armarium_source_model.order import Shape, line_shape_direction, page_slope, reading_sequence
from armarium_source_model.text import majority_direction

SAMPLE = 200
"""Baselines looked at to tell how a page leans, and readings to tell which way it runs."""
REMEMBERED = 4
"""Passes whose regions and lines one connection keeps in order."""


class PageShapes(NamedTuple):
    """The live segments of one pass as the order sees them, with what is known of the page."""

    shapes: list[Shape]
    direction: str | None
    """What is stated, else what the text or the line shapes tell; None when nothing does."""
    stated: str | None
    aspect: float
    slope: float


_SHAPE_COLUMNS = (
    "s.id, s.kind, s.bbox_x, s.bbox_y, s.bbox_w, s.bbox_h, s.parent_segment_id, s.is_furniture, s.direction, "
    "s.kind_raw, s.script, s.cell"
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

_FRAME = """
SELECT d.direction, r.pixel_width, r.pixel_height FROM document d
LEFT JOIN rendition r ON r.document_id = d.id AND r.is_primary WHERE d.id = ?
"""


def page_shapes(
    conn: Connection, document_id: str, shapes: list[Shape], pass_id: str, texts: Iterable[str] = ()
) -> PageShapes:
    """*shapes* of a pass with what is known of the page's direction, proportions and slope."""
    cursor = conn.connection.cursor()
    stated, width, height = cursor.execute(_FRAME, (document_id,)).fetchone() or (None, None, None)
    aspect = width / height if width and height else 1.0
    (written,) = cursor.execute(_BASELINES, (pass_id, SAMPLE)).fetchone()
    baselines = orjson.loads(written or "[]")
    direction = stated or line_shape_direction(shapes, aspect) or majority_direction(islice(texts, SAMPLE))
    return PageShapes(shapes, direction, stated, aspect, page_slope(baselines, aspect))


def read_shapes(conn: Connection, query: str, *values: str) -> list[Shape]:
    """What one of the statements above finds; boxes in fractions of the page's picture."""
    rows = conn.connection.cursor().execute(query, values).fetchall()
    make = Shape._make
    return [make((*row[:11], *(_cell(row[11]) if row[11] else (None, None)))) for row in rows]


def _cell(cell: str) -> tuple[int, int]:
    value = orjson.loads(cell)
    return value["row"], value["column"]


def sequence_of(page: PageShapes) -> list[str]:
    """The reading order of a page's shapes."""
    return reading_sequence(page.shapes, direction=page.direction, aspect=page.aspect, slope=page.slope)


def block_shapes(conn: Connection, document_id: str, pass_id: str) -> tuple[list[Shape], float]:
    """The regions and lines of a pass, and the proportion of the page's picture (width by height)."""
    row = conn.connection.cursor().execute(_FRAME, (document_id,)).fetchone()
    aspect = row[1] / row[2] if row and row[1] and row[2] else 1.0
    return read_shapes(conn, BLOCKS, pass_id), aspect


_STATE = """
SELECT count(*), total(version), max(updated_at), total(rowid) FROM segment WHERE pass_id = ? AND deleted_at IS NULL
"""
"""What changes with any change to a pass: versions and times only grow, and every new row has a new number."""


class PageBlocks:
    """The regions and lines of a pass, and their order for each direction it was asked in."""

    def __init__(self, page: PageShapes, state: tuple[Any, ...]) -> None:
        self.page, self.state = page, state
        self.by_id = {shape.id: shape for shape in page.shapes}
        self.lines = [shape.id for shape in page.shapes if shape.kind == "line"]
        self._orders: dict[str | None, list[str]] = {}

    def directed(self, texts: Iterable[str]) -> PageShapes:
        """The page with its direction, read off *texts* where neither a person nor the shapes tell."""
        if self.page.direction is not None:
            return self.page
        return self.page._replace(direction=majority_direction(islice(texts, SAMPLE)))

    def sequence(self, page: PageShapes) -> list[str]:
        """The reading order in the direction of *page*."""
        if page.direction not in self._orders:
            self._orders[page.direction] = sequence_of(page)
        return self._orders[page.direction]


def page_blocks(conn: Connection, document_id: str, pass_id: str) -> PageBlocks:
    """The regions and lines of a pass, from memory when nothing on the pass or its page's picture has changed."""
    cursor = conn.connection.cursor()
    state = (
        *cursor.execute(_STATE, (pass_id,)).fetchone(),
        *(cursor.execute(_FRAME, (document_id,)).fetchone() or (None, None, None)),
    )
    kept: dict[str, PageBlocks] = conn.info.setdefault("armarium_source_model.pages", {})
    found = kept.pop(pass_id, None)
    if found is None or found.state != state:
        found = PageBlocks(page_shapes(conn, document_id, read_shapes(conn, BLOCKS, pass_id), pass_id), state)
    if not cursor.execute("PRAGMA query_only").fetchone()[0]:
        # What a write sees may still be rolled back: only readers remember.
        return found
    kept[pass_id] = found
    while len(kept) > REMEMBERED:
        del kept[next(iter(kept))]
    return found
