"""Examples of the actions and recipe jobs of search: parameters with which each succeeds in a new project."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from armarium.api import Example
from armarium_testing.sample_pages import sample_page


def saved_search_create(ex: Example) -> dict[str, Any]:
    return {"query": '"Dear Sir" NOT Madam', "filters": {"is_starred": True}, "folder_path": "/Letters"}


def saved_search_update(ex: Example) -> dict[str, Any]:
    result = ex.run("saved_search.create", saved_search_create(ex))
    return {"search_id": result["id"], "query": "Madam", "filters": None}


def saved_search_delete(ex: Example) -> dict[str, Any]:
    return {"search_id": ex.run("saved_search.create", saved_search_create(ex))["id"]}


def saved_search_reorder(ex: Example) -> dict[str, Any]:
    asked = saved_search_create(ex) | {"folder_path": "/"}
    ids = [ex.run("saved_search.create", asked)["id"] for _ in range(2)]
    return {"folder_path": "/", "search_ids": ids[::-1]}


def make_a_vector(ex: Example) -> dict[str, Any]:
    return {"page_id": sample_page(ex, ["Dear Sir, the convent is sold"]).document_id}


EXAMPLES: Mapping[str, Callable[[Example], Mapping[str, Any]]] = {
    "saved_search.create": saved_search_create,
    "saved_search.update": saved_search_update,
    "saved_search.delete": saved_search_delete,
    "saved_search.duplicate": saved_search_delete,
    "saved_search.reorder": saved_search_reorder,
    "search.embed": lambda ex: {},
    "make-a-vector": make_a_vector,
}
