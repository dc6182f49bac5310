"""The dates that a search asks for."""

from __future__ import annotations

from armarium_documents.api import Span, asks_backwards, span_asked
from armarium_search.errors import bad_date, ends_first


def require_span(written: str) -> Span:
    """Return the days that a date of a question may mean; Invalid if it is not a date, or ends before it begins."""
    span = span_asked(written)
    if span is None:
        raise (ends_first if asks_backwards(written) else bad_date)(written)
    return span
