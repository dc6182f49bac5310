"""Citable references of segments, and the place an id leads to."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, select

from armarium.api import AsOf, Engine, Invalid, Library, NotFound, moment_read, query
from armarium_documents.api import ARTIFACTS, documents, lineage, require_document
from armarium_source_model.errors import refuse_provisional, unknown_segment
from armarium_source_model.geometry import validate_rect
from armarium_source_model.hookspecs import armarium_source_model_locators
from armarium_source_model.models import segments
from armarium_source_model.queries.citations import past_of_citation
from armarium_source_model.queries.forwarding import follow, home_of_taken_back
from armarium_source_model.queries.segments import find_segment, get_segment
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
    given = [asked.documentId, asked.segmentId, asked.artifactId, asked.annotationId, asked.claimId]
    if not any(given):
        raise Invalid("Name at least one id: documentId, segmentId, artifactId, annotationId or claimId.")
    if asked.anchor is not None:
        validate_rect(asked.anchor.rect)
    if asked.charStart is not None and asked.charEnd is not None and asked.charEnd < asked.charStart:
        raise Invalid(
            "charEnd is before charStart; send the span from its start to its end.", code="bad_span"
        )
    found: dict[str, Any] = {
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
                _agree(found, place["documentId"])
            for name in ("anchor", "charStart", "charEnd"):
                if found[name] is None:
                    found[name] = place.get(name)
    if asked.artifactId is not None:
        _agree(found, ARTIFACTS.require(conn, asked.artifactId)["document_id"])
    trail: list[dict[str, Any]] = []
    live: list[str] = []
    resolved: str | None = None
    as_of = asked.asOf
    if segment_id is not None:
        segment_id, _, step = segment_id.partition("@")
        as_of = step or as_of
        segment_id, cited = _segment_named(library, segment_id, found["documentId"])
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
        _agree(found, document_id)
        if segment is not None and found["anchor"] is None:
            found["anchor"] = segment.anchor
    require_document(conn, found["documentId"])
    anchor = found["anchor"] or {}
    past = (
        {"asOf": None, "textThen": None, "textNow": None, "changedBy": []}
        if segment_id is None or as_of is None
        else past_of_citation(conn, library, found["documentId"], segment_id, live, as_of)
    )
    return {
        **past,
        "documentId": found["documentId"],
        "pageId": anchor.get("page_id") or _page_of(conn, found["documentId"]),
        "path": [{"id": one, "name": name} for one, name in lineage(conn, found["documentId"])],
        "anchor": found["anchor"],
        "renditionId": anchor.get("rendition_id"),
        "charStart": found["charStart"],
        "charEnd": found["charEnd"],
        "liveSegmentIds": live,
        "resolvedSegmentId": resolved,
        "segmentForwarding": trail,
        "segmentDeleted": segment_id is not None and not live,
    }


def _agree(found: dict[str, Any], document_id: str) -> None:
    if found["documentId"] not in (None, document_id):
        raise _disagrees(found["documentId"], document_id)
    found["documentId"] = document_id


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
