"""The deviations noted and the things stored while one file is read."""

from __future__ import annotations

from collections import Counter


class Notes:
    """What a reader tolerated, and what it stored under a readable label, each counted."""

    def __init__(self) -> None:
        self.kept: Counter[str] = Counter()
        self.noted: Counter[str] = Counter()

    def note(self, sentence: str) -> None:
        """Record a deviation; equal ones are counted."""
        self.noted[sentence] += 1

    def sentences(self) -> list[str]:
        """Return the notes, each with its count."""
        return [note + (f" ({count} times)" if count > 1 else "") + "." for note, count in self.noted.items()]
