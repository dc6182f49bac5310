"""Likeness: pages whose passages are like a query, where passages were given vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from armarium_search.queries.question_sql import SearchQuestion
from armarium_search.vectors.searching import NO_VECTORS, nearest, state_of

MOST_PAGES = 200
"""Pages that likeness may add to what is found."""


@dataclass
class Likeness:
    """Pages by the likeness of their best passage, None where there are no vectors; and in what was searched."""

    pages: dict[str, float] | None
    state: dict[str, Any]


def likeness_of(asked: SearchQuestion) -> Likeness:
    """The pages most like the words of the query that are at least as like as asked for."""
    state = state_of(asked.library, asked.conn)
    words = " ".join(term.written for term in asked.parsed.required_terms)
    if state["embedder"] is None:
        return Likeness(None, {**state, "notice": NO_VECTORS})
    if asked.params.why_no_vector is not None:
        state["notice"] = asked.params.why_no_vector
    pages = nearest(asked.library, asked.engine, asked.conn, words, asked.params, MOST_PAGES)
    return Likeness(pages, state)
