"""A date as people write it, in the form in which entities and statements keep it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from sqlalchemy import Connection

from armarium.api import query
from armarium_documents.api import ReadDate, read_date
from armarium_knowledge.records.entities import DateRead


@query("/api/dates/read", summary="When a date was that is written in words", answer=DateRead, refusals=())
def read_written_date(
    conn: Connection,
    text: Annotated[str, Query(min_length=1, max_length=300)],
    language: Annotated[str | None, Query(max_length=64, description="A BCP 47 tag")] = None,
    country: Annotated[
        str | None, Query(max_length=40, description="ISO 3166: which calendar was in force there")
    ] = None,
) -> dict[str, Any]:
    """In the Gregorian calendar, where the day is known; null for what is not a date. Nothing is stored."""
    read = read_date(text, language=language, country=country)
    return {"date": None if read is None else date_value(read)}


def date_value(read: ReadDate) -> dict[str, Any]:
    """Return a date that was read in the form entities store: when it was in the Gregorian calendar."""
    start, _, end = read.gregorian.partition("/")
    return {
        "as_written": read.as_written,
        "iso_start": start if start and start != ".." else None,
        "iso_end": end if end and end != ".." else None,
        "precision": read.precision,
        "calendar": read.calendar,
    }
