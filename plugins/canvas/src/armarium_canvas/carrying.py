"""What a canvas loses when things on it move to another project: their places, and the links to them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, func, or_, select

from armarium.api import is_among
from armarium_canvas.records import items, places
from armarium_documents.api import Carrier, Tie, documents


def _places(conn: Connection, moved: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return each place on a canvas that stays behind."""
    folder = documents.alias("folder")
    statement = (
        select(places.c.id, documents.c.name, folder.c.name)
        .join(documents, documents.c.id == places.c.item_id)
        .join(folder, folder.c.id == places.c.folder_id)
        .where(is_among(places.c.item_id, moved), ~is_among(places.c.folder_id, moved))
    )
    return [
        (place_id, name, f"“{name}” is on the canvas of “{folder}”, which stays behind.")
        for place_id, name, folder in conn.execute(statement.order_by(places.c.id))
    ]


def _links(conn: Connection, moved: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return each link of a canvas that stays, with an end that moves."""
    ends = or_(is_among(items.c.source_item_id, moved), is_among(items.c.target_item_id, moved))
    statement = (
        select(items.c.id, func.coalesce(items.c.text, ""), documents.c.name)
        .join(documents, documents.c.id == items.c.folder_id)
        .where(ends, ~is_among(items.c.folder_id, moved))
    )
    return [
        (item_id, words, f"This link on the canvas of “{folder}” ends at something that moves.")
        for item_id, words, folder in conn.execute(statement.order_by(items.c.id))
    ]


carrier = Carrier(ties=(Tie("canvas_place", _places, places), Tie("canvas_link", _links, items)))
"""How a canvas takes part in a transfer: the layout of a folder that goes comes along by its own columns."""
