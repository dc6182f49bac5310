"""The writes of searching: saved searches, which are nodes, and the order to compute vectors of passages."""

from __future__ import annotations

import unicodedata
from typing import Any

from armarium.api import ActionContext, Route, action, cancel_with_undo
from armarium_documents.api import add_node, place_documents
from armarium_search.errors import named_twice, not_in_folder, unknown_embedder, unknown_search
from armarium_search.models import saved_searches
from armarium_search.queries.question_sql import check_filters
from armarium_search.queries.saved_searches import LIVE, SAVED, live_search
from armarium_search.queries.search import check_words
from armarium_search.schemas import (
    DeletedSearch,
    EmbedParams,
    Filters,
    Reordered,
    ReorderParams,
    SavedSearch,
    SavedSearchCreate,
    SavedSearchId,
    SavedSearchUpdate,
    StartedJob,
)
from armarium_search.vectors.embedders import GROUP
from armarium_search.vectors.served import lane_for

LONGEST_NAME = 100


def name_of(query: str) -> str:
    """Return the name of a saved search's node: its query, shortened to what a name may be."""
    printable = "".join(
        " " if unicodedata.category(character)[0] in "CZ" else character for character in query
    )
    return " ".join(printable.split())[:LONGEST_NAME].strip() or "Everything"


@action(
    "saved_search.create",
    result=SavedSearch,
    summary="Save a search.",
    route=Route("POST", "/api/search/saved", refusals=(400, 404)),
    words="Saved a search",
)
def create(ctx: ActionContext, p: SavedSearchCreate) -> dict[str, Any]:
    """Create a node of the kind saved_search, named after its query. BadRequest for a word that a search does
    not know.
    """
    check_words(p.search_type, p.sort_by, p.sort_direction)
    if p.filters is not None:
        check_filters(ctx.conn, p.filters)
    search_id = add_node(ctx, name=name_of(p.query), node_kind="saved_search", sort_order=p.sort_order)
    fields = p.model_dump(mode="json", exclude={"sort_order", "filters"})
    return _insert(ctx, search_id, {**fields, "filters": _dump_filters(p.filters)})


def _insert(ctx: ActionContext, search_id: str, fields: dict[str, Any]) -> dict[str, Any]:
    row = {"id": search_id, **fields, **ctx.provenance(), "updated_at": ctx.now}
    ctx.conn.execute(saved_searches.insert().values(row))
    return live_search(ctx.conn, search_id)


def _dump_filters(filters: Filters | None) -> dict[str, Any] | None:
    return None if filters is None else filters.model_dump(mode="json", exclude_none=True)


@action(
    "saved_search.update",
    result=SavedSearch,
    summary="Change a saved search; a field left out does not change.",
    route=Route("PUT", "/api/search/saved/{search_id}", refusals=(400, 404)),
    words="Changed a saved search",
)
def update(ctx: ActionContext, p: SavedSearchUpdate) -> dict[str, Any]:
    """Change it. NotFound for one that does not exist or is in the Trash; its node is renamed after the new query."""
    before = live_search(ctx.conn, p.search_id)
    defaults = {name: field.default for name, field in SavedSearchCreate.model_fields.items()}
    changes = p.dump_changes("search_id", "filters", empty=defaults)
    words = {**before, **changes}
    check_words(words["search_type"], words["sort_by"], words["sort_direction"])
    if "filters" in p.model_fields_set:
        if p.filters is not None:
            check_filters(ctx.conn, p.filters)
        changes["filters"] = _dump_filters(p.filters)
    where = saved_searches.c.id == p.search_id
    ctx.conn.execute(saved_searches.update().where(where).values(**changes, updated_at=ctx.now))
    if "query" in changes:
        ctx.run("document.update", {"document_id": p.search_id, "name": name_of(changes["query"])})
    ctx.target(p.search_id)
    ctx.note_changes(document_ids=[p.search_id])
    return live_search(ctx.conn, p.search_id)


@action(
    "saved_search.delete",
    result=DeletedSearch,
    summary="Send a saved search to the Trash.",
    route=Route("DELETE", "/api/search/saved/{search_id}", refusals=(404,)),
    words="Sent a saved search to the Trash",
)
def delete(ctx: ActionContext, p: SavedSearchId) -> dict[str, Any]:
    """Send it to the Trash. NotFound for one that does not exist or is already in the Trash."""
    live_search(ctx.conn, p.search_id)
    ctx.run("document.delete", {"ids": [p.search_id]})
    return {"status": "deleted", "id": p.search_id}


@action(
    "saved_search.duplicate",
    result=SavedSearch,
    summary="Duplicate a saved search.",
    route=Route("POST", "/api/search/saved/{search_id}/duplicate", refusals=(404,)),
    words="Duplicated a saved search",
)
def duplicate(ctx: ActionContext, p: SavedSearchId) -> dict[str, Any]:
    """Duplicate it under a new id, owned by the caller, in the same place of the same folder."""
    before = live_search(ctx.conn, p.search_id)
    search_id = add_node(
        ctx, name=name_of(before["query"]), node_kind="saved_search", sort_order=before["sort_order"]
    )
    fields = {name: before[name] for name in ("query", "is_smart_search", "filters", "search_type", "sort_by",
                                             "sort_direction", "folder_path")}  # fmt: skip
    return _insert(ctx, search_id, fields)


@action(
    "saved_search.reorder",
    result=Reordered,
    summary="Put the saved searches of a folder in order.",
    words="Put saved searches in order",
)
def reorder(ctx: ActionContext, p: ReorderParams) -> dict[str, Any]:
    """Put those named first, in the order given. NotFound for an unknown id, Invalid for one of another
    folder or named twice.
    """
    here = SAVED.all(ctx.conn, saved_searches.c.folder_path == p.folder_path, LIVE)
    here.sort(key=lambda search: (search["sort_order"], search["id"]))
    ids = [search["id"] for search in here]
    for number, search_id in enumerate(p.search_ids):
        if search_id not in ids:
            raise (
                not_in_folder(search_id, p.folder_path)
                if SAVED.get(ctx.conn, search_id)
                else unknown_search(search_id)
            )
        if search_id in p.search_ids[:number]:
            raise named_twice(search_id)
    ordered = [*p.search_ids, *(identity for identity in ids if identity not in set(p.search_ids))]
    place_documents(ctx, {search_id: place for place, search_id in enumerate(ordered)})
    ctx.target(*p.search_ids)
    return {"status": "reordered", "count": len(ordered)}


@action(
    "search.embed",
    result=StartedJob,
    summary="Compute vectors for the passages of all pages, so that similar passages can be found.",
    words="Started to compute vectors of passages",
    after_undo=cancel_with_undo,
)
def embed(ctx: ActionContext, p: EmbedParams) -> dict[str, Any]:
    """Enqueue the job `embeds`; pages whose text is unchanged keep their vectors. Invalid for an unknown embedder."""
    known_names = ctx.engine.drivers.names(GROUP)
    if p.embedder not in known_names:
        raise unknown_embedder(p.embedder, known_names)
    assert ctx.library is not None
    lane = lane_for(ctx.engine, ctx.library, ctx.engine.drivers.load(GROUP, p.embedder), p)
    job_id = ctx.enqueue("embeds", p.model_dump(), title="Compute vectors of passages", lane=lane)
    ctx.target(job_id)
    return {"job_id": job_id, "state": "waiting"}
