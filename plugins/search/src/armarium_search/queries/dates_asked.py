"""The dates that a search asks for."""

from __future__ import annotations

from armarium_documents.api import Span, span_asked
from armarium_search.errors import bad_date


def require_span(written: str) -> Span:
    """Return the days that a date of a question may mean; Invalid if it is not a date."""
    span = span_asked(written)
    if span is None:
        raise bad_date(written)
    return span
