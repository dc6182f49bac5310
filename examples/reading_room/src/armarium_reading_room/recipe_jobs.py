"""What the reading room can do in a workflow or a recipe: note a visit to each page's original."""

from __future__ import annotations

from typing import Any

from armarium.api import Example, JobContext, PageWork, RecipeJob, page_kind
from armarium_reading_room.schemas import VisitSettings


def visit_page(job: JobContext, page_id: str) -> PageWork:
    """What is to be written on one page; the engine writes it, with the job's checkpoint in the same transaction."""
    visit = {"visitor": job.args.visitor, "day": job.args.day}
    return PageWork("reading_room.note_visit", {"document_id": page_id, **visit}, answers=("id",))


def a_page(ex: Example) -> dict[str, Any]:
    """A page for the kit to try it on."""
    return {"page_id": ex.run("document.create", {"name": "A page", "doc_type": "page"})["id"]}


VISIT_PAGES = RecipeJob(
    kind=page_kind(
        "reading_room-visit", visit_page, VisitSettings, summary="Note a visit to pages.", lane="database"
    ),
    name="Note a visit",
    description="Notes for each page that its original was looked at.",
    layer="catalogue",
    takes=("page_image",),
    gives=("catalogue_record",),
    settings=VisitSettings,
    writes=("reading_room.note_visit",),
    example=a_page,
)
