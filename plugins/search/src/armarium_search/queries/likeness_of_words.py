"""Words similar to those of a query: alternatives in spelling or by misreading, and suggestions while it is typed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from armarium_documents.api import documents
from armarium_search.language import ParsedQuery, Term
from armarium_search.models import text_index
from armarium_search.queries.question_sql import SEARCHED, SearchQuestion
from armarium_search.vocabulary import SHORTEST, vocabulary_of
from armarium_source_model.api import page_texts, page_words

FARTHER = 0.1
"""The factor by which one letter of difference reduces a word's weight."""
FEW = 10
"""Up to this many pages with a word similar to one of the query are counted."""
OF_ITS_OWN = 0.25
"""The weight left to a word that occurs on that many pages: it is unlikely to be misread."""
SUGGESTED = 5
LOOKED_AT = 40
"""How many words that begin like the last one of the query are examined for suggestions the caller may see."""


def widen_query(asked: SearchQuestion) -> tuple[ParsedQuery, dict[str, list[str]]]:
    """Return the query with similar words added to each of its own, and which these are: only words on a page
    the caller sees.
    """
    vocabulary = vocabulary_of(asked.library, asked.conn)
    stands: dict[str, list[str]] = {}
    terms: list[Term] = []
    for term in asked.parsed.terms:
        alternatives = dict(term.alternatives)
        if not term.excluded and not term.is_prefix:
            for number, word in enumerate(term.words):
                if len(word) < SHORTEST:
                    continue
                near = [
                    (other, far, seen)
                    for other, far in vocabulary.find_near(word)
                    if (seen := pages_seen(asked, other, FEW))
                ]
                stands.setdefault(word, [other for other, _, _ in near])
                for other, far, seen in near:
                    changed = (*term.words[:number], other, *term.words[number + 1 :])
                    # A page with a word of many pages is less likely the one that is meant than one with a
                    # rare word.
                    own = OF_ITS_OWN if seen == FEW else 1.0
                    alternatives.setdefault(changed, FARTHER**far / seen**0.5 * own)
        terms.append(replace(term, alternatives=tuple(alternatives.items())))
    return asked.parsed.with_terms(tuple(terms)), {word: others for word, others in stands.items() if others}


def pages_seen(asked: SearchQuestion, word: str, most: int = 1) -> int:
    """Return how many pages that the caller sees entirely, outside the Trash, have the folded *word*; at most
    *most*.
    """
    rows = asked.rows(
        f"SELECT 1 FROM {text_index} CROSS JOIN {page_texts} p ON p.number = {text_index}.rowid "
        f"CROSS JOIN {documents} d ON d.id = p.document_id WHERE {text_index} MATCH :word AND {SEARCHED} LIMIT {most}",
        word=f'"{word}"',
    )
    return len(rows)


def suggestions(asked: SearchQuestion, nothing_found: bool) -> list[str]:
    """Return the query with its last word completed or, if nothing was found, with words that do occur."""
    wanted = asked.parsed.required_terms
    if not wanted or asked.parsed.excluded_terms or asked.parsed.scopes:
        return []
    before = [term.written for term in wanted[:-1]]
    last = wanted[-1]
    if len(last.words) != 1:
        return []
    words = list(_beginning_with(asked, last.words[0]))
    if nothing_found and not words:
        near = vocabulary_of(asked.library, asked.conn).find_near(last.words[0])
        words = [word for word, _ in near[:LOOKED_AT] if pages_seen(asked, word)]
    return [" ".join([*before, word]) for word in words[:SUGGESTED]]


def _beginning_with(asked: SearchQuestion, word: str) -> Iterable[str]:
    rows = asked.rows(
        f"SELECT word FROM {page_words} WHERE word > :word AND word < :end ORDER BY length(word), word LIMIT {LOOKED_AT}",
        word=word,
        end=word + chr(0x10FFFF),
    )
    found = 0
    for (other,) in rows:
        if found < SUGGESTED and pages_seen(asked, other):
            found += 1
            yield other
