"""The cells of tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from armarium.api import JobContext, PageSkipped, PageWork
from armarium_layout.jobs.looking import boxes_of, mostly, page_shapes, page_sheet, rect_in, taking
from armarium_layout.queries import PageShapes

if TYPE_CHECKING:
    from sqlalchemy import Row

    from armarium_layout.finding.ink import Box, Sheet
    from armarium_layout.finding.tables import Table


def find_cells(job: JobContext, page_id: str) -> PageWork | None:
    """Return the cells of the ruled tables of a page, and of its regions marked as tables."""
    from armarium_layout.finding.ink import rows_of
    from armarium_layout.finding.tables import tables_of
    from armarium_layout.finding.unruled import unruled_table

    shapes = page_shapes(job, page_id)
    if any(row.cell for row in shapes.regions):
        raise PageSkipped("The tables of the page already have cells.")
    _, sheet = page_sheet(job, page_id)
    lines = boxes_of(shapes.lines, sheet)
    named_tables = [row for row in shapes.regions if "table" in (row.kind_raw or "").casefold()]
    areas = boxes_of(named_tables, sheet)
    tables: list[tuple[Table, Row[Any] | None]] = []
    for table in tables_of(sheet, lines or None):
        inside = [row for row, area in zip(named_tables, areas, strict=True) if mostly(table.box, area)]
        if inside or not named_tables:
            tables.append((table, inside[0] if inside else None))
    ruled = {row.id for _, row in tables if row is not None}
    if job.args.unruled:
        words = rows_of(sheet.ink, reach=1.2) if any(row.id not in ruled for row in named_tables) else []
        for row, area in zip(named_tables, areas, strict=True):
            unruled = unruled_table(words, area) if row.id not in ruled else None
            if unruled is not None:
                tables.append((unruled, row))
    if not tables:
        raise PageSkipped(
            "No table was found: there are no rules, and no region of the page is marked as a table."
        )
    return _cells(page_id, shapes, sheet, tables, lines)


def _cells(
    page_id: str,
    shapes: PageShapes,
    sheet: Sheet,
    tables: Sequence[tuple[Table, Row[Any] | None]],
    lines: Sequence[Box],
) -> PageWork:
    cells: list[dict[str, Any]] = []
    proposed: list[dict[str, Any]] = []
    taken_lines: set[str] = set()
    for number, (table, region) in enumerate(tables):
        holder = f"table-{number}" if region is None else region.id
        if region is None:
            cells.append({"key": holder, "kind_raw": "table", "rect": rect_in(table.box, sheet)})
        for cell in table.cells:
            key = f"cell-{number}-{cell.row}-{cell.column}"
            place = {name: getattr(cell, name) for name in ("row", "column", "row_span", "column_span")}
            cells.append(
                {
                    "key": key,
                    "kind_raw": "table-cell",
                    "rect": rect_in(cell.box, sheet),
                    "inside": holder,
                    "cell": place,
                }
            )
            for row, box in zip(shapes.lines, lines, strict=True):
                if row.id not in taken_lines and cell.box.shared_area(box) > 0.5 * box.width * box.height:
                    taken_lines.add(row.id)
                    proposed.append({"segment_id": row.id, "expected_version": row.version, "inside": key})
    return taking(page_id, shapes, "Cells of tables", cells, proposed)
