"""Which parts of a segment are exported as in its file: unmoved shapes, further texts that nobody
retracted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from armarium_formats.page_model import PageText, Point
from armarium_formats.placing import shape_mark
from armarium_source_model.api import IMPORTED, Reading, ReadPass

NOISE = 1e-6
"""Pixels that a whole one may be off after it was a fraction of a page of millions of pixels."""


def further_readings(read: ReadPass) -> dict[str, list[Reading]]:
    """Return, by segment, the transcriptions that the file has of it where it has several: the one that counted first comes
    first."""
    found: dict[str, list[Reading]] = {}
    for one in sorted(read.readings.values(), key=lambda one: one.id, reverse=True):
        filed = read.segments[one.segment_id].metadata.get("format") or {}
        if (
            one.kind == "transcription"
            and one.provenance_kind == IMPORTED
            and filed.get("further") is not None
        ):
            found.setdefault(one.segment_id, []).append(one)
    return found


def further_texts(
    counting: str | None, readings: Sequence[Reading], kept: Mapping[str, Any]
) -> list[PageText]:
    """The further texts of a segment in the sequence of its file, but for the one that counts and those that were retracted.
    The one that the file puts first is among them when another of its own was chosen."""
    stated = kept.get("further")
    if stated is None:
        # Before they became readings of their own, they stood here alone.
        stated = kept.get("alternatives", ())
        return [PageText(text, sure, extras=extras) for text, sure, extras in stated]
    named = {text for text, _, _ in stated}
    first = next((one for one in readings if one.content not in named), None)
    others = {one.content for one in readings if one.id != counting}
    found = (
        [PageText(first.content, first.confidence)]
        if first and first.id != counting and len(others) < len(readings)
        else []
    )
    for text, sure, extras in stated:
        if text is None:  # the words of the first once more
            text = first.content if first else None
        if text is not None and (not text.strip() or text in others or (first and text == first.content)):
            found.append(PageText(text, sure, extras=extras))
    return found


def shapes_of(
    anchor: dict[str, Any],
    baseline: Sequence[Sequence[float]] | None,
    kept: Mapping[str, Any],
    said: Mapping[str, Any],
    size: tuple[int, int],
) -> tuple[list[Point], list[Point]]:
    """Return outline and baseline in pixels: as in the file if only part of a shape was stored and nobody
    moved it since.
    """
    shape = anchor.get("polygon")
    if shape is None:
        x, y, w, h = anchor["rect"]
        shape = ((x, y), (x + w, y), (x + w, y + h), (x, y + h))
    if kept.get("outline") == shape_mark([anchor["rect"], anchor.get("polygon")]):
        points = _as_filed(said, "raw_polygon_px", size)
    else:
        points = _in_pixels(shape, *size)
    if "baseline" in kept and kept["baseline"] == shape_mark(baseline):
        return points, _as_filed(said, "raw_baseline_px", size)
    return points, _in_pixels(baseline or (), *size)


def _as_filed(said: Mapping[str, Any], key: str, size: tuple[int, int]) -> list[Point]:
    """Return points stored as in the file, in pixels of *size*; none if the file has none."""
    frame = said.get("raw_pixel_frame")
    if not frame:
        return []
    held = (one for one in said.get(key) or () if None not in one)
    return _in_pixels(((x / frame[0], y / frame[1]) for x, y in held), *size)


def _in_pixels(shape: Iterable[Sequence[float]], width: int, height: int) -> list[tuple[float, float]]:
    """Convert points to pixels: whole if they differ only by the noise of scaling, else with decimals.

    A format with whole pixels reports lost decimals itself.
    """
    points: list[tuple[float, float]] = []
    for x, y in shape:
        x *= width
        y *= height
        across, down = round(x), round(y)
        points.append(
            (across if -NOISE < x - across < NOISE else x, down if -NOISE < y - down < NOISE else y)
        )
    return points
