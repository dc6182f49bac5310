"""Pictures that show the same place: a part cut from a page shows what is restricted there, and the page what is
restricted on the part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from armarium.api import is_among
from armarium_documents.api import documents
from armarium_rights.queries import SOURCE, documents_above, live
from armarium_rights.records import records
from armarium_source_model.api import segments

D = documents.c
S = segments.c


class Cuts(NamedTuple):
    """Which documents show a part of another's picture, and of whose: where a cut lies in the tree is no matter."""

    source_of: dict[str, str]
    live_of: dict[str, list[str]]
    """The cuts that are not in the Trash, by their source."""

    def concern(self, document_id: str) -> bool:
        """Return whether the document's picture was cut from another's, or one from its own."""
        return document_id in self.source_of or document_id in self.live_of


def cuts_of(conn: Connection) -> Cuts:
    """Return all cuts of the project."""
    cuts = Cuts({}, {})
    for cut, source, deleted_at in conn.execute(
        select(D.id, SOURCE, D.deleted_at).where(D.region.is_not(None))
    ):
        if source is not None:
            cuts.source_of[cut] = source
            if deleted_at is None:
                cuts.live_of.setdefault(source, []).append(cut)
    return cuts


def cuts_elsewhere(conn: Connection, nodes: set[str]) -> set[str]:
    """Return the cuts that do not lie beneath their source, and show a picture at or beneath *nodes*."""
    moved = select(D.id).where(D.region.is_not(None), D.parent_id.is_distinct_from(SOURCE))
    return {cut for cut in conn.execute(moved).scalars() if nodes & documents_above(conn, [cut]).keys()}


def seen_along(conn: Connection, ids: set[str]) -> set[str]:
    """Return the documents outside the tree of *ids* whose pictures show a part of theirs, or which theirs show a part of."""
    sources = select(SOURCE).select_from(documents).where(is_among(D.id, ids), D.region.is_not(None))
    return {*conn.execute(sources).scalars(), *cuts_elsewhere(conn, ids)} - {None}


def records_seen_on(conn: Connection, document_id: str, cuts: Cuts) -> list[dict[str, Any]]:
    """Return the records about parts of other documents that the picture of this one shows."""
    found_records = list(_of_what_it_was_cut_from(conn, document_id, cuts))
    beneath = _cut_from_it(document_id, cuts)
    if beneath:
        query = select(records).where(live, is_among(records.c.document_id, beneath))
        found_records += [row._asdict() for row in conn.execute(query)]
    return found_records


def cut_from_parts(conn: Connection, parts: set[str]) -> set[str]:
    """Return the documents whose pictures were cut from a place of these segments."""
    query = (
        select(D.id, D.region, S.anchor)
        .select_from(documents.join(segments, S.document_id == SOURCE))
        .where(is_among(S.id, parts), D.region.is_not(None))
    )
    return {identity for identity, region, anchor in conn.execute(query) if _overlap(region, anchor)}


def _of_what_it_was_cut_from(conn: Connection, document_id: str, cuts: Cuts) -> Iterator[dict[str, Any]]:
    while (source := cuts.source_of.get(document_id)) is not None:
        region = conn.execute(select(D.region).where(D.id == document_id)).scalar_one()
        query = (
            select(records, S.anchor)
            .join(segments, S.id == records.c.segment_id)
            .where(live, records.c.target_kind == "segment", records.c.document_id == source)
        )
        for part in conn.execute(query):
            if _overlap(region, part.anchor):
                yield part._asdict()
        document_id = source


def _cut_from_it(document_id: str, cuts: Cuts) -> set[str]:
    beneath: set[str] = set()
    fresh = {document_id}
    while fresh:
        fresh = {cut for source in fresh for cut in cuts.live_of.get(source, ())} - beneath
        beneath |= fresh
    return beneath


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
