"""The order of lines, the regions that contain them, and their outlines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from armarium.api import JobContext, PageSkipped, PageWork
from armarium_layout.jobs.detected import detect_regions
from armarium_layout.jobs.looking import boxes_of, page_shapes, page_sheet, rect_in, taking
from armarium_layout.queries import PageShapes, derived_order, is_current, shapes_of
from armarium_layout.schemas import fractions
from armarium_source_model.api import measure_box, rect_of

if TYPE_CHECKING:
    from sqlalchemy import Row

    from armarium_layout.finding.ink import Box


CRUMBS = 12
"""More blocks than this, of which more than `SINGLE` are a single row each, are not regions."""
SINGLE = 0.65


def put_in_order(job: JobContext, page_id: str) -> PageWork | None:
    """Return the regions and lines of the working pass in reading order; nothing if that order already exists."""
    with job.library.db.read() as conn:
        shapes = shapes_of(conn, page_id)
        if shapes.pass_id is None or not (shapes.lines or shapes.regions):
            raise PageSkipped("The page has no lines yet; find them first.")
        order = derived_order(conn, page_id, shapes.pass_id)
        if order is not None and is_current(conn, order, page_id, shapes.pass_id):
            raise PageSkipped("The lines of this page are already in order.")
    about = {"document_id": page_id, "pass_id": shapes.pass_id}
    return PageWork("layout.order_page", about, answers=("order_id", "entry_count"))


def find_regions(job: JobContext, page_id: str) -> PageWork | None:
    """Return the regions the model finds; without one, blocks of the page's lines, or of its ink if it has none."""
    shapes = page_shapes(job, page_id)
    if shapes.regions:
        raise PageSkipped("The page already has regions.")
    if job.args.model is not None:
        return detect_regions(job, page_id, shapes)
    return _from_white_space(job, page_id, shapes)


def _from_white_space(job: JobContext, page_id: str, shapes: PageShapes) -> PageWork:
    from armarium_layout.finding.ink import rows_of
    from armarium_layout.finding.regions import hull_of, regions_of

    _, sheet = page_sheet(job, page_id)
    boxes = boxes_of(shapes.lines, sheet) if shapes.lines else rows_of(sheet.ink)
    if not boxes:
        raise PageSkipped("The page has no writing.")
    blocks = _select_worthwhile(regions_of(boxes), boxes, are_known=bool(shapes.lines))
    if not shapes.lines and _are_crumbs(blocks):
        raise PageSkipped(
            f"Without known lines the writing of this page breaks up into {len(blocks)} pieces; "
            "find its lines first."
        )
    rows: list[dict[str, Any]] = []
    proposed: list[dict[str, Any]] = []
    for number, block in enumerate(blocks):
        key = f"region-{number}"
        box = hull_of([boxes[at] for at in block])
        rows.append({"key": key, "kind_raw": "text", "rect": rect_in(box, sheet)})
        proposed += [
            {"segment_id": shapes.lines[at].id, "expected_version": shapes.lines[at].version, "inside": key}
            for at in block
            if shapes.lines and shapes.lines[at].parent_segment_id is None
        ]
    if not rows:
        raise PageSkipped("Nothing on the page is large enough to be a block of text.")
    return taking(page_id, shapes, "Regions from white space", rows, proposed)


def _select_worthwhile(
    blocks: Sequence[list[int]], boxes: Sequence[Box], *, are_known: bool
) -> list[list[int]]:
    """Return all blocks of known lines; of ink, those larger than a blot: two letters wide, or of several rows."""
    if are_known:
        return list(blocks)
    return [
        block for block in blocks if len(block) > 1 or boxes[block[0]].width > 1.2 * boxes[block[0]].height
    ]


def _are_crumbs(blocks: Sequence[list[int]]) -> bool:
    """Return whether most blocks are single rows: handwriting, whose words are too far apart to form rows by
    their ink alone.
    """
    return len(blocks) > CRUMBS and sum(len(block) == 1 for block in blocks) > SINGLE * len(blocks)


def refine_shapes(job: JobContext, page_id: str) -> PageWork | None:
    """Return outlines of the lines that have a baseline and were not drawn by a person."""
    from armarium_layout.finding.outlines import outlines_of

    shapes = page_shapes(job, page_id)
    if not shapes.lines:
        raise PageSkipped("The page has no lines yet; find them first.")
    wanted_lines = [
        number
        for number, row in enumerate(shapes.lines)
        if row.baseline
        and not row.by_hand
        and (job.args.lines == "all" or _is_plain(row.anchor.get("polygon")))
    ]
    if not wanted_lines:
        raise PageSkipped(
            "No line of the page needs an outline: each has one, was drawn by a person or has no baseline."
        )
    _, sheet = page_sheet(job, page_id)
    # All lines of the page take part, so that each gets its own ink; only those requested are written.
    baselines = [
        [(x * sheet.width, y * sheet.height) for x, y in row.baseline or _foot(row)] for row in shapes.lines
    ]
    outlines = outlines_of(sheet.ink, baselines)
    given_points = []
    for number in wanted_lines:
        row, outline = shapes.lines[number], outlines[number]
        if outline is None:
            continue
        polygon = [
            fractions((min(1, max(0, x / sheet.width)), min(1, max(0, y / sheet.height)))) for x, y in outline
        ]
        if polygon != row.anchor.get("polygon"):
            given_points.append(
                {
                    "segment_id": row.id,
                    "expected_version": row.version,
                    "rect": list(measure_box(polygon)),
                    "polygon": polygon,
                }
            )
    if not given_points:
        raise PageSkipped(
            "No line of the page has ink along its baseline that is outside its present outline."
        )
    return PageWork(
        "layout.reshape_lines", {"document_id": page_id, "outlines": given_points}, answers=("segment_ids",)
    )


def _is_plain(polygon: Sequence[Sequence[float]] | None) -> bool:
    return not polygon or len({x for x, _ in polygon}) <= 2 >= len({y for _, y in polygon})


def _foot(row: Row[Any]) -> list[tuple[float, float]]:
    x, y, w, h = rect_of(row)
    return [(x, y + 0.8 * h), (x + w, y + 0.8 * h)]
