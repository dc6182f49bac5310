"""Mentions of persons, places and organisations as marks of the texts of an exported page, with their authority links."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection

from armarium.api import is_among
from armarium_formats.api import Loss, PageModel, PageSegment, TextMark, identifier_of
from armarium_knowledge.models import mentions
from armarium_knowledge.placing import PagePlaces, Place, places_of
from armarium_knowledge.queries.entities import ENTITIES, survivor_of
from armarium_knowledge.queries.mentions import MENTIONS
from armarium_knowledge.tagged_names import TYPES
from armarium_source_model.api import NAMES, segments

_KINDS = {TYPES[kind]: kind for kind in NAMES}
"""The kind of mark that names an entity of each type."""


def mark_names(
    conn: Connection,
    page: PageModel,
    segments: Mapping[str, PageSegment],
    reading_ids: Mapping[str, str],
) -> list[Loss]:
    """Add the names that were found or marked in the project; names that the file itself tags are there already. Nothing
    is added to a pass by which the page is not read.
    """
    rows = _named_here(conn, segments)
    places = PagePlaces(conn, rows[0]["document_id"]) if rows else None
    if places is None or not any(line.segment_id in segments for line in places.lines):
        return []
    unplaced = other = 0
    for row, place in zip(rows, places_of(places, rows), strict=True):
        entity = ENTITIES.get(conn, survivor_of(conn, row["entity_id"]))
        kind = _KINDS.get(entity["entity_type"]) if entity is not None else None
        if entity is None or kind is None or entity["curation_state"] == "rejected":
            continue
        if not isinstance(place, Place) or place.segment_id not in segments:
            unplaced += 1
        elif reading_ids.get(place.segment_id) != place.representation_id:
            other += 1
        else:
            text = segments[place.segment_id].texts[0]
            span = place.line_start, place.line_end
            if not any((one.kind, *one.span_in(text.text)) == (kind, *span) for one in text.marks):
                text.marks = [
                    *text.marks,
                    TextMark(kind, *span, _describe_link(entity["authority_links"])),
                ]
    found = (
        Loss("names that are mentions", unplaced, "their words are no longer in the text of the page"),
        Loss("names of other readings", other, "they name characters of a reading that is not in the file"),
    )
    return [loss for loss in found if loss.count]


def _named_here(conn: Connection, shown: Mapping[str, PageSegment]) -> list[dict[str, Any]]:
    """Return the mentions on the page of these segments, those of other passes included."""
    of_page = conn.execute(
        segments.select()
        .with_only_columns(segments.c.document_id)
        .where(is_among(segments.c.id, list(shown)[:1]))
    ).scalar()
    return MENTIONS.all(conn, mentions.c.document_id == of_page, order=(mentions.c.created_at, mentions.c.id))


def _describe_link(links: list[dict[str, Any]]) -> dict[str, str]:
    """Return the first address by which an authority file identifies the entity."""
    for link in links:
        given = {"ref": link.get("uri") or "", link["authority"]: link["authority_id"]}
        if (address := identifier_of(given)) is not None:
            return {"ref": address}
    return {}
