"""Which documents are found and in which order: by words, by similarity, by hits other than the text.

Up to `EXACT` matching pages, everything is exact: each is matched and weighed, and all are counted. If there
are more, the first `EXACT` in the order in which their texts were created are weighed; the others follow in
that order, each once.

A result's score is the weight of its authority times the sum of: its rank in each list, as 61 / (60 + rank)
(so 1 for the first) divided by the number of lists; a bonus for its name (10 if it is the query, 5 if it has
all its words, 2 if it has one); and 0.5 if only an entity, claim, artifact or interpretation led to it. Among
equal scores the older document comes first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from armarium.api import NotFound
from armarium_documents.api import documents
from armarium_search.hookspecs import Hit
from armarium_search.language import Term
from armarium_search.matching import FoldedPassage, expression, matches, relevance, spelling_of, weigh_by
from armarium_search.models import name_index, names, text_index
from armarium_search.queries.question_sql import SearchQuestion
from armarium_source_model.api import fold_text, page_text, page_texts, reading_rule

EXACT = 500
"""Up to this many matching pages everything is exact; with a filter, among at most `LOOKED_AT` pages without it."""
OF_EACH = 3
"""How many pages are weighed for each word similar to one of the query, if there are more than `EXACT`."""
LOOKED_AT = 8_000
"""How many matching pages are examined for those that pass a filter."""
COUNTED = 1_000
"""If there are more, this many are counted."""
FUSION = 60
"""The constant of reciprocal-rank fusion."""
NAME_IS, NAME_HAS_ALL, NAME_HAS_ONE = 10.0, 5.0, 2.0
BESIDE = 0.5
"""The score of a document that only an entity, claim, artifact or interpretation led to."""
AUTHORITY = {"primary": 1.0, "secondary": 0.6, "tertiary": 0.3, "unknown": 1.0}

_OF_TEXT = "p.number, p.document_id, d.source_authority, n.name, p.words, p.halves"
_WITH_NAME = f"LEFT JOIN {names} n ON n.document_id = p.document_id"
TEXTS = (
    f"FROM {text_index} CROSS JOIN {page_texts} p ON p.number = {text_index}.rowid "
    f"CROSS JOIN {documents} d ON d.id = p.document_id WHERE {text_index} MATCH :words"
)
NAMES = (
    f"FROM {name_index} CROSS JOIN {names} n ON n.number = {name_index}.rowid "
    f"CROSS JOIN {documents} d ON d.id = n.document_id WHERE {name_index} MATCH :names AND n.more IS NOT NULL"
)


@dataclass(slots=True)
class Candidate:
    """A document that may be a result."""

    document_id: str
    relevance: float = 0.0
    by_text: bool = False
    by_name: bool = False
    likeness: float | None = None
    beside: tuple[str, Hit] | None = None
    """The only kind of hit that led to it (entity, claim …)."""
    score: float = 0.0
    about: tuple[str, str | None] | None = None
    """Its authority and its folded name, if they were read with its text."""


@dataclass
class WeighedCandidates:
    """The weighed candidates, best first, and what follows them."""

    ranked: list[Candidate]
    last_text: int | None = None
    """The number of the last page text that was weighed, if there are more."""
    last_name: int | None = None
    texts: int = 0
    """How many texts were weighed because they came first."""
    words: str = ""
    names: str = ""
    by_id: dict[str, Candidate] = field(default_factory=dict)

    @property
    def is_exact(self) -> bool:
        """Return whether every document found was weighed."""
        return self.last_text is None and self.last_name is None


def find(
    question: SearchQuestion,
    likeness: dict[str, float] | None,
    beside: Sequence[tuple[str, Hit]],
    *,
    by_words: bool = True,
) -> WeighedCandidates:
    """Return the candidates for a question. *likeness*: documents by the similarity of their best passage, if
    that was searched; *beside*: hits of other kinds, each with its label. by_words False: words are not
    searched.
    """
    weighed = WeighedCandidates([])
    by_id = weighed.by_id
    terms = question.parsed.required_terms
    if terms and by_words:
        weighed.words, weighed.names = expression(terms), expression(terms, None)
        _by_text(question, weighed)
        _by_name(question, weighed)
        _by_visible_part(question, weighed)
    elif not terms and question.parsed.scopes:
        rows = question.rows(f"SELECT d.id FROM {documents} d WHERE {question.where_sql}")
        by_id |= {row[0]: Candidate(row[0]) for row in rows}
    for document_id in standing(question, likeness or ()):
        by_id.setdefault(document_id, Candidate(document_id)).likeness = (likeness or {})[document_id]
    resting = {document_id: (via, hit) for via, hit in reversed(beside) for document_id in hit.document_ids}
    for document_id in standing(question, resting):
        if document_id not in by_id:
            by_id[document_id] = Candidate(document_id, beside=resting[document_id])
    _score(question, weighed, 2 if likeness is not None and terms and by_words else 1)
    return weighed


def _texts(question: SearchQuestion, words: str, limit: int, last: int | None = None) -> list[Any]:
    """Return the first texts with *words*, in the order of their creation, with the other inputs of a score.

    last: the number of the last text to examine, if a filter may exclude many of them.
    """
    # In the order of the index itself: any other sort would fetch all of them before the first.
    no_further = "" if last is None else f"AND {text_index}.rowid <= {last}"
    return question.rows(
        f"SELECT {_OF_TEXT} FROM {text_index} CROSS JOIN {page_texts} p ON p.number = {text_index}.rowid "
        f"CROSS JOIN {documents} d ON d.id = p.document_id {_WITH_NAME} WHERE {text_index} MATCH :words {no_further} "
        f"AND {question.where_sql} ORDER BY {text_index}.rowid LIMIT {limit}",
        words=words,
    )


def _by_text(question: SearchQuestion, candidates: WeighedCandidates) -> None:
    candidates.last_text = _last_looked_at(question, candidates.words)
    rows = _texts(question, candidates.words, EXACT + 1, candidates.last_text)
    if len(rows) > EXACT:
        del rows[EXACT:]
        candidates.last_text = rows[-1][0]
    candidates.texts = len(rows)
    if candidates.last_text is not None:
        rows += _of_each_spelling(question)
    terms = question.parsed.required_terms
    is_widened = any(weight < 1 for term in terms for _, weight in term.alternatives)
    weigh = weigh_by(terms)
    weighed: list[tuple[Candidate, FoldedPassage]] = []
    by_id = candidates.by_id
    for _, document_id, authority, name, words, halves in rows:
        if document_id in by_id:
            continue
        candidate = by_id[document_id] = Candidate(document_id, by_text=True, about=(authority, name))
        if is_widened:
            text = FoldedPassage(words, halves)
            candidate.relevance = relevance(terms, text)
            weighed.append((candidate, text))
        else:
            candidate.relevance = weigh(words, halves)
    if is_widened:
        _spread(terms, weighed)


def _last_looked_at(question: SearchQuestion, words: str) -> int | None:
    """Return the last text examined, if a filter applies and more have the words."""
    if len(question.conditions) == 1:
        return None
    rows = question.rows(
        f"SELECT rowid FROM {text_index} WHERE {text_index} MATCH :words ORDER BY rowid LIMIT 2 OFFSET {LOOKED_AT - 1}",
        words=words,
    )
    return rows[0][0] if len(rows) == 2 else None


def _spread(terms: Sequence[Term], weighed: Sequence[tuple[Candidate, FoldedPassage]]) -> None:
    """Put further pages with the same similar spelling after the first of each: which one is meant is not known yet."""
    of_spellings: dict[tuple[str, ...], list[Candidate]] = {}
    for candidate, text in sorted(weighed, key=lambda pair: (-pair[0].relevance, pair[0].document_id)):
        other = spelling_of(terms, text)
        pages = of_spellings.setdefault(other, [])
        pages.append(candidate)
        if other:
            candidate.relevance /= len(pages) ** 3


def _of_each_spelling(question: SearchQuestion) -> list[Any]:
    """Return the first texts with the words as written, and some with each word similar to one of them, so that
    neither is lost behind pages with common words.
    """
    terms = question.parsed.required_terms
    as_written = [
        replace(
            term, alternatives=tuple(alternative for alternative in term.alternatives if alternative[1] == 1)
        )
        for term in terms
    ]
    if as_written == list(terms):
        return []
    as_written_match = expression(as_written)
    rows = _texts(question, as_written_match, EXACT, _last_looked_at(question, as_written_match))
    for term in terms:
        for spelling, weight in term.alternatives:
            if weight < 1:
                only = replace(term, alternatives=((spelling, weight),))
                rows += _texts(
                    question,
                    expression([only if required is term else required for required in terms]),
                    OF_EACH,
                )
    return rows


def _by_name(question: SearchQuestion, candidates: WeighedCandidates) -> None:
    rows = question.rows(
        f"SELECT n.number, n.document_id, n.name, n.more {NAMES} AND {question.where_sql} "
        f"ORDER BY {name_index}.rowid LIMIT {EXACT + 1}",
        names=candidates.names,
    )
    if len(rows) > EXACT:
        del rows[EXACT:]
        candidates.last_name = rows[-1][0]
    for _, document_id, name, more in rows:
        _weigh_name(question, candidates, document_id, name, more)


def _weigh_name(
    question: SearchQuestion, candidates: WeighedCandidates, document_id: str, name: str, more: str
) -> None:
    candidate = candidates.by_id.setdefault(document_id, Candidate(document_id))
    candidate.by_name = matches(question.parsed.required_terms, FoldedPassage(name))
    candidate.relevance = max(
        candidate.relevance, relevance(question.parsed.terms, FoldedPassage(describe_name(name, more)))
    )


def describe_name(name: str, more: str) -> str:
    """Return a name with its description as two texts, so that no phrase extends from one into the other."""
    return f"{name}  {more}" if more else name


def _by_visible_part(question: SearchQuestion, candidates: WeighedCandidates) -> None:
    """Match pages of which the caller sees only a part: that part is assembled and matched on the spot."""
    for document_id in standing(question, question.partial or ()):
        text = visible_text(question, document_id)
        row = question.rows(f"SELECT name FROM {names} WHERE document_id = :id", id=document_id)
        name = row[0][0] if row else ""
        folded = [FoldedPassage(*text[1]), FoldedPassage(name)]
        if any(
            not matches([term], folded_passage)
            for term in question.parsed.excluded_terms
            for folded_passage in folded
        ):
            continue
        if matches(question.parsed.required_terms, folded[0]):
            candidate = candidates.by_id.setdefault(document_id, Candidate(document_id))
            candidate.by_text = True
            candidate.relevance = relevance(question.parsed.terms, folded[0])
        if matches(question.parsed.required_terms, folded[1]):
            _weigh_name(question, candidates, document_id, name, "")


def visible_text(question: SearchQuestion, document_id: str) -> tuple[Any, tuple[str, str]]:
    """Return the part of the page's text that the caller sees, and its folded words."""
    try:
        text = page_text(question.conn, document_id, rule=reading_rule(question.conn))
    except NotFound:
        return None, ("", "")
    return text, fold_text(text.text)


