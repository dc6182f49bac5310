"""What is gathered while one file is read: the deviations noted, the things stored, the ids given."""

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


class Ids:
    """The ids of what is read: those that are stated, and numbered ones where none is stated or it is taken.

    *by_word*: each word counts for itself; else all count together, from *made* on.
    """

    def __init__(self, made: int = 0, *, by_word: bool = False) -> None:
        self.taken: set[str] = set()
        self._made = Counter({"": made})
        self._by_word = by_word

    def claim(self, identity: str | None) -> bool:
        """Return whether an id is stated and free; then it is taken from now on."""
        if not identity or identity in self.taken:
            return False
        self.taken.add(identity)
        return True

    def make(self, word: str) -> str:
        """Return a new id: *word* with a number."""
        count = word if self._by_word else ""
        while True:
            self._made[count] += 1
            if self.claim(identity := f"{word}-{self._made[count]}"):
                return identity
