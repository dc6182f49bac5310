"""Where accepted documents are put: in the place of their first page, and in order on the folder's canvas."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sqlalchemy import Connection, select

from armarium.api import ActionContext, is_among
from armarium_documents.api import documents, place_documents, sibling_order

STEP = 1024
"""The gap between neighbours, so that another one fits in between later."""
CELL = (260.0, 340.0)
"""Width and height of a card on the canvas, in its units."""
MOST_ROWS = 10_000


class Places:
    """A folder's children in order, and the nodes that are to replace some of them."""

    def __init__(self, order: dict[str, int], within: dict[str, str]) -> None:
        self.order = order
        self.within = within
        self.made: dict[str, str] = {}

    def put(self, node_id: str, members: Sequence[str]) -> None:
        """Put *node_id* where the first of *members* in the folder's order is."""
        anchors = [self.made.get(member, self.within.get(member, member)) for member in members]
        self.made[node_id] = min(anchors, key=lambda place: self.order.get(place, 0))


def _children(conn: Connection, folder_id: str) -> list[tuple[str, int]]:
    query = select(documents.c.id, documents.c.sort_order).where(
        documents.c.parent_id == folder_id, documents.c.deleted_at.is_(None)
    )
    rows = conn.execute(query.order_by(*sibling_order()))
    return [(identity, place) for identity, place in rows]


def places_before(conn: Connection, folder_id: str, page_ids: Sequence[str]) -> Places:
    """Return the folder's children in order, before pages are moved; a page of a file counts as being where
    the file is.
    """
    order = {identity: number for number, (identity, _) in enumerate(_children(conn, folder_id))}
    parents = select(documents.c.id, documents.c.parent_id).where(is_among(documents.c.id, page_ids))
    return Places(
        order, {document_id: parent for document_id, parent in conn.execute(parents) if parent in order}
    )


def keep_places(ctx: ActionContext, folder_id: str, places: Places) -> None:
    """Number the folder's children so that each new node is where its first page was."""
    children = _children(ctx.conn, folder_id)
    ranks_of_groups = {identity: number for number, identity in enumerate(places.made, start=1)}

    def key(identity: str) -> tuple[int, int]:
        if identity in places.made:
            return places.order.get(places.made[identity], 0), ranks_of_groups[identity]
        return places.order.get(identity, len(places.order)), 0

    ranks = {identity: key(identity) for identity, _ in children}
    ordered = sorted(ranks, key=ranks.__getitem__)
    before = dict(children)
    changed = {
        identity: STEP * number
        for number, identity in enumerate(ordered, start=1)
        if before[identity] != STEP * number
    }
    if changed:
        place_documents(ctx, changed)


def arrange_canvas(ctx: ActionContext, folder_id: str) -> None:
    """Lay out the folder's canvas in order, row by row; do nothing if no plugin provides a canvas."""
    if ctx.engine.actions.find("canvas.save_layout") is None:
        return
    children = [identity for identity, _ in _children(ctx.conn, folder_id)]
    columns = max(1, math.ceil(math.sqrt(len(children))))
    for start in range(0, len(children), MOST_ROWS):
        rows = [
            {
                "item_id": identity,
                "x": (number % columns) * CELL[0],
                "y": (number // columns) * CELL[1],
            }
            for number, identity in enumerate(children[start : start + MOST_ROWS], start=start)
        ]
        ctx.run("canvas.save_layout", {"folder_id": folder_id, "rows": rows})
