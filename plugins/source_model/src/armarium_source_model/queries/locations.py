"""Citable references of segments and the routes that answer them, and the place an id leads to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, select

from armarium.api import (
    AsOf,
    Engine,
    Invalid,
    Library,
    NotFound,
    json_text,
    list_steps,
    moment_read,
    query,
    raw_of,
    reading_past,
    steps_since,
)
from armarium_documents.api import ARTIFACTS, documents, lineage, representations, require_document
from armarium_source_model.errors import citation_without_step, refuse_provisional, unknown_segment
from armarium_source_model.geometry import validate_rect
from armarium_source_model.hookspecs import armarium_source_model_locators
from armarium_source_model.models import reading_choices, segments
from armarium_source_model.queries.forwarding import follow, home_of_taken_back
from armarium_source_model.queries.passes import reading_rule
from armarium_source_model.queries.readings import counting_of_segments
from armarium_source_model.queries.segments import find_segment, get_segment
from armarium_source_model.queries.text import page_text
from armarium_source_model.schemas.joins import LocationOut, LocationRequest, Reference

SCHEME = "service:segment/"


@query(
    "/api/segments/{segment_id}/reference",
    summary="The citation of a segment",
    answer=Reference,
    as_of=AsOf("segment_id", segments),
)
def reference(conn: Connection, library: Library, segment_id: str) -> dict[str, Any]:
    """Return a string to print in a footnote; computed on request, not stored. `dated_reference` also names the step, so
    that it leads to what the segment says now even when it says something else one day.
    """
    refuse_provisional(segment_id)
    row = get_segment(conn, segment_id)
    cited, moment = f"{SCHEME}{library.uuid}/{row.document_id}/{segment_id}", moment_read(library.db, conn)
    return {
        "reference": cited,
        "dated_reference": f"{cited}@{moment.audit_id}",
        "segment_id": segment_id,
        "library_uuid": library.uuid,
        "as_of": moment.answer(),
    }


def _segment_named(library: Library, text: str, document_id: str | None) -> tuple[str, str | None]:
    """Return (segment id, document id) that an id or a citation names; Invalid if it is not of this
    project.
    """
    if not text.startswith("service:"):
        return text, document_id
    parts = text.removeprefix(SCHEME).split("/")
    if not text.startswith(SCHEME) or len(parts) != 3 or not all(parts):
        raise Invalid(
            f"{text[:120]} is not a citation of a segment, which has the form {SCHEME}<library>/<document>/<segment>, with @<step> or without.",
            code="bad_reference",
        )
    uuid, cited_document, segment_id = parts
    if uuid.replace("-", "") != library.uuid.replace("-", ""):
        raise Invalid(
            f"This citation is of the project {uuid}, and this one is {library.uuid}; ask there.",
            code="other_library",
            library_uuid=uuid,
        )
    if document_id is not None and document_id != cited_document:
        raise _disagrees(document_id, cited_document)
    return segment_id, cited_document


_disagrees = Invalid.saying(
    "document_disagrees",
    "You named document {sent}, and the segment leads to {found}; leave documentId out or correct it.",
    document_id="found",
)


@query("/api/locations/resolve", summary="Find a place", answer=LocationOut, name="resolve", method="POST")
def resolve_location(
    conn: Connection, engine: Engine, library: Library, asked: LocationRequest
) -> dict[str, Any]:
    """Return where an id or a citation leads now, following the forwarding of segments. Of a citation with `@<step>`, or
    with `asOf`, also the text then, the text now, and the steps that changed it in between.
    """
    ids = [asked.documentId, asked.segmentId, asked.artifactId, asked.annotationId, asked.claimId]
    if not any(ids):
        raise Invalid("Name at least one id: documentId, segmentId, artifactId, annotationId or claimId.")
    if asked.anchor is not None:
        validate_rect(asked.anchor.rect)
    if asked.charStart is not None and asked.charEnd is not None and asked.charEnd < asked.charStart:
        raise Invalid(
            "charEnd is before charStart; send the span from its start to its end.", code="bad_span"
        )
    location: dict[str, Any] = {
        "documentId": asked.documentId,
        "anchor": asked.anchor.model_dump(mode="json", exclude_none=True) if asked.anchor else None,
        "charStart": asked.charStart,
        "charEnd": asked.charEnd,
    }
    segment_id = asked.segmentId
    for field in ("annotationId", "claimId"):
        identity = getattr(asked, field)
        if identity is not None:
            place = _locate_row(engine, conn, field, identity)
            if segment_id is None and place.get("segmentId") is not None:
                # Something said about a segment is located at the segment, whatever node it was said on.
                segment_id = place["segmentId"]
            else:
                _require_agreement(location, place["documentId"])
            for name in ("anchor", "charStart", "charEnd"):
                if location[name] is None:
                    location[name] = place.get(name)
    if asked.artifactId is not None:
        _require_agreement(location, ARTIFACTS.require(conn, asked.artifactId)["document_id"])
    trail: list[dict[str, Any]] = []
    live: list[str] = []
    resolved: str | None = None
    as_of = asked.asOf
    if segment_id is not None:
        cited_as = segment_id
        segment_id, at, step = cited_as.partition("@")
        if at and not step:
            raise citation_without_step(cited_as)
        as_of = step or as_of
        segment_id, cited = _segment_named(library, segment_id, location["documentId"])
        refuse_provisional(segment_id)
        trail, live = follow(conn, segment_id)
        resolved = segment_id if segment_id in live else live[0] if live else None
        row_id = resolved or segment_id
        segment = find_segment(conn, row_id)
        if segment is not None:
            document_id = segment.document_id
        elif trail:
            document_id = trail[-1]["document_id"]
        else:
            document_id = home_of_taken_back(conn, segment_id)
            if document_id is None:
                raise unknown_segment(segment_id)
        if cited is not None and cited != document_id:
            raise _disagrees(cited, document_id)
        _require_agreement(location, document_id)
        if segment is not None and location["anchor"] is None:
            location["anchor"] = segment.anchor
    require_document(conn, location["documentId"])
    anchor = location["anchor"] or {}
    past = (
        {"asOf": None, "textThen": None, "textNow": None, "changedBy": []}
        if segment_id is None or as_of is None
        else past_of_citation(conn, library, location["documentId"], segment_id, live, as_of)
    )
    return {
        **past,
        "documentId": location["documentId"],
        "pageId": anchor.get("page_id") or _page_of(conn, location["documentId"]),
        "path": [{"id": identity, "name": name} for identity, name in lineage(conn, location["documentId"])],
        "anchor": location["anchor"],
        "renditionId": anchor.get("rendition_id"),
        "charStart": location["charStart"],
        "charEnd": location["charEnd"],
        "liveSegmentIds": live,
        "resolvedSegmentId": resolved,
        "segmentForwarding": trail,
        "segmentDeleted": segment_id is not None and not live,
    }


def _require_agreement(location: dict[str, Any], document_id: str) -> None:
    if location["documentId"] not in (None, document_id):
        raise _disagrees(location["documentId"], document_id)
    location["documentId"] = document_id


def _locate_row(engine: Engine, conn: Connection, field: str, identity: str) -> dict[str, Any]:
    for locator in engine.points.collect(armarium_source_model_locators):
        if locator.field == field:
            place = locator.locate(conn, identity)
            if place is not None:
                return place
    raise NotFound(f"Nothing in this project has the {field} {identity}.", id=identity)


def _page_of(conn: Connection, document_id: str) -> str | None:
    of = select(documents.c.doc_type, documents.c.file_type).where(documents.c.id == document_id)
    doc_type, file_type = conn.execute(of).one()
    return document_id if doc_type == "page" or file_type == "image" else None


_WITHIN = (
    "WITH RECURSIVE within(id) AS (SELECT value FROM json_each(?) UNION SELECT s.id FROM within w"
    " JOIN segment s ON s.parent_segment_id = w.id AND s.deleted_at IS NULL) SELECT id FROM within"
)


def text_of_segments(conn: Connection, ids: Sequence[str]) -> str | None:
    """Return the text that counts on live segments: their own, else that of what is in them; None: none is there."""
    raw = raw_of(conn)
    rows = raw.execute(
        "SELECT id, document_id, pass_id FROM segment WHERE id IN (SELECT value FROM json_each(?)) AND deleted_at IS NULL",
        (json_text(list(ids)),),
    ).fetchall()
    if not rows:
        return None
    rule = reading_rule(conn)
    own = counting_of_segments(conn, [row[0] for row in rows], rule=rule)
    parts: list[str] = []
    for identity, document_id, pass_id in sorted(rows, key=lambda row: list(ids).index(row[0])):
        if identity in own:
            parts.append(own[identity].text)
            continue
        within = {row[0] for row in raw.execute(_WITHIN, (json_text([identity]),))}
        page = page_text(conn, document_id, pass_id=pass_id, include_furniture=True, rule=rule)
        parts += [
            page.text[span.char_start : span.char_end]
            for span in page.assembled.spans
            if span.segment_id in within
        ]
    return "\n".join(parts)


def past_of_citation(
    conn: Connection, library: Library, document_id: str, segment_id: str, live: Sequence[str], as_of: str
) -> dict[str, Any]:
    """Return what a segment said at the moment *as_of*, what it or the parts it *live*s in say now, and what changed it."""
    with reading_past(library, as_of, [document_id]) as moment, library.db.read() as past:
        then = text_of_segments(past, [segment_id])
    ids = list(dict.fromkeys([segment_id, *live]))
    changed = steps_since(
        conn,
        moment.seq,
        [(segments, "id", ids), (representations, "segment_id", ids), (reading_choices, "segment_id", ids)],
    )
    return {
        "asOf": moment.answer(),
        "textThen": then,
        "textNow": text_of_segments(conn, live),
        "changedBy": [
            {
                "audit_id": step.id,
                "action": step.action_name,
                "actor": step.actor_name,
                "at": step.created_at,
                "undone": step.undone,
            }
            for step in (list_steps(conn, numbers=changed) if changed else ())
        ],
    }
