"""The extension points of formats: what families add to a page that is written, and take from one that was read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from armarium.api import hookspec
from armarium_formats.driver import Loss

if TYPE_CHECKING:
    from armarium.api import ActionContext
    from armarium_formats.marks import ReadMarks
    from armarium_formats.page_model import PageModel, PageSegment
    from armarium_formats.taken_pages import TakenPage


@hookspec
def armarium_formats_mark_page(
    conn: Connection, page: PageModel, segments: Mapping[str, PageSegment], reading_ids: Mapping[str, str]
) -> list[Loss]:
    """Set `marks` of texts, `hand` of segments, `hands` and `signs` of *page*; what has no place there is a Loss.

    *segments* are those of the page by their ids in the project, *reading_ids* the reading of each. Called in the thread of
    the export, before the page is written. All answers count.
    """


@hookspec
def armarium_formats_statements(conn: Connection, document_id: str) -> Sequence[Mapping[str, str]]:
    """Return what the family states of a page's text as a whole: `about` (error rate), the `sentence`, the `date` (RFC 3339)
    and `by` whom it was found, as every written file carries it.

    Called in the thread of the export, whose connection leaves out what its person may not see. All answers count.
    """


@hookspec
def armarium_formats_take_marks(ctx: ActionContext, read: ReadMarks) -> list[str]:
    """Write the family's rows from what a file states of its texts; return sentences for the notes of the import.

    Called within the step of the import, once the segments and readings of the page are written; an exception refuses the
    whole import. All answers count.
    """


@hookspec
def armarium_formats_take_page(ctx: ActionContext, format_name: str, page: TakenPage) -> list[str]:
    """Write the family's rows from what the reader of a format kept of a page beyond the page model; return sentences for
    the notes of the import.

    Called within the step of the import, with the name of the format's driver. All answers count.
    """
