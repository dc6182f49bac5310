"""What background work was done on documents, as it is answered."""

from __future__ import annotations

from typing import Literal

from armarium.api import Message


class RunRow(Message):
    """One piece of work on one document; the cost is null unless it was priced."""

    kind: Literal["pictures", "embeddings", "names", "lines", "pages", "check", "workflow"]
    job_id: str | None
    thread_id: str | None
    model: str | None
    provider: str | None
    outcome: str
    reason: str | None
    at: str
    cost_usd: float | None


class RunsOfDocument(Message):
    document_id: str
    rows: list[RunRow]


class RunHistory(Message):
    """Each document with its rows, newest first; unknown ids are left out, unreadable ones counted."""

    items: list[RunsOfDocument]
    count: int
    withheld: int
