"""Reads reading orders: those of a page, one level of entries, neighbours, flows that continue here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, Row, func, select

from armarium.api import NAME_KEY, AsOf, Invalid, NotFound, Rows, query
from armarium_documents.api import documents, representations, require_document
from armarium_source_model.errors import order_deleted, unknown_entry, unknown_order
from armarium_source_model.models import order_entries, reading_orders
from armarium_source_model.schemas.orders import AS_WRITTEN, FLOW, EntryList, FlowList, Neighbours, OrderList

_children = order_entries.alias("child")

ORDERS = Rows(
    reading_orders,
    missing=unknown_order,
    entry_count=select(func.count()).where(order_entries.c.order_id == reading_orders.c.id).scalar_subquery(),
)
ENTRIES = Rows(
    order_entries,
    missing=unknown_entry,
    child_count=select(func.count())
    .where(_children.c.parent_entry_id == order_entries.c.id)
    .scalar_subquery(),
)

_LEVEL = "SELECT id, segment_id, parent_entry_id, position FROM reading_order_entry WHERE order_id = ? AND parent_entry_id IS ?"

Entry = tuple[str, str, str | None, float]
"""id, segment id, parent entry id, position."""


def get_order(conn: Connection, order_id: str) -> Row[Any]:
    """Return the row of an order, withdrawn or not; NotFound."""
    return ORDERS.row(conn, order_id)


def standing_order(conn: Connection, order_id: str) -> Row[Any]:
    """Return the row of a live order; NotFound, OrderDeleted."""
    row = get_order(conn, order_id)
    if row.deleted_at is not None:
        raise order_deleted(order_id)
    return row


def written_order(conn: Connection, pass_id: str) -> Row[Any] | None:
    """Return the newest as-written order of a pass that has entries, or None."""
    return conn.exec_driver_sql(
        "SELECT * FROM reading_order o WHERE pass_id = ? AND kind = ? AND deleted_at IS NULL"
        " AND EXISTS (SELECT 1 FROM reading_order_entry e WHERE e.order_id = o.id)"
        " ORDER BY created_at DESC, id DESC LIMIT 1",
        (pass_id, AS_WRITTEN),
    ).one_or_none()


@query(
    "/api/reading-orders/document/{document_id}",
    summary="The reading orders of a page",
    answer=OrderList,
    as_of=AsOf("document_id"),
)
def list_orders(conn: Connection, document_id: str, include_deleted: bool = False) -> dict[str, Any]:
    """List the orders, the as-written one first."""
    require_document(conn, document_id)
    live = () if include_deleted else (reading_orders.c.deleted_at.is_(None),)
    written_first = (reading_orders.c.kind != AS_WRITTEN, reading_orders.c.created_at, reading_orders.c.id)
    items = ORDERS.all(conn, reading_orders.c.document_id == document_id, *live, order=written_first)
    return {"document_id": document_id, "items": items, "count": len(items)}


def get_entry(conn: Connection, order_id: str, entry_id: str) -> Row[Any]:
    """Return the row of an entry of an order; NotFound."""
    row = conn.execute(
        select(order_entries).where(order_entries.c.id == entry_id, order_entries.c.order_id == order_id)
    ).one_or_none()
    if row is None:
        raise unknown_entry(entry_id)
    return row


def entry_of_segment(conn: Connection, order_id: str, segment_id: str) -> Row[Any] | None:
    """Return the entry of a segment in an order, or None."""
    return conn.execute(
        select(order_entries).where(
            order_entries.c.order_id == order_id, order_entries.c.segment_id == segment_id
        )
    ).one_or_none()


@query(
    "/api/reading-orders/{order_id}/entries",
    summary="One level of an order",
    answer=EntryList,
    refusals=(404, 409),
    as_of=AsOf("order_id", reading_orders),
)
def list_entries(conn: Connection, order_id: str, parent_entry_id: str | None = None) -> dict[str, Any]:
    """List the top level, or the children of parent_entry_id."""
    standing_order(conn, order_id)
    if parent_entry_id is not None:
        get_entry(conn, order_id, parent_entry_id)
    level = (order_entries.c.order_id == order_id, order_entries.c.parent_entry_id.is_(parent_entry_id))
    items = ENTRIES.all(conn, *level, order=(order_entries.c.position, order_entries.c.id))
    return {"order_id": order_id, "parent_entry_id": parent_entry_id, "items": items, "count": len(items)}


def walk(conn: Connection, order_id: str) -> Iterator[tuple[str, str, bool]]:
    """Yield (entry id, segment id, has entries inside) of a whole order, every parent before its children."""
    children: dict[str | None, list[Any]] = {}
    for row in conn.exec_driver_sql(
        "SELECT id, segment_id, parent_entry_id FROM reading_order_entry WHERE order_id = ? ORDER BY position, id",
        (order_id,),
    ):
        children.setdefault(row[2], []).append(row)
    stack = list(reversed(children.get(None, [])))
    while stack:
        row = stack.pop()
        inside = children.get(row[0], [])
        yield row[0], row[1], bool(inside)
        stack.extend(reversed(inside))


@query(
    "/api/reading-orders/{order_id}/neighbours",
    summary="What reads before and after",
    answer=Neighbours,
    refusals=(404, 409),
)
def list_neighbours(conn: Connection, order_id: str, segment_id: str) -> dict[str, Any]:
    """Return the neighbours by two bounded lookups. There is no default order: name one."""
    if order_id in ("-", "default"):
        raise Invalid(
            "There is no default reading order; name one of the orders of the page.", code="no_order_named"
        )
    standing_order(conn, order_id)
    row = entry_of_segment(conn, order_id, segment_id)
    if row is None:
        raise NotFound(f"Segment {segment_id} is not in reading order {order_id}.", id=segment_id)
    entry: Entry = (row.id, row.segment_id, row.parent_entry_id, row.position)
    return {
        "order_id": order_id,
        "segment_id": segment_id,
        "before": _find_beside(conn, order_id, entry, after=False),
        "after": _find_beside(conn, order_id, entry, after=True),
    }


def _find_beside(conn: Connection, order_id: str, entry: Entry, *, after: bool) -> dict[str, Any] | None:
    """Return the nearest entry after (or before) one that is read by itself, skipping the contents of one
    that is not.
    """
    at = entry
    into = after and _reads(conn, order_id, entry)
    while True:
        nearest = _end(conn, order_id, at[0], first=True) if into else None
        if nearest is None and after:
            nearest = _next_outside(conn, order_id, at)
        elif nearest is None:
            nearest = _find_before(conn, order_id, at)
        if nearest is None:
            return None
        if _reads(conn, order_id, nearest):
            return {
                "entry_id": nearest[0],
                "segment_id": nearest[1],
                "deleted": _is_withdrawn(conn, nearest[1]),
            }
        at, into = nearest, after


def _next_outside(conn: Connection, order_id: str, at: Entry) -> Entry | None:
    above: Entry | None = at
    while above is not None:
        sibling = _sibling(conn, order_id, above, after=True)
        if sibling is not None:
            return sibling
        above = None if above[2] is None else _entry(conn, above[2])
    return None


def _find_before(conn: Connection, order_id: str, at: Entry) -> Entry | None:
    """Return the last entry inside the previous one, else that one, else the parent."""
    previous = _sibling(conn, order_id, at, after=False)
    if previous is None:
        return None if at[2] is None else _entry(conn, at[2])
    while (inside := _end(conn, order_id, previous[0], first=False)) is not None:
        previous = inside
    return previous


_HAS_WORDS = f"""
SELECT EXISTS (SELECT 1 FROM {representations} r WHERE r.segment_id = s.id AND r.kind = 'transcription'
               AND NOT r.retracted AND r.content <> ''),
