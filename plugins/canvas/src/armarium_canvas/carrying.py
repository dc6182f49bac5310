"""What a canvas loses when things on it move to another project: their places, and the links to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, func, or_, select

from armarium.api import ActionContext, is_among
from armarium_canvas.records import items, places
from armarium_documents.api import Carrier, documents


def _places(conn: Connection, moved: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return (place, the thing's name, the folder's name) for each place on a canvas that stays behind."""
    folder = documents.alias("folder")
    statement = (
        select(places.c.id, documents.c.name, folder.c.name)
        .join(documents, documents.c.id == places.c.item_id)
        .join(folder, folder.c.id == places.c.folder_id)
        .where(is_among(places.c.item_id, moved), ~is_among(places.c.folder_id, moved))
    )
    return [(one, name, folder) for one, name, folder in conn.execute(statement.order_by(places.c.id))]


def _links(conn: Connection, moved: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return (link, its words, the folder's name) for each link of a canvas that stays, with an end that moves."""
    ends = or_(is_among(items.c.source_item_id, moved), is_among(items.c.target_item_id, moved))
    statement = (
        select(items.c.id, func.coalesce(items.c.text, ""), documents.c.name)
        .join(documents, documents.c.id == items.c.folder_id)
        .where(ends, ~is_among(items.c.folder_id, moved))
    )
    return [(one, words, folder) for one, words, folder in conn.execute(statement.order_by(items.c.id))]


def cuts(conn: Connection, moved: Sequence[str]) -> list[dict[str, Any]]:
    """Return the places and links that a move of the documents *moved* cuts."""
    found = [
        {
            "kind": "canvas_place",
            "id": identity,
            "name": name,
            "why": f"“{name}” is on the canvas of “{folder}”, which stays behind.",
        }
        for identity, name, folder in _places(conn, moved)
    ]
    return found + [
        {
            "kind": "canvas_link",
            "id": identity,
            "name": words,
            "why": f"This link on the canvas of “{folder}” ends at something that moves.",
        }
        for identity, words, folder in _links(conn, moved)
    ]


def cut(ctx: ActionContext, moved: Sequence[str]) -> None:
    """Remove those places and links from their canvases; undoing the move restores them."""
    for table, rows in ((places, _places(ctx.conn, moved)), (items, _links(ctx.conn, moved))):
        ctx.conn.execute(table.delete().where(is_among(table.c.id, [row[0] for row in rows])))


carrier = Carrier(cuts=cuts, cut=cut)
"""How a canvas takes part in a transfer: the layout of a folder that goes comes along by its own columns."""
