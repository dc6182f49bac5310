"""What is gathered while one file is read (deviations noted, things stored, ids given) or written (its losses)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable

from armarium_formats.driver import MarkWords, WriteContext, WrittenPage, as_losses
from armarium_formats.markup.fragments import illegal_characters
from armarium_formats.page_model import PageModel


class Notes:
    """What a reader tolerated, and what it stored under a readable label, each counted."""

    def __init__(self) -> None:
        self.kept: Counter[str] = Counter()
        self.noted: Counter[str] = Counter()

    def note(self, sentence: str) -> None:
        """Record a deviation; equal ones are counted."""
        self.noted[sentence] += 1

    def count_attributes(self, name: str, keys: Iterable[str], but: Container[str] = ()) -> None:
        """Count the attributes of an element that are stored, except some."""
        for key in keys:
            if key not in but:
                self.kept[f"attribute {name}/@{key}"] += 1

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


class FileWriting:
    """One file of a page while it is written."""

    def __init__(self, page: PageModel, context: WriteContext) -> None:
        self.page = page
        self.context = context
        self.losses: Counter[tuple[str | MarkWords, str]] = Counter()

    def lose(self, what: str | MarkWords, why: str, count: int = 1) -> None:
        """Count something that the file does not carry as the page has it."""
        if count:
            self.losses[what, why] += count

    def lose_control_characters(self, text: str) -> None:
        """Count the characters of a text that no XML document can contain."""
        self.lose("control characters in texts", "XML cannot contain them", illegal_characters(text))

    def written(self, content: str) -> WrittenPage:
        """Return the whole file with its losses."""
        return WrittenPage(content, as_losses(self.losses))