s.kind = 'region' AND EXISTS (
    WITH RECURSIVE inside(id) AS (
        SELECT c.id FROM segment c WHERE c.parent_segment_id = s.id AND c.deleted_at IS NULL
        UNION ALL SELECT c.id FROM inside i JOIN segment c ON c.parent_segment_id = i.id WHERE c.deleted_at IS NULL)
    SELECT 1 FROM inside i JOIN {representations} r ON r.segment_id = i.id AND r.kind = 'transcription'
    WHERE NOT r.retracted AND r.content <> '')
FROM segment s WHERE s.id = ?
"""
"""Whether a segment has words of its own, and whether they go behind those of smaller parts, as in the page's text."""


def _reads(conn: Connection, order_id: str, entry: Entry) -> bool:
    """Return whether an entry is read by itself: it contains no others, or its segment has words besides
    theirs.
    """
    if _end(conn, order_id, entry[0], first=True) is None:
        return True
    own, behind = conn.exec_driver_sql(_HAS_WORDS, (entry[1],)).one()
    return bool(own) and not behind


def _is_withdrawn(conn: Connection, segment_id: str) -> bool:
    row = conn.exec_driver_sql(
        "SELECT s.deleted_at, p.deleted_at FROM segment s JOIN segment_pass p ON p.id = s.pass_id WHERE s.id = ?",
        (segment_id,),
    ).one_or_none()
    return row is None or row[0] is not None or row[1] is not None


