"""The text of a page and the order of its segments, worked out on request and never stored (B 4.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Connection

from armarium.api import NotFound
from armarium_documents.api import require_document
from armarium_source_model.counting import PassBasis, ReadingRule
from armarium_source_model.order import Shape, line_shape_direction, page_slope, reading_sequence
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


_SHAPES = """
SELECT id, kind, bbox_x, bbox_y, bbox_w, bbox_h, parent_segment_id, is_furniture, direction, kind_raw, cell, script
FROM segment WHERE pass_id = ? AND deleted_at IS NULL ORDER BY id
"""

_BASELINES = """
SELECT baseline FROM segment WHERE pass_id = ? AND deleted_at IS NULL AND kind = 'line' AND baseline IS NOT NULL
ORDER BY id LIMIT ?
"""

_FRAME = """
SELECT d.direction, r.pixel_width, r.pixel_height FROM document d
LEFT JOIN rendition r ON r.document_id = d.id AND r.is_primary WHERE d.id = ?
"""


def page_shapes(
    conn: Connection, document_id: str, pass_id: str, texts: Mapping[str, CountingText] | None = None
) -> PageShapes:
    """The shapes of a pass and what is known of the page's direction, proportions and slope."""
    cursor = conn.connection.cursor()
    shapes = [
        Shape._make((*row[:10], *(_cell(row[10]) if row[10] else (None, None)), row[11]))
        for row in cursor.execute(_SHAPES, (pass_id,)).fetchall()
    ]
    frame = cursor.execute(_FRAME, (document_id,)).fetchone() or (None, None, None)
    stated, width, height = frame
    aspect = width / height if width and height else 1.0
    baselines = [orjson.loads(row[0]) for row in cursor.execute(_BASELINES, (pass_id, SAMPLE)).fetchall()]
    direction = stated or line_shape_direction(shapes, aspect)
    if direction is None and texts:
        direction = majority_direction(
            [one.text for one, _ in zip(texts.values(), range(SAMPLE), strict=False)]
        )
    return PageShapes(shapes, direction, stated, aspect, page_slope(baselines, aspect))


def _cell(cell: str) -> tuple[int, int]:
    value = orjson.loads(cell)
    return value["row"], value["column"]


def pass_sequence(
    conn: Connection, document_id: str, pass_id: str, texts: Mapping[str, CountingText] | None = None
) -> list[str]:
    """Ids of a pass's live segments in reading order: each region before its lines, each line before its words."""
    page = page_shapes(conn, document_id, pass_id, texts)
    return reading_sequence(page.shapes, direction=page.direction, aspect=page.aspect, slope=page.slope)


def page_text(
    conn: Connection,
    document_id: str,
    *,
    pass_id: str | None = None,
    include_furniture: bool = False,
    kind: str = "transcription",
    rule: ReadingRule = "strict",
) -> PageTextResult:
    """The page's text from the counting readings of the pass named, else of the one the page is read by.

    Raises NotFound for an unknown page, an unknown pass, or a pass of another page.
    """
    require_document(conn, document_id)
    basis: PassBasis | str
    if pass_id is None:
        pass_id, basis = working_pass(conn, document_id, rule)
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
    texts = counting_of_pass(conn, pass_id, kind, rule)
    page = page_shapes(conn, document_id, pass_id, texts)
    sequence = reading_sequence(page.shapes, direction=page.direction, aspect=page.aspect, slope=page.slope)
    assembled = assemble_in_order(page, sequence, texts, include_furniture=include_furniture)
    return PageTextResult(document_id, assembled.text, pass_id, basis, row.name, None, assembled)


def assemble_in_order(
    page: PageShapes,
    sequence: Sequence[str],
    texts: Mapping[str, CountingText],
    *,
    include_furniture: bool,
) -> AssembledText:
    """The text of the shapes in *sequence*: a line's own reading, else its words'; a region's where no line has one."""
    by_id = {shape.id: shape for shape in page.shapes}
    read = {
        shape.parent_id
        for shape in page.shapes
        if shape.kind == "line" and shape.parent_id and shape.id in texts and texts[shape.id].text
    }
    worded: set[str] = set()
    furniture: set[str] = set()
    pieces: list[Piece] = []
    omitted: list[Omitted] = []
    for identity in sequence:
        shape = by_id[identity]
        parent = by_id.get(shape.parent_id) if shape.parent_id else None
        if shape.is_furniture or (parent is not None and parent.id in furniture):
            furniture.add(identity)
            if not include_furniture:
                if shape.is_furniture or shape.kind == "line":
                    omitted.append(Omitted(identity, "furniture"))
                continue
        counting = texts.get(identity)
        if shape.kind == "region":
            if counting is not None and counting.text and identity not in read:
                pieces.append(
                    Piece(identity, counting.representation_id, counting.text, identity, shape.direction)
                )
        elif shape.kind == "line":
            stated = shape.direction or (parent.direction if parent is not None else None)
            if counting is not None and counting.text:
                worded.add(identity)
                pieces.append(
                    Piece(identity, counting.representation_id, counting.text, shape.parent_id, stated)
                )
            else:
                omitted.append(Omitted(identity, "unknown"))
        elif counting is not None and counting.text and shape.parent_id not in worded:
            # Words stand in for their line where it has no reading of its own.
            block = parent.parent_id if parent is not None and parent.kind == "line" else shape.parent_id
            last = pieces[-1] if pieces else None
            same = last is not None and by_id[last.segment_id].kind == "word"
            joins = same and last is not None and by_id[last.segment_id].parent_id == shape.parent_id
            pieces.append(
                Piece(
                    identity,
                    counting.representation_id,
                    counting.text,
                    block,
                    shape.direction or (parent.direction if parent is not None else None),
                    " " if joins else "\n",
                )
            )
            omitted = [one for one in omitted if one.segment_id != shape.parent_id]
    assembled = assemble(
        pieces, page_direction=page.stated or (page.direction if page.direction == "ttb" else None)
    )
    assembled.omitted = omitted
    return assembled
