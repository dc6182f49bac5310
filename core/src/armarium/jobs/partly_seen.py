"""What a caller from whom documents are withheld is told of a job that is about many pages: neither how many nor why it failed."""

from __future__ import annotations

WITHHELD_WHY = "It failed. Why is not shown, since it may be about pages that are withheld from you."
"""In place of the words in which such a job failed."""


def reason_seen(state: str, total: int, reason: str | None) -> str | None:
    """Return the *reason* of a job of *total* pages as such a caller is told: how it ended may be about withheld pages."""
    return reason if total == 1 else {"failed": WITHHELD_WHY, "done": None}.get(state, reason)


def hundredths(done: int, total: int) -> tuple[int, int]:
    """How far it is, in parts of a hundred, since its count has the withheld pages too; of one page as it is."""
    return (done, total) if total <= 1 else (min(100, done * 100 // total), 100)
