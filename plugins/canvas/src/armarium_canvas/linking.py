"""Makes canvas items available as ends of links of the source model."""

from __future__ import annotations

from sqlalchemy import Connection

from armarium_canvas.queries import ITEMS


class CanvasItemEnd:
    """A note, quote, text or link of a canvas as the end of a link to a line, a page or a URI."""

    kind = "canvas_item"

    def check(self, conn: Connection, identity: str) -> None:
        """Raise NotFound if there is no such item."""
        ITEMS.require(conn, identity)
