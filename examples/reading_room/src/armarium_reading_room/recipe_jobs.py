"""Page work for workflows and recipes: note a visit to each page's original."""

from __future__ import annotations

from datetime import date
from typing import Any

from pydantic import Field

from armarium.api import Example, JobContext, PageWork, Params, page_job


class VisitSettings(Params):
    """Who looks at the originals of pages, and when."""

    visitor: str = Field(default="the reading room", min_length=1, max_length=200, description="Who looks.")
    day: date = Field(default=date(2026, 1, 1), description="On which day.")


def visit_page(job: JobContext, page_id: str) -> PageWork:
    """Return what to write for one page; the engine writes it, with the job's checkpoint in the same transaction."""
    visit = {"visitor": job.args.visitor, "day": job.args.day}
    return PageWork("reading_room.note_visit", {"document_id": page_id, **visit}, answers=("id",))


def a_page(ex: Example) -> dict[str, Any]:
    """Create a page for the conformance kit to try the job on."""
    return {"page_id": ex.run("document.create", {"name": "A page", "doc_type": "page"})["id"]}


VISIT_PAGES = page_job(
    "reading_room-visit",
    visit_page,
    VisitSettings,
    summary="Note a visit to pages.",
    lane="database",
    name="Note a visit",
    description="Notes for each page that its original was looked at.",
    layer="catalogue",
    takes=("page_image",),
    gives=("catalogue_record",),
    writes=("reading_room.note_visit",),
    example=a_page,
)
