"""Builds the row of a new node: the given fields over the defaults of a document."""

from __future__ import annotations

from typing import Any

from armarium.api import ActionContext, new_id
from armarium_documents.flags import FLAGS


def new_row(ctx: ActionContext, **fields: Any) -> dict[str, Any]:
    """Return a row for a new node: *fields* over the defaults; id and times are set here."""
    return {
        "id": new_id(),
        "node_kind": "document",
        "doc_type": "file",
        "sort_order": 0,
        "attributes": {},
        "metadata": {},
        "source_metadata": {},
        "source_authority": "unknown",
        "provenance_chain": [],
        "status": "active",
        "is_locked": False,
        **dict.fromkeys(FLAGS, False),
        "created_at": ctx.now,
        "updated_at": ctx.now,
        **fields,
    }
