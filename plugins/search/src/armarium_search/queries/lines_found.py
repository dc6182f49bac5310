"""The lines of the pages of a document in which a query's words stand, and the words that begin in a way: for search within a document."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, dropwhile, islice
from typing import NamedTuple

import orjson
from sqlalchemy import Connection

from armarium.api import Engine, Library, words_of
from armarium_documents.api import pages_among, walk_pages
from armarium_search.contributions import scopes_of
from armarium_search.errors import no_such_page
from armarium_search.language import ParsedQuery, Term, parse
from armarium_search.matching import FoldedPassage, expression, matches
from armarium_search.models import text_index
from armarium_search.queries.candidates import standing, visible_text
from armarium_search.queries.excerpts import found_words, ranges_of, texts_of_pages
from armarium_search.queries.question_sql import SearchQuestion, ask
from armarium_search.schemas import SearchParams
from armarium_source_model.api import page_texts

MOST_PAGES_OF_TERMS = 1_000
"""On how many pages terms are counted."""
FIRST_PAGES = 500
"""How many pages are looked through first; four times as many after that, and so on."""
RARE = 20
"""Words on fewer than one of so many pages are rare."""
FEW = 2_000
"""From up to so many pages with the words it is quicker to walk up than to walk through the whole document."""
AT_A_TIME = 200
"""Of how many pages it is checked at a time whether they may be a result."""
MOST_TERMS = 100
"""How many terms are returned: the most frequent."""


class LineFound(NamedTuple):
    """A line with words of the query: the characters from one number up to the other of each."""

    document_id: str
    segment_id: str
    text: str
    ranges: tuple[tuple[int, int], ...]


def lines_found(
    conn: Connection,
    engine: Engine,
    library: Library,
    query: str,
    document_id: str,
    *,
    after: str | None = None,
    most: int,
) -> tuple[list[LineFound], str | None]:
    """Return the lines with words of *query* on the pages of a document, or on it, in reading order: on at most *most* pages,
    from the one after *after* on. Also the page after which there are more, if there are. Invalid for an *after* that is not
    one of the pages.
    """
    if after is not None and not pages_among(conn, document_id, [after]):
        raise no_such_page("after")
    parsed = parse(query, scopes_of(engine))
    question = ask(conn, engine, library, SearchParams(query=query, search_type="fulltext"), parsed)
    pages = list(islice(_pages_with(question, document_id, after), most + 1))
    texts = texts_of_pages(question, pages[:most])
    lines = [
        LineFound(
            page, text.segment_ids[number], text.lines[number], tuple(ranges_of(text.lines[number], words))
        )
        for page in pages[:most]
        if (text := texts.get(page)) is not None
        for number, words in sorted(found_words(text, parsed.terms).items())
    ]
    return lines, pages[most - 1] if len(pages) > most else None


def terms_found(
    conn: Connection, engine: Engine, library: Library, beginning: str, document_id: str, least: int
) -> list[tuple[str, int]]:
    """Return the folded terms on the pages of a document, or on it, that begin as *beginning* does and occur *least* times, each with how often, by the
    alphabet. Of several words the last is the one that is continued.
    """
    words = tuple(words_of(beginning))
    if not words:
        return []
    parsed = ParsedQuery((Term(beginning, ((words, 1.0),), is_prefix=True),), is_empty=False)
    question = ask(conn, engine, library, SearchParams(query=beginning, search_type="fulltext"), parsed)
    pages = list(islice(_pages_of(conn, document_id), MOST_PAGES_OF_TERMS + 1))
    if len(pages) <= MOST_PAGES_OF_TERMS:
        # Reading them all is quicker than having the index gather every word that begins so, on all pages of the project.
        standing_pages = standing(question, pages)
    else:
        standing_pages = list(islice(_pages_with(question, document_id), MOST_PAGES_OF_TERMS))
    partial = question.partial or frozenset()
    rows = question.rows(
        f"SELECT words FROM {page_texts} WHERE document_id IN (SELECT value FROM json_each(:ids))",
        ids=orjson.dumps([page for page in standing_pages if page not in partial]).decode(),
    )
    texts = [row[0] for row in rows] + [
        visible_text(question, page)[1][0] for page in standing_pages if page in partial
    ]
    sought = re.compile(f" ({re.escape(' '.join(words))}\\S*)")
    counts = Counter(term for text in texts for term in sought.findall(f" {text}"))
    return sorted((term, often) for term, often in counts.most_common(MOST_TERMS) if often >= least)


def _pages_of(conn: Connection, document_id: str) -> Iterator[str]:
    """Yield the pages of a document, as far as they are asked for; itself if it has none."""
    pages = walk_pages(conn, document_id)
    return chain([next(pages, document_id)], pages)


def _pages_with(question: SearchQuestion, document_id: str, after: str | None = None) -> Iterator[str]:
    """Yield those pages of a document that the question finds by their text, in reading order, from the one after *after* on;
    of a page of which the caller sees a part, that part is matched when its turn comes.
    """
    if not question.parsed.required_terms:
        return
    pages: Iterator[str] = _pages_of(question.conn, document_id)
    if after is not None:
        pages = islice(dropwhile(lambda page: page != after, pages), 1, None)
    partial = question.partial or frozenset()
    looked_at, often, size = 0, 0, FIRST_PAGES
    everywhere: set[str] | None = None
    while batch := list(islice(pages, size)):
        whole = _with_words(question, batch) if everywhere is None else everywhere
        matching = [page for page in batch if page in whole or page in partial]
        yield from _filter_pages(question, matching)
        looked_at, often, size = looked_at + len(batch), often + len(matching), size * 4
        # Words that are common on the first pages are found on the next ones; rare ones are asked of the whole index at once.
        if everywhere is None and often * RARE < looked_at and len(batch) == size // 4:
            everywhere = _with_words(question, None)
            if len(everywhere | partial) <= FEW:
                last = batch[-1]
                among = pages_among(question.conn, document_id, [*(everywhere | partial | {last})])
                yield from _filter_pages(question, among[among.index(last) + 1 :])
                return


def _filter_pages(question: SearchQuestion, page_ids: Sequence[str]) -> Iterator[str]:
    """Yield those pages found by the index, or of which the caller sees a part, that may be a result, in their order."""
    partial = question.partial or frozenset()
    for start in range(0, len(page_ids), AT_A_TIME):
        batch = page_ids[start : start + AT_A_TIME]
        able = set(standing(question, batch))
        for page in batch:
            if page in able and (
                page not in partial
                or matches(question.parsed.terms, FoldedPassage(*visible_text(question, page)[1]))
            ):
                yield page


def _with_words(question: SearchQuestion, pages: Sequence[str] | None) -> set[str]:
    """Return those of *pages* with the words of the question according to the index; None: of all pages."""
    words = expression(question.parsed.required_terms)
    if pages is None:
        rows = question.rows(
            f"SELECT document_id FROM {page_texts} WHERE number IN"
            f" (SELECT rowid FROM {text_index} WHERE {text_index} MATCH :words)",
            words=words,
        )
        return {row[0] for row in rows}
    numbers = dict(
        question.rows(
            f"SELECT number, document_id FROM {page_texts} WHERE document_id IN (SELECT value FROM json_each(:ids))",
            ids=orjson.dumps(list(pages)).decode(),
        )
    )
    rows = question.rows(
        f"SELECT rowid FROM {text_index} WHERE {text_index} MATCH :words AND rowid BETWEEN :first AND :last",
        words=words,
        first=min(numbers, default=0),
        last=max(numbers, default=0),
    )
    return {numbers[row[0]] for row in rows if row[0] in numbers}
