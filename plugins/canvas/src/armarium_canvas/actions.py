"""The actions of a canvas: save the layout, create, change and remove an item."""

from __future__ import annotations

from typing import Any

from sqlalchemy import func, select

from armarium.api import ActionContext, Route, ServiceError, action, is_among, new_id, raw_of
from armarium_canvas.errors import bad_link, canvas_full, kind_stays, not_on_canvas, unknown_thing
from armarium_canvas.queries import (
    ITEMS,
    exists_at_all,
    layout_of,
    links_at,
    require_canvas,
    stored_places,
    strangers,
)
from armarium_canvas.records import (
    MAX_ITEMS,
    Item,
    ItemCreateParams,
    ItemDeleted,
    ItemDeleteParams,
    ItemUpdateParams,
    Layout,
    LayoutParams,
    PlaceFields,
    items,
    places,
)

_KEPT = ("x", "y", "z", "w", "h", "d", "angle", "z_index", "style")


@action(
    "canvas.save_layout",
    result=Layout,
    summary="Save positions on the canvas of a folder, and remove others from it.",
    route=Route("PUT", "/api/canvas/folders/{folder_id}/layout"),
    words="Arranged the canvas of {folder_id|a folder}",
)
def save_layout(ctx: ActionContext, p: LayoutParams) -> dict[str, Any]:
    """Sent rows are merged over existing ones; removing a row that does not exist is not an error.

    Raises NotFound for an unknown folder, Conflict in the Trash, Forbidden by a lock, Invalid for what is not
    in the folder.
    """
    folder = require_canvas(ctx.conn, p.folder_id)
    away = strangers(ctx.conn, folder.id, [row.item_id for row in p.rows])
    if away:
        raise _stranger(ctx, away[0], folder.name)
    before = stored_places(ctx.conn, [f"{folder.id}::{row.item_id}" for row in p.rows])
    values = [_merge_row(ctx, folder.id, row, before) for row in p.rows]
    kept_rows = [value for value in values if str(value[0]) in before]
    raw_of(ctx.conn).executemany(
        f"UPDATE canvas_place SET {', '.join(f'{name} = ?' for name in _KEPT)}, updated_at = ? WHERE id = ?",
        [(*value[3:], value[0]) for value in kept_rows],
    )
    ctx.bulk_insert(
        places,
        ("id", "folder_id", "item_id", *_KEPT, "updated_at"),
        [value for value in values if str(value[0]) not in before],
    )
    removed = [f"{folder.id}::{item_id}" for item_id in p.remove]
    ctx.conn.execute(places.delete().where(is_among(places.c.id, removed)))
    ctx.target(folder.id)
    ctx.note_changes(document_ids=[folder.id])
    return layout_of(ctx.conn, folder.id)


def _merge_row(
    ctx: ActionContext, folder_id: str, row: PlaceFields, before: dict[str, dict[str, Any]]
) -> tuple[object, ...]:
    """Return the row to write: what was sent merged over what exists."""
    identity = f"{folder_id}::{row.item_id}"
    stored = before.get(identity, {})
    fields = [
        getattr(row, name) if name in row.model_fields_set or name not in stored else stored[name]
        for name in _KEPT
    ]
    return (identity, folder_id, row.item_id, *fields, ctx.now)


@action(
    "canvas.item_create",
    result=Item,
    summary="Put a note, quote, text or link on the canvas of a folder.",
    route=Route("POST", "/api/canvas/folders/{folder_id}/items"),
    words="Put something on the canvas of {folder_id|a folder}",
)
def item_create(ctx: ActionContext, p: ItemCreateParams) -> dict[str, Any]:
    """Raises NotFound for an unknown folder, Conflict in the Trash, Forbidden by a lock, Invalid for ends of
    a link that are not two things on the canvas, or when the canvas is full.
    """
    folder = require_canvas(ctx.conn, p.folder_id)
    number_of_items = select(func.count()).select_from(items).where(items.c.folder_id == folder.id)
    if ctx.conn.execute(number_of_items).scalar_one() >= MAX_ITEMS:
        raise canvas_full(MAX_ITEMS)
    value = {**p.model_dump(), "id": new_id(), "created_at": ctx.now, "updated_at": ctx.now}
    _check_ends(ctx, folder.name, value)
    ctx.target(value["id"], folder.id)
    ctx.note_changes(document_ids=[folder.id])
    return ITEMS.insert(ctx.conn, value)


