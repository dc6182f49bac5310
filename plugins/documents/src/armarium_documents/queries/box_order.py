"""The reading order of an artifact's boxes, in which their words are joined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection

from armarium.api import Engine, Library
from armarium_documents.hookspecs import Writing, armarium_documents_writing

Box = dict[str, Any]


def writing_of(
    engine: Engine, library: Library, conn: Connection, document_id: str, boxes: Sequence[Box]
) -> Writing:
    """Return the writing of the page of *boxes*; left to right where no plugin can say."""
    return engine.points.ask_first(armarium_documents_writing, library, conn, document_id, boxes) or Writing()


def in_reading_order(boxes: Sequence[Box], writing: Writing) -> list[Box]:
    """Order by character if every box states its own; else by line, and within it in writing direction."""
    if all(box.get("char_start") is not None for box in boxes):
        return sorted(boxes, key=lambda box: int(box["char_start"]))
    vertical = writing.direction in ("ttb", "btt")
    # A line runs along one axis of the picture, and lines follow each other along the other.
    along, across = (1, 0) if vertical else (0, 1)
    lines: list[list[Box]] = []
    for box in sorted(boxes, key=lambda box: _middle(box, across)):
        last = lines[-1][-1]["bbox"] if lines else None
        if last is not None and _middle(box, across) < last[across] + last[across + 2]:
            lines[-1].append(box)
        else:
            lines.append([box])
    if vertical and not writing.columns_rightwards:
        lines.reverse()
    backwards = writing.direction in ("rtl", "btt")
    return [box for line in lines for box in sorted(line, key=lambda b: _middle(b, along), reverse=backwards)]


def _middle(box: Box, axis: int) -> float:
    return float(box["bbox"][axis]) + float(box["bbox"][axis + 2]) / 2
