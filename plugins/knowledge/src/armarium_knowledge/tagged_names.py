"""The persons, places, organisations and dates that the file of a page tags, where their words are now."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import Connection

from armarium_documents.api import check_date
from armarium_formats.api import identifier_of
from armarium_knowledge.placing import Line, PagePlaces
from armarium_source_model.api import NAMES, Mark, placed_marks

TYPES = {"person": "person", "place": "location", "organization": "organization", "date": "event"}
_AUTHORITIES = {
    "www.wikidata.org": "wikidata",
    "wikidata.org": "wikidata",
    "viaf.org": "viaf",
    "d-nb.info": "gnd",
}
_AUTHORITIES |= {"sws.geonames.org": "geonames", "www.geonames.org": "geonames"}
LONGEST = 500


def tagged_on_page(conn: Connection, places: PagePlaces) -> list[dict[str, Any]]:
    """Return the tagged names on the text of a page, for `mention.take`; parts of one name over several lines bear
    all of it.
    """
    if places.pass_id is None:
        return []
    placed = placed_marks(conn, places.pass_id, {line.segment_id: line.text for line in places.lines})
    marked_names = [
        (line, mark)
        for line in places.lines
        for mark in sorted(placed.by_segment.get(line.segment_id, ()), key=lambda mark: mark.start)
        if mark.kind in TYPES and mark.start < mark.end
    ]
    return [_describe_name(parts, line, mark) for parts in _whole_names(marked_names) for line, mark in parts]


Parts = list[tuple[Line, Mark]]


def _whole_names(marked_names: Sequence[tuple[Line, Mark]]) -> list[Parts]:
    """Group the parts of names that go on over the ends of lines."""
    names: list[Parts] = []
    for line, mark in marked_names:
        before, last = names[-1][-1] if names else (None, None)
        goes_on = mark.stated.get("continued") == "true" and mark.start == 0
        if (
            goes_on
            and last is not None
            and before is not None
            and last.kind == mark.kind
            and last.stated.get("continued") == "true"
            and last.end == len(before.text.rstrip())
        ):
            names[-1].append((line, mark))
        else:
            names.append([(line, mark)])
    return names


def _describe_name(parts: Parts, line: Line, mark: Mark) -> dict[str, Any]:
    words = " ".join(" ".join(part_line.text[part.start : part.end] for part_line, part in parts).split())
    attributes = mark.stated
    called = " ".join(
        " ".join(filter(None, (attributes.get("firstname"), attributes.get("lastname")))).split()
    )
    uri = identifier_of(attributes) if mark.kind in NAMES else None
    return {
        "segment_id": line.segment_id,
        "representation_id": line.representation_id,
        "char_start": mark.start,
        "char_end": mark.end,
        "canonical_name": (called if mark.kind == "person" and called else words)[:LONGEST],
        "entity_type": TYPES[mark.kind],
        "date_values": _read_dates(words, attributes) if mark.kind == "date" else [],
        "authority_links": [_make_link(uri)] if uri and re.fullmatch(r"\S{1,2000}", uri) else [],
    }


def _make_link(uri: str) -> dict[str, str]:
    parts = urlsplit(uri)
    host = parts.hostname or "address"
    identity = parts.path.rstrip("/").rpartition("/")[2] or uri
    return {"authority": _AUTHORITIES.get(host, host), "authority_id": identity[:LONGEST], "uri": uri}


def _read_dates(words: str, attributes: Mapping[str, str]) -> list[dict[str, Any]]:
    start = attributes.get("when") or attributes.get("from") or attributes.get("notBefore")
    end = attributes.get("to") or attributes.get("notAfter")
    try:
        ends = {key: check_date(value) for key, value in (("iso_start", start), ("iso_end", end)) if value}
    except ValueError:
        return []
    precision = {4: "year", 7: "month", 10: "day"}.get(len(start or ""), "unknown")
    return [{"as_written": words[:LONGEST], "precision": precision, **ends}] if ends else []
