"""The pictures of pages, and of parts of them, that are sent to a model."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row

from armarium.api import JobContext, open_image
from armarium_documents.api import page_image, still_image
from armarium_reading.api import Picture

LONGEST_SIDE = 2_000
"""The longest side of a picture that is sent, in pixels; models shrink larger ones themselves."""
MARGIN = 0.25
"""How much of the surroundings of a part is shown, as a share of its height."""


def _open_picture(job: JobContext, page_id: str) -> Any:
    with job.library.db.read() as conn:
        picture = page_image(job.library, conn, page_id)
    with still_image(job.library, picture) as path:
        return open_image(path, max_pixels=job.engine.settings.max_image_pixels).convert("RGB")


def _as_picture(image: Any) -> Picture:
    image.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
    file = io.BytesIO()
    image.save(file, "JPEG", quality=92)
    return Picture(file.getvalue(), "image/jpeg")


def page_picture(job: JobContext, page_id: str) -> Picture:
    """Return the picture of the page. NotFound if it has none."""
    return _as_picture(_open_picture(job, page_id))


def part_pictures(job: JobContext, page_id: str, parts: Sequence[Row[Any]]) -> list[Picture]:
    """Return the pictures of segments of the page, each cut out with a margin."""
    page = _open_picture(job, page_id)
    pictures = []
    for part in parts:
        left, top = part.bbox_x * page.width, part.bbox_y * page.height
        width, height = part.bbox_w * page.width, part.bbox_h * page.height
        margin = height * MARGIN
        x, y = max(0, round(left - margin)), max(0, round(top - margin))
        right = min(page.width, max(x + 1, round(left + width + margin)))
        box = (x, y, right, min(page.height, max(y + 1, round(top + height + margin))))
        pictures.append(_as_picture(page.crop(box)))
    return pictures
