"""Examples of the actions and recipe jobs of layout: parameters with which each succeeds in a new project."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from armarium.api import Example
from armarium_testing.sample_layouts import (
    add_lines,
    drawing_page,
    leaning_page,
    letter_page,
    lined_page,
    sign_page,
    spread_page,
    table_page,
    text_page,
)


def layout_order_page(ex: Example) -> dict[str, Any]:
    page = lined_page(ex)
    return {"document_id": page["document_id"], "pass_id": page["pass_id"]}


def layout_take_shapes(ex: Example) -> dict[str, Any]:
    page = lined_page(ex)
    return {
        "document_id": page["document_id"],
        "pass_id": page["pass_id"],
        "shapes": [{"key": "r1", "rect": [0.1, 0.1, 0.8, 0.15], "kind_raw": "text"}],
        "lines": [
            {"segment_id": segment_id, "expected_version": 1, "inside": "r1"}
            for segment_id in page["segment_ids"][:3]
        ],
    }


def layout_reshape_lines(ex: Example) -> dict[str, Any]:
    page = lined_page(ex)
    outline = {
        "segment_id": page["segment_ids"][0],
        "expected_version": 1,
        "rect": [0.13, 0.09, 0.74, 0.04],
        "polygon": [[0.13, 0.1], [0.5, 0.09], [0.87, 0.1], [0.87, 0.13], [0.13, 0.13]],
    }
    return {"document_id": page["document_id"], "outlines": [outline]}


def layout_prepare_page(ex: Example) -> dict[str, Any]:
    return {"document_id": leaning_page(ex)}


def refine_shapes(ex: Example) -> dict[str, Any]:
    """Create a page whose lines were found by a machine, because outlines made by persons are not changed."""
    page_id = letter_page(ex)
    width, height = 600, 800
    found = [
        {
            "key": f"l{y}",
            "rect": [80 / width, (y - 22) / height, 440 / width, 26 / height],
            "baseline": [[80 / width, y / height], [520 / width, y / height]],
        }
        for y in (100, 140, 180, 420, 460, 500)
    ]
    about = {"document_id": page_id, "name": "Lines", "provider": "sample-reader", "lines": found}
    ex.run("segment.take_lines", about)
    return {"page_id": page_id}


def put_in_order(ex: Example) -> dict[str, Any]:
    page_id = letter_page(ex)
    add_lines(ex, page_id)
    return {"page_id": page_id}


EXAMPLES: Mapping[str, Callable[[Example], Mapping[str, Any]]] = {
    "layout.order_page": layout_order_page,
    "layout.take_shapes": layout_take_shapes,
    "layout.reshape_lines": layout_reshape_lines,
    "layout.prepare_page": layout_prepare_page,
    "put-in-order": put_in_order,
    "find-regions": put_in_order,
    "refine-shapes": refine_shapes,
    "find-a-tables-cells": lambda ex: {"page_id": table_page(ex)},
    "split-pages": lambda ex: {"page_id": spread_page(ex)},
    "prepare-the-image": lambda ex: {"page_id": leaning_page(ex)},
    "tie-text-to-lines": lambda ex: {"page_id": text_page(ex)},
    "trace-a-drawing": lambda ex: {"page_id": drawing_page(ex)},
    "find-signs": sign_page,
}