def _entry(conn: Connection, entry_id: str) -> Entry | None:
    row = conn.exec_driver_sql(
        "SELECT id, segment_id, parent_entry_id, position FROM reading_order_entry WHERE id = ?", (entry_id,)
    ).one_or_none()
    return None if row is None else tuple(row)


def _sibling(conn: Connection, order_id: str, at: Entry, *, after: bool) -> Entry | None:
    sign, direction = (">", "ASC") if after else ("<", "DESC")
    row = conn.exec_driver_sql(
        f"{_LEVEL} AND (position, id) {sign} (?, ?) ORDER BY position {direction}, id {direction} LIMIT 1",
        (order_id, at[2], at[3], at[0]),
    ).one_or_none()
    return None if row is None else tuple(row)


def _end(conn: Connection, order_id: str, parent_id: str | None, *, first: bool) -> Entry | None:
    direction = "ASC" if first else "DESC"
    row = conn.exec_driver_sql(
        f"{_LEVEL} ORDER BY position {direction}, id {direction} LIMIT 1", (order_id, parent_id)
    ).one_or_none()
    return None if row is None else tuple(row)


@query("/api/reading-orders/flows/onto/{document_id}", summary="Flows that could go on here", answer=FlowList)
def list_flows(conn: Connection, document_id: str) -> dict[str, Any]:
    """List flows that end on an earlier sibling page, nearest first."""
    require_document(conn, document_id)
    return {"document_id": document_id, "flows": flows_onto(conn, document_id)}


def flows_onto(conn: Connection, document_id: str) -> list[dict[str, Any]]:
    """Return the flows that end on an earlier sibling page and could continue here, nearest first.

    Pages in the Trash do not count: a flow that ends on one is not offered.
    """
    pages = [
        row[0]
        for row in conn.exec_driver_sql(
            f"SELECT s.id FROM {documents} d JOIN {documents} s ON s.parent_id IS d.parent_id "
            f"WHERE d.id = ? AND s.deleted_at IS NULL ORDER BY s.sort_order, {NAME_KEY}(s.name), s.id",
            (document_id,),
        )
    ]
    if document_id not in pages:
        return []
    here = pages.index(document_id)
    back = {page: here - n for n, page in enumerate(pages[:here])}
    if not back:
        return []
    flows: list[dict[str, Any]] = []
    for order_id, name, home in conn.exec_driver_sql(
        # The literal, not a parameter: only then does SQLite use the partial index of flows.
        f"SELECT o.id, o.name, o.document_id FROM reading_order o JOIN {documents} d ON d.id = o.document_id "
        f"WHERE o.kind = '{FLOW}' AND o.deleted_at IS NULL AND d.deleted_at IS NULL"
    ).all():
        last = _end(conn, order_id, None, first=False)
        while last is not None:
            inside = _end(conn, order_id, last[0], first=False)
            if inside is None:
                break
            last = inside
        if last is None:
            continue
        page = conn.exec_driver_sql(
            "SELECT document_id FROM reading_order_entry WHERE id = ?", (last[0],)
        ).scalar_one()
        if page in back:
            flows.append(
                {
                    "order_id": order_id,
                    "name": name,
                    "document_id": home,
                    "last_segment_id": last[1],
                    "pages_back": back[page],
                }
            )
    return sorted(flows, key=lambda flow: (flow["pages_back"], flow["name"], flow["order_id"]))
