"""The leniencies noted and the things kept of one file while it is read."""

from __future__ import annotations

from collections import Counter


class Notes:
    """What a reader forgave, and what it set aside by a label a person understands, each counted."""

    def __init__(self) -> None:
        self.kept: Counter[str] = Counter()
        self.noted: Counter[str] = Counter()

    def note(self, sentence: str) -> None:
        """Remember a leniency; equal ones are counted."""
        self.noted[sentence] += 1

    def sentences(self) -> list[str]:
        """The notes, each with how often."""
        return [note + (f" ({count} times)" if count > 1 else "") + "." for note, count in self.noted.items()]
