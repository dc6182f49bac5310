"""A page as somebody works on it: its lines in reading order, read and unread, and the outlines of all it has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any

import orjson
from fastapi import Query
from sqlalchemy import Connection, Row

from armarium.api import AsOf, Engine, Library, query
from armarium_source_model.makers import LineMaker, line_makers
from armarium_source_model.order import Shape
from armarium_source_model.queries.legacy import old_geometry_of
from armarium_source_model.queries.orders import written_order
from armarium_source_model.queries.passes import (
    list_passes,
    notice_of_text_elsewhere,
    read_elsewhere,
    reading_rule,
)
from armarium_source_model.queries.provisional_text import (
    IS_PROVISIONAL,
    ProvisionalPass,
    is_provisional,
    provisional_pass,
)
from armarium_source_model.queries.readings import (
    CountingText,
    counting_of_pass,
    readings_named,
    word_confidences,
)
from armarium_source_model.queries.shapes import read_page, writing_of_pass
from armarium_source_model.queries.text import assemble_in_order, pass_to_read, sequence_in_order
from armarium_source_model.schemas.lines import PageLines, PageShapes
from armarium_source_model.text import Span
from armarium_source_model.writing import PageWriting

_ENTRIES = "SELECT segment_id, id, parent_entry_id, version FROM reading_order_entry WHERE order_id = ?"

_SHAPES = """
SELECT json_group_array(json_object(
    'id', id, 'kind', kind, 'parent_segment_id', parent_segment_id,
    'rect', json_array(bbox_x, bbox_y, bbox_w, bbox_h), 'polygon', json_extract(anchor, '$.polygon'),
    'baseline', json(baseline), 'rendition_id', anchor ->> '$.rendition_id', 'cell', json(cell), 'version', version))
