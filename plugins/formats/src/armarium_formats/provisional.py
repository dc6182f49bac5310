"""Converts a provisional pass (the boxes of an older result) to the page that an export starts from."""

from __future__ import annotations

from sqlalchemy import Connection

from armarium_formats.as_filed import shapes_of
from armarium_formats.assembling import AssembledPage, order_regions, state_facts
from armarium_formats.page_model import PageModel, PageSegment, PageText
from armarium_source_model.api import ProvisionalPass


def assemble_provisional(
    conn: Connection, document_id: str, found: ProvisionalPass, *, kind: str, size: tuple[int, int]
) -> AssembledPage:
    """Return the page as it will be once the boxes are segments, in pixels of *size*. A box has only a
    transcription.
    """
    page = PageModel(*size)
    rows: dict[str, str] = {}
    for one in found.segments:
        points, baseline = shapes_of(one["anchor"], one["baseline"], {}, one["metadata"], size)
        segment = PageSegment(
            f"box-{one['box_index']}",
            one["kind"],
            points=points,
            baseline=baseline,
            confidence=one["confidence"],
            texts=[PageText(one["text"], maker=found.maker)]
            if one["text"] and kind == "transcription"
            else [],
        )
        rows[segment.id] = one["id"]
        page.segments.append(segment)
    state_facts(conn, page, document_id, None)
    order_regions(page)
    readings = sum(1 for segment in page.segments if segment.texts)
    return AssembledPage(page, len(page.segments), readings, rows=rows)
