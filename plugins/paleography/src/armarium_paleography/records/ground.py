"""What the records of paleography share: their MetaData, the columns at their end, and lists of them."""

from __future__ import annotations

from typing import Any

from pydantic import create_model
from sqlalchemy import Column, MetaData, Text, text

from armarium.api import Message, provenance_columns

metadata = MetaData()

LIVE = text("withdrawn_at IS NULL")
CURRENT = text("superseded_at IS NULL")


def made_and(ended: str) -> tuple[Column[str], ...]:
    """Return the columns for who made a row and when, and the one for when it *ended*."""
    return (*provenance_columns(), Column(ended, Text))


class Listed(Message):
    """A part of a list: how many items it has, how many there are in all, and which part it is."""

    count: int
    total: int
    limit: int | None = None
    """None: all were requested."""
    offset: int = 0


def part_of(item: type[Message], name: str, doc: str) -> type[Message]:
    """Return the model *name* of a part of a list of *item*."""
    fields: dict[str, Any] = {"items": (list[item], ...)}  # type: ignore[valid-type]
    return create_model(name, __base__=Listed, __module__=item.__module__, __doc__=doc, **fields)
