"""What of searching rests on text: the vectors of pages whose text is another by now."""

from __future__ import annotations

from collections.abc import Sequence

import orjson
from sqlalchemy import Connection

from armarium.api import ActionContext, Library, raw_of
from armarium_search.vectors.files import read
from armarium_source_model.api import StaleRow, page_texts

WHY = "Its vectors were made of another text; `armarium action search.embed` makes those anew that are not of their text."


class RestingVectors:
    """Pages that were given vectors. A row's id is that of its page, for a page has one set of them."""

    kinds = ("embedding",)

    def stale(self, conn: Connection, library: Library, document_ids: Sequence[str]) -> list[StaleRow]:
        """Those of these pages whose text, or its absence, is not what their vectors were made of."""
        kept = read(library)
        if kept is None or not document_ids:
            return []
        asked = f"SELECT document_id, fingerprint FROM {page_texts} WHERE document_id IN (SELECT value FROM json_each(?))"
        texts = dict(raw_of(conn).execute(asked, (orjson.dumps(list(document_ids)).decode(),)).fetchall())
        made_of = dict(zip(kept.documents, kept.fingerprints, strict=True))
        return [
            StaleRow("embedding", one, one, None, None, "redo", WHY)
            for one in document_ids
            if one in made_of and texts.get(one) != made_of[one]
        ]

    def confirm(self, ctx: ActionContext, kind: str, identity: str) -> bool:
        """Vectors are made again."""
        return False
