"""Routes of reading orders (B 4.4)."""

from __future__ import annotations

from fastapi import APIRouter, Response

from armarium.api import REFUSALS, CurrentLibrary, Invalid, json_response
from armarium_documents.api import require_document
from armarium_source_model.queries.orders import (
    entries_of,
    flows_onto,
    get_entry,
    neighbours,
    orders_of,
    standing_order,
)
from armarium_source_model.schemas.orders import (
    EntryList,
    FlowList,
    Neighbours,
    OrderList,
)

router = APIRouter(prefix="/api/reading-orders", tags=["reading orders"])


@router.get(
    "/document/{document_id}",
    summary="The reading orders of a page",
    response_model=OrderList,
    responses=REFUSALS(404),
)
def list_orders(library: CurrentLibrary, document_id: str, include_deleted: bool = False) -> Response:
    """The one as written first."""
    with library.db.read() as conn:
        require_document(conn, document_id)
        items = orders_of(conn, document_id, include_deleted=include_deleted)
    return json_response({"document_id": document_id, "items": items, "count": len(items)})


@router.get(
    "/flows/onto/{document_id}",
    summary="Flows that could go on here",
    response_model=FlowList,
    responses=REFUSALS(404),
)
def list_flows(library: CurrentLibrary, document_id: str) -> Response:
    """Flows that end on an earlier page beside this one, nearest first."""
    with library.db.read() as conn:
        require_document(conn, document_id)
        return json_response({"document_id": document_id, "flows": flows_onto(conn, document_id)})


@router.get(
    "/{order_id}/entries",
    summary="One level of an order",
    response_model=EntryList,
    responses=REFUSALS(404, 409),
)
def list_entries(library: CurrentLibrary, order_id: str, parent_entry_id: str | None = None) -> Response:
    """Its top, or the children of parent_entry_id."""
    with library.db.read() as conn:
        standing_order(conn, order_id)
        if parent_entry_id is not None:
            get_entry(conn, order_id, parent_entry_id)
        items = entries_of(conn, order_id, parent_entry_id)
    return json_response(
        {"order_id": order_id, "parent_entry_id": parent_entry_id, "items": items, "count": len(items)}
    )


@router.get(
    "/{order_id}/neighbours",
    summary="What reads before and after",
    response_model=Neighbours,
    responses=REFUSALS(404, 409),
)
def list_neighbours(library: CurrentLibrary, order_id: str, segment_id: str) -> Response:
    """Two bounded lookups. There is no default order: name one."""
    if order_id in ("-", "default"):
        raise Invalid(
            "There is no default reading order; name one of the orders of the page.",
            code="no_order_named",
        )
    with library.db.read() as conn:
        standing_order(conn, order_id)
        return json_response(neighbours(conn, order_id, segment_id))
