"""Sample data for the examples of actions: a page with a pass and a few lines, made through actions."""

from __future__ import annotations

from typing import Any, NamedTuple

from armarium.api import Example


class SamplePage(NamedTuple):
    document_id: str
    pass_id: str
    segment_ids: list[str]


def sample_document(ex: Example, name: str = "Letter, first page") -> str:
    """Create a page to lay out; return its id."""
    return str(ex.run("document.create", {"name": name, "doc_type": "page"})["id"])


def sample_anchor(index: int = 0) -> dict[str, Any]:
    """Return the anchor of line *index* (from 0), lines running down the page."""
    return {"rect": [0.1, 0.1 + 0.08 * index, 0.8, 0.05]}


def sample_page(ex: Example, lines: int = 3) -> SamplePage:
    """Create a page with one pass and *lines* lines."""
    document_id = sample_document(ex)
    pass_id = str(ex.run("segment.pass_create", {"document_id": document_id, "name": "By hand"})["id"])
    made = ex.run(
        "segment.create_many",
        {
            "segments": [
                {"document_id": document_id, "pass_id": pass_id, "kind": "line", "anchor": sample_anchor(n)}
                for n in range(lines)
            ]
        },
    )
    return SamplePage(document_id, pass_id, [item["id"] for item in made["items"]])


def sample_reading(ex: Example, page: SamplePage, text: str = "Dear Sir") -> str:
    """Create a reading of the first line; return its id."""
    return str(ex.run("representation.create", {"segment_id": page.segment_ids[0], "text": text})["id"])
