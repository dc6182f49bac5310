"""Arguments of the job that compares line finders."""

from __future__ import annotations

from armarium.api import Message


class Finder(Message):
    """A line finder: its card, the reader that runs it, and the model for that reader."""

    card: str
    reader: str
    model: str | None = None


class CompareFindersArgs(Message):
    """The finders and the pages they process."""

    page_ids: list[str]
    finders: list[Finder]
