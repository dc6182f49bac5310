"""Tables of descriptions, one file of all pages, the tools beside a line, and what is done with pages and searches as a whole,
in a real browser; undo of each.
"""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from conftest import WEB, Desk, Shot
from test_the_project import show, undo

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
    assert [violation["id"] for violation in answer["violations"]] == []
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


def test_a_letter_is_inserted_and_another_reading_chosen_and_taken_back(page: Page, desk: Desk) -> None:
    from playwright.sync_api import expect

    lines_before = desk.lines("letter.jpg")
    page.goto(desk.engine.new_link(desk.place("letter.jpg")))
    page.get_by_role("button", name=f"2 {lines_before[1]}").click()
    field = page.get_by_role("textbox", name="Text of line 2")
    expect(field).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.press("Alt+l")
    page.get_by_role("button", name="Insert ſ", exact=True).click()
    expect(field).to_have_value(f"{lines_before[1]}ſ")
    page.keyboard.press("Enter")
    corrected = [lines_before[0], f"{lines_before[1]}ſ", *lines_before[2:]]
    desk.wait_for("letter.jpg", corrected)
    page.keyboard.press("Shift+Enter")
    expect(field).to_be_focused()
    page.keyboard.press("Alt+o")
    page.get_by_role("button", name="Use this one").click()
    desk.wait_for("letter.jpg", lines_before)
    page.keyboard.press("Escape")
    undo(page)
    desk.wait_for("letter.jpg", corrected)


def test_the_dates_of_a_search_are_typed_in_one_go_and_narrow_it_once_they_are_dates(
    page: Page, desk: Desk
) -> None:
    from playwright.sync_api import expect

    word = desk.texts["letter.jpg"][0].split()[0]
    page.goto(f"{desk.engine.address}/#/p/{desk.project_id}/search?q={word}")
    hit = page.get_by_role("region", name="Hits").get_by_role("link", name="letter.jpg")
    expect(hit).to_be_visible()
    page.get_by_label("From", exact=True).click()
    page.keyboard.type("174", delay=300)
    expect(page.get_by_text("A year, a month or a day narrows the search")).to_be_visible()
    expect(hit).to_be_visible()
    page.keyboard.type("0")
    expect(page.get_by_label("From", exact=True)).to_have_value("1740")
    expect(page.get_by_role("searchbox", name="What to look for")).to_have_value(word)
    expect(page.get_by_text("0 pages")).to_be_visible()


def test_pages_are_renamed_tagged_and_thrown_away_and_a_search_and_a_code_are_kept(
    page: Page, desk: Desk
) -> None:
    from playwright.sync_api import expect

    parent = desk.engine.ask("GET", f"/api/documents/{desk.pages['letter.jpg']}")["parent_id"]
    show(page, desk, f"library/{parent}")
    contents = page.get_by_role("list", name="Contents")

    def name(button: str, text: str) -> None:
        page.get_by_role("button", name=button, exact=True).click()
        page.get_by_role("dialog").get_by_role("textbox").fill(text)
        page.get_by_role("dialog").get_by_role("button", name="Save").click()

    page.get_by_role("checkbox", name="Select letter.jpg").check(force=True)
    name("Rename", "a letter <i>to</i> Ana.jpg")
    renamed = contents.get_by_role("link", name="a letter <i>to</i> Ana.jpg")
    expect(renamed).to_be_visible()
    name("Tag", "family")
    document = f"/api/documents/{desk.pages['letter.jpg']}"
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("button", name="To the Trash").click()
    expect(renamed).to_have_count(0)
    show(page, desk, "trash")
    page.get_by_role("button", name="Empty the Trash").click()
    expect(page.get_by_role("dialog").get_by_text("1 ")).to_be_visible()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Put back").click()
    expect(page.get_by_text("The Trash is empty.")).to_be_visible()
    answer = desk.engine.ask("GET", document)
    assert (answer["name"], answer["attributes"]["tags"], answer["parent_id"]) == (
        "a letter <i>to</i> Ana.jpg",
        ["family"],
        parent,
    )

    show(page, desk, "search")
    page.get_by_role("searchbox", name="What to look for").fill("family <b>")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("heading", name="Saved searches")).to_be_visible()
    page.get_by_role("searchbox", name="What to look for").fill("")
    page.get_by_role("button", name="family <b>", exact=True).click()
    expect(page.get_by_role("searchbox", name="What to look for")).to_have_value("family <b>")
    page.get_by_role("button", name="Remove the saved search “family <b>”").click()
    expect(page.get_by_role("heading", name="Saved searches")).to_have_count(0)
    folder = desk.engine.ask("GET", f"/api/documents/{parent}")["name"]
    page.get_by_role("searchbox", name="What to look for").fill("name:letter")
    hit = page.get_by_role("listitem").filter(has=page.get_by_role("link", name="a letter <i>to</i> Ana.jpg"))
    expect(hit.get_by_title(f"Sources / {folder}", exact=True)).to_be_visible()

    show(page, desk, "settings/devices")
    page.get_by_role("button", name="Make a code").click()
    expect(page.get_by_text(re.compile("valid once, until"))).to_be_visible()
    show(page, desk, "settings/plugins")
    expect(page.get_by_role("heading", name="Faults")).to_be_visible()
