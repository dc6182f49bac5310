"""Arguments of the job that compares finders of lines."""

from __future__ import annotations

from armarium.api import Message


class Finder(Message):
    """A finder of lines: its card, the reader that runs it, and the model that reader is given."""

    card: str
    reader: str
    model: str | None = None


class CompareFindersArgs(Message):
    """Which finders look at which pages."""

    page_ids: list[str]
    finders: list[Finder]
