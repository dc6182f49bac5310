"""Pictures that show the same place: a part cut from a page shows what is restricted there, and the page what is
restricted on the part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, select

from armarium.api import is_among
from armarium_documents.api import documents
from armarium_rights.queries import live
from armarium_rights.records import records
from armarium_source_model.api import segments

D = documents.c
S = segments.c


def documents_with_cuts(conn: Connection) -> set[str]:
    """Return the documents whose picture was cut from another's, and those from whose picture one was cut: only of
    these `records_seen_on` finds anything.
    """
    rows = conn.execute(select(D.id, D.parent_id).where(D.region.is_not(None))).all()
    return {document_id for row in rows for document_id in (row.id, row.parent_id) if document_id is not None}


def records_seen_on(conn: Connection, document_id: str) -> list[dict[str, Any]]:
    """Return the records about parts of other documents that the picture of this one shows."""
    found_records = list(_of_what_it_was_cut_from(conn, document_id))
    beneath = _cut_from_it(conn, document_id)
    if beneath:
        query = select(records).where(live, is_among(records.c.document_id, beneath))
        found_records += [row._asdict() for row in conn.execute(query)]
    return found_records


def cut_from_parts(conn: Connection, parts: set[str]) -> set[str]:
    """Return the documents whose pictures were cut from a place of these segments."""
    query = (
        select(D.id, D.region, S.anchor)
        .join(segments, S.document_id == D.parent_id)
        .where(is_among(S.id, parts), D.region.is_not(None))
    )
    return {identity for identity, region, anchor in conn.execute(query) if _overlap(region, anchor)}


def _of_what_it_was_cut_from(conn: Connection, document_id: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    while (row := conn.execute(select(D.parent_id, D.region).where(D.id == document_id)).first()) is not None:
        if row.region is None or row.parent_id is None:
            break
        document_id = row.parent_id
        query = (
            select(records, S.anchor)
            .join(segments, S.id == records.c.segment_id)
            .where(live, records.c.target_kind == "segment", records.c.document_id == document_id)
        )
        rows += [part._asdict() for part in conn.execute(query) if _overlap(row.region, part.anchor)]
    return rows


def _cut_from_it(conn: Connection, document_id: str) -> set[str]:
    cuts: set[str] = set()
    fresh = {document_id}
    while fresh:
        query = select(D.id).where(
            is_among(D.parent_id, fresh), D.region.is_not(None), D.deleted_at.is_(None)
        )
        fresh = set(conn.execute(query).scalars()) - cuts
        cuts |= fresh
    return cuts


def _overlap(region: Mapping[str, Any], anchor: Mapping[str, Any]) -> bool:
    """Return whether a place of a picture and a cut from it share any of it; yes where they cannot be compared."""
    frames = {
        rendition_id
        for rendition_id in (region.get("rendition_id"), anchor.get("rendition_id"))
        if rendition_id is not None
    }
    if len(frames) > 1:
        return True
    return _meet(region["rect"], anchor["rect"])


def _meet(first: Sequence[float], other: Sequence[float]) -> bool:
    return all(
        first[side] < other[side] + other[side + 2] and other[side] < first[side] + first[side + 2]
        for side in (0, 1)
    )
