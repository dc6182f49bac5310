"""Tables of descriptions in the library, and one file of all pages in the export view, in a real browser."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from conftest import WEB, Desk, Shot

if TYPE_CHECKING:
    from playwright.sync_api import Page


def test_a_table_is_saved_changed_compared_taken_in_and_taken_back(
    page: Page, desk: Desk, tmp_path: Path, shot: Shot
) -> None:
    from playwright.sync_api import expect

    page.goto(f"{desk.engine.address}/#/p/{desk.project_id}/library")
    page.get_by_role("button", name="Descriptions as a table").click()
    dialog = page.get_by_role("dialog", name="Descriptions as a table")
    with page.expect_download() as waiting:
        dialog.get_by_role("link", name="Save as CSV").click()
    head, *rows = Path(waiting.value.path()).read_text("utf-8-sig").splitlines()
    place = tmp_path / "changed.csv"
    place.write_text("\n".join([f"{head},place,API key", *(f"{row},Toledo <b>,x" for row in rows)]))
    dialog.get_by_label("A table to take in").set_input_files(place)
    expect(dialog.get_by_text("called like a secret")).to_be_visible()
    expect(dialog.get_by_role("table", name="Rows").get_by_text("Toledo <b>").first).to_be_visible()
    shot(page, "tables-library")
    page.evaluate((WEB / "node_modules" / "axe-core" / "axe.min.js").read_text())
    answer = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    assert [one["id"] for one in answer["violations"]] == []
    dialog.get_by_role("button", name="leave out the rest").click()
    expect(page.get_by_text("described.")).to_be_visible()
    letter = f"/api/documents/{desk.pages['letter.jpg']}"
    assert desk.engine.ask("GET", letter)["attributes"] == {"place": "Toledo <b>"}
    with page.expect_response(lambda answer: "undo" in answer.url):
        page.get_by_role("button", name="Undo").last.click()
    assert desk.engine.ask("GET", letter)["attributes"] == {}


def test_one_file_of_all_pages_is_saved_with_their_pictures(page: Page, desk: Desk, shot: Shot) -> None:
    page.goto(f"{desk.engine.address}/#/p/{desk.project_id}/export")
    files = page.get_by_role("region", name="Files to save")
    files.get_by_role("combobox", name="Format").select_option("word")
    files.get_by_role("combobox", name="Files").select_option("one of all pages")
    files.get_by_role("checkbox", name="with the picture beside the text").check()
    files.get_by_role("button", name="See what it would be").click()
    with page.expect_download() as waiting:
        files.get_by_role("link", name="Save").click()
    with zipfile.ZipFile(io.BytesIO(Path(waiting.value.path()).read_bytes())) as word:
        assert len([name for name in word.namelist() if name.startswith("word/media/")]) == len(desk.pages)
    shot(page, "tables-export")
