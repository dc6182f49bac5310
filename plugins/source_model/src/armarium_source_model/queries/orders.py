"""Reads of reading orders: the orders of a page, one level of entries, neighbours, flows that go on here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, Row, select

from armarium.api import NotFound
from armarium_source_model.errors import NoSuchEntry, NoSuchOrder, OrderDeleted
from armarium_source_model.models import order_entries, reading_orders
from armarium_source_model.schemas.orders import AS_WRITTEN, FLOW

_ORDER_KEYS = tuple(str(column.name) for column in reading_orders.columns)

_ORDERS = """
SELECT o.*, (SELECT count(*) FROM reading_order_entry e WHERE e.order_id = o.id) AS entry_count FROM reading_order o
"""

_ENTRIES = """
SELECT e.*, (SELECT count(*) FROM reading_order_entry c WHERE c.parent_entry_id = e.id) AS child_count
FROM reading_order_entry e
"""

_LEVEL = "SELECT id, segment_id, parent_entry_id, position FROM reading_order_entry WHERE order_id = ? AND parent_entry_id IS ?"

Entry = tuple[str, str, str | None, float]
"""id, segment id, parent entry id, position."""


def get_order(conn: Connection, order_id: str) -> Row[Any]:
    """The row of an order, withdrawn or not; NoSuchOrder."""
    row = conn.execute(select(reading_orders).where(reading_orders.c.id == order_id)).one_or_none()
    if row is None:
        raise NoSuchOrder(order_id)
    return row


def standing_order(conn: Connection, order_id: str) -> Row[Any]:
    """The row of an order that stands; NoSuchOrder, OrderDeleted."""
    row = get_order(conn, order_id)
    if row.deleted_at is not None:
        raise OrderDeleted(order_id)
    return row


def written_order(conn: Connection, pass_id: str) -> Row[Any] | None:
    """The order of a pass in which somebody has said how it is written, the newest with entries; None where nobody has."""
    return conn.exec_driver_sql(
        "SELECT * FROM reading_order o WHERE pass_id = ? AND kind = ? AND deleted_at IS NULL"
        " AND EXISTS (SELECT 1 FROM reading_order_entry e WHERE e.order_id = o.id)"
        " ORDER BY created_at DESC, id DESC LIMIT 1",
        (pass_id, AS_WRITTEN),
    ).one_or_none()


def orders_of(conn: Connection, document_id: str, *, include_deleted: bool = False) -> list[dict[str, Any]]:
    """The orders of a page as answered: as written first, then by age."""
    live = "" if include_deleted else " AND o.deleted_at IS NULL"
    rows = conn.exec_driver_sql(
        f"{_ORDERS} WHERE o.document_id = ?{live} ORDER BY o.kind <> ?, o.created_at, o.id",
        (document_id, AS_WRITTEN),
    )
    return [dict(row) for row in rows.mappings()]


def order_answer(conn: Connection, order_id: str) -> dict[str, Any]:
    """One order as answered."""
    return dict(conn.exec_driver_sql(f"{_ORDERS} WHERE o.id = ?", (order_id,)).mappings().one())


def get_entry(conn: Connection, order_id: str, entry_id: str) -> Row[Any]:
    """The row of an entry of an order; NoSuchEntry."""
    row = conn.execute(
        select(order_entries).where(order_entries.c.id == entry_id, order_entries.c.order_id == order_id)
    ).one_or_none()
    if row is None:
        raise NoSuchEntry(entry_id)
    return row


def entry_of_segment(conn: Connection, order_id: str, segment_id: str) -> Row[Any] | None:
    """The entry of a segment in an order, if it has one."""
    return conn.execute(
        select(order_entries).where(
            order_entries.c.order_id == order_id, order_entries.c.segment_id == segment_id
        )
    ).one_or_none()


def entry_answer(conn: Connection, entry_id: str) -> dict[str, Any]:
    """One entry as answered."""
    return dict(conn.exec_driver_sql(f"{_ENTRIES} WHERE e.id = ?", (entry_id,)).mappings().one())


def entries_of(conn: Connection, order_id: str, parent_entry_id: str | None) -> list[dict[str, Any]]:
    """One level of an order: its top, or the children of an entry."""
    rows = conn.exec_driver_sql(
        f"{_ENTRIES} WHERE e.order_id = ? AND e.parent_entry_id IS ? ORDER BY e.position, e.id",
        (order_id, parent_entry_id),
    )
    return [dict(row) for row in rows.mappings()]


def walk(conn: Connection, order_id: str) -> Iterator[tuple[str, str, bool]]:
    """(entry id, segment id, has entries inside) of a whole order, every parent before its children."""
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


def neighbours(conn: Connection, order_id: str, segment_id: str) -> dict[str, Any]:
    """What reads before and after a segment: a few indexed lookups each way, whatever the order's length."""
    row = entry_of_segment(conn, order_id, segment_id)
    if row is None:
        raise NotFound(f"Segment {segment_id} has no place in reading order {order_id}.", id=segment_id)
    entry: Entry = (row.id, row.segment_id, row.parent_entry_id, row.position)
    return {
        "order_id": order_id,
        "segment_id": segment_id,
        "before": _beside(conn, order_id, entry, after=False),
        "after": _beside(conn, order_id, entry, after=True),
    }


