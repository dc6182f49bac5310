"""Outside edits in turn and in several formats, undone ones, and links in the place of files."""

from __future__ import annotations

import pytest
from sync_desk import SyncDesk


def _tie(desk: SyncDesk, *formats: str) -> tuple[str, str]:
    """A page whose files are written, intake on: (page, folder)."""
    page = desk.page()
    folder_id = desk.tie(*formats)
    desk.settle(folder_id)
    desk.client.put(f"/api/sync-folders/{folder_id}/intake", json={"on": True})
    return page, folder_id


def test_one_edit_after_another_is_no_conflict_and_the_pages_other_files_follow(desk: SyncDesk) -> None:
    page, folder_id = _tie(desk, "pagexml", "alto")
    file, other = desk.file(page), desk.file(page, "alto")
    for words in ("Dear Madam", "Dear Doctor"):
        text = desk.edit(file, words)
        desk.settle(folder_id)
        # The page has only imported passes, so the newest counts.
        assert desk.client.get(f"/api/segments/document/{page}/text").json()["text"] == words
        assert words in other.read_text("utf-8")
        assert file.read_text("utf-8") == text
    # The same edit in both formats, as another machine writes it, is one edit; neither file is written again.
    both = [file, other]
    for one in both:
        one.write_text(one.read_text("utf-8").replace("Dear Doctor", "Dear Abbot"), "utf-8")
    texts = [item.read_text("utf-8") for item in both]
    desk.settle(folder_id)
    assert desk.entry(folder_id)["conflicts"] == []
    assert [item.read_text("utf-8") for item in both] == texts
    # Two different edits at once are a conflict of the one that came second.
    for one in both:
        one.write_text(one.read_text("utf-8").replace("Dear Abbot", f"Dear {one.parent.name}"), "utf-8")
    desk.settle(folder_id)
    assert len(desk.entry(folder_id)["conflicts"]) == 1


@pytest.mark.parametrize("counts", [True, False])
def test_what_an_undo_took_back_is_no_longer_said_to_be_taken_in(desk: SyncDesk, counts: bool) -> None:
    page, folder_id = _tie(desk)
    if not counts:
        # The pass that a person worked in goes on counting.
        desk.correct(page, "Dear Aunt")
        desk.settle(folder_id)
    file = desk.file(page)
    desk.edit(file, "Dear Madam")
    desk.settle(folder_id)
    assert len(desk.entry(folder_id)["taken_in"]) == 1
    ((audit_id,),) = desk.rows("SELECT id FROM audit WHERE action_name = 'sync.take_in'")
    undo = desk.client.post(f"/api/actions/audit/{audit_id}/undo").json()
    desk.settle(folder_id)
    entry = desk.entry(folder_id)
    assert entry["taken_in"] == []
    assert ("Dear Madam" in file.read_text("utf-8")) is bool(entry["changed_outside"]) is not counts
    desk.client.post(f"/api/actions/audit/{undo['audit_id']}/undo")
    desk.settle(folder_id)
    assert "Dear Madam" in file.read_text("utf-8")
    assert desk.entry(folder_id)["changed_outside"] == []


def test_a_link_in_the_place_of_a_pages_file_is_listed(desk: SyncDesk) -> None:
    page, folder_id = _tie(desk)
    file = desk.file(page)
    elsewhere = desk.folder.parent / "elsewhere.xml"
    file.rename(elsewhere)
    file.symlink_to(elsewhere)
    desk.settle(folder_id)
    assert desk.entry(folder_id)["in_the_way"] == [f"pagexml/{file.name}"]
    file.unlink()
    elsewhere.rename(file)
    desk.settle(folder_id)
    assert desk.entry(folder_id)["in_the_way"] == []


def test_the_file_of_a_page_in_the_trash_is_named_as_left_behind(desk: SyncDesk) -> None:
    page, folder_id = _tie(desk)
    deleted = desk.client.delete(f"/api/documents/{page}").json()
    (left,) = desk.entry(folder_id)["left_behind"]
    assert (left["path"], "Trash" in left["why"]) == (f"pagexml/{desk.file(page).name}", True)
    desk.client.post(f"/api/actions/audit/{deleted['audit_id']}/undo")
    assert desk.entry(folder_id)["left_behind"] == []


@pytest.mark.parametrize("edited", [False, True])
def test_two_files_that_were_swapped_by_hand_are_listed_and_neither_text_comes_to_the_other_page(
    desk: SyncDesk, edited: bool
) -> None:
    page, folder_id = _tie(desk)
    other_page = desk.page("Dear Aunt", "another letter")
    desk.settle(folder_id)
    files = [desk.file(page), desk.file(other_page)]
    if edited:
        desk.edit(files[1], "Dear Abbot")
    texts = [file.read_text("utf-8") for file in files]
    for file, text in zip(files, reversed(texts), strict=True):
        file.write_text(text, "utf-8")
    desk.settle(folder_id)
    assert desk.entry(folder_id)["in_the_way"] == sorted(f"pagexml/{file.name}" for file in files)
    assert [len(desk.passes(one)) for one in (page, other_page)] == [1, 1]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text, "utf-8")
    desk.settle(folder_id)
    assert desk.entry(folder_id)["in_the_way"] == []
    assert len(desk.passes(other_page)) == 1 + edited


def test_the_report_of_a_file_that_was_removed_goes_with_it_unless_somebody_changed_it(
    desk: SyncDesk,
) -> None:
    page, folder_id = _tie(desk)
    other_page = desk.page("Dear Aunt", "another letter")
    desk.settle(folder_id)
    mine = desk.file(other_page).with_name(f"{desk.file(other_page).name}.loss.json")
    mine.write_text("my notes", "utf-8")
    for one in (page, other_page):
        desk.file(one).unlink()
    desk.settle(folder_id)
    assert list(desk.folder.rglob("*.loss.json")) == [mine]
    assert mine.read_text("utf-8") == "my notes"
