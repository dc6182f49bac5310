"""The query language: words, phrases, scopes and NOT, parsed into terms; pure.

Every text is a query: whatever has no other meaning is a word. `"in quotes"` is a phrase, `word*` matches
beginnings of words, `NOT` excludes what the next term finds, `AND` may stand between terms and has no effect,
and `scope:word` or `scope:"several words"` asks a scope.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from functools import cached_property

from armarium.api import words_of
from armarium_search.errors import only_excludes, phrases_too_long, too_many_words

MOST_TERMS = 64
"""The most words, phrases and scopes of one query."""

MOST_WORDS = 256
"""The most words in them, those of phrases and scopes counted one by one."""

_TERM = re.compile(
    r'(?P<scope>[^\W\d_]\w*):(?="|\S)(?P<scoped>"[^"]*(?:"|$)|[^\s"]+)|"(?P<phrase>[^"]*)(?:"|$)|(?P<word>[^\s"]+)'
)


@dataclass(frozen=True)
class Term:
    """What one word or phrase asks for.

    alternatives: phrases of folded words, any of which matches, each with its weight (1 for what was
    written).
    """

    written: str
    alternatives: tuple[tuple[tuple[str, ...], float], ...]
    excluded: bool = False
    is_prefix: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        """Return the folded words as written."""
        return self.alternatives[0][0]

    @cached_property
    def patterns(self) -> tuple[tuple[str, float, bool], ...]:
        """Return the alternatives as they occur in a folded text between blanks, with their weights, and
        whether each is a phrase. Without those of `others`.
        """
        end = "" if self.is_prefix else " "
        return tuple(
            (f" {' '.join(words)}{end}", weight, len(words) > 1)
            for words, weight in self.alternatives
            if len(words) > 1 or words[0] not in self.others
        )

    @cached_property
    def others(self) -> dict[str, float]:
        """Return the single words that are similar to the written ones, with their weights."""
        if self.is_prefix:
            return {}
        return {words[0]: weight for words, weight in self.alternatives if len(words) == 1 and weight < 1}


@dataclass(frozen=True)
class ScopedQuestion:
    """A question to a scope."""

    scope: str
    text: str
    excluded: bool = False


@dataclass(frozen=True)
class ParsedQuery:
    """A parsed query."""

    terms: tuple[Term, ...] = ()
    scopes: tuple[ScopedQuestion, ...] = ()
    is_empty: bool = True
    """Whether nothing was written at all; otherwise there may be no terms because the query has no letter or digit."""

    @property
    def required_terms(self) -> tuple[Term, ...]:
        """Return the terms that a page must have."""
        return tuple(term for term in self.terms if not term.excluded)

    @property
    def excluded_terms(self) -> tuple[Term, ...]:
        """Return the terms that a page must not have."""
        return tuple(term for term in self.terms if term.excluded)

    @property
    def words(self) -> tuple[str, ...]:
        """Return all folded words that a page must have, in the order written."""
        return tuple(word for term in self.required_terms for word in term.words)

    def with_terms(self, terms: tuple[Term, ...]) -> ParsedQuery:
        """Return the same query with other terms."""
        return replace(self, terms=terms)


@dataclass
class _Reading:
    terms: list[Term] = field(default_factory=list)
    scopes: list[ScopedQuestion] = field(default_factory=list)


def parse(query: str, scopes: Collection[str]) -> ParsedQuery:
    """Parse *query* into terms; Invalid if it has too many, or only excludes."""
    read = _Reading()
    excluded = False
    for match in _TERM.finditer(query):
        word = match["word"]
        if word == "NOT":
            excluded = True
            continue
        if word == "AND":
            continue
        scope = match["scope"]
        if scope is not None and scope.casefold() in scopes:
            text = match["scoped"].strip('"').strip()
            if text:
                read.scopes.append(ScopedQuestion(scope.casefold(), text, excluded))
        else:
            word_text = (
                match["phrase"] if match["phrase"] is not None else word or f"{scope}:{match['scoped']}"
            )
            term = term_of(word_text, excluded, quoted=match["phrase"] is not None)
            if term is not None:
                read.terms.append(term)
        excluded = False
        if len(read.terms) + len(read.scopes) > MOST_TERMS:
            raise too_many_words(MOST_TERMS, sum(1 for _ in _TERM.finditer(query)))
    texts = (scope.text for scope in read.scopes)
    number = sum(len(term.words) for term in read.terms) + sum(len(words_of(text)) for text in texts)
    if number > MOST_WORDS:
        raise phrases_too_long(MOST_WORDS, number)
    parts: list[Term | ScopedQuestion] = [*read.terms, *read.scopes]
    if parts and all(part.excluded for part in parts):
        raise only_excludes()
    return ParsedQuery(tuple(read.terms), tuple(read.scopes), not query.strip())


def term_of(written: str, excluded: bool, *, quoted: bool) -> Term | None:
    """Return a word or phrase as a term; None if it has no letter or digit."""
    words = tuple(words_of(written))
    if not words:
        return None
    alternatives = [(words, 1.0)]
    joined = "".join(words)
    if not quoted and len(words) > 1 and "-" in written:
        # A hyphen at a line's end is removed when the word is joined.
        alternatives.append(((joined,), 1.0))
    return Term(written, tuple(alternatives), excluded, not quoted and written.endswith("*"))