def _beside(conn: Connection, order_id: str, entry: Entry, *, after: bool) -> dict[str, Any] | None:
    """The nearest entry after (or before) one that is read by itself. Of one that is not, all it holds is skipped."""
    at = entry
    into = after and _reads(conn, order_id, entry)
    while True:
        found = _end(conn, order_id, at[0], first=True) if into else None
        if found is None and after:
            found = _next_outside(conn, order_id, at)
        elif found is None:
            found = _before(conn, order_id, at)
        if found is None:
            return None
        if _reads(conn, order_id, found):
            return {"entry_id": found[0], "segment_id": found[1], "deleted": _is_withdrawn(conn, found[1])}
        at, into = found, after


def _next_outside(conn: Connection, order_id: str, at: Entry) -> Entry | None:
    above: Entry | None = at
    while above is not None:
        found = _sibling(conn, order_id, above, after=True)
        if found is not None:
            return found
        above = None if above[2] is None else _entry(conn, above[2])
    return None


def _before(conn: Connection, order_id: str, at: Entry) -> Entry | None:
    """The last entry inside the one before, else that one, else the one it stands in."""
    found = _sibling(conn, order_id, at, after=False)
    if found is None:
        return None if at[2] is None else _entry(conn, at[2])
    while (inside := _end(conn, order_id, found[0], first=False)) is not None:
        found = inside
    return found


_HAS_WORDS = """
SELECT EXISTS (SELECT 1 FROM content_representation r WHERE r.segment_id = s.id AND r.kind = 'transcription'
               AND NOT r.retracted AND r.content <> ''),
s.kind = 'region' AND EXISTS (
    WITH RECURSIVE inside(id) AS (
        SELECT c.id FROM segment c WHERE c.parent_segment_id = s.id AND c.deleted_at IS NULL
        UNION ALL SELECT c.id FROM inside i JOIN segment c ON c.parent_segment_id = i.id WHERE c.deleted_at IS NULL)
    SELECT 1 FROM inside i JOIN content_representation r ON r.segment_id = i.id AND r.kind = 'transcription'
    WHERE NOT r.retracted AND r.content <> '')
FROM segment s WHERE s.id = ?
"""
"""Whether a segment has words of its own, and whether they go behind those of smaller parts, as in the page's text."""


def _reads(conn: Connection, order_id: str, entry: Entry) -> bool:
    """Whether an entry is read by itself: one that holds no others, or whose segment has words besides theirs."""
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


def flows_onto(conn: Connection, document_id: str) -> list[dict[str, Any]]:
    """The flows that end on an earlier page beside this one and could go on here, nearest first.

    Pages in the Trash are no pages here: a flow that ends on one is not offered.
    """
    pages = [
        row[0]
        for row in conn.exec_driver_sql(
            "SELECT s.id FROM document d JOIN document s ON s.parent_id IS d.parent_id "
            "WHERE d.id = ? AND s.deleted_at IS NULL ORDER BY s.sort_order, s.name, s.id",
            (document_id,),
        )
    ]
    if document_id not in pages:
        return []
    here = pages.index(document_id)
    back = {page: here - n for n, page in enumerate(pages[:here])}
    if not back:
        return []
    found: list[dict[str, Any]] = []
    for order_id, name, home in conn.exec_driver_sql(
        # The word itself, not a parameter: only so is the index of the flows seen to hold them all.
        "SELECT o.id, o.name, o.document_id FROM reading_order o JOIN document d ON d.id = o.document_id "
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
            found.append(
                {
                    "order_id": order_id,
                    "name": name,
                    "document_id": home,
                    "last_segment_id": last[1],
                    "pages_back": back[page],
                }
            )
    return sorted(found, key=lambda flow: (flow["pages_back"], flow["name"], flow["order_id"]))
