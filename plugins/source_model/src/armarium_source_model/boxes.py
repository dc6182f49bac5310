"""Converts a box of an older geometry blob into a segment's shape in fractions, or says what is wrong;
pure.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from armarium_source_model.geometry import sound_geometry

KIND_OF_LEVEL = {"page": "region", "block": "region", "region": "region", "line": "line", "word": "word"}


class BoxShape(NamedTuple):
    """What a segment takes from a box. metadata contains the raw pixels if they are unusable."""

    kind: str
    rect: tuple[float, float, float, float]
    polygon: list[list[float]] | None
    baseline: list[list[float]] | None
    metadata: dict[str, Any]
    text: str | None
    confidence: float | None
    char_start: int | None
    char_end: int | None
    page_index: int | None


def read_box(box: Mapping[str, Any]) -> BoxShape | None:
    """Return *box* as a segment's shape; None if not even its rect is usable."""
    more = box.get("metadata")
    more = more if isinstance(more, Mapping) else {}
    frame = _frame(more.get("pixel_frame"))
    raw_polygon, raw_baseline = more.get("polygon_px"), more.get("baseline_px")
    polygon, baseline = _fractions(raw_polygon, frame), _fractions(raw_baseline, frame)
    bbox = box.get("bbox")
    rect = tuple(bbox) if isinstance(bbox, Sequence) and len(bbox) == 4 and _numbers(bbox) else None
    sound = sound_geometry(polygon, baseline, rect)
    if sound.rect is None:
        return None
    problems = [sound.problem] if sound.problem else []
    if (raw_polygon and polygon is None) or (raw_baseline and baseline is None):
        problems.append("The pixels have no frame size to relate them to, or are not points.")
    metadata: dict[str, Any] = {}
    if problems:
        metadata = {
            "geometry_problem": " ".join(problems),
            **({"raw_polygon_px": raw_polygon} if raw_polygon and sound.polygon is None else {}),
            **({"raw_baseline_px": raw_baseline} if raw_baseline and sound.baseline is None else {}),
            **({"raw_pixel_frame": more["pixel_frame"]} if more.get("pixel_frame") is not None else {}),
        }
    text = box.get("text")
    confidence = box.get("confidence")
    return BoxShape(
        KIND_OF_LEVEL.get(str(box.get("level") or "word"), "region"),
        sound.rect,
        sound.polygon,
        sound.baseline,
        metadata,
        text if isinstance(text, str) else None,
        float(confidence) if isinstance(confidence, int | float) and 0 <= confidence <= 1 else None,
        _whole_number(box.get("char_start")),
        _whole_number(box.get("char_end")),
        _whole_number(box.get("page_index")),
    )


def _whole_number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _numbers(values: Sequence[Any]) -> bool:
    return all(
        isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        for value in values
    )


def _frame(value: Any) -> tuple[float, float] | None:
    """Return width and height in pixels: `[w, h]` or `{width, height}`."""
    if isinstance(value, Mapping):
        value = [value.get("width"), value.get("height")]
    if isinstance(value, Sequence) and len(value) == 2 and _numbers(value) and min(value) > 0:
        return float(value[0]), float(value[1])
    return None


def _fractions(points: Any, frame: tuple[float, float] | None) -> list[list[float]] | None:
    if frame is None or not isinstance(points, Sequence) or isinstance(points, str):
        return None
    if not all(isinstance(point, Sequence) and len(point) == 2 and _numbers(point) for point in points):
        return None
    return [[point[0] / frame[0], point[1] / frame[1]] for point in points]
