"""Sends documents whose file another document has as well to the Trash."""

from __future__ import annotations

from typing import Any

from armarium.api import ActionContext, Example, Route, action
from armarium_documents.api import document
from armarium_sync.duplicates import duplicates_of
from armarium_sync.errors import not_duplicates
from armarium_sync.records import Removed, RemoveParams


def _example(ex: Example) -> dict[str, Any]:
    from armarium_sync.actions.samples import imported_twice

    return {"document_ids": [imported_twice(ex)]}


@action(
    "sync.remove_duplicates",
    params=RemoveParams,
    result=Removed,
    summary="Send duplicates to the Trash, with everything below them; one document of each file remains.",
    route=Route("POST", "/api/sync-folders/duplicates/remove"),
    words="Sent the duplicates {document_ids|of files} to the Trash",
    example=_example,
)
def remove_duplicates(ctx: ActionContext, p: RemoveParams) -> dict[str, Any]:
    """Send all of them, or none: NotFound for an unknown id, Conflict for one that is to be kept or is no
    longer a duplicate.
    """
    groups = duplicates_of(ctx.conn)
    kept = {group["keep"]["id"] for group in groups}
    extra = {one["id"] for group in groups for one in group["remove"]}
    named = list(dict.fromkeys(p.document_ids))
    wrong = [one for one in named if one not in extra]
    if wrong:
        for one in wrong:
            document(ctx.conn, one)
        raise not_duplicates((one for one in wrong if one not in kept), (one for one in wrong if one in kept))
    ctx.run("document.delete", {"ids": named})
    ctx.target(*named)
    return {"removed": named}
