"""Works out what a request would cut before anything is written: frames and boxes in whole pixels, or a refusal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from sqlalchemy import Connection

from armarium.api import Engine, Library, ServiceError
from armarium_images.cutting import Frame, cut_pieces
from armarium_images.errors import already_split, empty_region, outside_picture, overlapping
from armarium_images.orientation import Box, turn_box
from armarium_images.queries import count_cuts, frame_of
from armarium_images.schemas import CropParams, CropSpec, Region, SplitParams, SplitRegion, SplitSpec

_TOLERANCE = 1e-6


class Plan(NamedTuple):
    """Pieces of one source: boxes in pixels of its upright picture, with the label of each."""

    kind: str
    frame: Frame
    boxes: list[Box]
    labels: list[str | None]


def plan_crop(conn: Connection, document_id: str, body: CropParams) -> Plan:
    """Plan one crop in whole pixels; 422 if it reaches outside the picture."""
    frame = frame_of(conn, document_id, body.page, auto_orient=body.auto_orient)
    return Plan(
        "crop", frame, [_upright_box(frame, Box(body.left, body.top, body.width, body.height))], [None]
    )


def plan_region(conn: Connection, document_id: str, region: Region, *, auto_orient: bool) -> Plan:
    """Plan one crop given in fractions or pixels; 422 outside the picture or if smaller than a pixel."""
    frame = frame_of(conn, document_id, 1, auto_orient=auto_orient)
    rect = [region.left, region.top, region.width, region.height]
    if region.unit == "pixel":
        left, top, width, height = (int(number) for number in rect)
        return Plan("crop", frame, [_upright_box(frame, Box(left, top, width, height))], [None])
    return Plan("crop", frame, [_upright_box(frame, _pixels(frame, rect, 1))], [None])


def plan_split(conn: Connection, document_id: str, body: SplitParams) -> Plan:
    """Plan a split; 422 for regions that overlap or are too small, 409 if the picture is split already."""
    frame = frame_of(conn, document_id, body.page, auto_orient=body.auto_orient)
    return _split(conn, frame, body.regions)


def plan_spec(conn: Connection, document_id: str, spec: CropSpec | SplitSpec) -> Plan:
    """Plan what a batch cuts from one of its pictures."""
    if isinstance(spec, CropSpec):
        return plan_region(conn, document_id, spec.region, auto_orient=True)
    return _split(conn, frame_of(conn, document_id, 1, auto_orient=True), spec.regions)


def cut_ahead(engine: Engine, library: Library | None, plan: Callable[[Connection], Plan]) -> None:
    """Cut *plan* before the writer is taken; what is refused here is refused again by the step."""
    assert library is not None
    with suppress(ServiceError):
        with library.db.read() as conn:
            planned = plan(conn)
        cut_pieces(library, planned.frame, planned.boxes, max_pixels=engine.settings.max_image_pixels)


def check_apart(regions: Sequence[SplitRegion]) -> None:
    """Refuse regions of which two overlap."""
    rects: list[list[float]] = [region.bbox for region in regions]
    for second in range(len(rects)):
        for first in range(second):
            first_rect, second_rect = rects[first], rects[second]
            across = min(first_rect[0] + first_rect[2], second_rect[0] + second_rect[2]) - max(
                first_rect[0], second_rect[0]
            )
            down = min(first_rect[1] + first_rect[3], second_rect[1] + second_rect[3]) - max(
                first_rect[1], second_rect[1]
            )
            if across > _TOLERANCE and down > _TOLERANCE:
                raise overlapping(first + 1, second + 1)


def _split(conn: Connection, frame: Frame, regions: Sequence[SplitRegion]) -> Plan:
    check_apart(regions)
    # The parts replace the picture wherever pages are listed: a second set would list each page twice.
    if parts := count_cuts(conn, frame.source_id, "split"):
        raise already_split(frame.name, parts)
    boxes = [_upright_box(frame, _pixels(frame, region.bbox, n)) for n, region in enumerate(regions, start=1)]
    return Plan("split", frame, boxes, [region.label for region in regions])


def _size_asked(frame: Frame) -> tuple[int, int]:
    """Return the size of the frame that the request refers to: upright, or as stored."""
    if frame.as_stored and frame.orientation >= 5:
        return frame.height, frame.width
    return frame.width, frame.height


def _pixels(frame: Frame, rect: Sequence[float], number: int) -> Box:
    """Convert fractions to whole pixels; both edges are rounded alike, so that neighbours neither overlap nor gap."""
    width, height = _size_asked(frame)
    left, top = round(rect[0] * width), round(rect[1] * height)
    right = min(width, round((rect[0] + rect[2]) * width))
    bottom = min(height, round((rect[1] + rect[3]) * height))
    left, top = max(0, left), max(0, top)
    if right <= left or bottom <= top:
        raise empty_region(number, width, height)
    return Box(left, top, right - left, bottom - top)


def _upright_box(frame: Frame, box: Box) -> Box:
    """Map *box* from the requested frame to the upright picture; refused outside it."""
    width, height = _size_asked(frame)
    if box.left + box.width > width or box.top + box.height > height:
        raise outside_picture(width, height)
    return turn_box(frame.orientation, box, width, height) if frame.as_stored else box


def rect_of(frame: Frame, box: Box) -> list[float]:
    """Return *box* in fractions of the upright picture."""
    return [
        box.left / frame.width,
        box.top / frame.height,
        box.width / frame.width,
        box.height / frame.height,
    ]


def region_of(frame: Frame, box: Box, kind: str) -> dict[str, Any]:
    """Return what the child records about its place in the source's picture."""
    return {
        "rect": rect_of(frame, box),
        "rendition_id": frame.rendition_id,
        "confidence": "user",
        "method": kind,
    }
