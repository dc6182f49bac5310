"""Models of copying the order of a file."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from armarium.api import Message, Params


class TakeOrder(Params):
    """name: of the new order; default: after the file."""

    pass_id: Annotated[str, Field(min_length=1, max_length=64)]
    name: Annotated[str, Field(min_length=1, max_length=200)] | None = None


class TakenOrder(Message):
    order_id: str
    name: str
    entries: int
