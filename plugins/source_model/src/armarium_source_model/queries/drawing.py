"""Gathers the rows with which `picture.draw_page` draws a page with its lines and readings."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import orjson
from sqlalchemy import Connection

from armarium.api import Library, NotFound, open_image
from armarium_documents.api import page_image
from armarium_source_model.geometry import outline_of
from armarium_source_model.picture import DrawnLine, Fractions, draw_page
from armarium_source_model.queries.boxes import writing_of_boxes
from armarium_source_model.queries.letters import shape_mark, stored_places
from armarium_source_model.queries.passes import reading_rule, standing_pass, working_pass
from armarium_source_model.queries.readings import CountingText, counting_of_pass
from armarium_source_model.queries.segments import segments_of
from armarium_source_model.queries.text import line_sequence

if TYPE_CHECKING:
    from PIL import Image

BY_HAND = frozenset({"correction", "newest-human"})
_RIGHTWARDS = (("\u1800", "\u18af"), ("\ua840", "\ua87f"))
"""Letters of Mongolian and Phags-pa, whose columns follow each other from left to right."""


def drawn_lines(
    library: Library, conn: Connection, document_id: str, pass_id: str | None = None, *, words: bool = False
) -> list[DrawnLine]:
    """Return the regions and lines of a pass (default: the one the page is read by) in reading order; with *words*, where
    these stand, as far as segments or readers say so.

    NotFound for a page without a pass, an unknown pass, or a pass of another page; PassDeleted.
    """
    if pass_id is None:
        pass_id, _ = working_pass(conn, document_id, reading_rule(conn))
        if pass_id is None:
            raise NotFound(f"Document {document_id} has no pass yet: find its lines first, then draw them.")
    elif standing_pass(conn, pass_id).document_id != document_id:
        raise NotFound(f"Pass {pass_id} is of another page; name a pass of {document_id}.")
    rule = reading_rule(conn)
    texts = counting_of_pass(conn, pass_id, rule=rule, words=False)
    rows = {
        row[0]: row
        for row in conn.exec_driver_sql(
            "SELECT id, kind, anchor, baseline, bbox_x, bbox_y, bbox_w, bbox_h FROM segment "
            "WHERE pass_id = ? AND deleted_at IS NULL AND kind <> 'word'",
            (pass_id,),
        )
    }
    outlines = _words(conn, pass_id, texts, rows) if words else {}
    drawn_lines: list[DrawnLine] = []
    number = 0
    for identity in line_sequence(conn, document_id, pass_id, rule):
        row = rows.get(identity)
        if row is None:
            continue
        kind: Literal["region", "line"] = "line" if row[1] == "line" else "region"
        number += kind == "line"
        reading = texts.get(identity)
        drawn_lines.append(
            DrawnLine(
                order=number,
                polygon=orjson.loads(row[2]).get("polygon"),
                baseline=orjson.loads(row[3]) if row[3] else None,
                rect=tuple(row[4:8]),
                text=reading.text if reading is not None else None,
                corrected=reading is not None and reading.basis in BY_HAND,
                kind=kind,
                words=outlines.get(identity, ()),
            )
        )
    return _mark_downward(library, conn, document_id, drawn_lines)


def _words(
    conn: Connection, pass_id: str, texts: Mapping[str, CountingText], rows: Mapping[str, Any]
) -> dict[str, list[Fractions]]:
    """Return the outlines of the words of lines: of their segments, else where the reader of the text placed them."""
    outlines: dict[str, list[Fractions]] = {}
    for word in segments_of(conn, pass_id, "word"):
        outlines.setdefault(word.parent_segment_id or "", []).append(outline_of(word.anchor))
    placed = stored_places(conn, [text.representation_id for text in texts.values()])
    for identity, text in texts.items():
        stored, row = placed.get(text.representation_id), rows.get(identity)
        if identity in outlines or stored is None or row is None:
            continue
        if shape_mark(orjson.loads(row[2]), orjson.loads(row[3]) if row[3] else None) == stored.shape:
            outlines[identity] = [word.corners for word in stored.places.words(text.text)]
    return outlines


def _mark_downward(
    library: Library, conn: Connection, document_id: str, lines: list[DrawnLine]
) -> list[DrawnLine]:
    """Mark the lines if the page is written vertically."""
    boxes = [
        {"bbox": list(line.rect), "level": line.kind, "text": line.text}
        for line in lines
        if line.kind == "line"
    ]
    way, rightwards = writing_of_boxes(library, conn, document_id, boxes)
    if way != "ttb":
        return lines
    mongolian = any(
        first <= char <= last for line in lines for char in line.text or "" for first, last in _RIGHTWARDS
    )
    return [replace(line, downward="ttb-lr" if rightwards or mongolian else "ttb") for line in lines]


def page_drawing(
    library: Library,
    conn: Connection,
    document_id: str,
    *,
    pass_id: str | None = None,
    max_size: int = 1600,
    labels: bool = True,
    words: bool = False,
) -> Image.Image:
    """Draw the page's primary picture with its lines and, with *labels*, their readings beside it; with *words*, these too."""
    lines = drawn_lines(library, conn, document_id, pass_id, words=words)
    with open_image(page_image(library, conn, document_id).path) as image:
        return draw_page(image, lines, max_size=max_size, labels=labels)


def page_drawing_png(library: Library, conn: Connection, document_id: str, **how: object) -> bytes:
    """Return `page_drawing` as PNG bytes."""
    out = io.BytesIO()
    page_drawing(library, conn, document_id, **how).save(out, "PNG")  # type: ignore[arg-type]
    return out.getvalue()
