"""Sends documents whose file another document has as well to the Trash."""

from __future__ import annotations

from typing import Any

from armarium.api import ActionContext, Route, action
from armarium_documents.api import document
from armarium_sync.duplicates import duplicates_of
from armarium_sync.errors import not_duplicates
from armarium_sync.records import Removed, RemoveParams


@action(
    "sync.remove_duplicates",
    result=Removed,
    summary="Send duplicates to the Trash, with everything below them; one document of each file remains.",
    route=Route("POST", "/api/sync-folders/duplicates/remove"),
    words="Sent the duplicates {document_ids|of files} to the Trash",
)
def remove_duplicates(ctx: ActionContext, p: RemoveParams) -> dict[str, Any]:
    """Send all of them, or none: NotFound for an unknown id, Conflict for one that is to be kept or is no
    longer a duplicate.
    """
    groups = duplicates_of(ctx.conn)
    kept_ids = {group["keep"]["id"] for group in groups}
    extra = {row["id"] for group in groups for row in group["remove"]}
    document_ids = list(dict.fromkeys(p.document_ids))
    wrong = [document_id for document_id in document_ids if document_id not in extra]
    if wrong:
        for document_id in wrong:
            document(ctx.conn, document_id)
        raise not_duplicates(
            (document_id for document_id in wrong if document_id not in kept_ids),
            (document_id for document_id in wrong if document_id in kept_ids),
        )
    ctx.run("document.delete", {"ids": document_ids})
    ctx.target(*document_ids)
    return {"removed": document_ids}
