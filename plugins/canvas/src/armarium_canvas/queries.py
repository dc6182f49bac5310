"""Reads of a canvas: its layout and items, and the scene its picture draws."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    RowMapping,
    Select,
    case,
    exists,
    func,
    or_,
    select,
    union_all,
)

from armarium.api import is_among, query
from armarium_canvas import records
from armarium_canvas.errors import no_canvas
from armarium_canvas.records import Layout, items, places
from armarium_documents.api import Node, documents, renditions, require_live, sibling_order, thumbnail_sources

MOST_UNPLACED = 400
"""Cards drawn in the strip of what has no place; the rest is counted."""

PLACES, ITEMS = records.Place.rows, records.Item.rows

_HERE = or_(
    exists().where(
        documents.c.id == places.c.item_id,
        documents.c.parent_id == places.c.folder_id,
        documents.c.deleted_at.is_(None),
    ),
    exists().where(items.c.id == places.c.item_id, items.c.folder_id == places.c.folder_id),
)
"""A row counts while what it places is in the folder; else it waits for it to come back."""


def require_canvas(conn: Connection, folder_id: str) -> Node:
    """Return the live folder or group of the canvas; NotFound, Conflict in the Trash, Invalid for other nodes."""
    node = require_live(conn, folder_id)
    if node.node_kind != "document" or node.doc_type not in ("folder", "group"):
        raise no_canvas(node.name)
    return node


@query(
    "/api/canvas/folders/{folder_id}/layout",
    summary="The layout of the canvas of a folder",
    answer=Layout,
    refusals=(404, 409),
    name="read_layout",
)
def layout(conn: Connection, folder_id: str) -> dict[str, Any]:
    """Return the rows of a folder's canvas, from back to front, and its items, oldest first."""
    require_canvas(conn, folder_id)
    return layout_of(conn, folder_id)


def layout_of(conn: Connection, folder_id: str) -> dict[str, Any]:
    """Like `layout`, for a folder that is known to have a canvas."""
    front = (places.c.z_index, places.c.z, places.c.id)
    return {
        "folder_id": folder_id,
        "rows": PLACES.all(conn, places.c.folder_id == folder_id, _HERE, order=front),
        "items": ITEMS.all(conn, items.c.folder_id == folder_id, order=(items.c.created_at, items.c.id)),
    }


