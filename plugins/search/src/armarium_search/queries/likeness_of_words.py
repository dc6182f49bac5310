"""Words similar to those of a query: alternatives in spelling or by misreading, and suggestions while it is typed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import orjson

from armarium_documents.api import documents
from armarium_search.language import ParsedQuery, Term
from armarium_search.models import text_index
from armarium_search.queries.question_sql import SEARCHED, SearchQuestion
from armarium_search.vocabulary import SHORTEST, Vocabulary, vocabulary_of
from armarium_source_model.api import page_texts, page_words

SIMILAR = 0.01
"""The weight of a word that is certainly a misreading of the one asked for: less than any word as written."""
FEW = 10
"""Up to this many pages with a word are counted."""
ITSELF = 0.3
"""How likely one of several occurrences of a word is what was written, compared with a word one letter away."""
UNEXPLAINED = 0.01
"""How likely a word has an origin that no word of the project explains."""
LEAST = 0.01
"""A word that is less likely to stand for the one asked for is not searched."""
SUGGESTED = 5
LOOKED_AT = 40
"""How many words that begin like the last one of the query are examined for suggestions the caller may see."""


def widen_query(question: SearchQuestion) -> tuple[ParsedQuery, dict[str, list[str]]]:
    """Return the query with similar words added to each of its own, and which these are: only words on a page
    the caller sees.
    """
    vocabulary = vocabulary_of(question.library, question.conn)
    stands: dict[str, list[str]] = {}
    terms: list[Term] = []
    for term in question.parsed.terms:
        alternatives = dict(term.alternatives)
        if not term.excluded and not term.is_prefix:
            for number, word in enumerate(term.words):
                if len(word) < SHORTEST:
                    continue
                near = _misreadings(question, vocabulary, word)
                stands.setdefault(word, [other for other, _ in near])
                for other, weight in near:
                    alternatives.setdefault((*term.words[:number], other, *term.words[number + 1 :]), weight)
        terms.append(replace(term, alternatives=tuple(alternatives.items())))
    return question.parsed.with_terms(tuple(terms)), {
        word: others for word, others in stands.items() if others
    }


def _misreadings(question: SearchQuestion, vocabulary: Vocabulary, word: str) -> list[tuple[str, float]]:
    """Return words that may stand for *word* on a page, with the weight of each, the most likely first.

    A noisy channel: a word was written for *word* with the likelihood of its distance, but also for each other
    word of the project one letter away from it, or it is what was meant. The more pages have one of them, the
    more likely that one. So a misreading of a common word is not taken for one of a rare word.
    """
    far = dict(vocabulary.find_near(word))
    pages = pages_seen(question, (word, *far), FEW)
    around = {other: vocabulary.find_near(other, 1) for other in far if pages[other]}
    pages |= pages_seen(
        question, {near_word for near in around.values() for near_word, _ in near} - pages.keys(), FEW
    )
    misreadings = []
    for other, near in around.items():
        mine = (pages[word] + 1) ** 0.5 * 10 ** -far[other]
        others = sum(pages[near_word] ** 0.5 * 10**-away for near_word, away in near if near_word != word)
        itself = ITSELF * (pages[other] - 1) ** 0.5
        likely = mine / (mine + others + itself + UNEXPLAINED)
        if likely >= LEAST:
            misreadings.append((other, SIMILAR * likely / pages[other] ** 0.5))
    return sorted(misreadings, key=lambda near_word: -near_word[1])


def pages_seen(question: SearchQuestion, words: Iterable[str], most: int = 1) -> dict[str, int]:
    """Return on how many pages that the caller sees entirely, outside the Trash, each of the folded *words* is;
    at most *most*.
    """
    rows = question.rows(
        f"SELECT w.value, (SELECT count(*) FROM ({_pages_with('w.value')} LIMIT {most})) FROM json_each(:words) w",
        words=orjson.dumps(list(words)).decode(),
    )
    return dict(rows)


def _pages_with(word: str) -> str:
    """Return SQL that selects the pages with a word, an expression of SQL."""
    return (
        f"SELECT 1 FROM {text_index} CROSS JOIN {page_texts} p ON p.number = {text_index}.rowid CROSS JOIN {documents} d "
        f"ON d.id = p.document_id WHERE {text_index} MATCH '\"' || {word} || '\"' AND {SEARCHED}"
    )


def suggestions(question: SearchQuestion, nothing_found: bool) -> list[str]:
    """Return the query with its last word completed or, if nothing was found, with words that do occur."""
    terms = question.parsed.required_terms
    if not terms or question.parsed.excluded_terms or question.parsed.scopes:
        return []
    before = [term.written for term in terms[:-1]]
    last = terms[-1]
    if len(last.words) != 1:
        return []
    return [" ".join([*before, word]) for word in _find_suggestions(question, last.words[0], nothing_found)]


def _find_suggestions(question: SearchQuestion, word: str, nothing_found: bool) -> list[str]:
    rows = question.rows(
        f"SELECT word FROM (SELECT word FROM {page_words} WHERE word > :word AND word < :end ORDER BY length(word), word "
        f"LIMIT {LOOKED_AT}) WHERE EXISTS ({_pages_with('word')}) LIMIT {SUGGESTED}",
        word=word,
        end=word + chr(0x10FFFF),
    )
    if rows or not nothing_found:
        return [row[0] for row in rows]
    near = [
        near_word
        for near_word, _ in vocabulary_of(question.library, question.conn).find_near(word)[:LOOKED_AT]
    ]
    page_counts = pages_seen(question, near)
    return [near_word for near_word in near if page_counts[near_word]][:SUGGESTED]
