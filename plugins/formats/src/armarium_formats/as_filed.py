"""Which parts of a segment are exported as in its file: unmoved shapes, further texts that nobody
retracted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from armarium_formats.glyphs import drop_glyphs
from armarium_formats.page_model import PageOrder, PageSegment, PageText, Point
from armarium_formats.placing import shape_mark
from armarium_source_model.api import IMPORTED, Reading, ReadPass, SegmentRow, outline_of

NOISE = 1e-6
"""Pixels that a whole one may be off after it was a fraction of a page of millions of pixels."""


def further_readings(read: ReadPass) -> dict[str, list[Reading]]:
    """Return, by segment, the transcriptions that the file has of it where it has several: the one that counted first comes
    first."""
    by_segment: dict[str, list[Reading]] = {}
    for reading in sorted(read.readings.values(), key=lambda reading: reading.id, reverse=True):
        filed = read.segments[reading.segment_id].metadata.get("format") or {}
        if (
            reading.kind == "transcription"
            and reading.provenance_kind == IMPORTED
            and filed.get("further") is not None
        ):
            by_segment.setdefault(reading.segment_id, []).append(reading)
    return by_segment


def further_texts(
    counting: str | None, readings: Sequence[Reading], filed: Mapping[str, Any]
) -> list[PageText]:
    """The further texts of a segment in the sequence of its file, but for the one that counts and those that were retracted.
    The one that the file puts first is among them when another of its own was chosen."""
    alternatives = filed.get("further")
    if alternatives is None:
        # Before they became readings of their own, they stood here alone.
        alternatives = filed.get("alternatives", ())
        return [PageText(text, sure, extras=extras) for text, sure, extras in alternatives]
    known_texts = {text for text, _, _ in alternatives}
    first = next((reading for reading in readings if reading.content not in known_texts), None)
    others = {reading.content for reading in readings if reading.id != counting}
    texts = (
        [PageText(first.content, first.confidence)]
        if first and first.id != counting and len(others) < len(readings)
        else []
    )
    for text, sure, extras in alternatives:
        if text is None:  # the words of the first once more
            text = first.content if first else None
        if text is not None and (not text.strip() or text in others or (first and text == first.content)):
            texts.append(PageText(text, sure, extras=extras))
    return texts


def shapes_of(
    anchor: dict[str, Any],
    baseline: Sequence[Sequence[float]] | None,
    filed: Mapping[str, Any],
    metadata: Mapping[str, Any],
    size: tuple[int, int],
) -> tuple[list[Point], list[Point]]:
    """Return outline and baseline in pixels: as in the file if only part of a shape was stored and nobody
    moved it since.
    """
    if filed.get("outline") == shape_mark([anchor["rect"], anchor.get("polygon")]):
        points = _as_filed(metadata, "raw_polygon_px", size)
    else:
        points = _in_pixels(outline_of(anchor), *size)
    if "baseline" in filed and filed["baseline"] == shape_mark(baseline):
        return points, _as_filed(metadata, "raw_baseline_px", size)
    return points, _in_pixels(baseline or (), *size)


def _as_filed(metadata: Mapping[str, Any], key: str, size: tuple[int, int]) -> list[Point]:
    """Return points stored as in the file, in pixels of *size*; none if the file has none."""
    frame = metadata.get("raw_pixel_frame")
    if not frame:
        return []
    points = (point for point in metadata.get(key) or () if None not in point)
    return _in_pixels(((x / frame[0], y / frame[1]) for x, y in points), *size)


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


def drop_moved_glyphs(row: SegmentRow, segment: PageSegment, size: tuple[int, int]) -> int:
    """Leave out the glyphs of a file whose word stands elsewhere now; return how many are not written anew either."""
    mark = (row.metadata.get("format") or {}).get("glyphs")
    if mark is None or mark == shape_mark([row.anchor["rect"], row.anchor.get("polygon"), *size]):
        return 0
    dropped = drop_glyphs(segment)
    return 0 if segment.texts and segment.texts[0].places is not None else dropped


def order_as_json(order: PageOrder | None) -> dict[str, Any] | None:
    """A reading order for the database."""
    if order is None:
        return None
    return {
        "segment_id": order.segment_id,
        "ordered": order.is_ordered,
        "items": [order_as_json(item) for item in order.items],
        "extras": order.extras,
    }


def order_from(value: Mapping[str, Any], alive: set[str]) -> PageOrder | None:
    """A reading order out of the database without segments that are gone; None when nothing is left of it."""
    items = [node for item in value["items"] if (node := order_from(item, alive)) is not None]
    segment_id = value["segment_id"] if value["segment_id"] in alive else None
    if not items and segment_id is None:
        return None
    return PageOrder(segment_id, items, value["ordered"], value.get("extras"))
