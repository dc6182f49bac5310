"""Examples of the actions and recipe jobs of canvas: parameters with which each succeeds in a new project."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from armarium.api import Example


def folder_example(ex: Example) -> tuple[str, str]:
    folder = ex.run("document.create", {"name": "Letters"})["id"]
    note = ex.run(
        "document.create", {"name": "Draft", "node_kind": "note", "parent_id": folder, "page_content": "Sir"}
    )
    return str(folder), str(note["id"])


def canvas_save_layout(ex: Example) -> dict[str, Any]:
    folder, note = folder_example(ex)
    other_item_id = ex.run(
        "canvas.item_create", {"folder_id": folder, "kind": "note", "text": "Who is Sir?"}
    )["id"]
    ex.run("canvas.save_layout", {"folder_id": folder, "rows": [{"item_id": other_item_id, "x": 0, "y": 0}]})
    return {
        "folder_id": folder,
        "rows": [{"item_id": note, "x": 200, "y": 80, "w": 90}],
        "remove": [other_item_id],
    }


def canvas_item_create(ex: Example) -> dict[str, Any]:
    folder, note = folder_example(ex)
    other_item_id = ex.run("canvas.item_create", {"folder_id": folder, "kind": "quote", "text": "Dear"})["id"]
    return {"folder_id": folder, "kind": "link", "source_item_id": other_item_id, "target_item_id": note}


def canvas_item_update(ex: Example) -> dict[str, Any]:
    folder, _ = folder_example(ex)
    result = ex.run("canvas.item_create", {"folder_id": folder, "kind": "note", "text": "Who is Sr?"})
    return {"item_id": result["id"], "text": "Who is Sir?", "payload": {"colour": "green"}}


def canvas_item_delete(ex: Example) -> dict[str, Any]:
    link = canvas_item_create(ex)
    ex.run("canvas.item_create", link)
    row = {"item_id": link["source_item_id"], "x": 10, "y": 10}
    ex.run("canvas.save_layout", {"folder_id": link["folder_id"], "rows": [row]})
    return {"item_id": link["source_item_id"]}


EXAMPLES: Mapping[str, Callable[[Example], Mapping[str, Any]]] = {
    "canvas.save_layout": canvas_save_layout,
    "canvas.item_create": canvas_item_create,
    "canvas.item_update": canvas_item_update,
    "canvas.item_delete": canvas_item_delete,
}
