"""Language, script and direction of a page and its parts, resolved from a segment up to the project; pure.

The nearest statement wins: the segment's own, that of the segments that contain it from the innermost out,
the page's, that of the file its pass was read from, that of its ancestors from the nearest out, the
project's. A statement that something was examined but could not be determined (`und`, `Zyyy`) ends the search
like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

from armarium_source_model.scripts import UNKNOWN_LANGUAGES, UNKNOWN_SCRIPTS

Key = Literal["language", "script", "direction"]
KEYS: tuple[Key, ...] = ("language", "script", "direction")
"""The facts that can be stated; the encoding belongs to the project's row of the script."""

Rung = Literal["segment", "document", "project"]
HolderKind = Literal["segment", "page", "file", "ancestor", "project"]

_RUNGS: Mapping[HolderKind, Rung] = {
    "segment": "segment",
    "page": "document",
    "file": "document",
    "ancestor": "document",
    "project": "project",
}


def is_unknown(key: Key, value: str) -> bool:
    """Return whether a value means "undetermined"; `und-Latn` means so for the language."""
    if key == "language":
        return value.partition("-")[0].lower() in UNKNOWN_LANGUAGES
    return key == "script" and value in UNKNOWN_SCRIPTS


class Holder(NamedTuple):
    """Something that may state facts, and what it states; None where it states nothing."""

    kind: HolderKind
    id: str
    language: str | None = None
    script: str | None = None
    direction: str | None = None
    name: str = ""
    """What a person knows it by: a node's name, a file's name, the kind of a segment."""


class Statement(NamedTuple):
    """The statement that applies to a selection, and who makes it."""

    key: Key
    stated: str
    holder: Holder

    @property
    def value(self) -> str | None:
        """Return what is stated; None if that is "undetermined"."""
        return None if is_unknown(self.key, self.stated) else self.stated

    @property
    def rung(self) -> Rung:
        """Return the rung of the holder; it is the same for the selection and any segment that contains
        it.
        """
        return _RUNGS[self.holder.kind]


class PageFacts(NamedTuple):
    """What is stated for a page as a whole, nearest first, and its proportions."""

    holders: tuple[Holder, ...] = ()
    line_order: str | None = None
    """How its lines follow each other after the file of the pass: tb, bt, lr or rl."""
    aspect: float = 1.0
    """The width of its picture, or of the page in its layout file, divided by the height."""
    columns: int | None = None
    """The number of columns in which its lines stand, where somebody has said so."""

    def first(self, key: Key) -> Statement | None:
        """Return the nearest statement."""
        return _find_first(key, self.holders)


def _find_first(key: Key, holders: Iterable[Holder]) -> Statement | None:
    for holder in holders:
        value = getattr(holder, key)
        if value is not None:
            return Statement(key, value, holder)
    return None


class Ladder:
    """Resolves the facts of every segment of a pass; each part of the walk is done once."""

    def __init__(self, page: PageFacts, segments: Iterable[tuple[Holder, str | None]]) -> None:
        """*segments*: each live one with the id of the segment that contains it."""
        self.page = page
        self._segments = {holder.id: (holder, parent) for holder, parent in segments}
        self._found: dict[Key, dict[str, Statement | None]] = {key: {} for key in KEYS}
        self.silent: set[Key] = set()
        """The keys that nothing states, neither of a segment nor of the page."""
        for key in KEYS:
            if not any(getattr(holder, key) is not None for holder, _ in self._segments.values()):
                answer = page.first(key)
                self._found[key] = dict.fromkeys(self._segments, answer)
                if answer is None:
                    self.silent.add(key)

    def enclosing(self, segment_id: str) -> Iterator[Holder]:
        """Yield the segment and those that contain it, from the innermost out."""
        visited: set[str] = set()
        at: str | None = segment_id
        while at is not None and at in self._segments and at not in visited:
            visited.add(at)
            holder, at = self._segments[at]
            yield holder

    def find_stated(self, key: Key, segment_id: str | None = None) -> Statement | None:
        """Return the statement for a segment, else for the page as a whole; None if there is none."""
        if segment_id is None:
            return self.page.first(key)
        cached = self._found[key]
        if segment_id in cached:
            return cached[segment_id]
        passed: list[str] = []
        answer: Statement | None = None
        for holder in self.enclosing(segment_id):
            if holder.id in cached:
                answer = cached[holder.id]
                break
            passed.append(holder.id)
            value = getattr(holder, key)
            if value is not None:
                answer = Statement(key, value, holder)
                break
        else:
            answer = self.page.first(key)
        cached.update(dict.fromkeys(passed, answer))
        return answer

    def value(self, key: Key, segment_id: str | None = None) -> str | None:
        """Return the value for a segment, else for the page; None if nothing is stated or it is
        undetermined.
        """
        statement = self.find_stated(key, segment_id)
        return None if statement is None else statement.value
