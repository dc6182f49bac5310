"""Requests and answers about reading orders."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from armarium.api import Message, Params, answer_of
from armarium_source_model.models import order_entries, reading_orders
from armarium_source_model.schemas.fields import Fraction, Frozen, Id, Name, Version, Word

OrderBasis = Literal["named", "columns-stated", "positions", "positions-in-doubt", "none"]
"""By what the lines of a page are in order: an order that somebody named, the number of columns that somebody stated,
their positions, and whether those would allow another order nearly as well.
"""

AS_WRITTEN, FLOW = "as-written", "flow"
MOST_COLUMNS = 20
MAX_FILL = 20_000
"""Segments that one step puts into an order."""


class OrderCreate(Params):
    """kind is open: as-written, imposed, commentary, flow, or another word."""

    document_id: Id
    pass_id: Id
    name: Name
    kind: Word
    certainty: Fraction | None = None
    seed_from_pass: bool = False


class Place(Params):
    """Adds a segment, or moves it if expected_version gives its entry's current version."""

    order_id: Id
    segment_id: Id
    after_entry_id: Id | None = None
    at_end: bool = False
    parent_entry_id: Id | None = None
    expected_version: Version | None = None


class Placed(Frozen):
    """parent_segment_id: the segment it is placed inside, as a line in its region."""

    segment_id: Id
    parent_segment_id: Id | None = None


class OrderFill(Params):
    order_id: Id
    segments: Annotated[list[Placed], Field(min_length=1, max_length=MAX_FILL)]


class ColumnsState(Params):
    """columns: null leaves the order to the positions of the lines. pass_id: if not the working pass."""

    document_id: Id
    columns: Annotated[int, Field(ge=1, le=MOST_COLUMNS)] | None
    pass_id: Id | None = None


class EntryRemove(Params):
    order_id: Id
    entry_id: Id


@answer_of(reading_orders)
class OrderOut(Message):
    entry_count: int


class ColumnsStated(Message):
    """order_basis: as in the page's text."""

    document_id: str
    pass_id: str
    columns: int | None
    order_basis: OrderBasis


class DeletedOrder(OrderOut):
    """An order that was withdrawn; it is kept and can be restored."""

    status: Literal["deleted"] = "deleted"


class OrderList(Message):
    document_id: str
    items: list[OrderOut]
    count: int


@answer_of(order_entries)
class EntryOut(Message):
    child_count: int


class FilledOrder(Message):
    """The entries made, in the order named."""

    order_id: str
    entry_ids: list[str]
    count: int


class EntryList(Message):
    order_id: str
    parent_entry_id: str | None
    items: list[EntryOut]
    count: int


class Neighbour(Message):
    """deleted: the order still names the segment, but it was withdrawn or merged away."""

    entry_id: str
    segment_id: str
    deleted: bool


class Neighbours(Message):
    order_id: str
    segment_id: str
    before: Neighbour | None
    after: Neighbour | None


class Removed(Message):
    status: str
    id: str


class Flow(Message):
    order_id: str
    name: str
    document_id: str
    last_segment_id: str
    pages_back: int


class FlowList(Message):
    document_id: str
    flows: list[Flow]
