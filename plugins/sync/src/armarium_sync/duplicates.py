"""Files that several live documents have: which of the documents is kept, and which would be removed."""

from __future__ import annotations

import unicodedata
from pathlib import PurePath
from typing import Any

from sqlalchemy import Connection

from armarium.api import raw_of
from armarium_documents.api import documents
from armarium_source_model.api import passes

_HELD = f"""
SELECT d.path, json_extract(d.metadata, '$.checksum'), d.id, d.name, d.parent_id, d.created_at, p.name,
 (SELECT count(*) FROM {passes} s WHERE s.deleted_at IS NULL AND s.document_id IN
   (SELECT d.id UNION ALL SELECT c.id FROM {documents} c WHERE c.parent_id = d.id AND c.deleted_at IS NULL))
FROM {documents} d LEFT JOIN {documents} p ON p.id = d.parent_id
WHERE d.deleted_at IS NULL AND d.doc_type = 'file' AND d.path IN (
  SELECT path FROM {documents} WHERE deleted_at IS NULL AND doc_type = 'file' AND path IS NOT NULL
  GROUP BY path HAVING count(*) > 1)
ORDER BY d.path, d.created_at, d.id
"""


def duplicates_of(conn: Connection) -> list[dict[str, Any]]:
    """Return each file (its path and bytes) that several live documents have, by path.

    The document to keep is the oldest one in the project folder named like the file's folder, or the oldest
    one if none is in such a folder.
    """
    documents_by_content: dict[tuple[str, str | None], list[tuple[bool, dict[str, Any]]]] = {}
    for path, checksum, identity, name, parent_id, created_at, parent, count in raw_of(conn).execute(_HELD):
        document = {
            "id": identity,
            "name": name,
            "parent_id": parent_id,
            "created_at": created_at,
            "passes": count,
        }
        elsewhere = _normalise_name(parent or "") != _normalise_name(PurePath(path).parent.name)
        documents_by_content.setdefault((path, checksum), []).append((elsewhere, document))
    groups = []
    for (path, checksum), listed in documents_by_content.items():
        if len(listed) > 1:
            # Sorting is stable: within the folder, and among the others, the oldest comes first.
            first, *copies = [document for _, document in sorted(listed, key=lambda pair: pair[0])]
            groups.append({"path": path, "checksum": checksum, "keep": first, "remove": copies})
    return groups


def _normalise_name(name: str) -> str:
    return unicodedata.normalize("NFC", name)
