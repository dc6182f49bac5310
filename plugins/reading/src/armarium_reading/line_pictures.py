"""The picture of one line as a provider's model is shown it."""

from __future__ import annotations

import io
from typing import Any

from armarium_reading.providers.wire import Picture

MARGIN = 0.15
"""Of a line's height: how much of what is around it the model is shown."""


def cut_line(page: Any, rect: list[float]) -> Picture:
    """The picture of one line: its box (left, top, width, height in pixels of *page*) with a margin, as JPEG."""
    x, y, w, h = rect
    margin = h * MARGIN
    box = (
        max(0, round(x - margin)),
        max(0, round(y - margin)),
        min(page.width, max(round(x + w + margin), round(x) + 1)),
        min(page.height, max(round(y + h + margin), round(y) + 1)),
    )
    file = io.BytesIO()
    page.crop(box).save(file, "JPEG", quality=92)
    return Picture(file.getvalue(), "image/jpeg")
