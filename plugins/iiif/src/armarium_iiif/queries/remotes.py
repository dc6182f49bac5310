"""Imported manifests as they are published now, compared with what was imported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from armarium.api import is_among, query
from armarium_documents.api import documents
from armarium_iiif.models import manifests, remotes
from armarium_iiif.schemas import ChangedManifests


class Remote(NamedTuple):
    """An imported manifest with an address, and what is known of it there."""

    document_id: str
    url: str
    original: str
    digest: str | None
    etag: str | None
    last_modified: str | None


def remotes_of(conn: Connection, ids: Sequence[str]) -> list[Remote]:
    """Return the live manifests with an address among *ids*, of all folders where that is empty."""
    m, r, d = manifests.c, remotes.c, documents.c
    joined = select(m.document_id, m.url, m.original, r.digest, r.etag, r.last_modified)
    joined = joined.join_from(manifests, documents, d.id == m.document_id)
    joined = joined.outerjoin(remotes, r.document_id == m.document_id).order_by(m.created_at, m.document_id)
    where = [m.url.is_not(None), d.deleted_at.is_(None), *([is_among(m.document_id, ids)] if ids else [])]
    return [Remote(*row) for row in conn.execute(joined.where(*where))]


@query(
    "/api/iiif/manifests/changed",
    summary="Imported manifests that changed where they are published, as of when they were last asked for",
    answer=ChangedManifests,
)
def list_changed(conn: Connection) -> dict[str, Any]:
    """Return them, the latest asked first; `iiif.check_manifests` asks and takes what changed."""
    m, r, d = manifests.c, remotes.c, documents.c
    rows = conn.execute(
        select(m.document_id, d.name, m.url, r.checked_at)
        .join_from(manifests, remotes, r.document_id == m.document_id)
        .join(documents, d.id == m.document_id)
        .where(r.digest != m.original, d.deleted_at.is_(None), m.url.is_not(None))
        .order_by(r.checked_at.desc(), m.document_id)
    )
    items = [dict(row._mapping) for row in rows]
    return {"items": items, "count": len(items)}