def _check_ends(ctx: ActionContext, name: str, item: dict[str, Any]) -> None:
    """Refuse a link without two different things on the canvas at its ends, and ends on other kinds."""
    ends = [item["source_item_id"], item["target_item_id"]]
    if item["kind"] != "link":
        if any(end is not None for end in ends):
            raise bad_link(
                f"A {item['kind'].replace('_', ' ')} has no ends. Make an item of kind link for that."
            )
        return
    if None in ends:
        raise bad_link("A link needs source_item_id and target_item_id: two things on this canvas.")
    if ends[0] == ends[1]:
        raise bad_link("A link leads from one thing to another; both its ends are the same.")
    away = strangers(ctx.conn, item["folder_id"], ends, links=False)
    if away:
        raise _stranger(ctx, away[0], name)


def _stranger(ctx: ActionContext, item_id: str, name: str) -> ServiceError:
    """Return the refusal of a thing that is elsewhere in the project, or not in it."""
    return not_on_canvas(item_id, name) if exists_at_all(ctx.conn, item_id) else unknown_thing(item_id)


@action(
    "canvas.item_update",
    result=Item,
    summary="Change the words, payload or ends of a canvas item.",
    route=Route("PATCH", "/api/canvas/items/{item_id}"),
    words="Changed something on the canvas of {}",
)
def item_update(ctx: ActionContext, p: ItemUpdateParams) -> dict[str, Any]:
    """Raises NotFound, Conflict in the Trash, Forbidden by a lock, Invalid for invalid ends of a link."""
    item = ITEMS.require(ctx.conn, p.item_id)
    folder = require_canvas(ctx.conn, item["folder_id"])
    changes = p.dump_changes("item_id", empty={"payload": {}})
    if "kind" in changes and (changes["kind"] == "link") != (item["kind"] == "link"):
        raise kind_stays()
    if changes.keys() & {"kind", "source_item_id", "target_item_id"}:
        _check_ends(ctx, folder.name, {**item, **changes})
    if changes:
        ctx.conn.execute(items.update().where(items.c.id == p.item_id).values(**changes, updated_at=ctx.now))
    ctx.target(p.item_id, folder.id)
    ctx.note_changes(document_ids=[folder.id])
    return ITEMS.require(ctx.conn, p.item_id)


@action(
    "canvas.item_delete",
    result=ItemDeleted,
    summary="Remove an item from the canvas, with its place and the links that end at it.",
    route=Route("DELETE", "/api/canvas/items/{item_id}"),
    words="Removed something from the canvas of {}",
)
def item_delete(ctx: ActionContext, p: ItemDeleteParams) -> dict[str, Any]:
    """Raises NotFound, Conflict in the Trash, Forbidden by a lock."""
    item = ITEMS.require(ctx.conn, p.item_id)
    folder = require_canvas(ctx.conn, item["folder_id"])
    links = links_at(ctx.conn, p.item_id)
    removed_ids = [p.item_id, *links]
    ctx.conn.execute(
        places.delete().where(places.c.folder_id == folder.id, is_among(places.c.item_id, removed_ids))
    )
    ctx.conn.execute(items.delete().where(is_among(items.c.id, removed_ids)))
    ctx.target(p.item_id, folder.id, *links)
    ctx.note_changes(document_ids=[folder.id])
    return {"status": "deleted", "id": p.item_id, "removed_link_ids": links}
