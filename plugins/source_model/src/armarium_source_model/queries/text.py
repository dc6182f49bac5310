"""The text of a page and the order of its segments, worked out on request and never stored (B 4.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Connection, Row

from armarium.api import NotFound
from armarium_documents.api import require_document
from armarium_source_model.counting import PassBasis, ReadingRule
from armarium_source_model.errors import OrderOfOtherPass
from armarium_source_model.order import Shape, line_shape_direction, page_slope, reading_sequence
from armarium_source_model.queries.orders import standing_order, walk
from armarium_source_model.queries.passes import get_pass, working_pass
from armarium_source_model.queries.readings import CountingText, counting_of_pass
from armarium_source_model.text import AssembledText, Omitted, Piece, assemble, majority_direction

SAMPLE = 200
"""Baselines looked at to tell how a page leans, and readings to tell which way it runs."""


class PageTextResult(NamedTuple):
    """The text of a page with where each stretch comes from, and the pass it was worked out from."""

    document_id: str
    text: str
    pass_id: str | None
    pass_basis: PassBasis | str
    pass_name: str | None
    order_id: str | None
    assembled: AssembledText

    def answer(self) -> dict[str, Any]:
        """As answered over HTTP (a PageText)."""
        return {
            "document_id": self.document_id,
            "text": self.text,
            "pass_id": self.pass_id,
            "pass_basis": self.pass_basis,
            "pass_name": self.pass_name,
            "order_id": self.order_id,
            "spans": [span._asdict() for span in self.assembled.spans],
            "omitted": [one._asdict() for one in self.assembled.omitted],
        }


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

_SHAPES = f"SELECT {_SHAPE_COLUMNS} FROM segment s WHERE s.pass_id = ? AND s.deleted_at IS NULL ORDER BY s.id"

_BLOCKS = f"""
SELECT {_SHAPE_COLUMNS} FROM segment s
WHERE s.pass_id = ? AND s.deleted_at IS NULL AND s.kind <> 'word' ORDER BY s.id
"""

_WORDS = f"""
SELECT {_SHAPE_COLUMNS} FROM segment s LEFT JOIN segment line ON line.id = s.parent_segment_id
WHERE s.pass_id = ? AND s.deleted_at IS NULL AND s.kind = 'word'
AND (line.id IS NULL OR line.kind <> 'line' OR line.deleted_at IS NOT NULL
     OR line.id IN (SELECT value FROM json_each(?)))
ORDER BY s.id
"""
"""The words that may be needed: those of lines without a reading of their own, and those in no line."""

_BASELINES = """
SELECT baseline FROM segment WHERE pass_id = ? AND deleted_at IS NULL AND kind = 'line' AND baseline IS NOT NULL
ORDER BY id LIMIT ?
"""

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
    baselines = [orjson.loads(row[0]) for row in cursor.execute(_BASELINES, (pass_id, SAMPLE)).fetchall()]
    direction = stated or line_shape_direction(shapes, aspect)
    if direction is None:
        direction = majority_direction(islice(texts, SAMPLE))
    return PageShapes(shapes, direction, stated, aspect, page_slope(baselines, aspect))


def _shapes(conn: Connection, query: str, *values: str) -> list[Shape]:
    rows = conn.connection.cursor().execute(query, values).fetchall()
    make = Shape._make
    return [make((*row[:11], *(_cell(row[11]) if row[11] else (None, None)))) for row in rows]


def _cell(cell: str) -> tuple[int, int]:
    value = orjson.loads(cell)
    return value["row"], value["column"]


def pass_sequence(
    conn: Connection, document_id: str, pass_id: str, texts: Mapping[str, CountingText] | None = None
) -> list[str]:
    """Ids of a pass's live segments in reading order: each region before its lines, each line before its words.

    texts: the counting readings where the caller has them, so that a page's direction can be read off its letters.
    """
    if texts is None:
        texts = counting_of_pass(conn, pass_id)
    return sequence_of(
        page_shapes(
            conn,
            document_id,
            _shapes(conn, _SHAPES, pass_id),
            pass_id,
            (one.text for one in texts.values()),
        )
    )


def sequence_of(page: PageShapes) -> list[str]:
    """The reading order of a page's shapes."""
    return reading_sequence(page.shapes, direction=page.direction, aspect=page.aspect, slope=page.slope)


