"""What every list that may be answered whole or in part says of itself."""

from __future__ import annotations

from armarium.api import Message


class Listed(Message):
    """Part of a list: how many are here, how many there are, and which part it is."""

    count: int
    total: int
    limit: int | None = None
    """None: all were asked for."""
    offset: int = 0
