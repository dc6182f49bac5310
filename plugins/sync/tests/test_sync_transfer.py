"""What a move to another project cuts of synced folders: the tie of a folder that goes, the files of a page that goes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sync_desk import SyncDesk

from armarium.api import Library
from armarium.principals import LOCAL_OWNER
from armarium_testing.digest import table_digests


@pytest.fixture
def target(desk: SyncDesk, tmp_path: Path) -> Library:
    desk.engine.run(None, "library.create", {"path": str(tmp_path / "To.library")}, LOCAL_OWNER)
    return desk.engine.libraries.get(tmp_path / "To.library")


def move(desk: SyncDesk, target: Library, item: str, **more: Any) -> dict[str, Any]:
    params = {"source_library": str(desk.library.path), "items": [item], "mode": "move", **more}
    return desk.engine.run(target, "document.transfer", params, LOCAL_OWNER).result or {}


def test_a_project_folder_that_goes_unties_the_folder_it_came_from(desk: SyncDesk, target: Library) -> None:
    root = desk.scans("0001.png")
    folder_id = desk.tie()
    desk.settle(folder_id)
    before = table_digests(desk.library.db, desk.engine.library_schema)
    result = move(desk, target, root)
    (cut,) = result["cuts"]
    assert (cut["kind"], cut["id"], cut["name"]) == ("sync_tie", folder_id, "shared")
    assert str(desk.folder) in cut["why"]
    assert desk.client.get("/api/sync-folders").json() == {"folders": []}
    assert (desk.folder / "0001.png").is_file()
    desk.engine.undo(desk.library, [result["source_audit_id"]], LOCAL_OWNER)
    assert table_digests(desk.library.db, desk.engine.library_schema) == before
    assert desk.entry(folder_id)["adopted"] is True


def test_a_page_that_goes_is_no_longer_updated_and_its_files_stay(desk: SyncDesk, target: Library) -> None:
    page, other_page = desk.page(), desk.page("Dear Doctor", "another letter")
    folder_id = desk.tie("pagexml", "tei")
    desk.settle(folder_id)
    result = move(desk, target, page)
    ((kind, identity, name),) = [(cut["kind"], cut["id"], cut["name"]) for cut in result["cuts"]]
    assert (kind, identity, name) == ("sync_tie", folder_id, "a letter")
    assert "2 files" in result["cuts"][0]["why"]
    desk.settle(folder_id)
    assert "Dear Sir" in desk.file(page).read_text("utf-8")
    assert desk.entry(folder_id)["id"] == folder_id
    assert desk.file(other_page).is_file()


def test_a_copy_cuts_nothing(desk: SyncDesk, target: Library) -> None:
    root = desk.scans("0001.png")
    folder_id = desk.tie()
    assert move(desk, target, root, mode="copy")["cuts"] == []
    assert desk.entry(folder_id)["adopted"] is True
