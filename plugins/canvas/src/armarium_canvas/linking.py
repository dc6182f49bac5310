"""How what lies on a canvas stands as an end of a link of the source model; that family asks for it by name."""

from __future__ import annotations

from sqlalchemy import Connection

from armarium_canvas.queries import ITEMS


class CanvasItemEnd:
    """A note, quote, text or link of a canvas that is linked with a line, a page or a URI."""

    kind = "canvas_item"

    def check(self, conn: Connection, identity: str) -> None:
        """NotFound for no such item."""
        ITEMS.require(conn, identity)
