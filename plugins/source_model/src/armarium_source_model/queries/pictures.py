"""Cuts the picture of one segment out of its page's photograph, or says why no correct one can be made."""

from __future__ import annotations

import io

from sqlalchemy import Connection

from armarium.api import Invalid, Library, NotFound, open_image
from armarium_documents.api import page_image
from armarium_source_model.cutting import cut_segment, lean_of
from armarium_source_model.errors import refuse_provisional
from armarium_source_model.geometry import rect_of
from armarium_source_model.queries.segments import get_segment

SMALLEST, LARGEST, USUAL = 32, 4096, 1024
"""Pixels of the longer side."""


def segment_picture(
    library: Library,
    conn: Connection,
    segment_id: str,
    *,
    mask: bool = False,
    straighten: bool = False,
    size: int = USUAL,
) -> bytes:
    """Return PNG bytes of a segment's area. Raises NotFound, and Invalid if no correct picture can be
    made.
    """
    refuse_provisional(segment_id)
    if not SMALLEST <= size <= LARGEST:
        raise Invalid(f"size is {size}; send {SMALLEST} to {LARGEST} pixels for the longer side.")
    row = get_segment(conn, segment_id)
    polygon = row.anchor.get("polygon")
    if mask and not polygon:
        raise Invalid(
            f"Segment {segment_id} has no polygon to mask by; leave mask out to see its box.",
            code="no_polygon",
        )
    if straighten and not row.baseline:
        raise Invalid(
            f"Segment {segment_id} has no baseline to straighten by; leave straighten out.",
            code="no_baseline",
        )
    try:
        page = page_image(library, conn, row.document_id)
    except NotFound as refusal:
        raise Invalid(
            f"Segment {segment_id} has no picture: {refusal.detail}", code="no_picture", id=row.document_id
        ) from None
    measured_on = row.anchor.get("rendition_id")
    if measured_on != page.rendition_id:
        raise Invalid(
            f"Segment {segment_id} was measured on the picture {measured_on or '(none)'}, and the page's picture "
            f"is now {page.rendition_id}; make that one primary again, or measure the segment again.",
            code="picture_other_image",
            measured_on=measured_on,
            current=page.rendition_id,
        )
    rect = rect_of(row)
    width, height = page.width or 1, page.height or 1
    lean = lean_of(row.baseline, width, height) if straighten else 0.0
    # A JPEG is decoded only as large as needed.
    factor = min(1.0, size / max(rect[2] * width, rect[3] * height, 1.0))
    target_size = (max(1, round(width * factor)), max(1, round(height * factor)))
    with open_image(page.path, shrink_to=target_size if factor < 1 else None) as image:
        scale = image.width / width
        cut = cut_segment(image, rect, polygon, lean=lean, mask=mask, size=size, scale=scale)
    out = io.BytesIO()
    cut.save(out, "PNG")
    return out.getvalue()