def page_text(
    conn: Connection,
    document_id: str,
    *,
    pass_id: str | None = None,
    order_id: str | None = None,
    include_furniture: bool = False,
    kind: str = "transcription",
    rule: ReadingRule = "strict",
) -> PageTextResult:
    """The page's text from the counting readings of the pass named, else of the one the page is read by.

    In the order of its boxes, or in the reading order named. Raises NotFound for an unknown page, pass or order or
    a pass of another page, OrderDeleted, and OrderOfOtherPass when the order is not of that pass.
    """
    require_document(conn, document_id)
    order = None if order_id is None else standing_order(conn, order_id)
    basis: PassBasis | str
    if pass_id is None:
        pass_id, basis = working_pass(conn, document_id, rule)
        if order is not None and order.pass_id != pass_id:
            raise OrderOfOtherPass(order.id, order.pass_id, pass_id)
        if pass_id is None:
            return PageTextResult(document_id, "", None, "none", None, None, AssembledText(""))
        row = get_pass(conn, pass_id)
    else:
        row = get_pass(conn, pass_id)
        if row.document_id != document_id:
            raise NotFound(
                f"Pass {pass_id} is of another page ({row.document_id}); name a pass of {document_id}."
            )
        basis = "named"
    if order is not None:
        if order.pass_id != pass_id:
            raise OrderOfOtherPass(order.id, order.pass_id, pass_id)
        assembled = text_in_order(
            conn, order, texts_kind=kind, rule=rule, include_furniture=include_furniture
        )
        return PageTextResult(document_id, assembled.text, pass_id, basis, row.name, order.id, assembled)
    page, texts = text_shapes(conn, document_id, pass_id, kind, rule)
    assembled = assemble_in_order(page, sequence_of(page), texts, include_furniture=include_furniture)
    return PageTextResult(document_id, assembled.text, pass_id, basis, row.name, None, assembled)


def text_in_order(
    conn: Connection, order: Row[Any], *, texts_kind: str, rule: ReadingRule, include_furniture: bool
) -> AssembledText:
    """The text in a named order. An entry with nothing inside stands for all its segment holds, as derived."""
    shapes = _shapes(conn, _SHAPES, order.pass_id)
    texts = counting_of_pass(conn, order.pass_id, texts_kind, rule)
    page = page_shapes(conn, order.document_id, shapes, order.pass_id, (one.text for one in texts.values()))
    by_id = {shape.id: shape for shape in shapes}
    inside: dict[str, list[str]] = {}
    for identity in sequence_of(page):
        above = by_id[identity].parent_id
        while above is not None and above in by_id:
            inside.setdefault(above, []).append(identity)
            above = by_id[above].parent_id
    entries = list(walk(conn, order.id))
    named = {segment_id for _, segment_id, _ in entries}
    sequence: dict[str, None] = {}
    absent: list[str] = []
    for _, segment_id, holds_entries in entries:
        if segment_id not in by_id:
            absent.append(segment_id)
            continue
        sequence[segment_id] = None
        if not holds_entries:
            sequence.update(dict.fromkeys(one for one in inside.get(segment_id, ()) if one not in named))
    assembled = assemble_in_order(page, list(sequence), texts, include_furniture=include_furniture)
    assembled.omitted += [_absent(conn, order.pass_id, segment_id) for segment_id in absent]
    return assembled


def _absent(conn: Connection, pass_id: str, segment_id: str) -> Omitted:
    """Why a segment that an order names is not among the live ones of its pass."""
    row = conn.exec_driver_sql(
        "SELECT pass_id, deleted_at FROM segment WHERE id = ?", (segment_id,)
    ).one_or_none()
    if row is None:
        return Omitted(segment_id, "unknown")
    if row[1] is not None:
        return Omitted(segment_id, "deleted")
    return Omitted(segment_id, "other_pass", row[0])


