"""The lines of given pages in which a query's words stand, and the words that begin in a way: for search within a document."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import orjson
from sqlalchemy import Connection

from armarium.api import Engine, Library
from armarium_search.contributions import scopes_of
from armarium_search.language import ParsedQuery, Term, parse
from armarium_search.matching import FoldedPassage, expression, matches
from armarium_search.models import text_index
from armarium_search.queries.candidates import standing, visible_text
from armarium_search.queries.excerpts import found_words, ranges_of, texts_of_pages
from armarium_search.queries.question_sql import SearchQuestion, ask
from armarium_search.schemas import SearchParams
from armarium_source_model.api import page_texts, words_of

MOST_PAGES_OF_TERMS = 1_000
"""On how many pages terms are counted."""
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
    pages: Sequence[str],
    *,
    after: str | None = None,
    most: int,
) -> tuple[list[LineFound], str | None]:
    """Return the lines with words of *query* on those of *pages* that it finds, in that order: on at most *most* pages,
    from the one after *after* on. Also the page after which there are more, if there are.
    """
    parsed = parse(query, scopes_of(engine))
    asked = ask(conn, engine, library, SearchParams(query=query, search_type="fulltext"), parsed)
    left = pages[pages.index(after) + 1 :] if after in pages else pages
    found = list(islice(_pages_with(asked, left), most + 1))
    texts = texts_of_pages(asked, found[:most])
    lines = [
        LineFound(
            page, text.segment_ids[number], text.lines[number], tuple(ranges_of(text.lines[number], words))
        )
        for page in found[:most]
        if (text := texts.get(page)) is not None
        for number, words in sorted(found_words(text, parsed.terms).items())
    ]
    return lines, found[most - 1] if len(found) > most else None


def terms_found(
    conn: Connection, engine: Engine, library: Library, beginning: str, pages: Sequence[str], least: int
) -> list[tuple[str, int]]:
    """Return the folded terms on *pages* that begin as *beginning* does and occur *least* times, each with how often, by the
    alphabet. Of several words the last is the one that is continued.
    """
    words = tuple(words_of(beginning))
    if not words:
        return []
    parsed = ParsedQuery((Term(beginning, ((words, 1.0),), is_prefix=True),), is_empty=False)
    asked = ask(conn, engine, library, SearchParams(query=beginning, search_type="fulltext"), parsed)
    if len(pages) <= MOST_PAGES_OF_TERMS:
        # Reading them all is quicker than having the index gather every word that begins so, on all pages of the project.
        some = standing(asked, pages)
    else:
        some = list(islice(_pages_with(asked, pages), MOST_PAGES_OF_TERMS))
    partial = asked.partial or frozenset()
    rows = asked.rows(
        f"SELECT words FROM {page_texts} WHERE document_id IN (SELECT value FROM json_each(:ids))",
        ids=orjson.dumps([page for page in some if page not in partial]).decode(),
    )
    texts = [row[0] for row in rows] + [visible_text(asked, page)[1][0] for page in some if page in partial]
    sought = re.compile(f" ({re.escape(' '.join(words))}\\S*)")
    counts = Counter(term for text in texts for term in sought.findall(f" {text}"))
    return sorted((term, often) for term, often in counts.most_common(MOST_TERMS) if often >= least)


def _pages_with(asked: SearchQuestion, pages: Sequence[str]) -> Iterator[str]:
    """Yield those of *pages* that the question finds by their text, in their order; of a page of which the caller sees a part,
    that part is matched when its turn comes.
    """
    if not asked.parsed.required_terms or not pages:
        return
    numbers = dict(
        asked.rows(
            f"SELECT number, document_id FROM {page_texts} WHERE document_id IN (SELECT value FROM json_each(:ids))",
            ids=orjson.dumps(list(pages)).decode(),
        )
    )
    rows = asked.rows(
        f"SELECT rowid FROM {text_index} WHERE {text_index} MATCH :words AND rowid BETWEEN :first AND :last",
        words=expression(asked.parsed.required_terms),
        first=min(numbers, default=0),
        last=max(numbers, default=0),
    )
    whole = {numbers[row[0]] for row in rows if row[0] in numbers}
    partial = (asked.partial or frozenset()).intersection(pages)
    found = [page for page in pages if page in whole or page in partial]
    for at in range(0, len(found), AT_A_TIME):
        some = found[at : at + AT_A_TIME]
        able = set(standing(asked, some))
        for page in some:
            if page in able and (
                page not in partial
                or matches(asked.parsed.terms, FoldedPassage(*visible_text(asked, page)[1]))
            ):
                yield page
