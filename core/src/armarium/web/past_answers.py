"""Answers of a past moment: the parameter `as_of`, what it may show its caller, and the headers that name the moment."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any

from fastapi import Query as Asked

from armarium.actions.query import AsOf
from armarium.errors import Forbidden
from armarium.history.as_of import places_of
from armarium.history.moments import LONGEST, Moment, reading_as_of
from armarium.principals import caller
from armarium.projects.libraries import Library
from armarium.store.database import raw_of

STEP_HEADER, DIGEST_HEADER = "X-Service-As-Of", "X-Service-As-Of-Digest"

AskedAsOf = Annotated[
    str | None,
    Asked(
        max_length=LONGEST,
        description="A past moment to answer of: the id of a step, or a time (of which the last step until then counts). "
        "Rights are those of now.",
    ),
]
_part_restricted = Forbidden.saying(
    "rights_restricted",
    "A part of this page is restricted now, so its past is not shown: what is restricted may have stood elsewhere on it.",
)


@contextmanager
def past_answer(
    library: Library, asked: str, reads: AsOf, params: Mapping[str, Any]
) -> Iterator[dict[str, str]]:
    """Let `library.db.read()` show the moment *asked* of what *reads* names among *params*; yield the headers."""
    with reading_past(library, asked, _documents(library, reads, params)) as moment:
        yield {STEP_HEADER: moment.audit_id, DIGEST_HEADER: moment.digest}


@contextmanager
def reading_past(
    library: Library, asked: str | Moment, documents: Collection[str] | None
) -> Iterator[Moment]:
    """Like `reading_as_of`; refused to a caller who may see only a part of a page among *documents*."""
    asks, visibility = caller(), library.db.visibility
    if asks is not None and visibility is not None and documents is not None:
        visibility.refuse(asks.principal, documents)
        if visibility.shows_part_itself(asks.principal, documents):
            raise _part_restricted()
    with reading_as_of(library.db, asked, documents) as moment:
        yield moment


def _documents(library: Library, reads: AsOf, params: Mapping[str, Any]) -> list[str] | None:
    if reads.parameter is None:
        return None
    moment_name = params.get(reads.parameter)
    ids = [moment_name] if isinstance(moment_name, str) else list(moment_name or ())
    if reads.table is None:
        return ids
    with library.db.read() as conn:
        return places_of(raw_of(conn), reads.table, ids)
