"""What a canvas loses when things on it move to another project: their places, and the links that end on them (A 4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection

from armarium.api import ActionContext, json_text, raw_of
from armarium_canvas.models import items, places
from armarium_documents.api import Carrier

_AWAY = "folder_id NOT IN (SELECT value FROM json_each(:ids))"
_ON = "IN (SELECT value FROM json_each(:ids))"


def _places(conn: Connection, documents: Sequence[str]) -> list[tuple[str, str, str]]:
    """(place, the thing's name, the folder's name) for each place on the canvas of a folder that stays."""
    return (
        raw_of(conn)
        .execute(
            "SELECT p.id, d.name, f.name FROM canvas_place p JOIN document d ON d.id = p.item_id"
            f" JOIN document f ON f.id = p.folder_id WHERE p.item_id {_ON} AND p.{_AWAY} ORDER BY p.id",
            {"ids": json_text(list(documents))},
        )
        .fetchall()
    )


def _links(conn: Connection, documents: Sequence[str]) -> list[tuple[str, str, str]]:
    """(link, its words, the folder's name) for each link of a canvas that stays with an end that goes."""
    return (
        raw_of(conn)
        .execute(
            "SELECT i.id, COALESCE(i.text, ''), f.name FROM canvas_item i JOIN document f ON f.id = i.folder_id"
            f" WHERE (i.source_item_id {_ON} OR i.target_item_id {_ON}) AND i.{_AWAY} ORDER BY i.id",
            {"ids": json_text(list(documents))},
        )
        .fetchall()
    )


def cuts(conn: Connection, documents: Sequence[str]) -> list[dict[str, Any]]:
    """The places and links that a move of *documents* cuts."""
    found = [
        {
            "kind": "canvas_place",
            "id": identity,
            "name": name,
            "why": f"“{name}” lies on the canvas of “{folder}”, which stays.",
        }
        for identity, name, folder in _places(conn, documents)
    ]
    return found + [
        {
            "kind": "canvas_link",
            "id": identity,
            "name": words,
            "why": f"This link on the canvas of “{folder}” ends on something that goes.",
        }
        for identity, words, folder in _links(conn, documents)
    ]


def cut(ctx: ActionContext, documents: Sequence[str]) -> None:
    """Take those places and links off their canvases; undo of the move puts them back."""
    for table, rows in ((places, _places(ctx.conn, documents)), (items, _links(ctx.conn, documents))):
        raw_of(ctx.conn).execute(
            f"DELETE FROM {table.name} WHERE id IN (SELECT value FROM json_each(?))",
            (json_text([row[0] for row in rows]),),
        )


carrier = Carrier(cuts=cuts, cut=cut)
"""How a canvas takes part in a transfer: the layout of a folder that goes comes along by its own columns."""
