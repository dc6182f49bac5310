"""One page of results: the weighed ones, then those that follow them, or all in another order; and the total."""

from __future__ import annotations

from typing import Any

import orjson

from armarium.api import NAME_KEY
from armarium_documents.api import documents, span_between
from armarium_search.models import name_index, names, text_index
from armarium_search.queries.candidates import (
    COUNTED,
    EXACT,
    LOOKED_AT,
    NAMES,
    TEXTS,
    Candidate,
    WeighedCandidates,
    fuse_rank,
)
from armarium_search.queries.question_sql import SearchQuestion
from armarium_source_model.api import page_texts


def page_by_relevance(
    question: SearchQuestion, candidates: WeighedCandidates, limit: int, offset: int
) -> list[Candidate]:
    """Return at most *limit* candidates from *offset* on: the weighed ones, then other texts, then other names."""
    answer = candidates.ranked[offset : offset + limit]
    if candidates.is_exact or len(answer) == limit:
        return answer
    weighed = question.select_ids(candidates.by_id)
    at = max(offset, len(candidates.ranked))
    place = len(candidates.ranked)
    for condition, last, match in _list_following(candidates):
        if last is None:
            continue
        remaining = f"{condition} AND {question.where_sql} AND d.id NOT IN {weighed}"
        more = {"words": candidates.words, "names": candidates.names, "last": last, **match}
        rows = question.rows(f"SELECT d.id {remaining} ORDER BY {match_order(condition)} LIMIT :limit OFFSET :skip",
                          **more, limit=limit - len(answer), skip=max(0, at - place))  # fmt: skip
        answer += [
            Candidate(row[0], by_text=True, score=fuse_rank(at + number + 1))
            for number, row in enumerate(rows)
        ]
        if len(answer) == limit:
            break
        place += question.rows(f"SELECT count(*) {remaining}", **more)[0][0]
        at = max(at + len(rows), place)
    return answer


def _list_following(candidates: WeighedCandidates) -> list[tuple[str, int | None, dict[str, Any]]]:
    in_text = (
        f"NOT EXISTS (SELECT 1 FROM {page_texts} ep CROSS JOIN {text_index} WHERE {text_index}.rowid = ep.number "
        f"AND ep.document_id = d.id AND {text_index} MATCH :words)"
    )
    return [
        (f"{TEXTS} AND {text_index}.rowid > :last", candidates.last_text, {}),
        (f"{NAMES} AND {name_index}.rowid > :last AND {in_text}", candidates.last_name, {}),
    ]


def match_order(where: str) -> str:
    """Return the order in which the index delivers a statement's matches."""
    return f"{text_index if where.startswith(TEXTS) else name_index}.rowid"


def count(question: SearchQuestion, candidates: WeighedCandidates) -> int:
    """Return how many are found; a lower bound if not all were weighed."""
    most = len(candidates.ranked)
    values = {"words": candidates.words, "names": candidates.names}
    if candidates.last_text is not None:
        after = (
            f"(SELECT rowid AS number FROM {text_index} WHERE {text_index} MATCH :words AND rowid > :last ORDER BY rowid "
            f"LIMIT {LOOKED_AT // 2})"
        )
        more = question.rows(
            f"SELECT count(*) FROM (SELECT 1 FROM {after} m CROSS JOIN {page_texts} p ON p.number = m.number "
            f"CROSS JOIN {documents} d ON d.id = p.document_id WHERE {question.where_sql} LIMIT {COUNTED - EXACT})",
            **values, last=candidates.last_text,
        )  # fmt: skip
        most = max(most, candidates.texts + more[0][0])
    if candidates.last_name is not None:
        more = question.rows(
            f"SELECT count(*) FROM (SELECT 1 {NAMES} AND {name_index}.rowid > :last AND {question.where_sql} "
            f"LIMIT {COUNTED - EXACT})",
            **values, last=candidates.last_name,
        )  # fmt: skip
        most = max(most, EXACT + more[0][0])
    return most


# As in the dataset query, a date without a beginning (../1750) stands with the year in which it ends.
_DATE = f"iif(n.first_day = {span_between(None, None).start}, n.last_day - (n.last_day % 10000 + 10000) % 10000, n.first_day)"
_KEYS = {"date": _DATE, "size": "json_extract(d.metadata, '$.file_size')"}


def order_of(by: str, direction: str) -> str:
    """Return an ORDER BY over documents `d` and their names `n`; what has no date or size comes last in either direction.

    By relevance is, where nothing is searched for, by the last change.
    """
    way = "ASC" if direction == "asc" else "DESC"
    if by == "relevance":
        return f"d.updated_at {way}, d.id {way}"
    if by == "name":
        return f"{NAME_KEY}(d.name) {way}, d.id"
    return f"{_KEYS[by]} IS NULL, {_KEYS[by]} {way}, d.id"


def page_sorted(
    question: SearchQuestion, candidates: WeighedCandidates, by: str, direction: str, limit: int, offset: int
) -> list[Candidate]:
    """Like `page_by_relevance`, in another order; results without a date or size come last in either direction."""
    everything = (
        f"SELECT value FROM json_each({question.bind(orjson.dumps(list(candidates.by_id)).decode())})"
    )
    if not candidates.is_exact:
        everything += f" UNION SELECT d.id {TEXTS} AND {question.where_sql} UNION SELECT d.id {NAMES} AND {question.where_sql}"
    rows = question.rows(
        f"SELECT d.id FROM {documents} d LEFT JOIN {names} n ON n.document_id = d.id WHERE d.id IN ({everything}) "
        f"ORDER BY {order_of(by, direction)} LIMIT :limit OFFSET :skip",
        words=candidates.words,
        names=candidates.names,
        limit=limit,
        skip=offset,
    )
    return [candidates.by_id.get(row[0]) or Candidate(row[0], by_text=True) for row in rows]