def block_shapes(conn: Connection, document_id: str, pass_id: str) -> tuple[list[Shape], float]:
    """The regions and lines of a pass, and the proportion of the page's picture (width by height)."""
    row = conn.connection.cursor().execute(_FRAME, (document_id,)).fetchone()
    aspect = row[1] / row[2] if row and row[1] and row[2] else 1.0
    return _shapes(conn, _BLOCKS, pass_id), aspect


def text_shapes(
    conn: Connection, document_id: str, pass_id: str, kind: str, rule: ReadingRule
) -> tuple[PageShapes, dict[str, CountingText]]:
    """The shapes of a pass that its text may need, and the counting readings: words only where they are needed."""
    shapes = _shapes(conn, _BLOCKS, pass_id)
    texts = counting_of_pass(conn, pass_id, kind, rule, words=False)
    unread = [shape.id for shape in shapes if shape.kind == "line" and shape.id not in texts]
    words = _shapes(conn, _WORDS, pass_id, orjson.dumps(unread).decode())
    if words:
        shapes += words
        texts = counting_of_pass(conn, pass_id, kind, rule)
    return page_shapes(conn, document_id, shapes, pass_id, (one.text for one in texts.values())), texts


def assemble_in_order(
    page: PageShapes,
    sequence: Sequence[str],
    texts: Mapping[str, CountingText],
    *,
    include_furniture: bool,
) -> AssembledText:
    """The text of the shapes in *sequence*: a line's own reading, else its words'; a region's where no line has one."""
    by_id = {shape.id: shape for shape in page.shapes}
    listed = set(sequence)
    read = _read_inside(by_id, {one: texts[one] for one in sequence if one in texts})
    furniture: set[str] = set()
    pieces: list[Piece] = []
    omitted: dict[str, Omitted] = {}
    for identity in sequence:
        shape = by_id[identity]
        parent = by_id.get(shape.parent_id) if shape.parent_id else None
        if shape.is_furniture or (parent is not None and parent.id in furniture):
            furniture.add(identity)
            if not include_furniture:
                if shape.is_furniture or shape.kind == "line":
                    omitted[identity] = Omitted(identity, "furniture")
                continue
        counting = texts.get(identity)
        words = counting.text if counting is not None else ""
        if counting is None or not words:
            if shape.kind == "line":
                omitted[identity] = Omitted(identity, "unknown")
            continue
        stated = shape.direction or (parent.direction if parent is not None else None)
        if shape.kind == "region":
            if identity not in read:
                pieces.append(Piece(identity, counting.representation_id, words, identity, shape.direction))
        elif shape.kind == "line" or parent is None or parent.kind != "line":
            pieces.append(Piece(identity, counting.representation_id, words, shape.parent_id, stated))
        elif parent.id not in listed or parent.id not in texts or not texts[parent.id].text:
            # Words stand in for their line where it has no reading of its own.
            before = by_id[pieces[-1].segment_id] if pieces else None
            joined = before is not None and before.kind == "word" and before.parent_id == shape.parent_id
            pieces.append(
                Piece(
                    identity,
                    counting.representation_id,
                    words,
                    parent.parent_id,
                    stated,
                    " " if joined else "\n",
                )
            )
            omitted.pop(parent.id, None)
    assembled = assemble(
        pieces, page_direction=page.stated or (page.direction if page.direction == "ttb" else None)
    )
    assembled.omitted = list(omitted.values())
    return assembled


def _read_inside(by_id: Mapping[str, Shape], texts: Mapping[str, CountingText]) -> set[str]:
    """Ids of the shapes in which something has a reading: there the smaller part's words go before the region's."""
    found: set[str] = set()
    for identity, counting in texts.items():
        shape = by_id.get(identity)
        while counting.text and shape is not None and shape.parent_id and shape.parent_id not in found:
            found.add(shape.parent_id)
            shape = by_id.get(shape.parent_id)
    return found
