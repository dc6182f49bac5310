"""Reads of a canvas: its layout and items, and the scene its picture draws."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Connection

from armarium.api import json_text, raw_of
from armarium_canvas.errors import no_canvas, unknown_item
from armarium_documents.api import Node, require_live

MOST_UNPLACED = 400
"""Cards drawn in the strip of what has no place; the rest is counted (A 8)."""

_PLACE = (
    "id",
    "folder_id",
    "item_id",
    "x",
    "y",
    "z",
    "w",
    "h",
    "d",
    "angle",
    "z_index",
    "style",
    "updated_at",
)
_ITEM = (
    "id",
    "folder_id",
    "kind",
    "text",
    "source_item_id",
    "target_item_id",
    "payload",
    "created_at",
    "updated_at",
)

_HERE = (
    "(EXISTS (SELECT 1 FROM document d WHERE d.id = p.item_id AND d.parent_id = p.folder_id AND d.deleted_at IS NULL)"
    " OR EXISTS (SELECT 1 FROM canvas_item i WHERE i.id = p.item_id AND i.folder_id = p.folder_id))"
)
"""A row counts while what it places is in the folder; else it waits for it to come back."""


def require_canvas(conn: Connection, folder_id: str) -> Node:
    """The live folder or group whose canvas it is; NotFound, Conflict in the Trash, Invalid for any other node."""
    node = require_live(conn, folder_id)
    if node.node_kind != "document" or node.doc_type not in ("folder", "group"):
        raise no_canvas(node.name)
    return node


def layout(raw: sqlite3.Connection, folder_id: str) -> dict[str, Any]:
    """The rows and items of a folder's canvas, rows from the back to the front."""
    columns = ", ".join(f'p."{name}"' for name in _PLACE)
    rows = raw.execute(
        f"SELECT {columns} FROM canvas_place p WHERE p.folder_id = ? AND {_HERE} ORDER BY p.z_index, p.z, p.id",
        (folder_id,),
    )
    return {
        "folder_id": folder_id,
        "rows": [dict(zip(_PLACE, row, strict=True)) for row in rows],
        "items": canvas_items(raw, folder_id),
    }


def canvas_items(raw: sqlite3.Connection, folder_id: str) -> list[dict[str, Any]]:
    """The items of a folder's canvas, oldest first."""
    rows = raw.execute(
        f"SELECT {', '.join(_ITEM)} FROM canvas_item WHERE folder_id = ? ORDER BY created_at, id",
        (folder_id,),
    )
    return [_item(row) for row in rows]


def _item(row: Iterable[Any]) -> dict[str, Any]:
    value = dict(zip(_ITEM, row, strict=True))
    value["payload"] = orjson.loads(value["payload"])
    return value


def canvas_item(raw: sqlite3.Connection, item_id: str) -> dict[str, Any]:
    """One item; NotFound where there is none."""
    row = raw.execute(f"SELECT {', '.join(_ITEM)} FROM canvas_item WHERE id = ?", (item_id,)).fetchone()
    if row is None:
        raise unknown_item(item_id)
    return _item(row)


def strangers(
    raw: sqlite3.Connection, folder_id: str, ids: Iterable[str], *, links: bool = True
) -> list[str]:
    """Those of *ids* that are neither live documents of the folder nor items of its canvas (with *links* or not)."""
    without = "" if links else " AND kind <> 'link'"
    rows = raw.execute(
        "SELECT j.value FROM json_each(:ids) j WHERE NOT EXISTS (SELECT 1 FROM document d WHERE d.id = j.value"
        " AND d.parent_id = :folder AND d.deleted_at IS NULL) AND NOT EXISTS (SELECT 1 FROM canvas_item"
        f" WHERE id = j.value AND folder_id = :folder{without})",
        {"ids": json_text(list(ids)), "folder": folder_id},
    )
    return [row[0] for row in rows]


def stored_places(raw: sqlite3.Connection, ids: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The layout rows that have the ids *ids*, by id."""
    rows = raw.execute(
        f"SELECT {', '.join(_PLACE)} FROM canvas_place WHERE id IN (SELECT value FROM json_each(?))",
        (json_text(list(ids)),),
    )
    return {row[0]: dict(zip(_PLACE, row, strict=True)) for row in rows}


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
    """A canvas item that is no link."""

    id: str
    text: str
    place: Place | None


class Line(NamedTuple):
    """A link between two things on the canvas."""

    source_id: str
    target_id: str
    text: str


class Scene(NamedTuple):
    """All that the picture of a canvas draws, from the back to the front."""

    placed: list[Card | Note]
    unplaced: list[Card | Note]
    not_drawn: int
    lines: list[Line]


_CARD = (
    "SELECT d.id, d.name, d.doc_type = 'group',"
    " (SELECT count(*) FROM document m WHERE m.parent_id = d.id AND m.deleted_at IS NULL),"
    # A group shows its first member (A 4.9).
    " (SELECT t.checksum FROM thumbnail t WHERE t.document_id = CASE WHEN d.doc_type = 'group' THEN"
    " (SELECT m.id FROM document m WHERE m.parent_id = d.id AND m.deleted_at IS NULL"
    " ORDER BY m.sort_order, m.name, m.id LIMIT 1) ELSE d.id END)"
)


def scene(conn: Connection, folder_id: str) -> Scene:
    """What lies on the canvas of a folder, and what of it has no place; as many statements whatever the size."""
    raw = raw_of(conn)
    placed: list[tuple[tuple[Any, ...], Card | Note]] = []
    for row in raw.execute(
        f"{_CARD}, p.x, p.y, p.w, p.h, p.angle, p.z_index, p.z, p.id FROM canvas_place p JOIN document d ON d.id = p.item_id"
        " WHERE p.folder_id = ? AND d.parent_id = p.folder_id AND d.deleted_at IS NULL",
        (folder_id,),
    ):
        placed.append((row[10:13], Card(row[0], row[1], row[2] == 1, row[3], row[4], row[5:10])))
    loose: list[Card | Note] = []
    lines = []
    for row in raw.execute(
        "SELECT i.id, i.kind, COALESCE(i.text, ''), i.source_item_id, i.target_item_id, p.x, p.y, p.w, p.h,"
        " p.angle, p.z_index, p.z, p.id FROM canvas_item i LEFT JOIN canvas_place p"
        " ON p.item_id = i.id AND p.folder_id = i.folder_id WHERE i.folder_id = ? ORDER BY i.created_at, i.id",
        (folder_id,),
    ):
        if row[1] == "link":
            lines.append(Line(row[3], row[4], row[2]))
        elif row[12] is None:
            loose.append(Note(row[0], row[2], None))
        else:
            placed.append((row[10:13], Note(row[0], row[2], row[5:10])))
    without = (
        " FROM document d WHERE d.parent_id = :folder AND d.deleted_at IS NULL AND NOT EXISTS"
        " (SELECT 1 FROM canvas_place p WHERE p.folder_id = :folder AND p.item_id = d.id)"
    )
    given = {"folder": folder_id, "most": MOST_UNPLACED}
    (count,) = raw.execute(f"SELECT count(*){without}", given).fetchone()
    strip: list[Card | Note] = [
        Card(row[0], row[1], row[2] == 1, row[3], row[4], None)
        for row in raw.execute(f"{_CARD}{without} ORDER BY d.sort_order, d.name, d.id LIMIT :most", given)
    ]
    strip += loose[: MOST_UNPLACED - len(strip)]
    placed.sort(key=lambda entry: entry[0])
    return Scene([entry[1] for entry in placed], strip, count + len(loose) - len(strip), lines)
