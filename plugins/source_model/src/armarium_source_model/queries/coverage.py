"""How far pages are: their lines, which of them are read, who stands behind each, and what is ground truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import Query
from sqlalchemy import Connection, select

from armarium.api import Engine, json_text, query, raw_of
from armarium_documents.api import documents, pages_under, sibling_order, thumbnails
from armarium_source_model.errors import ids_or_folder
from armarium_source_model.makers import line_makers, sum_makers
from armarium_source_model.queries.passes import reading_rule, working_passes
from armarium_source_model.queries.readings import CountingText, counting_of_segments
from armarium_source_model.schemas.readings import Coverage

_KNOWN = f"""
SELECT d.id, d.name, EXISTS (SELECT 1 FROM {thumbnails} t WHERE t.document_id = d.id)
FROM json_each(?) j JOIN {documents} d ON d.id = j.value ORDER BY j.key
"""
_LINES = """
SELECT s.document_id, s.id, p.ground_truth FROM json_each(?) j JOIN segment_pass p ON p.id = j.value
JOIN segment s ON s.pass_id = p.id AND s.kind = 'line' AND s.deleted_at IS NULL
"""
_WORDS = """
SELECT s.parent_segment_id, s.id FROM json_each(?) j JOIN segment s ON s.parent_segment_id = j.value
WHERE s.kind = 'word' AND s.deleted_at IS NULL
"""


@query(
    "/api/segments/coverage",
    summary="How far pages are: lines, who made or read them, ground truth",
    answer=Coverage,
    refusals=(404, 422),
    name="read_coverage",
)
def coverage(
    conn: Connection,
    engine: Engine,
    ids: Annotated[
        list[str] | None, Query(max_length=500, description="these pages; unknown ids are left out")
    ] = None,
    parent_id: Annotated[str | None, Query(description="the pages at and below this folder")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 500,
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
) -> dict[str, Any]:
    """Report *ids*, or page by page those at and below *parent_id*, or those of the project; always of the working pass."""
    if ids is not None and parent_id is not None:
        raise ids_or_folder(parent_id)
    if ids is not None:
        # SQLite ends a text in JSON at a null character: no id contains one.
        pages = list(_names(conn, [page_id for page_id in dict.fromkeys(ids) if "\0" not in page_id]))
    else:
        pages = pages_under(conn, _tops(conn) if parent_id is None else [parent_id])
    listed = _names(conn, pages[offset : offset + limit])
    return {
        "items": _cover_pages(conn, engine, listed),
        "count": len(listed),
        "total": len(pages),
        "limit": limit,
        "offset": offset,
    }


def _tops(conn: Connection) -> list[str]:
    document = documents.c
    statement = (
        select(document.id)
        .where(document.parent_id.is_(None), document.deleted_at.is_(None))
        .order_by(*sibling_order())
    )
    return list(conn.execute(statement).scalars())


def _names(conn: Connection, pages: Sequence[str]) -> dict[str, tuple[str, bool]]:
    """Return the name of each of *pages* that there is, and whether it has a thumbnail."""
    known = raw_of(conn).execute(_KNOWN, (json_text(list(pages)),))
    return {page: (name, drawn == 1) for page, name, drawn in known}


def _cover_pages(
    conn: Connection, engine: Engine, pages: Mapping[str, tuple[str, bool]]
) -> list[dict[str, Any]]:
    rule = reading_rule(conn)
    read_by = {page: working.pass_id for page, working in working_passes(conn, list(pages), rule).items()}
    pass_ids = json_text([pass_id for pass_id in read_by.values() if pass_id is not None])
    lines: dict[str, list[str]] = {page: [] for page in pages}
    truths = set()
    for page, line, is_truth in raw_of(conn).execute(_LINES, (pass_ids,)):
        lines[page].append(line)
        if is_truth:
            truths.add(page)
    every = [line for each in lines.values() for line in each]
    texts = {
        line: reading
        for line, reading in counting_of_segments(conn, every, rule=rule).items()
        if reading.text.strip()
    }
    makers = line_makers(
        engine, conn, texts | _texts_of_words(conn, [line for line in every if line not in texts])
    )
    return [
        {
            "document_id": page,
            "name": pages[page][0],
            "has_thumbnail": pages[page][1],
            "pass_id": read_by.get(page),
            "lines": len(own),
            "unread": sum(line not in makers for line in own),
            "ground_truth": page in truths,
            "made": sum_makers(makers[line] for line in own if line in makers),
        }
        for page, own in lines.items()
    ]


def _texts_of_words(conn: Connection, lines: Sequence[str]) -> dict[str, CountingText]:
    """Return, for each of *lines* that only its words give a text, that of one of them."""
    line_of = {word: line for line, word in raw_of(conn).execute(_WORDS, (json_text(list(lines)),))}
    counting = counting_of_segments(conn, line_of) if line_of else {}
    return {line_of[word]: reading for word, reading in counting.items() if reading.text.strip()}
