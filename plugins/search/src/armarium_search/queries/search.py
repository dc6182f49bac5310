"""The one query of searching: words, phrases, scopes and filters in; pages, lines and boxes out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from time import perf_counter
from typing import Any

import orjson
from sqlalchemy import Connection

from armarium.api import Engine, Library, Principal, query, reading_past
from armarium_documents.api import artifacts, count_withheld, documents, folders_above, thumbnails
from armarium_search.compiling import CompiledQuery, prepare_query
from armarium_search.contributions import ENTITY_SCOPES, kinds_of, scopes_of
from armarium_search.errors import bad_word
from armarium_search.hookspecs import Hit
from armarium_search.language import ParsedQuery, parse
from armarium_search.matching import expression
from armarium_search.models import artifact_index, artifact_texts, names
from armarium_search.queries.candidates import Candidate, find
from armarium_search.queries.excerpts import PREVIEW, PageText, add_boxes, excerpts, texts_of_pages
from armarium_search.queries.likeness_of_words import suggestions, widen_query
from armarium_search.queries.one_page import count, order_of, page_by_relevance, page_sorted
from armarium_search.queries.question_sql import SearchQuestion, ask
from armarium_search.queries.semantic import Likeness, likeness_of
from armarium_search.schemas import Answer, SearchParams
from armarium_source_model.api import due_pages

SEARCH_TYPES = ("hybrid", "semantic", "fulltext")
SORTS = ("relevance", "date", "name", "size")
DIRECTIONS = ("asc", "desc")
INCLUDES = ("content", "entities", "claims", "artifacts", "interpretations")
MOST_BESIDE = 100
"""How many entities, claims, artifacts and interpretations one answer contains of each."""


@query(
    "/api/search",
    summary="Find pages by their words, names and dates and by what is said about them",
    answer=Answer,
    refusals=(400, 404),
    name="search",
    method="POST",
    prepare=prepare_query,
)
def search(
    conn: Connection, library: Library, engine: Engine, principal: Principal, params: SearchParams
) -> dict[str, Any]:
    """Return the best first; for an empty query all documents, the most recently changed first unless sorted."""
    began = perf_counter()
    check_words(params.search_type, params.sort_by, params.sort_direction)
    kinds = kinds_of(engine)
    for word in params.include:
        if word not in INCLUDES and word not in kinds:
            raise bad_word("include", word, dict.fromkeys((*INCLUDES, *kinds)))
    scopes = scopes_of(engine)
    of_model = params if isinstance(params, CompiledQuery) else None
    parsed = parse(params.query, scopes)
    question = ask(conn, engine, library, params, parsed)
    answer = _recent(question) if parsed.is_empty else _run_search(question)
    behind = question.rows(f"SELECT count(*) FROM {due_pages}")[0][0]
    return {
        "query": params.query if of_model is None else of_model.written,
        **answer,
        "count": len(answer["results"]),
        "filters_applied": params.filters.model_dump(exclude_none=True) if params.filters else None,
        "compiled_query": None if of_model is None else of_model.of_model,
        "compilation_error": None if of_model is None else of_model.error,
        "pages_behind": behind,
        "withheld": count_withheld(conn, params.filters.parent_id if params.filters else None),
        "execution_time_ms": round((perf_counter() - began) * 1000, 3),
    }


def check_words(search_type: str, sort_by: str, sort_direction: str) -> None:
    """Raise BadRequest for an unknown word."""
    for name, word, known in (
        ("search_type", search_type, SEARCH_TYPES),
        ("sort_by", sort_by, SORTS),
        ("sort_direction", sort_direction, DIRECTIONS),
    ):
        if word not in known:
            raise bad_word(name, word, known)


def _run_search(question: SearchQuestion) -> dict[str, Any]:
    params = question.params
    stands: dict[str, list[str]] = {}
    if params.use_fuzzy_match:
        question.parsed, stands = widen_query(question)
    notice = None
    if not question.parsed.terms and not question.parsed.scopes:
        notice = "The query contains no letter or digit, so there is nothing to search for."
    likeness: Likeness | None = None
    if params.search_type != "fulltext" and question.parsed.required_terms:
        likeness = likeness_of(question)
    answered_as = params.search_type
    if params.search_type == "hybrid" and (likeness is None or likeness.pages is None):
        answered_as = "fulltext"
    beside, lists = _search_beside(question)
    weighed = find(
        question,
        likeness.pages if likeness is not None else None,
        beside,
        by_words=params.search_type != "semantic" and "content" in params.include,
    )
    total = count(question, weighed)
    if params.sort_by == "relevance":
        if params.sort_direction == "asc" and weighed.is_exact:
            weighed.ranked.reverse()
        page = page_by_relevance(question, weighed, params.limit + 1, params.offset)
    else:
        page = page_sorted(
            question, weighed, params.sort_by, params.sort_direction, params.limit + 1, params.offset
        )
    has_more = len(page) > params.limit
    page = page[: params.limit]
    return {
        "results": _results(question, page, lists),
        "entity_hits": [dict(hit.answer) for hit in lists.get("entities", ())],
        "claim_hits": [dict(hit.answer) for hit in lists.get("claims", ())],
        "artifact_hits": [dict(hit.answer) for hit in lists.get("artifacts", ())],
        "total_results": total if weighed.is_exact else max(total, params.offset + len(page) + has_more),
        "total_is_exact": weighed.is_exact,
        "has_more": has_more,
        "search_type": answered_as,
        "suggestions": suggestions(question, total == 0),
        "fuzzy_words": stands,
        "semantic": likeness.state if likeness is not None else None,
        "notice": notice,
    }


def _recent(question: SearchQuestion) -> dict[str, Any]:
    params = question.params
    condition = question.where_sql
    if params.filters is None or params.filters.doc_types is None:
        condition += " AND d.doc_type NOT IN ('folder', 'group')"
    total = question.rows(f"SELECT count(*) FROM {documents} d WHERE {condition}")[0][0]
    rows = question.rows(
        f"SELECT d.id FROM {documents} d LEFT JOIN {names} n ON n.document_id = d.id WHERE {condition} "
        f"ORDER BY {order_of(params.sort_by, params.sort_direction)} LIMIT :limit OFFSET :skip",
        limit=params.limit,
        skip=params.offset,
    )
    page = [Candidate(row[0], by_text=True) for row in rows]
    return {
        "results": _results(question, page, {}),
        "entity_hits": [],
        "claim_hits": [],
        "artifact_hits": [],
        "total_results": total,
        "total_is_exact": True,
        "has_more": params.offset + len(page) < total,
        "search_type": "recent",
        "suggestions": [],
        "fuzzy_words": {},
        "semantic": None,
        "notice": None,
    }


# ------------------------------------------------------------------------------------------- what stands beside pages


def _search_beside(question: SearchQuestion) -> tuple[list[tuple[str, Hit]], dict[str, list[Hit]]]:
    """Search the requested kinds of hits; return the label for how each led to a document, and the hits by kind."""
    hits: list[tuple[str, Hit]] = []
    lists: dict[str, list[Hit]] = {}
    words = question.parsed.words
    kinds = kinds_of(question.engine)
    for name in dict.fromkeys(question.params.include):
        if name == "artifacts" and question.parsed.required_terms:
            lists[name] = _artifacts(question)
            hits += [("artifact", hit) for hit in lists[name]]
        elif name in kinds and words:
            lists[name] = list(kinds[name].find(question.conn, words, MOST_BESIDE))
            hits += [(kinds[name].matched_via, hit) for hit in lists[name]]
    return hits, lists


def _artifacts(question: SearchQuestion) -> list[Hit]:
    rows = question.rows(
        f"SELECT a.id, a.artifact_type, a.content, d.id, d.name FROM {artifact_index} CROSS JOIN {artifact_texts} t "
        f"ON t.number = {artifact_index}.rowid CROSS JOIN {artifacts} a ON a.id = t.artifact_id CROSS JOIN {documents} d "
        f"ON d.id = a.document_id WHERE {artifact_index} MATCH :words AND {question.where_sql} "
        f"ORDER BY {artifact_index}.rowid LIMIT {MOST_BESIDE}",
        words=expression(question.parsed.terms, None),
    )
    hits = []
    for identity, artifact_type, content, document_id, name in rows:
        snippet = snippet_of(content, question.parsed)
        hit = {
            "document_id": document_id,
            "document_name": name,
            "artifact_id": identity,
            "artifact_type": artifact_type,
            "snippet": snippet,
        }
        hits.append(Hit(identity, (document_id,), snippet, hit))
    return hits


def snippet_of(text: str, parsed: ParsedQuery) -> str:
    """Return a stretch of *text* around the first line with a word of the query."""
    lines = text[:200_000].splitlines()
    return excerpts(PageText([""] * len(lines), lines), parsed.terms, mark=False)[2]


# ------------------------------------------------------------------------------------------------------------- answers


def _results(
    question: SearchQuestion, page: list[Candidate], lists: dict[str, list[Hit]]
) -> list[dict[str, Any]]:
    ids = [candidate.document_id for candidate in page]
    rows = question.rows(
        f"SELECT d.id, d.name, d.doc_type, d.file_type, p.name, d.sequence, d.page_label, "
        f"EXISTS (SELECT 1 FROM {thumbnails} t WHERE t.document_id = d.id), d.page_content, n.name "
        f"FROM {documents} d LEFT JOIN {documents} p ON p.id = d.parent_id LEFT JOIN {names} n ON n.document_id = d.id "
        "WHERE d.id IN (SELECT value FROM json_each(:ids))",
        ids=orjson.dumps(ids).decode(),
    )
    above = folders_above(question.conn, ids)
    facts = {row[0]: (*row[1:], above[row[0]]) for row in rows}
    with _as_of(question, ids) as then:
        texts = texts_of_pages(then, ids)
        results = _with_excerpts(then, page, lists, facts, texts)
        add_boxes(then, results)
    return results


@contextmanager
def _as_of(question: SearchQuestion, ids: list[str]) -> Iterator[SearchQuestion]:
    """Yield the question for what is shown of the pages found: as of the step asked for, of pages that are shown whole."""
    as_of, partial = question.params.as_of, question.partial or frozenset()
    if as_of is None:
        yield question
        return
    whole = [page_id for page_id in ids if page_id not in partial]
    with reading_past(question.library, as_of, whole), question.library.db.read() as past:
        yield replace(question, conn=past, partial=frozenset(ids))


def _with_excerpts(
    question: SearchQuestion,
    page: list[Candidate],
    lists: dict[str, list[Hit]],
    facts: dict[str, Any],
    texts: dict[str, PageText],
) -> list[dict[str, Any]]:
    results = []
    for candidate in page:
        name, doc_type, file_type, parent_name, number, label, thumbnail, content, _, folders = facts[
            candidate.document_id
        ]
        lines: list[dict[str, Any]] = []
        highlights: list[str] = []
        content = content if question.params.as_of is None else None
        preview = (content or "")[:PREVIEW]
        if candidate.document_id in texts:
            lines, highlights, preview = excerpts(
                texts[candidate.document_id], question.parsed.terms, mark=question.params.highlight_results
            )
        elif content:
            preview = snippet_of(content, question.parsed)
        metadata = {
            "name": name,
            "doc_type": doc_type,
            "file_type": file_type,
            "parent_name": parent_name,
            "folders": folders,
            "page_number": number,
            "page_label": label,
            "has_thumbnail": thumbnail == 1,
            "matched_via": _word_for_way(question, candidate),
        }
        if candidate.beside is not None and question.params.as_of is None:
            preview = candidate.beside[1].text or preview
            metadata |= candidate.beside[1].metadata
        results.append(
            {
                "document_id": candidate.document_id,
                "score": candidate.score,
                "content_preview": preview,
                "metadata": metadata,
                "highlights": highlights,
                "transcript_excerpts": lines,
                "kg_claim_ids": _find_hits(lists.get("claims", ()), candidate.document_id),
                "kg_entity_ids": _find_hits(lists.get("entities", ()), candidate.document_id),
            }
        )
    return results


def _word_for_way(question: SearchQuestion, candidate: Candidate) -> str:
    if candidate.beside is not None:
        return candidate.beside[0]
    if candidate.by_text or candidate.likeness is not None:
        return "content"
    if candidate.by_name:
        return "name"
    scopes = {scoped.scope for scoped in question.parsed.scopes if not scoped.excluded}
    if not question.parsed.required_terms and scopes.intersection(ENTITY_SCOPES):
        return "entity"
    return "name" if not question.parsed.required_terms and "name" in scopes else "content"


def _find_hits(hits: Any, document_id: str) -> list[str]:
    return [hit.id for hit in hits if document_id in hit.document_ids]
