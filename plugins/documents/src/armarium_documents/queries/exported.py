"""Revisions of representations as records of an export."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from sqlalchemy import Connection, select

from armarium.api import is_among
from armarium_documents.models import documents, representations, revisions


def exported_revisions(
    conn: Connection, ids: frozenset[str] | None, withheld: Collection[str]
) -> Iterator[dict[str, Any]]:
    """Yield the revisions of representations of the documents *ids* (None: of all live ones that are not *withheld*)."""
    d = documents.c
    asked = (
        select(revisions, d.id.label("document_id"))
        .join(representations, representations.c.id == revisions.c.representation_id)
        .join(documents, d.id == representations.c.document_id)
        .where(d.deleted_at.is_(None), ~is_among(d.id, withheld))
        .order_by(revisions.c.representation_id, revisions.c.sequence)
    )
    for row in conn.execute(asked if ids is None else asked.where(is_among(d.id, ids))):
        yield row._asdict()
