"""Letterforms, allographs, and the features in which letterforms are described."""

from __future__ import annotations

from typing import Annotated, Any
from unicodedata import normalize

from fastapi import Query
from sqlalchemy import ColumnElement, Connection, func, select, true

from armarium.api import by_name, query
from armarium_paleography.errors import nothing_asked
from armarium_paleography.queries.hands import HANDS
from armarium_paleography.queries.live_segments import Limit, Offset, list_rows, live, live_ids, stands
from armarium_paleography.records.marks import (
    Allograph,
    Allographs,
    Features,
    Letterform,
    Letterforms,
    SegmentLetterform,
    allographs,
    letterforms,
)

ALLOGRAPHS = Allograph.rows
LETTERFORMS = Letterform.rows

Character = Annotated[str | None, Query(min_length=1, max_length=80)]


def marks_asked(
    conn: Connection, character: str | None, allograph_id: str | None, hand_id: str | None
) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions on the live letterforms asked for. Raises Invalid if nothing is named, NotFound
    for an unknown id.
    """
    if character is None and allograph_id is None and hand_id is None:
        raise nothing_asked()
    where: list[ColumnElement[bool]] = [live(letterforms), stands(letterforms)]
    if character is not None:
        # Earlier versions stored it as it was typed.
        where.append(letterforms.c.character.in_({normalize(form, character) for form in ("NFC", "NFD")}))
    if allograph_id is not None:
        ALLOGRAPHS.require(conn, allograph_id)
        where.append(letterforms.c.allograph_id == allograph_id)
    if hand_id is not None:
        HANDS.require(conn, hand_id)
        where.append(letterforms.c.hand_id == hand_id)
    return tuple(where)


@query("/api/letterforms", summary="Every mark of a character, an allograph or a hand", answer=Letterforms)
def list_letterforms(
    conn: Connection,
    character: Character = None,
    allograph_id: str | None = None,
    hand_id: str | None = None,
    limit: Limit = None,
    offset: Offset = 0,
) -> dict[str, Any]:
    """The live marks that match everything named, the oldest first; at least one of the three must be named."""
    conditions = marks_asked(conn, character, allograph_id, hand_id)
    return list_rows(LETTERFORMS, conn, *conditions, order=(letterforms.c.id,), limit=limit, offset=offset)


@query("/api/letterforms/allographs", summary="The allographs of the project", answer=Allographs, refusals=())
def list_allographs(conn: Connection) -> dict[str, Any]:
    """The live allographs, ordered by character and name."""
    ordered = (allographs.c.character, by_name(allographs.c.name), allographs.c.id)
    return ALLOGRAPHS.list_all(conn, live(allographs), order=ordered)


@query("/api/letterforms/features", summary="The features in use", answer=Features, refusals=())
def list_features(conn: Connection) -> dict[str, Any]:
    """Each component with each of its features, the most frequent first."""
    features = func.json_each(letterforms.c.features).table_valued("value").alias("said")
    component = func.json_extract(features.c.value, "$.component").label("component")
    feature = func.json_extract(features.c.value, "$.feature").label("feature")
    counted = func.count().label("count")
    query = (
        select(component, feature, counted)
        .select_from(letterforms.join(features, true()))
        .where(live(letterforms), stands(letterforms))
        .group_by(component, feature)
        .order_by(counted.desc(), component, feature)
    )
    items = [dict(row._mapping) for row in conn.execute(query)]
    return {"items": items, "count": len(items)}


@query(
    "/api/letterforms/segment/{segment_id}", summary="The letterform of a segment", answer=SegmentLetterform
)
def letterform_of_segment(conn: Connection, segment_id: str) -> dict[str, Any]:
    """Null if it is not described. For a merged segment, that of the segment it became."""
    described = next(
        (row for identity in live_ids(conn, segment_id) if (row := description(conn, identity))), None
    )
    return {"segment_id": segment_id, "letterform": described}


def description(conn: Connection, segment_id: str) -> dict[str, Any] | None:
    """Return the live description of a segment."""
    where = (letterforms.c.segment_id == segment_id, live(letterforms))
    return next(iter(LETTERFORMS.all(conn, *where, order=(letterforms.c.id,))), None)
