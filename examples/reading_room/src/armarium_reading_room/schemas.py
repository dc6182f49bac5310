"""Visits as they are asked for and answered."""

from __future__ import annotations

from datetime import date

from pydantic import Field

from armarium.api import Message, Params, SourceText, answer_of
from armarium_reading_room.models import visits


class NoteVisit(Params):
    """A visit to note. `remark` is the visitor's own words, so the audit log never shows it."""

    document_id: str
    visitor: str = Field(min_length=1, max_length=200)
    day: date
    remark: SourceText | None = None


class VisitSettings(Params):
    """Who looks at the originals of pages, and when."""

    visitor: str = Field(default="the reading room", min_length=1, max_length=200, description="Who looks.")
    day: date = Field(default=date(2026, 1, 1), description="On which day.")


class StrikeVisit(Params):
    """A visit that was noted by mistake."""

    visit_id: str


class StrikeVisits(Params):
    """The document whose visits are struck."""

    document_id: str


class Striking(Message):
    """The work that was started."""

    job_id: str


@answer_of(visits)
class Visit(Message):
    """A visit as it is answered: every column of the table."""


class Visits(Message):
    """The visits of a document."""

    items: list[Visit]
    count: int