def stored_places(conn: Connection, ids: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return the layout rows with the ids *ids*, by id."""
    return {row["id"]: row for row in PLACES.all(conn, is_among(places.c.id, ids))}


def strangers(conn: Connection, folder_id: str, ids: Sequence[str], *, links: bool = True) -> list[str]:
    """Return those of *ids* that are neither live documents of the folder nor items (*links*: or links) of
    its canvas.
    """
    own = select(items.c.id).where(items.c.folder_id == folder_id, is_among(items.c.id, ids))
    here = union_all(
        select(documents.c.id).where(_in_folder(folder_id), is_among(documents.c.id, ids)),
        own if links else own.where(items.c.kind != "link"),
    )
    at_home = set(conn.execute(here).scalars())
    return [document_id for document_id in ids if document_id not in at_home]


def exists_at_all(conn: Connection, item_id: str) -> bool:
    """Return whether a document or an item of any canvas has this id."""
    ids_of_items = union_all(
        select(documents.c.id).where(documents.c.id == item_id),
        select(items.c.id).where(items.c.id == item_id),
    )
    return conn.execute(ids_of_items).first() is not None


def links_at(conn: Connection, item_id: str) -> list[str]:
    """Return the links that end at an item, oldest first."""
    ends = or_(items.c.source_item_id == item_id, items.c.target_item_id == item_id)
    statement = (
        select(items.c.id).where(items.c.kind == "link", ends).order_by(items.c.created_at, items.c.id)
    )
    return list(conn.execute(statement).scalars())


def _in_folder(folder_id: str) -> ColumnElement[bool]:
    return (documents.c.parent_id == folder_id) & documents.c.deleted_at.is_(None)


Place = tuple[float, float, float | None, float | None, float]


class Card(NamedTuple):
    """A document on the canvas. `place` is x, y, w, h in card units and the angle; None for one in the strip."""

    id: str
    name: str
    is_group: bool
    members: int
    thumbnail: str | None
    place: Place | None


class Note(NamedTuple):
    """A canvas item that is not a link."""

    id: str
    text: str
    place: Place | None


class Line(NamedTuple):
    """A link between two things on the canvas."""

    source_id: str
    target_id: str
    text: str


class Scene(NamedTuple):
    """Everything that the picture of a canvas draws, from back to front."""

    placed: list[Card | Note]
    unplaced: list[Card | Note]
    not_drawn: int
    lines: list[Line]


def _cards(folder_id: str) -> Select[Any]:
    """Return what the cards of a folder show."""
    member = documents.alias("member")
    members = (member.c.parent_id == documents.c.id) & member.c.deleted_at.is_(None)
    first = select(member.c.id).where(members).order_by(*sibling_order(member)).limit(1)
    is_group = documents.c.doc_type == "group"
    # A group shows its first member.
    pictured = case((is_group, first.correlate(documents).scalar_subquery()), else_=documents.c.id)
    return select(
        documents.c.id,
        documents.c.name,
        is_group.label("is_group"),
        select(func.count()).select_from(member).where(members).scalar_subquery().label("members"),
        thumbnail_sources.with_only_columns(renditions.c.checksum)
        .where(renditions.c.document_id == pictured)
        .correlate(documents)
        .scalar_subquery()
        .label("thumbnail"),
    ).where(_in_folder(folder_id))


_PLACED = (places.c.x, places.c.y, places.c.w, places.c.h, places.c.angle)
_DEPTH = (places.c.z_index, places.c.z, places.c.id.label("place_id"))


def _card(row: RowMapping, place: Place | None) -> Card:
    return Card(row["id"], row["name"], row["is_group"], row["members"], row["thumbnail"], place)


def _place(row: RowMapping) -> Place:
    return row["x"], row["y"], row["w"], row["h"], row["angle"]


def scene(conn: Connection, folder_id: str) -> Scene:
    """Return the contents of a folder's canvas, placed and unplaced, with a fixed number of statements."""
    placed: list[tuple[tuple[Any, ...], Card | Note]] = []
    cards = _cards(folder_id)
    here = (places.c.item_id == documents.c.id) & (places.c.folder_id == folder_id)
    for row in conn.execute(cards.add_columns(*_PLACED, *_DEPTH).join(places, here)).mappings():
        placed.append(((row["z_index"], row["z"], row["place_id"]), _card(row, _place(row))))
    loose: list[Card | Note] = []
    lines = []
    own = (
        select(items.c.id, items.c.kind, items.c.text, items.c.source_item_id, items.c.target_item_id)
        .add_columns(*_PLACED, *_DEPTH)
        .outerjoin(places, (places.c.item_id == items.c.id) & (places.c.folder_id == items.c.folder_id))
        .where(items.c.folder_id == folder_id)
        .order_by(items.c.created_at, items.c.id)
    )
    for row in conn.execute(own).mappings():
        words = row["text"] or ""
        if row["kind"] == "link":
            lines.append(Line(row["source_item_id"], row["target_item_id"], words))
        elif row["place_id"] is None:
            loose.append(Note(row["id"], words, None))
        else:
            depth = (row["z_index"], row["z"], row["place_id"])
            placed.append((depth, Note(row["id"], words, _place(row))))
    without = _in_folder(folder_id) & ~exists().where(here)
    count = conn.execute(select(func.count()).select_from(documents).where(without)).scalar_one()
    unplaced = cards.where(without).order_by(*sibling_order())
    strip: list[Card | Note] = [
        _card(row, None) for row in conn.execute(unplaced.limit(MOST_UNPLACED)).mappings()
    ]
    strip += loose[: MOST_UNPLACED - len(strip)]
    placed.sort(key=lambda entry: entry[0])
    return Scene([entry[1] for entry in placed], strip, count + len(loose) - len(strip), lines)
