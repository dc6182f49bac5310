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
    manifest, remote, document = manifests.c, remotes.c, documents.c
    joined = select(
        manifest.document_id,
        manifest.url,
        manifest.original,
        remote.digest,
        remote.etag,
        remote.last_modified,
    )
    joined = joined.join_from(manifests, documents, document.id == manifest.document_id)
    joined = joined.outerjoin(remotes, remote.document_id == manifest.document_id).order_by(
        manifest.created_at, manifest.document_id
    )
    conditions = [
        manifest.url.is_not(None),
        document.deleted_at.is_(None),
        *([is_among(manifest.document_id, ids)] if ids else []),
    ]
    return [Remote(*row) for row in conn.execute(joined.where(*conditions))]


@query(
    "/api/iiif/manifests/changed",
    summary="Imported manifests that changed where they are published, as of when they were last asked for",
    answer=ChangedManifests,
)
def list_changed(conn: Connection) -> dict[str, Any]:
    """Return them, the latest asked first; `iiif.check_manifests` asks and takes what changed."""
    manifest, remote, document = manifests.c, remotes.c, documents.c
    rows = conn.execute(
        select(manifest.document_id, document.name, manifest.url, remote.checked_at)
        .join_from(manifests, remotes, remote.document_id == manifest.document_id)
        .join(documents, document.id == manifest.document_id)
        .where(remote.digest != manifest.original, document.deleted_at.is_(None), manifest.url.is_not(None))
        .order_by(remote.checked_at.desc(), manifest.document_id)
    )
    items = [dict(row._mapping) for row in rows]
    return {"items": items, "count": len(items)}
