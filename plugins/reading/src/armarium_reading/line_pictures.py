"""The picture of one line, as it is shown to a provider's model."""

from __future__ import annotations

import io
from typing import Any

from armarium_reading.providers.wire import Picture

MARGIN = 0.15
"""How much of the surroundings is shown, as a share of the line's height."""


def cut_line(page: Any, rect: list[float]) -> Picture:
    """Return the picture of one line as JPEG: its box (left, top, width, height in pixels of *page*) with a margin."""
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
