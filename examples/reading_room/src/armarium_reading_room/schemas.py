"""Requests and answers about visits."""

from __future__ import annotations

from datetime import date

from pydantic import Field

from armarium.api import Message, Params, SourceText, answer_of
from armarium_reading_room.models import visits


class NoteVisit(Params):
    """A visit to note. `remark` is in the visitor's own words, so the audit log never shows it."""

    document_id: str
    visitor: str = Field(min_length=1, max_length=200)
    day: date
    remark: SourceText | None = None


class StrikeVisits(Params):
    """The document whose visits are struck."""

    document_id: str


@answer_of(visits)
class Visit(Message):
    """A visit: a field for every column of the table."""