def standing(question: SearchQuestion, ids: Iterable[str]) -> list[str]:
    """Return those of *ids* that may be a result."""
    wanted_ids = list(ids)
    if not wanted_ids:
        return []
    rows = question.rows(
        f"SELECT d.id FROM {documents} d WHERE d.id IN {question.select_ids(wanted_ids)} AND {question.where_sql} ORDER BY d.id"
    )
    return [row[0] for row in rows]


# ------------------------------------------------------------------------------------------------------------ scores


def _score(question: SearchQuestion, candidates: WeighedCandidates, lists: int) -> None:
    everything = list(candidates.by_id.values())
    unread = [candidate.document_id for candidate in everything if candidate.about is None]
    facts: dict[str, tuple[str, str | None]] = {}
    if unread:
        rows = question.rows(
            f"SELECT d.id, d.source_authority, n.name FROM {documents} d LEFT JOIN {names} n ON n.document_id = d.id "
            f"WHERE d.id IN {question.select_ids(unread)}"
        )
        facts = {row[0]: (row[1], row[2]) for row in rows}
    ranked = [
        (-candidate.relevance, candidate.document_id, candidate)
        for candidate in everything
        if candidate.relevance > 0
    ]
    alike = [
        (-candidate.likeness, candidate.document_id, candidate)
        for candidate in everything
        if candidate.likeness is not None
    ]
    for listed in (ranked, alike):
        for place, (_, _, candidate) in enumerate(sorted(listed), start=1):
            candidate.score += fuse_rank(place, lists)
    words = list(question.parsed.words)
    for candidate in everything:
        authority, name = candidate.about or facts.get(candidate.document_id, ("unknown", ""))
        if candidate.beside is not None or (candidate.relevance == 0 and candidate.likeness is None):
            candidate.score += BESIDE
        if name and any(word in name for word in words):
            candidate.score += of_name(words, name.split())
        candidate.score *= AUTHORITY.get(authority, 1.0)
    scored = sorted((-candidate.score, candidate.document_id, candidate) for candidate in everything)
    candidates.ranked = [scored_candidate for _, _, scored_candidate in scored]


def fuse_rank(place: int, lists: int = 1) -> float:
    """Return what a *place* in one of that many lists adds to a score: 1 for the first place in a single list."""
    return (FUSION + 1) / (FUSION + place) / lists


def of_name(words: list[str], name: list[str]) -> float:
    """Return what a name adds to the score: whether it is the query, has all its words, or has one."""
    if not words or set(words).isdisjoint(name):
        return 0.0
    if words == name:
        return NAME_IS
    has = set(words) & set(name)
    if has == set(words):
        return NAME_HAS_ALL
    return NAME_HAS_ONE if has else 0.0
