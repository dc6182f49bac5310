"""What of searching depends on text: the vectors of pages whose text has changed since."""

from __future__ import annotations

from collections.abc import Sequence

import orjson
from sqlalchemy import Connection

from armarium.api import Library, raw_of
from armarium_search.vectors.files import read
from armarium_source_model.api import RestsOnText, StaleRow, page_texts

WHY = (
    "Its vectors were made from an earlier text; `armarium action search.embed` updates all outdated vectors."
)


class RestingVectors(RestsOnText):
    """Pages with vectors. A row's id is that of its page, since a page has one set of them."""

    kinds = ("embedding",)

    def stale(self, conn: Connection, library: Library, document_ids: Sequence[str]) -> list[StaleRow]:
        """Return those of these pages whose text has changed, appeared or disappeared since their vectors were made."""
        vectors = read(library)
        if vectors is None or not document_ids:
            return []
        query = f"SELECT document_id, fingerprint FROM {page_texts} WHERE document_id IN (SELECT value FROM json_each(?))"
        texts = dict(raw_of(conn).execute(query, (orjson.dumps(list(document_ids)).decode(),)).fetchall())
        made_of = dict(zip(vectors.documents, vectors.fingerprints, strict=True))
        return [
            StaleRow("embedding", document_id, document_id, None, None, "redo", WHY)
            for document_id in document_ids
            if document_id in made_of and texts.get(document_id) != made_of[document_id]
        ]
