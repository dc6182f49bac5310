"""What every list states that can be answered whole or in part."""

from __future__ import annotations

from armarium.api import Message


class Listed(Message):
    """A part of a list: how many items it has, how many there are in all, and which part it is."""

    count: int
    total: int
    limit: int | None = None
    """None: all were requested."""
    offset: int = 0
