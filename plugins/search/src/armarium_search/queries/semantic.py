"""Similarity: pages whose passages are similar to a query, if passages have vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from armarium_search.queries.question_sql import SearchQuestion
from armarium_search.vectors.searching import NO_VECTORS, nearest, state_of

MOST_PAGES = 200
"""How many pages similarity may add to the results."""


@dataclass
class Likeness:
    """Pages by the similarity of their best passage, None if there are no vectors; and the state of the
    vectors searched.
    """

    pages: dict[str, float] | None
    state: dict[str, Any]


def likeness_of(question: SearchQuestion) -> Likeness:
    """Return the pages most similar to the words of the query, at or above the requested similarity."""
    state = state_of(question.library, question.conn)
    words = " ".join(term.written for term in question.parsed.required_terms)
    if state["embedder"] is None:
        return Likeness(None, {**state, "notice": NO_VECTORS})
    if question.params.why_no_vector is not None:
        state["notice"] = question.params.why_no_vector
    pages = nearest(question.library, question.engine, question.conn, words, question.params, MOST_PAGES)
    return Likeness(pages, state)
