"""How the boxes of an artifact are written, for their words to be joined: what is stated of the page, else what they tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection

from armarium.api import Library
from armarium_source_model.order import (
    HORIZONTAL,
    LEFT_TO_RIGHT_COLUMNS,
    VERTICAL,
    Shape,
    line_shape_direction,
)
from armarium_source_model.queries.settings import resolve_settings
from armarium_source_model.text import first_strong_direction

_PROPORTION = """
SELECT pixel_width * 1.0 / pixel_height FROM rendition WHERE document_id = ? AND is_primary AND pixel_width > 0 AND pixel_height > 0
"""


class BoxWriting:
    """What documents ask before they join the words of boxes (`extras["writings"]`)."""

    def find(
        self, library: Library, conn: Connection, document_id: str, boxes: Sequence[dict[str, Any]]
    ) -> tuple[str, bool]:
        """(direction, whether vertical lines follow each other from left to right)."""
        stated = {
            fact["key"]: fact["value"]
            for fact in resolve_settings(library, conn, document_id=document_id)["settings"]
            if fact["rung"] != "default"
        }
        direction = stated.get("direction")
        if direction not in HORIZONTAL | VERTICAL:
            direction = _lines_run(conn, document_id, boxes) or _letters_run(boxes) or "ltr"
        return direction, stated.get("script") in LEFT_TO_RIGHT_COLUMNS


def page_proportion(conn: Connection, document_id: str) -> float:
    """Width by height of a page's picture; 1 where it has none."""
    row = conn.exec_driver_sql(_PROPORTION, (document_id,)).one_or_none()
    return float(row[0]) if row is not None else 1.0


def _lines_run(conn: Connection, document_id: str, boxes: Sequence[dict[str, Any]]) -> str | None:
    # Of a word or a region the shape does not tell how it is written.
    lines = [Shape(str(n), "line", *one["bbox"]) for n, one in enumerate(boxes) if one.get("level") == "line"]
    return line_shape_direction(lines, page_proportion(conn, document_id))


def _letters_run(boxes: Sequence[dict[str, Any]]) -> str | None:
    return first_strong_direction(" ".join(one["text"] for one in boxes if one.get("text")))
