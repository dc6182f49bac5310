"""The direction of an artifact's boxes, for joining their words: as stated for the page, else by their
shapes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, select

from armarium.api import Library
from armarium_documents.api import Writing, renditions
from armarium_source_model.order import (
    HORIZONTAL,
    LEFT_TO_RIGHT_COLUMNS,
    VERTICAL,
    Shape,
    line_shape_direction,
)
from armarium_source_model.queries.settings import resolve_settings
from armarium_source_model.text import first_strong_direction


def writing_of_boxes(
    library: Library, conn: Connection, document_id: str, boxes: Sequence[dict[str, Any]]
) -> Writing:
    """Return the writing of a page whose boxes documents is about to join."""
    values_by_key = {
        fact["key"]: fact["value"]
        for fact in resolve_settings(library, conn, document_id=document_id)["settings"]
        if fact["rung"] != "default"
    }
    direction = values_by_key.get("direction")
    if direction not in HORIZONTAL | VERTICAL:
        direction = _lines_run(conn, document_id, boxes) or _letters_run(boxes) or "ltr"
    return Writing(direction, values_by_key.get("script") in LEFT_TO_RIGHT_COLUMNS)


def page_proportion(conn: Connection, document_id: str) -> float:
    """Return width divided by height of a page's picture; 1 if it has none."""
    rendition = renditions.c
    measured = (
        rendition.document_id == document_id,
        rendition.is_primary,
        rendition.pixel_width > 0,
        rendition.pixel_height > 0,
    )
    size = conn.execute(select(rendition.pixel_width, rendition.pixel_height).where(*measured)).first()
    return 1.0 if size is None else float(size.pixel_width / size.pixel_height)


def _lines_run(conn: Connection, document_id: str, boxes: Sequence[dict[str, Any]]) -> str | None:
    # The shape of a word or a region does not show its direction.
    lines = [Shape(str(n), "line", *box["bbox"]) for n, box in enumerate(boxes) if box.get("level") == "line"]
    return line_shape_direction(lines, page_proportion(conn, document_id))


def _letters_run(boxes: Sequence[dict[str, Any]]) -> str | None:
    return first_strong_direction(" ".join(box["text"] for box in boxes if box.get("text")))
