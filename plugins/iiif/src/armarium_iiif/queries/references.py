"""Reads imported manifests: the folder of a manifest, and the canvases that still lack their picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from armarium.api import json_text, raw_of
from armarium_documents.api import documents, renditions
from armarium_iiif.models import canvases, manifests


class Reference(NamedTuple):
    """The picture address of a referenced canvas."""

    document_id: str
    name: str
    image: str | None
    service: str | None
    service_version: int | None
    has_picture: bool

    def addresses(self) -> list[str]:
        """Return the addresses to request the picture from, the largest first."""
        addresses = []
        if self.service is not None:
            largest = "max" if self.service_version == 3 else "full"
            plain = "native" if self.service_version == 1 else "default"
            addresses.append(f"{self.service}/full/{largest}/0/{plain}.jpg")
        if self.image is not None and self.image not in addresses:
            addresses.append(self.image)
        return addresses


_REFERENCES = f"""
SELECT d.id, d.name, c.image, c.service, c.service_version,
 EXISTS (SELECT 1 FROM {renditions} r WHERE r.document_id = d.id)
FROM json_each(?) j JOIN {documents} d ON d.id = j.value JOIN iiif_canvas c ON c.document_id = d.id
WHERE d.deleted_at IS NULL ORDER BY j.key
"""


def references(conn: Connection, ids: Sequence[str]) -> list[Reference]:
    """Return the live referenced canvases among *ids*, in that order."""
    return [
        Reference(row[0], row[1], row[2], row[3], row[4], bool(row[5]))
        for row in raw_of(conn).execute(_REFERENCES, (json_text(list(ids)),))
    ]


def reference_of(conn: Connection, document_id: str) -> Reference | None:
    """The referenced canvas that a page is; None for another page, and in a project without IIIF."""
    if raw_of(conn).execute(f"SELECT 1 FROM pragma_table_info('{canvases}')").fetchone() is None:
        return None
    return next(iter(references(conn, [document_id])), None)


def folder_of_manifest(conn: Connection, parent_id: str, checksum: str) -> tuple[str, str] | None:
    """Return id and name of the live folder in *parent_id* made from exactly these bytes."""
    document = documents.c
    query = select(document.id, document.name).join_from(
        manifests, documents, document.id == manifests.c.document_id
    )
    row = conn.execute(
        query.where(
            manifests.c.original == checksum, document.parent_id == parent_id, document.deleted_at.is_(None)
        )
    ).first()
    return None if row is None else (row.id, row.name)


def folder_of_address(conn: Connection, parent_id: str, address: str) -> str | None:
    """Return the live folder in *parent_id* that was made of the manifest or collection at *address*."""
    document = documents.c
    stated_address = func.coalesce(
        func.json_extract(document.metadata, "$.iiif_collection"),
        func.json_extract(document.metadata, "$.iiif_manifest"),
    )
    conditions = (
        document.parent_id == parent_id,
        document.doc_type == "folder",
        document.deleted_at.is_(None),
        stated_address == address,
    )
    folder_id = conn.execute(select(document.id).where(*conditions)).scalar()
    return None if folder_id is None else str(folder_id)
