"""Mentions of persons, places and organisations as marks of the texts of an exported page, with their authority links."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection

from armarium.api import is_among
from armarium_formats.api import Loss, MarkWords, PageModel, PageSegment, TextMark, as_losses, identifier_of
from armarium_knowledge.placing import PagePlaces, Place, places_of
from armarium_knowledge.queries.entities import survivor_of
from armarium_knowledge.records.entities import Entity
from armarium_knowledge.records.mentions import Mention, mentions
from armarium_knowledge.tagged_names import TYPES
from armarium_source_model.api import NAMES, segments

_KINDS = {TYPES[kind]: kind for kind in NAMES}
"""The kind of mark that names an entity of each type."""


def mark_names(
    conn: Connection, page: PageModel, segments: Mapping[str, PageSegment], reading_ids: Mapping[str, str]
) -> list[Loss]:
    """Add the names that were found or marked in the project; names that the file itself tags are there already. Nothing
    is added to a pass by which the page is not read.
    """
    rows = _named_here(conn, segments)
    places = PagePlaces(conn, rows[0]["document_id"]) if rows else None
    if places is None or not any(line.segment_id in segments for line in places.lines):
        return []
    lost: Counter[tuple[str | MarkWords, str]] = Counter()
    tags = _Tags(segments)
    placed = [
        (row, place if isinstance(place, Place) and place.segment_id in segments else None)
        for row, place in zip(rows, places_of(places, rows), strict=True)
    ]
    # A tag is first of all that of a mention on its words.
    for row, place in sorted(placed, key=lambda pair: pair[1] is None):
        entity = Entity.rows.get(conn, survivor_of(conn, row["entity_id"]))
        kind = _KINDS.get(entity["entity_type"]) if entity is not None else None
        if entity is None or kind is None or entity["curation_state"] == "rejected":
            continue
        name = MarkWords(kind, row["text"])
        if tags.say(name, place, row["provenance_kind"]):
            continue
        if place is None:
            lost[name, "their words are no longer in the text of the page"] += 1
        elif reading_ids.get(place.segment_id) != place.representation_id:
            lost[name, "they name characters of a reading that is not in the file"] += 1
        else:
            text = segments[place.segment_id].texts[0]
            mark = TextMark(kind, place.line_start, place.line_end, _describe_link(entity["authority_links"]))
            text.marks = [*text.marks, mark]
            # A second mention on the same words, as of a name that was merged, says nothing more in a file.
            tags.places[place.segment_id, kind, place.line_start, place.line_end] += 1
    return as_losses(lost)


class _Tags:
    """The names that the imported file tags: their mentions are not written beside them."""

    def __init__(self, segments: Mapping[str, PageSegment]) -> None:
        self.places: Counter[tuple[str, str, int, int]] = Counter()
        self._names: Counter[MarkWords] = Counter()
        for segment_id, segment in segments.items():
            for text in segment.texts[:1]:
                for mark in text.marks:
                    start, end = mark.span_in(text.text)
                    self.places[segment_id, mark.kind, start, end] += 1
                    self._names[MarkWords(mark.kind, text.text[start:end])] += 1

    def say(self, name: MarkWords, place: Place | None, provenance: str) -> bool:
        """Return whether a tag says what this mention does: there or, of one that a file tags, elsewhere on the page."""
        here = (
            place is not None
            and self.places[place.segment_id, name.kind, place.line_start, place.line_end] > 0
        )
        if here or (provenance == "external_import" and self._names[name] > 0):
            self._names[name] -= 1
            return True
        return False


def _named_here(conn: Connection, segments_by_id: Mapping[str, PageSegment]) -> list[dict[str, Any]]:
    """Return the mentions on the page of these segments, those of other passes included."""
    of_page = conn.execute(
        segments.select()
        .with_only_columns(segments.c.document_id)
        .where(is_among(segments.c.id, list(segments_by_id)[:1]))
    ).scalar()
    return Mention.rows.all(
        conn, mentions.c.document_id == of_page, order=(mentions.c.created_at, mentions.c.id)
    )


def _describe_link(links: list[dict[str, Any]]) -> dict[str, str]:
    """Return the first address by which an authority file identifies the entity."""
    for link in links:
        identifiers = {"ref": link.get("uri") or "", link["authority"]: link["authority_id"]}
        if (address := identifier_of(identifiers)) is not None:
            return {"ref": address}
    return {}
