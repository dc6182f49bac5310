"""What layout reads of a page: its working pass with regions and lines, and the derived orders."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, select

from armarium_documents.api import artifacts, document, representations
from armarium_layout.errors import unknown_example
from armarium_source_model.api import (
    CountingText,
    counting_readings,
    get_pass,
    list_orders,
    order_walk,
    pass_sequence,
    segments,
    segments_of,
    working_pass,
)

DERIVED = "derived"
"""The kind of a reading order that was derived from positions."""


class PageShapes(NamedTuple):
    """The regions and lines of a page's working pass, as rows of the source model; no pass if it has none."""

    pass_id: str | None
    ground_truth: bool
    regions: list[Row[Any]]
    lines: list[Row[Any]]


def shapes_of(conn: Connection, document_id: str) -> PageShapes:
    """Return the shapes with which the page is processed."""
    pass_id, _ = working_pass(conn, document_id)
    if pass_id is None:
        return PageShapes(None, False, [], [])
    truth = bool(get_pass(conn, pass_id).ground_truth)
    return PageShapes(
        pass_id, truth, segments_of(conn, pass_id, "region"), segments_of(conn, pass_id, "line")
    )


def derived_order(conn: Connection, document_id: str, pass_id: str) -> str | None:
    """Return the newest derived reading order of a pass; None if there is none."""
    orders = [
        order
        for order in list_orders(conn, document_id)["items"]
        if order["pass_id"] == pass_id and order["kind"] == DERIVED
    ]
    return str(orders[-1]["id"]) if orders else None


def is_current(conn: Connection, order_id: str, document_id: str, pass_id: str) -> bool:
    """Return whether an order still has the regions and lines of a pass as they would be ordered now."""
    shapes = {row.id for kind in ("region", "line") for row in segments_of(conn, pass_id, kind)}
    sequence = [
        segment_id for segment_id in pass_sequence(conn, document_id, pass_id) if segment_id in shapes
    ]
    return [segment_id for _, segment_id, _ in order_walk(conn, order_id)] == sequence


def lines_in_order(conn: Connection, document_id: str, shapes: PageShapes) -> list[Row[Any]]:
    """Return the lines of a page's working pass in reading order."""
    assert shapes.pass_id is not None
    place = {
        segment_id: number
        for number, segment_id in enumerate(pass_sequence(conn, document_id, shapes.pass_id))
    }
    return sorted(shapes.lines, key=lambda row: place.get(row.id, len(place)))


def readings_of(conn: Connection, pass_id: str, kind: str) -> dict[str, CountingText]:
    """Return the counting readings of a kind in a pass, by segment."""
    return counting_readings(conn, pass_id, kind)


def page_text_of(conn: Connection, document_id: str) -> str | None:
    """Return a text of the page as a whole: its newest transcription without a segment, otherwise the text of
    the node itself, otherwise its newest transcription in one piece; None if there is none.
    """
    text = conn.execute(
        select(representations.c.content)
        .where(
            representations.c.document_id == document_id,
            representations.c.segment_id.is_(None),
            representations.c.kind == "transcription",
            representations.c.retracted.is_(False),
        )
        .order_by(representations.c.created_at.desc(), representations.c.id.desc())
        .limit(1)
    ).scalar()
    if not text:
        text = document(conn, document_id)["page_content"]
    if not text:
        text = conn.execute(
            select(artifacts.c.content)
            .where(artifacts.c.document_id == document_id, artifacts.c.artifact_type == "transcription")
            .order_by(artifacts.c.sequence.desc())
            .limit(1)
        ).scalar()
    return text if text and text.strip() else None


def segment_of(conn: Connection, segment_id: str) -> Row[Any]:
    """Return a live segment as a row; NotFound if there is none."""
    row = conn.execute(
        select(segments).where(segments.c.id == segment_id, segments.c.deleted_at.is_(None))
    ).one_or_none()
    if row is None:
        raise unknown_example(segment_id)
    return row


def signs_of(conn: Connection, pass_id: str) -> list[Row[Any]]:
    """Return the words of a pass that are marked as signs."""
    return [row for row in segments_of(conn, pass_id, "word") if row.kind_raw == "sign"]
