"""What is on a canvas: positions, and the items that exist only on a canvas; requests and answers about them."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator
from sqlalchemy import Column, Index, MetaData, Text

from armarium.api import Message, Params, Record, RowId, SourceText, record, reference, tracked
from armarium_canvas.errors import unknown_item
from armarium_documents.api import check_json, documents

metadata = MetaData()

MAX_ROWS = 10_000
MAX_ITEMS = 10_000
MAX_PAYLOAD = 64 * 1024

Id = RowId
Coordinate = Annotated[float, Field(ge=-1_000_000, le=1_000_000, allow_inf_nan=False)]
Length = Annotated[float, Field(gt=0, le=100_000, allow_inf_nan=False)]
Layer = Annotated[int, Field(ge=-1_000_000_000, le=1_000_000_000)]
Kind = Literal["note", "quote", "work_note", "link", "text"]
Words = Annotated[SourceText, Field(max_length=100_000)]
Payload = Annotated[dict[str, Any], AfterValidator(partial(check_json, most_bytes=MAX_PAYLOAD))]


class PlaceFields(Params):
    """The position of a thing; a field left out keeps its value, null clears it."""

    item_id: Id
    x: Coordinate
    y: Coordinate
    z: Coordinate = 0
    w: Length | None = None
    h: Length | None = None
    d: Length | None = None
    angle: Annotated[
        float,
        Field(ge=-36_000, le=36_000, allow_inf_nan=False, description="Degrees clockwise about the centre"),
    ] = 0
    z_index: Layer = 0
    style: Annotated[str, Field(max_length=10_000)] | None = None


class LayoutParams(Params):
    """Rows to save and items to remove from the table; all others stay where they are."""

    folder_id: Id
    rows: Annotated[list[PlaceFields], Field(max_length=MAX_ROWS)] = Field(default_factory=list)
    remove: Annotated[list[Id], Field(max_length=MAX_ROWS)] = Field(default_factory=list)

    @model_validator(mode="after")
    def _each_once(self) -> LayoutParams:
        item_ids = [row.item_id for row in self.rows] + list(dict.fromkeys(self.remove))
        if len(set(item_ids)) != len(item_ids):
            raise ValueError("an item is named twice: each is saved once or removed, not both")
        return self


class ItemCreateParams(Params):
    """A note, quote, work note or text; or a link between two things on the canvas."""

    folder_id: Id
    kind: Kind
    text: Words | None = None
    source_item_id: Id | None = None
    target_item_id: Id | None = None
    payload: Payload = Field(default_factory=dict)


class ItemUpdateParams(Params):
    """What to change of an item; a field left out stays, null clears it; the kind cannot be cleared."""

    item_id: Id
    kind: Kind = "note"
    text: Words | None = None
    source_item_id: Id | None = None
    target_item_id: Id | None = None
    payload: Payload | None = None


class ItemDeleteParams(Params):
    item_id: Id


@record(
    metadata,
    "canvas_place",
    tracked(label="place on a canvas", monotonic=("updated_at",), document="folder_id"),
    # The id is `folder::item`. The item is a document or a canvas item: no foreign key, because it may be either, and
    # a place outlives a move.
    reference("folder_id", documents.c.id),
    Index("ix_canvas_place_item", "item_id"),
    last=(Column("updated_at", Text, nullable=False),),
)
class Place(PlaceFields, Record):
    """One layout row: the centre and size of a thing on the canvas, in card units."""


@record(
    metadata,
    "canvas_item",
    tracked(
        label="canvas item",
        monotonic=("updated_at",),
        large=("text", "payload"),
        document="folder_id",
        names=("payload",),
    ),
    reference("folder_id", documents.c.id),
    Column("source_item_id", Text, index=True),
    Column("target_item_id", Text, index=True),
    last=(Column("created_at", Text, nullable=False), Column("updated_at", Text, nullable=False)),
    refusal=unknown_item,
)
class Item(ItemCreateParams, Record):
    """A canvas item; its position is only in the layout row."""


places, items = Place.table, Item.table


class Layout(Message):
    """The canvas of a folder."""

    folder_id: str
    rows: list[Place]
    items: list[Item]


class ItemDeleted(Message):
    """An item that was removed, with the links that ended at it."""

    status: Literal["deleted"]
    id: str
    removed_link_ids: list[str]
