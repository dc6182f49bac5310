"""Transfers: what a move removes from canvases that stay, and how the canvas of a moved folder follows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from armarium.api import Engine, Library, raw_of
from armarium.principals import LOCAL_OWNER
from armarium_testing.digest import table_digests


@pytest.fixture
def target(engine: Engine, library: Library, tmp_path: Path) -> Library:
    engine.run(None, "library.create", {"path": str(tmp_path / "To.library")}, LOCAL_OWNER)
    return engine.libraries.get(tmp_path / "To.library")


def test_a_move_cuts_places_and_links_and_undo_puts_them_back(
    engine: Engine, library: Library, target: Library
) -> None:
    def do(action_name: str, /, **params: Any) -> dict[str, Any]:
        return engine.run(library, action_name, params, LOCAL_OWNER).result or {}

    box = do("document.create", name="Box")["id"]
    inner = do("document.create", name="Inner", parent_id=box)["id"]
    letter = do("document.create", name="Letter", parent_id=inner, node_kind="note", page_content="Sir")["id"]
    other_document_id = do(
        "document.create", name="Other", parent_id=box, node_kind="note", page_content="Sir"
    )["id"]
    do("canvas.save_layout", folder_id=inner, rows=[{"item_id": letter, "x": 10, "y": 20}])
    do(
        "canvas.save_layout",
        folder_id=box,
        rows=[{"item_id": inner, "x": 1, "y": 2}, {"item_id": other_document_id, "x": 3, "y": 4}],
    )
    link = {"folder_id": box, "kind": "link", "source_item_id": other_document_id, "target_item_id": inner}
    do("canvas.item_create", **link, text="answers")
    before = table_digests(library.db, engine.library_schema)

    params = {"source_library": str(library.path), "items": [inner], "mode": "move"}
    outcome = engine.run(target, "document.transfer", params, LOCAL_OWNER)
    assert outcome.result is not None
    assert [(cut["kind"], cut["name"]) for cut in outcome.result["cuts"]] == [
        ("canvas_place", "Inner"),
        ("canvas_link", "answers"),
    ]
    with library.db.read() as conn:
        raw = raw_of(conn)
        assert raw.execute("SELECT item_id FROM canvas_place WHERE folder_id = ?", (box,)).fetchall() == [
            (other_document_id,)
        ]
        assert raw.execute("SELECT count(*) FROM canvas_item").fetchone() == (0,)
    with target.db.read() as conn:
        raw = raw_of(conn)
        ((place, folder, item, x, y),) = raw.execute(
            "SELECT id, folder_id, item_id, x, y FROM canvas_place"
        ).fetchall()
        rows = dict(raw.execute("SELECT id, name FROM document").fetchall())
    assert (rows[folder], rows[item], x, y) == ("Inner", "Letter", 10, 20)
    assert place == f"{folder}::{item}"
    engine.undo(library, [outcome.result["source_audit_id"]], LOCAL_OWNER)
    assert table_digests(library.db, engine.library_schema) == before
