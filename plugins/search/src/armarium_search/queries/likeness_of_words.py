"""Words beside those of a query: others that are spelled or misread like them, and suggestions while it is written."""

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
"""What a letter of distance leaves of a word's weight."""
FEW = 10
"""Pages up to which it is counted how many have a word that is like one of the query."""
OF_ITS_OWN = 0.25
"""What a word keeps that stands on as many pages: it is hardly one that was misread."""
SUGGESTED = 5
LOOKED_AT = 40
"""Words that begin like the last of the query, of which those are suggested that the caller may see."""


def widen_query(asked: SearchQuestion) -> tuple[ParsedQuery, dict[str, list[str]]]:
    """The query with other words beside each of its own, and which these are, for the caller sees a page with each."""
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
                    # A page with a word of many pages is less likely the one that is meant than that of a rare word.
                    own = OF_ITS_OWN if seen == FEW else 1.0
                    alternatives.setdefault(changed, FARTHER**far / seen**0.5 * own)
        terms.append(replace(term, alternatives=tuple(alternatives.items())))
    return asked.parsed.with_terms(tuple(terms)), {word: others for word, others in stands.items() if others}


def pages_seen(asked: SearchQuestion, word: str, most: int = 1) -> int:
    """How many pages that the caller sees whole, and that are not in the Trash, have the folded *word*; at most *most*."""
    rows = asked.rows(
        f"SELECT 1 FROM {text_index} CROSS JOIN {page_texts} p ON p.number = {text_index}.rowid "
        f"CROSS JOIN {documents} d ON d.id = p.document_id WHERE {text_index} MATCH :word AND {SEARCHED} LIMIT {most}",
        word=f'"{word}"',
    )
    return len(rows)


def suggestions(asked: SearchQuestion, nothing_found: bool) -> list[str]:
    """The query with its last word written out, or, where nothing was found, with words that are there."""
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
