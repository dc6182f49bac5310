"""What every job reads of a page: its working pass, its picture as arrays, and positions converted from one
to the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from armarium.api import JobContext, PageSkipped, PageWork, open_image
from armarium_documents.api import PageImage, page_image, still_image
from armarium_layout.queries import PageShapes, shapes_of
from armarium_layout.schemas import fractions
from armarium_source_model.api import rect_of

if TYPE_CHECKING:
    from sqlalchemy import Row

    from armarium_layout.finding.ink import Box, Sheet


def page_shapes(job: JobContext, page_id: str) -> PageShapes:
    with job.library.db.read() as conn:
        shapes = shapes_of(conn, page_id)
    if shapes.ground_truth:
        raise PageSkipped("The pass of this page is a person's ground truth; it is not changed.")
    return shapes


def page_sheet(job: JobContext, page_id: str, longest: int | None = None) -> tuple[PageImage, Sheet]:
    """Return a page's picture, and its arrays."""
    from armarium_layout.finding.ink import LONGEST, sheet_of

    side = longest or LONGEST
    with job.library.db.read() as conn:
        picture = page_image(job.library, conn, page_id)
    with still_image(job.library, picture) as path:
        image = open_image(path, max_pixels=job.engine.settings.max_image_pixels, shrink_to=(side, side))
    return picture, sheet_of(image, side)


def boxes_of(rows: Iterable[Row[Any]], sheet: Sheet) -> list[Box]:
    """Return the boxes of segments on the sheet, in its pixels."""
    from armarium_layout.finding.ink import Box

    width, height = sheet.width, sheet.height
    return [
        Box(x * width, y * height, (x + w) * width, (y + h) * height)
        for x, y, w, h in (rect_of(row) for row in rows)
    ]


def rect_in(box: Box, sheet: Sheet) -> list[float]:
    """Return a box as [x, y, w, h] in fractions, within the page."""
    left, top = max(0.0, box.left / sheet.width), max(0.0, box.top / sheet.height)
    right, bottom = min(1.0, box.right / sheet.width), min(1.0, box.bottom / sheet.height)
    left, top, right, bottom = fractions((left, top, right, bottom))
    return fractions((left, top, right - left, bottom - top))


def mostly(box: Box, area: Box) -> bool:
    return box.shared_area(area) > 0.5 * min(box.width * box.height, area.width * area.height)


def taking(
    page_id: str,
    shapes: PageShapes,
    name: str,
    found_shapes: list[dict[str, Any]],
    held: Sequence[dict[str, Any]] = (),
) -> PageWork:
    return PageWork(
        "layout.take_shapes",
        {
            "document_id": page_id,
            "pass_id": shapes.pass_id,
            "name": name,
            "shapes": found_shapes,
            "lines": list(held),
        },
        answers=("pass_id", "segment_ids"),
    )
