"""Whether and how well a folded text matches a query, and the same query for SQLite's index; pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from armarium_search.language import Term

SATURATION = 1.2
"""How quickly further occurrences of a word on a page stop adding to its weight (k1 of BM25)."""
LENGTH = 0.75
"""How much a long page reduces a word's weight (b of BM25)."""
USUAL_SIZE = 1_800
"""The length of an average page in characters; a constant, so that a page's rank reveals nothing about
withheld pages.
"""


class FoldedPassage:
    """A text prepared for matching: its folded words as one text, and the halves of words split over a line's end.

    It is not split into words: a common word is weighed on hundreds of pages, and searching one string takes
    a tenth of the time of searching a list of words.
    """

    __slots__ = ("_each", "_halves", "_words", "size")

    def __init__(self, words: str, halves: str = "") -> None:
        self.size = len(words)
        """Characters of the text, including blanks."""
        self._words = f" {words} "
        self._halves = f" {halves} " if halves else ""
        self._each: frozenset[str] | None = None

    def count(self, sought: str, *, is_phrase: bool) -> int:
        """Return how often *sought* occurs: words with a blank before them and, unless they are a beginning,
        after them.
        """
        as_words = _count(self._words, sought)
        return as_words if is_phrase or not self._halves else as_words + _count(self._halves, sought)

    @property
    def each(self) -> frozenset[str]:
        """Return each of its words once: testing whether many of them occur takes almost no time."""
        if self._each is None:
            self._each = frozenset(f"{self._words}{self._halves}".split())
        return self._each


def _count(text: str, sought: str) -> int:
    """Return how often *sought* occurs in *text*; the blank after one occurrence may be the one before the next."""
    count = text.count(sought)
    if count and sought[-1] == " " and f"{sought}{sought[1:]}" in text:
        # Adjacent occurrences share a blank, so not all were counted.
        return text.replace(" ", "  ").count(f" {sought.strip().replace(' ', '  ')} ")
    return count


def occurrences(term: Term, text: FoldedPassage) -> float:
    """Return how often a text has a term. A phrase's occurrences do not overlap.

    If it has none as written, the most likely of those that are merely similar counts, with its weight.
    """
    occurrences = 0
    similar = 0.0
    for sought, weight, is_phrase in term.patterns:
        often = text.count(sought, is_phrase=is_phrase)
        if weight == 1:
            occurrences += often
        elif often:
            similar = max(similar, weight)
    if not occurrences and term.others:
        similar = max((term.others[word] for word in text.each & term.others.keys()), default=similar)
    return occurrences or similar


def matches(terms: Iterable[Term], text: FoldedPassage) -> bool:
    """Return whether a text has every wanted term and no excluded one."""
    return all((occurrences(term, text) > 0) is not term.excluded for term in terms)


def relevance(terms: Iterable[Term], text: FoldedPassage) -> float:
    """Return how relevant a text is to the wanted terms: 0 to the number of terms."""
    length = _length(text)
    total = 0.0
    for term in terms:
        if not term.excluded:
            often = occurrences(term, text)
            # A long page is no less likely to have misread a word.
            total += often / (often + SATURATION * (length if often >= 1 else 1.0))
    return total


def weigh_by(terms: Iterable[Term]) -> Callable[[str, str], float]:
    """Return a function that computes `relevance` for a text's folded words and halves; twice as fast for a
    single word, the usual query.
    """
    terms_counted = [term for term in terms if not term.excluded]
    patterns = terms_counted[0].patterns if len(terms_counted) == 1 and not terms_counted[0].others else ()
    if len(patterns) != 1 or patterns[0][2] or terms_counted[0].is_prefix:
        return lambda words, halves: relevance(terms_counted, FoldedPassage(words, halves))
    sought = patterns[0][0]
    twice = f"{sought}{sought[1:]}"

    def weigh(words: str, halves: str) -> float:
        text = f" {words} "
        if twice in text or (halves and sought in f" {halves} "):
            return relevance(terms_counted, FoldedPassage(words, halves))
        often = text.count(sought)
        return often / (often + SATURATION * (1 - LENGTH + LENGTH * len(words) / USUAL_SIZE))

    return weigh


def spelling_of(terms: Iterable[Term], text: FoldedPassage) -> tuple[str, ...]:
    """Return the highest-weighted spelling a text has of each wanted term; none if all occur as written."""
    best = []
    for term in terms:
        has = [
            (weight, sought)
            for sought, weight, is_phrase in term.patterns
            if text.count(sought, is_phrase=is_phrase)
        ]
        if term.others:
            has += [(term.others[word], word) for word in text.each & term.others.keys()]
        weight, sought = max(has, default=(1.0, ""))
        best.append("" if weight == 1 else sought)
    return tuple(best) if any(best) else ()


def _length(text: FoldedPassage) -> float:
    return 1 - LENGTH + LENGTH * text.size / USUAL_SIZE


def expression(terms: Iterable[Term], column: str | None = "words") -> str:
    """Return the terms as a MATCH expression of SQLite's FTS5; "" if none is wanted. *column*: the one to
    search for phrases.
    """
    phrases: list[str] = []
    unwanted: list[str] = []
    for term in terms:
        (unwanted if term.excluded else phrases).append(_any_of(term, column))
    if not phrases:
        return ""
    return " NOT ".join([f"({' AND '.join(phrases)})", *unwanted])


def _any_of(term: Term, column: str | None) -> str:
    star = " *" if term.is_prefix else ""
    parts = []
    for words, _ in term.alternatives:
        phrase = f'"{" ".join(words)}"{star}'
        parts.append(f"{column} : {phrase}" if len(words) > 1 and column is not None else phrase)
    return f"({' OR '.join(parts)})"
