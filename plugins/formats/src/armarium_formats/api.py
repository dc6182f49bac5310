"""What other families and format drivers may use: the page model, the driver contract, the proving suite."""

from __future__ import annotations

from armarium_formats.driver import Format, FormatDriver, Loss, ReadContext, WriteContext, Written
from armarium_formats.exercise import Sample, exercise_format
from armarium_formats.page_model import (
    PageModel,
    PageOrder,
    PageSegment,
    PageText,
    Point,
    SegmentKind,
)

__all__ = [
    "Format",
    "FormatDriver",
    "Loss",
    "PageModel",
    "PageOrder",
    "PageSegment",
    "PageText",
    "Point",
    "ReadContext",
    "Sample",
    "SegmentKind",
    "WriteContext",
    "Written",
    "exercise_format",
]
