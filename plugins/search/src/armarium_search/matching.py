"""Whether and how well a folded text has what a query asks for, and the same question to SQLite's index; pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from armarium_search.language import Term

SATURATION = 1.2
"""How soon more of the same word on a page adds little (k1 of BM25)."""
LENGTH = 0.75
"""How much of a word's weight a long page takes (b of BM25)."""
USUAL_SIZE = 1_800
"""Characters of a page of usual length; a constant, so that no page's place tells anything of pages that are withheld."""


class FoldedPassage:
    """A text as it is matched: its folded words as one text, and the halves of those over a line's end.

    Nothing is parted into words: a common word is weighed on hundreds of pages, and looking for it in one string takes a
    tenth of the time of a list of words.
    """

    __slots__ = ("_each", "_halves", "_words", "size")

    def __init__(self, words: str, halves: str = "") -> None:
        self.size = len(words)
        """Characters of the text, its blanks among them."""
        self._words = f" {words} "
        self._halves = f" {halves} " if halves else ""
        self._each: frozenset[str] | None = None

    def count(self, sought: str, *, is_phrase: bool) -> int:
        """How many of its places have *sought*, words with a blank before them and, but for a beginning, after them."""
        found = _count(self._words, sought)
        return found if is_phrase or not self._halves else found + _count(self._halves, sought)

    @property
    def each(self) -> frozenset[str]:
        """Each of its words, once: whether many stand there is asked in no time."""
        if self._each is None:
            self._each = frozenset(f"{self._words}{self._halves}".split())
        return self._each


def _count(text: str, sought: str) -> int:
    """How often *sought* stands in *text*; the blank at the end of one may be that at the beginning of the next."""
    found = text.count(sought)
    if found and sought[-1] == " " and f"{sought}{sought[1:]}" in text:
        # They share a blank, and were not all counted.
        return text.replace(" ", "  ").count(f" {sought.strip().replace(' ', '  ')} ")
    return found


def occurrences(term: Term, text: FoldedPassage) -> float:
    """How often a text has a term. None of a phrase's places overlap.

    What is not as written counts by its weight and once: a common word that is like the one that was asked for says no
    more by standing there ten times.
    """
    found = 0.0
    for sought, weight, is_phrase in term.patterns:
        often = text.count(sought, is_phrase=is_phrase)
        found += weight * (often if weight == 1 else min(often, 1))
    if term.others:
        found += sum(sorted(term.others[word] for word in text.each & term.others.keys()))
    return found


def matches(terms: Iterable[Term], text: FoldedPassage) -> bool:
    """Whether a text has every wanted term, and none that is excluded."""
    return all((occurrences(term, text) > 0) is not term.excluded for term in terms)


def relevance(terms: Iterable[Term], text: FoldedPassage) -> float:
    """How much a text is about the wanted terms: 0 to the number of terms."""
    length = _length(text)
    total = 0.0
    for term in terms:
        if not term.excluded:
            often = occurrences(term, text)
            total += often / (often + SATURATION * length)
    return total


def weigh_by(terms: Iterable[Term]) -> Callable[[str, str], float]:
    """`relevance` of the wanted terms for a text's folded words and halves; of one word, the usual query, in half the time."""
    wanted = [term for term in terms if not term.excluded]
    patterns = wanted[0].patterns if len(wanted) == 1 and not wanted[0].others else ()
    if len(patterns) != 1 or patterns[0][2] or wanted[0].is_prefix:
        return lambda words, halves: relevance(wanted, FoldedPassage(words, halves))
    sought = patterns[0][0]
    twice = f"{sought}{sought[1:]}"

    def weigh(words: str, halves: str) -> float:
        text = f" {words} "
        if halves or twice in text:
            return relevance(wanted, FoldedPassage(words, halves))
        often = text.count(sought)
        return often / (often + SATURATION * (1 - LENGTH + LENGTH * len(words) / USUAL_SIZE))

    return weigh


def spelling_of(terms: Iterable[Term], text: FoldedPassage) -> tuple[str, ...]:
    """The spelling of most weight that a text has of each wanted term; none where all stand as written."""
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
