"""Where the words of an artifact are on the page; never guessed if nothing was measured; and the order
in which the words of boxes are joined.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Query
from sqlalchemy import Connection

from armarium.api import Engine, Invalid, Library, query
from armarium_documents.hookspecs import Writing, armarium_documents_writing
from armarium_documents.queries.files import ARTIFACTS
from armarium_documents.schemas.artifacts import ArtifactRegion
from armarium_documents.schemas.geometry import union

_FINENESS = {"word": 0, "line": 1, "region": 2, "block": 3, "page": 4}
"""Levels from fine to coarse: the finest that covers the words is answered."""


Number = Annotated[int | None, Query(ge=0, le=2**62)]


@query(
    "/api/artifacts/{artifact_id}/region",
    summary="Where on the page an artifact's words are",
    answer=ArtifactRegion,
    refusals=(404, 409, 422),
    name="artifact_region",
)
def region(
    conn: Connection,
    artifact_id: str,
    char_start: Number = None,
    char_end: Number = None,
    line: Number = None,
) -> dict[str, Any]:
    """Locate characters, one line, or all of an artifact; NotFound, and Invalid for an invalid span."""
    artifact = ARTIFACTS.require(conn, artifact_id)
    content: str = artifact["content"] or ""
    start, end = _span(content, char_start, char_end, line)
    answer = {
        "artifact_id": artifact_id,
        "document_id": artifact["document_id"],
        "geometry_status": "located",
        "geometry_reason": None,
        "region": None,
        "char_start": start,
        "char_end": end,
        "line": line,
    }

    def answer_without_region(status: str, reason: str) -> dict[str, Any]:
        return {**answer, "geometry_status": status, "geometry_reason": reason}

    if artifact["geometry_superseded_by_pass_id"] is not None:
        return answer_without_region(
            "superseded",
            f"The boxes became segments; ask those of pass {artifact['geometry_superseded_by_pass_id']}.",
        )
    geometry = artifact["ocr_geometry"]
    if geometry is None:
        if artifact["content"] is None:
            return answer_without_region("not-read", "Nothing has been read into this artifact yet.")
        return answer_without_region(
            "engine-without-geometry", "The tool that read this does not report where words are on the page."
        )
    boxes: list[dict[str, Any]] = geometry["boxes"]
    if not boxes:
        if content.strip():
            return answer_without_region(
                "engine-without-geometry", "It was read without positions for its words."
            )
        return answer_without_region("blank-page", "The page was looked at, and nothing was found on it.")
    chosen = _covering(content or geometry.get("text") or "", boxes, start, end)
    if not chosen:
        return answer_without_region("no-match", "There are boxes, but none of them belongs to these words.")
    pages = {boxes[index].get("page_index") for index in chosen}
    return {
        **answer,
        "region": {
            "bbox": union([boxes[index]["bbox"] for index in chosen]),
            "boxes": [
                {
                    "index": index,
                    "bbox": boxes[index]["bbox"],
                    "text": boxes[index].get("text"),
                    "level": boxes[index].get("level", "word"),
                }
                for index in chosen
            ],
            "page_index": pages.pop() if len(pages) == 1 else None,
            "rendition_id": geometry.get("rendition_id"),
        },
    }


def _span(
    content: str, char_start: int | None, char_end: int | None, line: int | None
) -> tuple[int | None, int | None]:
    if line is not None and (char_start is not None or char_end is not None):
        raise Invalid("Ask for characters or for a line, not for both.", code="invalid_request")
    if (char_start is None) != (char_end is None):
        raise Invalid("Give both char_start and char_end, or neither.", code="invalid_request")
    if line is not None:
        lines = content.split("\n")
        if not 0 <= line < len(lines):
            raise Invalid(
                f"There is no line {line}; the text has lines 0 to {len(lines) - 1}.", code="out_of_range"
            )
        start = sum(len(text) + 1 for text in lines[:line])
        return start, start + len(lines[line])
    if char_start is None or char_end is None:
        return None, None
    if not 0 <= char_start < char_end <= len(content):
        raise Invalid(
            f"Characters {char_start} to {char_end} are not a span of a text of {len(content)} characters.",
            code="out_of_range",
        )
    return char_start, char_end


def _covering(content: str, boxes: list[dict[str, Any]], start: int | None, end: int | None) -> list[int]:
    """Return the boxes of the finest level that touch the span; all boxes if there is no span."""
    if start is None or end is None:
        return list(range(len(boxes)))
    spans = _spans(content, boxes)
    touching = [i for i, span in enumerate(spans) if span is not None and span[0] < end and start < span[1]]
    if not touching:
        return []
    finest = min(_FINENESS.get(boxes[i].get("level", "word"), 0) for i in touching)
    return [i for i in touching if _FINENESS.get(boxes[i].get("level", "word"), 0) == finest]


def _spans(content: str, boxes: list[dict[str, Any]]) -> list[tuple[int, int] | None]:
    """Return each box's characters: as stated, else the next occurrence of its text in its level."""
    reached: dict[str, int] = {}
    spans: list[tuple[int, int] | None] = []
    for box in boxes:
        if box.get("char_start") is not None and box.get("char_end") is not None:
            spans.append((box["char_start"], box["char_end"]))
            continue
        text, level = box.get("text") or "", box.get("level", "word")
        at = content.find(text, reached.get(level, 0)) if text else -1
        if at < 0:
            spans.append(None)
            continue
        reached[level] = at + len(text)
        spans.append((at, at + len(text)))
    return spans


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
    return [
        box for line in lines for box in sorted(line, key=lambda box: _middle(box, along), reverse=backwards)
    ]


def _middle(box: Box, axis: int) -> float:
    return float(box["bbox"][axis]) + float(box["bbox"][axis + 2]) / 2
