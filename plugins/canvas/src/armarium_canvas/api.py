"""What other families may use of a canvas: its tables, and the contents of a folder's canvas."""

from __future__ import annotations

from armarium_canvas.queries import layout
from armarium_canvas.records import items, places

__all__ = ["items", "layout", "places"]
