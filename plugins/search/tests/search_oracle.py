"""What searching must answer, worked out in plain Python from what the tests themselves wrote; no code of the engine."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

AUTHORITY = {"primary": 1.0, "secondary": 0.6, "tertiary": 0.3, "unknown": 1.0}
ACCENTS = str.maketrans("áéíóúüñ", "aeiouun")


def split(text: str) -> list[str]:
    """The words of a text in Spanish letters."""
    return re.findall(r"[a-z0-9]+", text.lower().translate(ACCENTS))


@dataclass
class Leaf:
    """A page as the test knows it."""

    id: str
    name: str
    lines: dict[str, str]
    """Line to what it says, from the top down."""
    authority: str = "unknown"
    in_trash: bool = False
    rights: dict[str, str | None] = field(default_factory=dict)
    """The records that withhold it as a whole (None) or one of its lines."""

    @property
    def is_withheld(self) -> bool:
        """Whether nobody but the owner sees it."""
        return None in self.rights.values()

    def words(self, *, for_owner: bool) -> tuple[list[str], list[str]]:
        """The words of the page, those over a line's end joined, and the halves of these."""
        shown = [
            text
            for line, text in self.lines.items()
            if text and (for_owner or line not in self.rights.values())
        ]
        words: list[str] = []
        halves: list[str] = []
        for number, text in enumerate(shown):
            own = split(text)
            before = shown[number - 1] if number else ""
            if before.endswith("-") and before[-2:-1].isalnum() and text[:1].isalpha() and words and own:
                halves += [split(before)[-1], own[0]]
                words[-1] += own.pop(0)
            words += own
        return words, halves


@dataclass(frozen=True)
class AskedTerm:
    """A term of a query: its words, whether their beginning is enough, whether it is left out."""

    words: tuple[str, ...]
    is_prefix: bool = False
    is_excluded: bool = False

    def write(self) -> str:
        text = " ".join(self.words)
        shown = f'"{text}"' if len(self.words) > 1 else text + ("*" if self.is_prefix else "")
        return f"NOT {shown}" if self.is_excluded else shown

    def times(self, words: list[str], halves: list[str]) -> int:
        """How often it stands there; phrases are counted from left to right, none over another."""

        def fits(one: str, sought: str) -> bool:
            return one.startswith(sought) if self.is_prefix else one == sought

        if len(self.words) == 1:
            return sum(fits(one, self.words[0]) for one in [*words, *halves])
        found = at = 0
        while at <= len(words) - len(self.words):
            if tuple(words[at : at + len(self.words)]) == self.words:
                found += 1
                at += len(self.words)
            else:
                at += 1
        return found


def expect_hits(
    leaves: Iterable[Leaf],
    query: list[AskedTerm],
    *,
    for_owner: bool,
    authorities: Iterable[str] = AUTHORITY,
) -> list[tuple[str, float]]:
    """The ids that are found with their scores, the best first."""
    wanted_words = [one for one in query if not one.is_excluded]
    unwanted = [one for one in query if one.is_excluded]
    asked_words = [word for item in wanted_words for word in item.words]
    ranked: list[tuple[float, str]] = []
    named: dict[str, Leaf] = {}
    for leaf in leaves:
        if leaf.in_trash or leaf.authority not in authorities or (leaf.is_withheld and not for_owner):
            continue
        text, name = leaf.words(for_owner=for_owner), (split(leaf.name), list[str]())
        if any(one.times(*text) or one.times(*name) for one in unwanted):
            continue
        relevance = 0.0
        for words, halves in (text, name):
            if all(item.times(words, halves) for item in wanted_words):
                length = 1 - 0.75 + 0.75 * len(" ".join(words)) / 1800
                relevance = max(
                    relevance,
                    sum(
                        item.times(words, halves) / (item.times(words, halves) + 1.2 * length)
                        for item in wanted_words
                    ),
                )
        if relevance:
            ranked.append((relevance, leaf.id))
            named[leaf.id] = leaf
    ranked.sort(key=lambda one: (-one[0], one[1]))
    scored = []
    for place, (_, identity) in enumerate(ranked, start=1):
        name = split(named[identity].name)
        bonus = (
            10
            if name == asked_words
            else 5
            if set(asked_words) <= set(name)
            else 2
            if set(asked_words) & set(name)
            else 0
        )
        scored.append((identity, (61 / (60 + place) + bonus) * AUTHORITY[named[identity].authority]))
    return sorted(scored, key=lambda one: (-one[1], one[0]))
