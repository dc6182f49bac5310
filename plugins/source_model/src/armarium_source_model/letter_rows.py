"""Writes where the letters of readings stand, beside the readings; called within an action."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import select

from armarium.api import ActionContext, graphemes, is_among, json_text
from armarium_source_model.errors import places_of_other_text
from armarium_source_model.models import letter_places, segments
from armarium_source_model.queries.letters import shape_mark
from armarium_source_model.schemas.readings import PlacesIn


class PlacedReading(NamedTuple):
    """A reading that was added, and where its letters stand."""

    representation_id: str
    segment_id: str
    document_id: str
    text: str
    places: PlacesIn


def add_places(ctx: ActionContext, placed: Sequence[PlacedReading]) -> None:
    """Store places of letters; Invalid if there are more or fewer of them than their text has letters."""
    if not placed:
        return
    query = select(segments.c.id, segments.c.anchor, segments.c.baseline)
    is_of_reading = is_among(segments.c.id, [reading.segment_id for reading in placed])
    shapes = {
        row.id: shape_mark(row.anchor, row.baseline) for row in ctx.conn.execute(query.where(is_of_reading))
    }
    rows = []
    for reading in placed:
        fields = reading.places.model_dump(mode="json")
        if len(fields["letters"]) != 5 * len(graphemes(reading.text)):
            raise places_of_other_text(reading.segment_id)
        places = json_text({"letters": fields["letters"], "others": fields["others"]})
        frame, shape = json_text(fields["frame"]), shapes[reading.segment_id]
        row = (
            reading.representation_id,
            reading.document_id,
            fields["rendition_id"],
            frame,
            places,
            fields["fit"],
            shape,
        )
        rows.append(row)
    ctx.bulk_insert(letter_places, tuple(letter_places.c.keys()), rows)
