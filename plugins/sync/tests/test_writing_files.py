"""What is written to a synced folder, and when."""

from __future__ import annotations

import json

from sync_desk import SyncDesk


def test_every_page_is_written_with_a_report_of_losses(desk: SyncDesk) -> None:
    page = desk.page("Dear Sir", "letter: a/b")
    folder_id = desk.tie("pagexml", "alto", "tei")
    desk.settle(folder_id)
    for name in ("pagexml", "alto", "tei"):
        file = desk.file(page, name)
        assert file.name == f"letter_ a_b--{page}.xml"
        assert "Dear Sir" in file.read_text("utf-8")
        report = json.loads((file.parent / f"{file.name}.loss.json").read_text("utf-8"))
        assert report["document_id"] == page
        assert report["format"] == name
        assert "losses" in report
    entry = desk.entry(folder_id)
    assert len(entry["files"]) == 3
    assert entry["pending"] == 0
    assert entry["last_written"]
    assert {one["document_id"] for one in entry["files"]} == {page}


def test_a_correction_rewrites_the_file_and_a_step_that_changes_no_text_does_not(desk: SyncDesk) -> None:
    page = desk.page()
    folder_id = desk.tie()
    desk.settle(folder_id)
    before = desk.file(page).stat().st_mtime_ns
    desk.do("document.update", {"document_id": page, "is_starred": True})
    assert desk.entry(folder_id)["pending"] == 1
    desk.settle(folder_id)
    assert desk.file(page).stat().st_mtime_ns == before
    desk.correct(page, "Dear Madam")
    desk.settle(folder_id)
    assert "Dear Madam" in desk.file(page).read_text("utf-8")
    entry = desk.entry(folder_id)
    assert entry["changed_outside"] == []
    assert entry["pending"] == 0
    assert desk.passes(page) == ["PAGE XML: a.xml"]