FROM (SELECT * FROM segment WHERE pass_id = ? AND deleted_at IS NULL ORDER BY id)
"""
"""One row that is a JSON array, whose numbers are as they are stored."""


@query(
    "/api/segments/document/{document_id}/lines",
    summary="The lines of a page in reading order, read and unread",
    answer=PageLines,
    refusals=(404, 409),
    as_of=AsOf("document_id"),
)
def read_page_lines(
    conn: Connection,
    engine: Engine,
    library: Library,
    document_id: str,
    pass_id: str | None = None,
    order: Annotated[
        str | None,
        Query(description="a reading order's id; default: the as-written order, else that of the boxes"),
    ] = None,
    words: Annotated[
        bool, Query(description="include the confidence of the words of a line, where their reader gave any")
    ] = False,
) -> dict[str, Any]:
    """List the lines of the pass the page is read by, or of the one named, furniture included, with their counting readings.

    A region or a word that no line contains is listed where it has a reading. A line that the order does not name follows
    the one before it on the page.
    """
    rule = reading_rule(conn)
    passes = [old_geometry.as_pass() for old_geometry in old_geometry_of(conn, document_id)]
    if pass_id is not None and is_provisional(pass_id):
        old = provisional_pass(library, conn, document_id, pass_id)
        return {
            **_head(document_id, old.pass_id, "named", None, old.order_basis),
            "passes": passes + list_passes(conn, document_id, rule),
            "lines": _provisional_lines(old),
            "notice": IS_PROVISIONAL,
        }
    row, basis, named_order = pass_to_read(conn, document_id, pass_id, order, rule)
    passes += list_passes(conn, document_id, rule)
    if row is None:
        return {**_head(document_id, None, "none", None, "none"), "passes": passes, "lines": []}
    named_order = named_order or written_order(conn, row.id)
    if named_order is None:
        page, texts = read_page(conn, document_id, row.id, rule)
        sequence = page.sequence()
    else:
        page = writing_of_pass(conn, document_id, row.id, rule)
        texts = counting_of_pass(conn, row.id, rule=rule)
        sequence = _with_unnamed_lines(page, sequence_in_order(conn, named_order, page)[0])
    lines = _lines(page, sequence, texts)
    _add_origins(conn, engine, lines, texts)
    if words:
        _add_words(conn, row.id, lines)
    if named_order is not None:
        _add_entries(conn, named_order, lines)
    hidden = None if pass_id is not None or any(line["text"] for line in lines) else row.id
    order_id, order_basis = (None, page.order_basis()) if named_order is None else (named_order.id, "named")
    return {
        **_head(document_id, row.id, basis, order_id, order_basis),
        "passes": passes,
        "lines": lines,
        "read_elsewhere": read_elsewhere(conn, document_id, hidden),
        "notice": notice_of_text_elsewhere(conn, document_id, hidden),
    }


def _head(
    document_id: str, pass_id: str | None, basis: str, order_id: str | None, order_basis: str
) -> dict[str, Any]:
    return {
        "document_id": document_id,
        "pass_id": pass_id,
        "pass_basis": basis,
        "order_id": order_id,
        "order_basis": order_basis,
        "read_elsewhere": [],
        "notice": None,
    }


def _line(shape_id: str, kind: str, parent: str | None, direction: str) -> dict[str, Any]:
    return {
        "segment_id": shape_id,
        "kind": kind,
        "parent_segment_id": parent,
        "is_furniture": False,
        "direction": direction,
        "text": None,
        "representation_id": None,
        "confidence": None,
        "made": None,
        "words": [],
        "entry": None,
    }


def _provisional_lines(old: ProvisionalPass) -> list[dict[str, Any]]:
    maker = {"by": old.maker.by, "name": old.maker.name}
    return [
        _line(segment["id"], segment["kind"], None, old.direction)
        | ({"text": segment["text"], "made": maker} if segment["text"] else {})
        for segment in old.segments
        if segment["text"] or segment["kind"] == "line"
    ]


def _with_unnamed_lines(page: PageWriting, ordered_ids: Sequence[str]) -> list[str]:
    """Return the segments in the order *named*, and each other line after the one that comes before it by position."""
    named_ids = set(ordered_ids)
    after: dict[str | None, list[str]] = {}
    before: str | None = None
    for identity in page.sequence():
        if page.by_id[identity].kind == "line":
            if identity in named_ids:
                before = identity
            else:
                after.setdefault(before, []).append(identity)
    return [
        *after.get(None, ()),
        *(segment_id for each in ordered_ids for segment_id in (each, *after.get(each, ()))),
    ]


def _lines(
    page: PageWriting, sequence: Sequence[str], texts: Mapping[str, CountingText]
) -> list[dict[str, Any]]:
    assembled = assemble_in_order(page, sequence, texts, include_furniture=True)
    spans = {span.segment_id: span for span in assembled.spans}
    lines: dict[str, dict[str, Any]] = {}
    for identity in sequence:
        span, holder = spans.get(identity), _holder(page, page.by_id[identity])
        if span is None and holder.kind != "line":
            continue
        line = lines.get(holder.id)
        if line is None:
            runs = page.direction(holder.id).value or "ltr"
            line = lines[holder.id] = _line(holder.id, holder.kind, holder.parent_id, runs)
            line["is_furniture"] = any(upward.is_furniture for upward in _walk_up(page, holder))
        if span is not None:
            _add_text(line, span, assembled.text[span.char_start : span.char_end])
    return list(lines.values())


def _holder(page: PageWriting, shape: Shape) -> Shape:
    """Return the line that a word is in; of all else the segment itself."""
    parent = page.by_id.get(shape.parent_id or "")
    return parent if shape.kind == "word" and parent is not None and parent.kind == "line" else shape


def _walk_up(page: PageWriting, shape: Shape | None) -> Iterator[Shape]:
    while shape is not None:
        yield shape
        shape = page.by_id.get(shape.parent_id or "")


def _add_text(line: dict[str, Any], span: Span, text: str) -> None:
    """Give a line its own reading, or the next one of its words."""
    line["direction"] = span.direction
    if span.segment_id == line["segment_id"]:
        line |= {"text": text, "representation_id": span.representation_id}
        return
    start = 0 if line["text"] is None else len(line["text"]) + 1
    line["text"] = text if line["text"] is None else f"{line['text']} {text}"
    line["words"].append(_word(span.segment_id, start, start + len(text), None))


def _word(segment_id: str, start: int, end: int, confidence: float | None) -> dict[str, Any]:
    return {"segment_id": segment_id, "char_start": start, "char_end": end, "confidence": confidence}


def _add_origins(
    conn: Connection, engine: Engine, lines: Iterable[dict[str, Any]], texts: Mapping[str, CountingText]
) -> None:
    """Say of each line who made what it says, and how sure its reader was; of one read word by word, the least sure one."""
    sources = {
        line["segment_id"]: [line["segment_id"]]
        if line["representation_id"]
        else [word["segment_id"] for word in line["words"]]
        for line in lines
        if line["text"]
    }
    counting = {segment_id: texts[segment_id] for each in sources.values() for segment_id in each}
    makers: dict[str, LineMaker] = line_makers(engine, conn, counting)
    readings = readings_named(conn, [reading.representation_id for reading in counting.values()])
    for line in lines:
        source_ids = sources.get(line["segment_id"])
        if not source_ids:
            continue
        sure = [readings[counting[segment_id].representation_id].confidence for segment_id in source_ids]
        for word, confidence in zip(line["words"], sure, strict=False):
            word["confidence"] = confidence
        line["confidence"] = min((value for value in sure if value is not None), default=None)
        maker = makers.get(source_ids[0])
        line["made"] = None if maker is None else {"by": maker.by, "name": maker.name}


def _add_words(conn: Connection, pass_id: str, lines: Iterable[dict[str, Any]]) -> None:
    """Place the words beneath a line on its reading, as far as they occur in it, unless a person wrote or checked it."""
    inside = word_confidences(conn, pass_id)
    for line in lines:
        if line["representation_id"] is None or (line["made"] or {}).get("by") in ("person", "checked"):
            continue
        at = 0
        for segment_id, text, confidence in inside.get(line["segment_id"], ()):
            start = line["text"].find(text, at)
            if start >= 0:
                at = start + len(text)
                line["words"].append(_word(segment_id, start, at, confidence))


def _add_entries(conn: Connection, order: Row[Any], lines: Iterable[dict[str, Any]]) -> None:
    entries = {row[0]: row[1:] for row in conn.exec_driver_sql(_ENTRIES, (order.id,))}
    for line in lines:
        entry = entries.get(line["segment_id"])
        if entry is not None:
            line["entry"] = dict(zip(("id", "parent_entry_id", "version"), entry, strict=True))


@query(
    "/api/segments/document/{document_id}/shapes",
    summary="The outlines of a page's segments",
    answer=PageShapes,
    refusals=(404, 409),
    as_of=AsOf("document_id"),
)
def read_page_shapes(
    conn: Connection, library: Library, document_id: str, pass_id: str | None = None
) -> dict[str, Any]:
    """List what is needed to draw and to edit the segments of the pass the page is read by, or of the one named."""
    if pass_id is not None and is_provisional(pass_id):
        old = provisional_pass(library, conn, document_id, pass_id)
        return {
            "document_id": document_id,
            "pass_id": pass_id,
            "shapes": [_shape(segment) for segment in old.segments],
        }
    row, _, _ = pass_to_read(conn, document_id, pass_id, None, reading_rule(conn))
    shapes: Any = []
    if row is not None:
        (shapes_json,) = conn.connection.cursor().execute(_SHAPES, (row.id,)).fetchone()
        shapes = orjson.Fragment(shapes_json)
    return {"document_id": document_id, "pass_id": None if row is None else row.id, "shapes": shapes}


def _shape(segment: Mapping[str, Any]) -> dict[str, Any]:
    anchor = segment["anchor"]
    return {
        **{
            name: segment[name] for name in ("id", "kind", "parent_segment_id", "baseline", "cell", "version")
        },
        "rect": anchor["rect"],
        "polygon": anchor.get("polygon"),
        "rendition_id": anchor.get("rendition_id"),
    }
