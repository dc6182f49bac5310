"""Whether and how well a folded text has what a query asks for, and the same question to SQLite's index; pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from armarium_search.language import Term

SATURATION = 1.2
"""How soon more of the same word on a page adds little (k1 of BM25)."""
LENGTH = 0.75
"""How much of a word's weight a long page takes (b of BM25)."""
USUAL_WORDS = 300
"""Words of a page of usual length; a constant, so that no page's place tells anything of pages that are withheld."""


class Folded(NamedTuple):
    """A text as it is matched: its folded words as one text and one by one, and the halves of those over a line's end."""

    text: str
    words: list[str]
    halves: list[str]

    @classmethod
    def of(cls, words: str, halves: str = "") -> Folded:
        """The folded *words* and *halves* of a text, ready to be matched."""
        return cls(words, words.split(), halves.split())


def occurrences(term: Term, text: Folded) -> float:
    """How often a text has a term; what is not as written counts by its weight. None of a phrase's places overlap."""
    found = 0.0
    for words, weight in term.alternatives:
        if len(words) > 1:
            # Each word between blanks of its own: two that are the same may stand side by side.
            sought = f" {'  '.join(words)}" + ("" if term.is_prefix else " ")
            if words[0] in text.text:
                found += weight * f" {text.text.replace(' ', '  ')} ".count(sought)
        elif term.is_prefix:
            found += weight * sum(one.startswith(words[0]) for one in (*text.words, *text.halves))
        else:
            found += weight * (text.words.count(words[0]) + text.halves.count(words[0]))
    return found


def matches(terms: Iterable[Term], text: Folded) -> bool:
    """Whether a text has every wanted term, and none that is excluded."""
    return all((occurrences(term, text) > 0) is not term.excluded for term in terms)


def relevance(terms: Iterable[Term], text: Folded) -> float:
    """How much a text is about the wanted terms: 0 to the number of terms."""
    length = 1 - LENGTH + LENGTH * max(len(text.words), 1) / USUAL_WORDS
    total = 0.0
    for term in terms:
        if not term.excluded:
            often = occurrences(term, text)
            total += often / (often + SATURATION * length)
    return total


def expression(terms: Iterable[Term], column: str | None = "words") -> str:
    """The terms as a MATCH of SQLite's FTS5; "" where none is wanted. *column*: that in which phrases stand."""
    wanted: list[str] = []
    unwanted: list[str] = []
    for term in terms:
        (unwanted if term.excluded else wanted).append(_any_of(term, column))
    if not wanted:
        return ""
    return " NOT ".join([f"({' AND '.join(wanted)})", *unwanted])


def _any_of(term: Term, column: str | None) -> str:
    star = " *" if term.is_prefix else ""
    written = []
    for words, _ in term.alternatives:
        phrase = f'"{" ".join(words)}"{star}'
        written.append(f"{column} : {phrase}" if len(words) > 1 and column is not None else phrase)
    return f"({' OR '.join(written)})"
