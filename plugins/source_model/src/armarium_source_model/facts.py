"""What a page and its parts are written in: the one walk from a segment up to the project; pure.

The nearest statement answers: the segment's own, that of the segments that hold it from the innermost out, the page's,
that of the file its pass was read from, that of what the page is part of from the nearest out, the project's. A
statement that something was looked for and not found out (`und`, `Zyyy`) ends the walk like any other.
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


def is_unknown(key: Key, stated: str) -> bool:
    """Whether a value says that somebody looked and could not tell; `und-Latn` says so of the language too."""
    if key == "language":
        return stated.partition("-")[0].lower() in UNKNOWN_LANGUAGES
    return key == "script" and stated in UNKNOWN_SCRIPTS


class Holder(NamedTuple):
    """Something that may state facts, and what it states: each None where it says nothing."""

    kind: HolderKind
    id: str
    language: str | None = None
    script: str | None = None
    direction: str | None = None
    name: str = ""
    """What a person knows it by: a node's name, a file's name, the kind of a segment."""


class Statement(NamedTuple):
    """The fact that answers for a selection, and who states it."""

    key: Key
    stated: str
    holder: Holder

    @property
    def value(self) -> str | None:
        """What is stated; None where that says that it could not be found out."""
        return None if is_unknown(self.key, self.stated) else self.stated

    @property
    def rung(self) -> Rung:
        """The rung of the holder; every segment is of the same one, whether it is the selection or holds it."""
        return _RUNGS[self.holder.kind]


class PageFacts(NamedTuple):
    """What is stated for a page as a whole, nearest first, with the proportions of its picture."""

    holders: tuple[Holder, ...] = ()
    line_order: str | None = None
    """How its lines follow each other after the file of the pass: tb, bt, lr or rl."""
    aspect: float = 1.0
    """The width of its picture divided by the height."""

    def first(self, key: Key) -> Statement | None:
        """The nearest statement."""
        return _first(key, self.holders)


def _first(key: Key, holders: Iterable[Holder]) -> Statement | None:
    for holder in holders:
        stated = getattr(holder, key)
        if stated is not None:
            return Statement(key, stated, holder)
    return None


class Ladder:
    """The walk for every segment of a pass; each part of it is gone once."""

    def __init__(self, page: PageFacts, segments: Iterable[tuple[Holder, str | None]]) -> None:
        """*segments*: each live one with the id of the segment that holds it."""
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
        """The segment and those that hold it, from the innermost out."""
        seen: set[str] = set()
        at: str | None = segment_id
        while at is not None and at in self._segments and at not in seen:
            seen.add(at)
            holder, at = self._segments[at]
            yield holder

    def find_stated(self, key: Key, segment_id: str | None = None) -> Statement | None:
        """What answers for a segment, else for the page as a whole; None when nothing states it."""
        if segment_id is None:
            return self.page.first(key)
        found = self._found[key]
        if segment_id in found:
            return found[segment_id]
        passed: list[str] = []
        answer: Statement | None = None
        for holder in self.enclosing(segment_id):
            if holder.id in found:
                answer = found[holder.id]
                break
            passed.append(holder.id)
            stated = getattr(holder, key)
            if stated is not None:
                answer = Statement(key, stated, holder)
                break
        else:
            answer = self.page.first(key)
        found.update(dict.fromkeys(passed, answer))
        return answer

    def value(self, key: Key, segment_id: str | None = None) -> str | None:
        """What is known of a segment, else of the page; None when nothing is, or it could not be found out."""
        statement = self.find_stated(key, segment_id)
        return None if statement is None else statement.value
