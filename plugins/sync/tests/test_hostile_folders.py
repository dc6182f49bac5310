"""Folders with what nobody would put there: exports that are kept inside, books of many pages, clocks that were put back."""

from __future__ import annotations

import importlib
import io
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sync_desk import PAGE, SyncDesk, picture

from armarium.api import Engine

EXPORTING = ("canvas", "iiif", "reading", "checking", "exports")


@pytest.fixture
def engine(make_engine: Callable[..., Engine], families: list[Any]) -> Engine:
    """An engine that keeps exports as well."""
    more = [importlib.import_module(f"armarium_{name}.plugin").armarium_plugin() for name in EXPORTING]
    return make_engine(plugins=[*families, *more])


def keep(desk: SyncDesk, folder: Path, format_name: str) -> None:
    folder.mkdir(exist_ok=True)
    body = {"folder": str(folder), "format": format_name, "per": "page"}
    answer = desk.client.post("/api/export/kept", json=body)
    assert answer.status_code == 200, answer.text
    desk.work()


def test_an_export_kept_inside_a_synced_folder_is_left_alone_by_it(desk: SyncDesk) -> None:
    page = desk.page(name="0001.png")
    folder_id = desk.tie()
    assert desk.client.put(f"/api/sync-folders/{folder_id}/intake", json={"on": True}).status_code == 200
    desk.settle(folder_id)
    before = desk.passes(page)
    for name in ("pagexml", "alto", "tei", "plain-text"):
        keep(desk, desk.folder / f"kept {name}", name)
    desk.correct(page, "Dear Madam")
    desk.work()
    desk.settle(folder_id)
    paths = sorted(
        path for path in desk.folder.rglob("*") if path.parent.name.startswith("kept") and path.is_file()
    )
    assert len(paths) == 4
    assert all("Dear Madam" in item.read_text("utf-8") for item in paths)
    assert "Dear Madam" in desk.file(page).read_text("utf-8")
    entry = desk.entry(folder_id)
    assert desk.passes(page) == before
    assert (entry["conflicts"], entry["changed_outside"]) == ([], [])
    assert {one["path"] for one in entry["not_read_back"]} == {
        item.relative_to(desk.folder).as_posix() for item in paths
    }
    # Nor are they taken for the text of another picture of that name.
    (desk.folder / "kept pagexml" / "0001.png").write_bytes(picture(70, (600, 400)))
    desk.settle(folder_id)
    desk.work()
    desk.settle(folder_id)
    ((other,),) = desk.rows(
        "SELECT id FROM document WHERE name = '0001.png' AND id <> ? AND deleted_at IS NULL", page
    )
    assert desk.passes(other) == []


def test_a_folder_synced_inside_a_kept_one_disturbs_neither(desk: SyncDesk, tmp_path: Path) -> None:
    page = desk.page()
    outer = tmp_path / "kept"
    keep(desk, outer, "pagexml")
    desk.folder = outer / "shared"
    desk.folder.mkdir()
    folder_id = desk.tie()
    desk.settle(folder_id)
    desk.correct(page, "Dear Madam")
    desk.work()
    desk.settle(folder_id)
    (path,) = outer.glob("*.xml")
    assert "Dear Madam" in path.read_text("utf-8")
    assert "Dear Madam" in desk.file(page).read_text("utf-8")
    assert [export["in_the_way"] for export in desk.client.get("/api/export/kept").json()["exports"]] == [[]]


def test_each_page_of_a_book_in_one_file_has_a_file_of_its_own(desk: SyncDesk) -> None:
    from PIL import Image

    book = io.BytesIO()
    first, *rest = [Image.new("L", (600, 400), 40 * number) for number in range(1, 5)]
    first.save(book, "PDF", save_all=True, append_images=rest)
    (desk.folder / "book.pdf").write_bytes(book.getvalue())
    desk.do("document.import", {"folder": str(desk.folder)})
    desk.work()
    pages = [
        row[0]
        for row in desk.rows(
            "SELECT id FROM document WHERE doc_type = 'page' AND deleted_at IS NULL ORDER BY id"
        )
    ]
    assert len(pages) == 4
    for number, page in enumerate(pages):
        desk.do(
            "format.import",
            {"document_id": page, "file": PAGE.format(words=f"leaf {number}"), "filename": "a.xml"},
        )
    folder_id = desk.tie()
    assert desk.client.put(f"/api/sync-folders/{folder_id}/intake", json={"on": True}).status_code == 200
    for _ in range(2):
        desk.settle(folder_id)
        desk.work()
    files = {page: desk.file(page) for page in pages}
    assert len(set(files.values())) == 4
    for number, page in enumerate(pages):
        assert f"leaf {number}" in files[page].read_text("utf-8")
    # The book itself is known, and is not brought in once more.
    assert len(desk.rows("SELECT id FROM document WHERE name LIKE 'book%' AND doc_type = 'file'")) == 1
    desk.edit(files[pages[2]], "another leaf")
    desk.settle(folder_id)
    assert [len(desk.passes(page)) for page in pages] == [1, 1, 2, 1]
    assert (desk.folder / "book.pdf").read_bytes() == book.getvalue()


def test_a_clock_that_is_put_back_stops_nothing(desk: SyncDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    page = desk.page()
    folder_id = desk.tie()
    assert desk.client.put(f"/api/sync-folders/{folder_id}/intake", json={"on": True}).status_code == 200
    desk.settle(folder_id)
    real_time, real_ns = time.time, time.time_ns
    desk.correct(page, "Dear Madam")
    # A day is taken back after the correction: its moment lies in the future, and so does that of every file.
    monkeypatch.setattr(time, "time", lambda: real_time() - 86_400)
    monkeypatch.setattr(time, "time_ns", lambda: real_ns() - 86_400 * 10**9)
    monkeypatch.setattr("armarium_sync.looking.SETTLED", 1.0)
    desk.work()
    assert "Dear Madam" in desk.file(page).read_text("utf-8")
    desk.edit(desk.file(page), "Dear Doctor")
    os.utime(desk.file(page), (real_time() + 10**6, real_time() + 10**6))
    desk.look(folder_id)
    assert len(desk.passes(page)) == 2
    # And put right again, what is old and what is new are told apart by their bytes alone.
    monkeypatch.setattr(time, "time", real_time)
    monkeypatch.setattr(time, "time_ns", real_ns)
    desk.settle(folder_id)
    desk.correct(page, "Dear Friend")
    desk.settle(folder_id)
    assert "Dear Friend" in desk.file(page).read_text("utf-8")
    assert len(desk.passes(page)) == 2
