"""What other families ask of the index: all documents that a query finds, and the pages with a word."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import Connection

from armarium.api import Engine, Library, raw_of
from armarium_documents.api import documents
from armarium_search.contributions import scopes_of
from armarium_search.language import parse
from armarium_search.models import text_index
from armarium_search.queries.candidates import find
from armarium_search.queries.one_page import page_by_relevance
from armarium_search.queries.question_sql import SEARCHED, ask
from armarium_search.schemas import SearchParams
from armarium_source_model.api import page_texts

ALL = 10**9


def select_by_query(
    engine: Engine, library: Library, conn: Connection, by: str, value: str
) -> Collection[str] | None:
    """Return the documents that a query finds by its words and scopes; None where it is not asked by a query."""
    if by != "query":
        return None
    params = SearchParams(query=value, search_type="fulltext")
    question = ask(conn, engine, library, params, parse(value, scopes_of(engine)))
    return [
        candidate.document_id for candidate in page_by_relevance(question, find(question, None, ()), ALL, 0)
    ]


def pages_with(conn: Connection, words: Sequence[str], most: int) -> Mapping[str, Sequence[str]]:
    """Return, of the folded *words*, those that stand on a page, each with at most *most* of its pages."""
    sql = (
        f"SELECT p.document_id FROM {text_index} CROSS JOIN {page_texts} p ON p.number = {text_index}.rowid "
        f"CROSS JOIN {documents} d ON d.id = p.document_id WHERE {text_index} MATCH ? AND {SEARCHED} LIMIT ?"
    )
    raw = raw_of(conn)
    pages_by_word = {
        word: [row[0] for row in raw.execute(sql, (f'"{word}"', most))] for word in words if '"' not in word
    }
    return {word: pages for word, pages in pages_by_word.items() if pages}
