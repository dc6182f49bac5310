"""Where the letters of readings stand, as their readers said."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Connection, Row, select

from armarium.api import is_among
from armarium_source_model.letters import LetterPlaces, unpacked_places
from armarium_source_model.models import letter_places
from armarium_source_model.queries.segments import SegmentRow


class StoredPlaces(NamedTuple):
    """Places in fractions of a picture, how well text and ink agree, and the mark of the shape that was read."""

    places: LetterPlaces
    rendition_id: str | None
    fit: float | None
    shape: str


def stored_places(conn: Connection, representation_ids: Iterable[str]) -> dict[str, StoredPlaces]:
    """Return the places of the letters of readings, by the reading's id; those of which nothing is said are left out."""
    table = letter_places
    rows = conn.execute(select(table).where(is_among(table.c.representation_id, list(representation_ids))))
    return {row.representation_id: _places_in(row) for row in rows}


def _places_in(row: Row[Any]) -> StoredPlaces:
    return StoredPlaces(unpacked_places(row.frame, row.places), row.rendition_id, row.fit, row.shape)


def shape_mark(anchor: Mapping[str, object], baseline: Sequence[object] | None) -> str:
    """Return a checksum of the shape of a segment."""
    shape = [anchor.get("rect"), anchor.get("polygon"), baseline]
    return f"{zlib.crc32(orjson.dumps(shape)):08x}"


def is_as_read(row: SegmentRow | Row[Any], stored: StoredPlaces) -> bool:
    """Return whether a segment has the shape in which it was read."""
    return shape_mark(row.anchor, row.baseline) == stored.shape
