"""What paleography answers at the extension points of other families, whose docstrings say when each is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection

from armarium.api import ActionContext, hookimpl
from armarium_documents.api import Carrier
from armarium_formats.api import Loss, PageModel, PageSegment, ReadMarks
from armarium_paleography.actions.following import (
    JudgementsOfSegments,
    MarksOfCopies,
    SpansOfFacts,
    settle_arrivals,
)
from armarium_paleography.actions.importing import MarksOfImports
from armarium_paleography.queries import signs
from armarium_paleography.queries.exporting import EXPORTED, MarksOfPages
from armarium_source_model.api import ReadingChange, Why

if_asked = hookimpl(optionalhook=True)
"""For the points of families without which paleography can be loaded."""

_NAMED = ("hand", "sign", "letterform_allograph")

armarium_source_model_declared_signs = hookimpl(signs.declared_signs)


@hookimpl
def armarium_documents_carriers() -> Sequence[Carrier]:
    # A hand, sign or allograph is copied along with the rows that name it, and matched by name in the other project.
    return (Carrier(companions=_NAMED, named=_NAMED, arrived=settle_arrivals),)


@hookimpl
def armarium_source_model_move_spans(ctx: ActionContext, corrected: ReadingChange) -> list[Why]:
    return SpansOfFacts().move(ctx, corrected)


@hookimpl
def armarium_source_model_copy_reading(ctx: ActionContext, copied: ReadingChange) -> None:
    MarksOfCopies().copy_along(ctx, copied)


@hookimpl
def armarium_source_model_merged(ctx: ActionContext, absorbed_ids: Sequence[str], keep_id: str) -> None:
    JudgementsOfSegments().follow_merge(ctx, absorbed_ids, keep_id)


@hookimpl
def armarium_source_model_split(ctx: ActionContext, segment_id: str, part_ids: Sequence[str]) -> None:
    JudgementsOfSegments().split(ctx, segment_id, part_ids)


@if_asked
def armarium_formats_mark_page(
    conn: Connection, page: PageModel, segments: Mapping[str, PageSegment], reading_ids: Mapping[str, str]
) -> list[Loss]:
    return MarksOfPages().mark(conn, page, segments, reading_ids)


@if_asked
def armarium_formats_take_marks(ctx: ActionContext, read: ReadMarks) -> list[str]:
    return MarksOfImports().take(ctx, read)


@if_asked
def armarium_exports_records() -> Mapping[str, object]:
    return {table.name: table for table in EXPORTED}
