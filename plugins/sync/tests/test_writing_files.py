"""What is written to a synced folder, and when."""

from __future__ import annotations

import json
import os

from sync_desk import SyncDesk

from armarium_formats.api import Format, PageModel, WriteContext, WrittenPage


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
    assert {file["document_id"] for file in entry["files"]} == {page}


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


class Verses(Format):
    """A format of somebody else, which it only writes: the lines of a page, numbered."""

    name = "verses"
    label = "Verses"
    extensions = (".verses",)
    writes = True

    def write(self, page: PageModel, context: WriteContext) -> WrittenPage:
        lines = [line.text for line in page.of_kind("line")]
        return WrittenPage("".join(f"{number} {text}\n" for number, text in enumerate(lines, 1)))


def test_a_format_of_somebody_else_is_written_and_followed_like_ours(desk: SyncDesk) -> None:
    desk.engine.drivers.give("armarium.formats", "verses", Verses)
    page = desk.page("Dear Sir")
    folder_id = desk.tie("verses")
    desk.settle(folder_id)
    assert desk.file(page, "verses").read_text("utf-8") == "1 Dear Sir\n"
    aside = desk.folder / "aside" / "verses"
    aside.mkdir(parents=True)
    (aside / "notes.verses").write_text("not of the project", "utf-8")
    desk.file(page, "verses").rename(aside / desk.file(page, "verses").name)
    desk.settle(folder_id)
    desk.correct(page, "Dear Madam")
    desk.settle(folder_id)
    moved = desk.file(page, "verses")
    assert moved.parent == aside
    assert moved.read_text("utf-8") == "1 Dear Madam\n"
    assert (aside / "notes.verses").read_text("utf-8") == "not of the project"


def test_what_is_changed_in_a_file_that_nobody_reads_is_not_lost(desk: SyncDesk) -> None:
    desk.engine.drivers.give("armarium.formats", "verses", Verses)
    page = desk.page("Dear Sir")
    folder_id = desk.tie("verses")
    desk.settle(folder_id)
    file = desk.file(page, "verses")
    file.write_text("1 Dear Children\n", "utf-8")
    os.utime(file, (1, 1))
    desk.settle(folder_id)
    desk.correct(page, "Dear Madam")
    desk.settle(folder_id)
    there = [path.read_text("utf-8") for path in desk.folder.rglob("*.verses*")]
    assert "1 Dear Children\n" in there
