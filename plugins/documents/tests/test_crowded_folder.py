"""A folder of 100,000 children: listed, shown, queried, ordered, deleted and restored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from dataset_rules import check_answer
from documents_fixtures import OWNER, count, rows

from armarium.api import ActionContext, Engine, Library, Params, Plugin, action, new_id
from armarium_documents.api import documents
from armarium_documents.queries.dataset.answer import dataset
from armarium_documents.schemas.dataset import DatasetQuery

CHILDREN = 100_000
MOMENT = "2026-01-01T00:00:00.000Z"


class FillParams(Params):
    parent_id: str


@action("crowded.fill", params=FillParams, summary="Put very many children into a folder.")
def fill(ctx: ActionContext, p: FillParams) -> dict[str, Any]:
    same: dict[str, Any] = dict.fromkeys(column.name for column in documents.columns)
    same |= {"parent_id": p.parent_id, "node_kind": "document", "doc_type": "file", "metadata": "{}"}
    same |= {"source_metadata": "{}", "source_authority": "unknown", "provenance_chain": "[]"}
    same |= {"status": "pending", "created_at": MOMENT, "updated_at": MOMENT}
    flags = ("is_read", "is_starred", "is_flagged", "is_locked", "exclude_from_processing")
    same |= dict.fromkeys(flags, 0)
    columns = list(same)

    def row(number: int) -> tuple[Any, ...]:
        own = {"id": new_id(), "name": f"n{number:06}", "sort_order": number * 1024}
        return tuple((same | own | {"attributes": f'{{"n":{number % 997}}}'}).values())

    return {"count": ctx.bulk_insert(documents, columns, map(row, range(CHILDREN)))}


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    from armarium_documents.plugin import armarium_plugin

    crowded = Plugin(name="crowded", summary="Very many children", actions=(fill,))
    return make_engine(plugins=[armarium_plugin(), crowded])


@pytest.mark.slow
def test_a_hundred_thousand_children_are_nothing_special(
    engine: Engine, library: Library, folder: Callable[..., str], client: Any
) -> None:
    box, other_folder = folder("Box"), folder("Other")
    engine.run(library, "crowded.fill", {"parent_id": box}, OWNER)

    page = client.get("/api/documents", params={"parent_id": box, "limit": 200, "offset": 99_900}).json()
    assert (page["total"], page["count"], page["items"][-1]["name"]) == (CHILDREN, 100, "n099999")
    view = client.get(f"/api/documents/{box}/view", params={"level": "content", "limit": 5}).json()
    assert (view["children_total"], len(view["children"])) == (CHILDREN, 5)

    query = DatasetQuery.model_validate(
        {
            "parent_id": box,
            "filters": [{"attr": "n", "op": "lte", "value": 400, "type": "number"}],
            "sort": {"attr": "n", "type": "number", "direction": "desc"},
            "facets": ["n", "document.doc_type"],
            "limit": 300,
            "offset": 20_000,
        }
    )
    found = dataset(library, query)
    check_answer(found, library, query)

    last = page["items"][-1]["id"]
    engine.run(library, "document.move", {"ids": [last], "parent_id": box, "after_id": None}, OWNER)
    assert client.get("/api/documents", params={"parent_id": box}).json()["items"][0]["id"] == last
    outcome = engine.run(library, "document.delete", {"ids": [box]}, OWNER)
    entry = client.get("/api/documents/trash").json()["items"][0]
    assert entry["item_count"] == CHILDREN
    assert dataset(library, DatasetQuery(recursive=True, attributed_only=True))["total"] == 0
    engine.undo(library, [str(outcome.audit_id)], OWNER)
    engine.run(library, "document.move", {"ids": [box], "parent_id": other_folder}, OWNER)
    assert dataset(library, DatasetQuery(parent_id=other_folder, recursive=True))["total"] == CHILDREN + 1

    engine.run(library, "document.delete", {"ids": [other_folder]}, OWNER)
    engine.run(library, "document.empty_trash", {}, OWNER)
    assert count(library, "document") == 1
    assert rows(library, "SELECT count(*) FROM document__history WHERE parent_id = ?", box) == [(0,)]
    assert dataset(library, DatasetQuery(recursive=True))["total"] == 1
