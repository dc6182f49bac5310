"""What comes back from a folder: outside edits as passes, conflicts, moved files, new pictures; and what never does."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from sync_desk import PAGE, SyncDesk, picture

from armarium.api import Conflict

WRITTEN = "PAGE XML: a.xml"


@pytest.fixture
def tied(desk: SyncDesk) -> tuple[SyncDesk, str, str]:
    """A page whose file is written, intake on: (desk, folder, page)."""
    page = desk.page()
    folder_id = desk.tie()
    desk.settle(folder_id)
    answer = desk.client.put(f"/api/sync-folders/{folder_id}/intake", json={"on": True})
    assert answer.status_code == 200
    assert answer.json()["intake"] is True
    desk.settle(folder_id)
    return desk, folder_id, page


def test_an_outside_edit_comes_in_as_a_pass_that_is_not_the_working_one(
    tied: tuple[SyncDesk, str, str],
) -> None:
    desk, folder_id, page = tied
    file = desk.file(page)
    desk.edit(file, "Dear Madam")
    preview = desk.client.get(f"/api/sync-folders/{folder_id}/intake").json()
    assert preview == {"on": True, "would_bring_in": {"pagexml": 1}, "images": 0}
    assert desk.entry(folder_id)["changed_outside"] == [f"pagexml/{file.name}"]
    assert desk.look(folder_id).passes == 1
    assert desk.passes(page) == [WRITTEN, f"Outside edit: {file.name}"]
    desk.settle(folder_id)
    assert "Dear Madam" in file.read_text("utf-8")
    entry = desk.entry(folder_id)
    assert entry["changed_outside"] == []
    assert entry["conflicts"] == []
    assert entry["taken_in"] == [{"path": f"pagexml/{file.name}", "document_id": page}]
    text = desk.client.get(f"/api/formats/export/{page}", params={"format": "pagexml"})
    assert text.status_code in (200, 404)
    # The page goes on being written by its own pass; the outside version stays in its pass.
    desk.correct(page, "Dear Doctor")
    desk.settle(folder_id)
    assert "Dear Doctor" in file.read_text("utf-8")
    assert len(desk.passes(page)) == 2


def test_touching_own_writes_and_temporary_files_give_no_pass(tied: tuple[SyncDesk, str, str]) -> None:
    desk, folder_id, page = tied
    file = desk.file(page)
    data = file.read_bytes()
    os.utime(file, (1, 1))
    (file.parent / f".syncthing.{file.name}.tmp").write_bytes(data[:100])
    (file.parent / f"{file.name}.part").write_bytes(data)
    desk.settle(folder_id)
    file.write_bytes(data)
    desk.settle(folder_id)
    copy = file.with_suffix(".copy")
    shutil.copy(file, copy)
    copy.replace(file)
    desk.settle(folder_id)
    assert desk.passes(page) == [WRITTEN]
    assert desk.entry(folder_id)["changed_outside"] == []


def test_an_edit_of_the_same_size_and_time_is_seen(tied: tuple[SyncDesk, str, str]) -> None:
    desk, folder_id, page = tied
    file = desk.file(page)
    status = file.stat()
    desk.edit(file, "Dear Sis")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert file.stat().st_size == status.st_size
    assert desk.look(folder_id).passes == 1


def test_an_older_version_of_ours_that_comes_late_is_nobodys_edit(tied: tuple[SyncDesk, str, str]) -> None:
    desk, folder_id, page = tied
    file = desk.file(page)
    old = file.read_bytes()
    desk.correct(page, "Dear Madam")
    desk.settle(folder_id)
    file.write_bytes(old)
    desk.settle(folder_id)
    assert desk.passes(page) == [WRITTEN]
    desk.correct(page, "Dear Doctor")
    desk.settle(folder_id)
    assert "Dear Doctor" in file.read_text("utf-8")


def test_a_page_changed_on_both_sides_is_a_conflict_and_no_longer_written(
    tied: tuple[SyncDesk, str, str],
) -> None:
    desk, folder_id, page = tied
    file = desk.file(page)
    desk.edit(file, "Dear Madam")
    desk.correct(page, "Dear Doctor")
    desk.settle(folder_id)
    entry = desk.entry(folder_id)
    (conflict,) = entry["conflicts"]
    assert conflict["document_id"] == page
    assert conflict["path"] == f"pagexml/{file.name}"
    passes = desk.rows("SELECT id FROM segment_pass WHERE document_id = ? ORDER BY id", page)
    assert conflict["pass_id"] == passes[-1][0]
    desk.correct(page, "Dear Professor")
    desk.settle(folder_id)
    assert "Dear Madam" in file.read_text("utf-8")
    # Changed once more it comes in once more, and stays in conflict.
    desk.edit(file, "Dear Abbot")
    desk.settle(folder_id)
    assert len(desk.passes(page)) == 3
    assert len(desk.entry(folder_id)["conflicts"]) == 1
    # Taken away, it is written anew at the next change.
    file.unlink()
    desk.settle(folder_id)
    assert desk.entry(folder_id)["conflicts"] == []
    desk.correct(page, "Dear Bishop")
    desk.settle(folder_id)
    assert "Dear Bishop" in desk.file(page).read_text("utf-8")


def test_without_intake_a_changed_file_is_listed_and_never_overwritten(desk: SyncDesk) -> None:
    page = desk.page()
    folder_id = desk.tie()
    desk.settle(folder_id)
    file = desk.file(page)
    text = desk.edit(file, "Dear Madam")
    desk.correct(page, "Dear Doctor")
    desk.settle(folder_id)
    assert file.read_text("utf-8") == text
    entry = desk.entry(folder_id)
    assert entry["changed_outside"] == [f"pagexml/{file.name}"]
    assert desk.passes(page) == [WRITTEN]
    file.unlink()
    assert desk.entry(folder_id)["deleted_outside"] == [f"pagexml/{file.name}"]
    desk.correct(page, "Dear Professor")
    desk.settle(folder_id)
    assert "Dear Professor" in file.read_text("utf-8")


def test_a_file_that_no_reader_takes_stays_and_is_listed(tied: tuple[SyncDesk, str, str]) -> None:
    desk, folder_id, page = tied
    file = desk.file(page)
    half = file.read_bytes()[:200]
    file.write_bytes(half)
    desk.correct(page, "Dear Doctor")
    desk.settle(folder_id)
    desk.settle(folder_id)
    assert file.read_bytes() == half
    entry = desk.entry(folder_id)
    assert [one["path"] for one in entry["not_read_back"]] == [f"pagexml/{file.name}"]
    assert desk.passes(page) == [WRITTEN]
    # Whole at last, it comes in.
    file.write_text(PAGE.format(words="Dear Madam"), "utf-8")
    desk.settle(folder_id)
    assert len(desk.passes(page)) == 2


def test_a_moved_file_is_known_by_the_id_it_carries(tied: tuple[SyncDesk, str, str]) -> None:
    desk, folder_id, page = tied
    file = desk.file(page)
    other = desk.folder / "checked" / "letter one.xml"
    other.parent.mkdir()
    file.rename(other)
    desk.look(folder_id)
    entry = desk.entry(folder_id)
    assert [file["path"] for file in entry["files"]] == ["checked/letter one.xml"]
    reports = [path.relative_to(desk.folder).as_posix() for path in desk.folder.rglob("*.loss.json")]
    assert reports == ["checked/letter one.xml.loss.json"], "the report of losses goes along"
    assert entry["deleted_outside"] == []
    desk.edit(other, "Dear Madam")
    assert desk.look(folder_id).passes == 1
    desk.correct(page, "Dear Doctor")
    desk.settle(folder_id)
    assert "Dear Doctor" in other.read_text("utf-8")
    assert not file.exists()
    # Moved and changed in one go.
    last = desk.folder / "last.xml"
    desk.edit(other, "Dear Abbot")
    other.rename(last)
    desk.settle(folder_id)
    assert len(desk.passes(page)) == 3
    assert [file["path"] for file in desk.entry(folder_id)["files"]] == ["last.xml"]


CONFLICT_COPIES = (
    "{stem}.sync-conflict-20260102-030405-ABCDEFG.xml",
    "{stem} (Maria's conflicted copy 2026-01-02).xml",
    "{stem} (conflicted copy 2026-01-02 030405).xml",
)


@pytest.mark.parametrize("pattern", CONFLICT_COPIES)
def test_a_conflict_copy_is_never_taken_for_a_move(tied: tuple[SyncDesk, str, str], pattern: str) -> None:
    desk, folder_id, page = tied
    file = desk.file(page)
    copy = file.with_name(pattern.format(stem=file.stem))
    text = desk.edit(file, "Dear Madam")
    file.rename(copy)
    desk.settle(folder_id)
    entry = desk.entry(folder_id)
    assert entry["deleted_outside"] == [f"pagexml/{file.name}"]
    assert [one["path"] for one in entry["not_read_back"]] == [f"pagexml/{copy.name}"]
    assert "conflict copy of" in entry["not_read_back"][0]["why"]
    desk.correct(page, "Dear Doctor")
    desk.settle(folder_id)
    assert copy.read_text("utf-8") == text
    assert desk.passes(page) == [WRITTEN]


def test_copies_and_files_of_other_projects_are_left_alone(tied: tuple[SyncDesk, str, str]) -> None:
    desk, folder_id, page = tied
    file = desk.file(page)
    copy = desk.folder / "copy.xml"
    shutil.copy(file, copy)
    stranger = desk.folder / f"x--{'0' * 32}.xml"
    stranger.write_bytes(file.read_bytes().replace(page.encode(), b"0" * 32))
    (desk.folder / "notes.txt").write_text("mine")
    os.mkfifo(desk.folder / "pipe.xml")
    (desk.folder / "circle").symlink_to(desk.folder)
    (desk.folder / "bad\nname.xml").write_text("x")
    desk.settle(folder_id)
    entry = desk.entry(folder_id)
    whys = {one["path"]: one["why"] for one in entry["not_read_back"]}
    assert "a copy" in whys["copy.xml"]
    assert "does not keep here" in whys[stranger.name]
    assert "neither a picture" in whys["notes.txt"]
    assert "regular file" in whys["pipe.xml"]
    assert "regular file" in whys["circle"]
    assert "control character" in whys["bad\ufffdname.xml"]
    assert desk.passes(page) == [WRITTEN]
    # Two files with one id, and the one of ours gone: neither is taken for it.
    second = desk.folder / "copy 2.xml"
    second.write_bytes(copy.read_bytes().replace(b"Dear Sir", b"Dear Sis"))
    copy.write_bytes(copy.read_bytes().replace(b"Dear Sir", b"Dear Son"))
    file.unlink()
    desk.settle(folder_id)
    assert desk.entry(folder_id)["deleted_outside"] == [f"pagexml/{file.name}"]


def test_new_pictures_come_in_with_their_layout_files_where_they_were_put(
    tied: tuple[SyncDesk, str, str],
) -> None:
    desk, folder_id, _ = tied
    box = desk.folder / "Box 1"
    box.mkdir()
    (box / "0001.png").write_bytes(picture(50, (600, 400)))
    (box / "0001.xml").write_text(PAGE.format(words="Found in the box"), "utf-8")
    (box / "0002.png").write_bytes(b"no picture at all")
    assert desk.client.get(f"/api/sync-folders/{folder_id}/intake").json()["images"] == 2
    assert desk.look(folder_id).images == 2
    desk.work()
    scan = desk.document_of("0001.png")
    parent = desk.rows(
        "SELECT p.name FROM document d JOIN document p ON p.id = d.parent_id WHERE d.id = ?", scan
    )
    assert parent == [("Box 1",)]
    assert len(desk.passes(scan)) == 1
    desk.settle(folder_id)
    desk.work()
    entry = desk.entry(folder_id)
    assert {"path": "Box 1/0001.png", "document_id": scan} in entry["taken_in"]
    assert "Box 1/0002.png" in [one["path"] for one in entry["not_read_back"]]
    # Neither comes in again, nor one that lies in the Trash; the layout file is kept current where it lies.
    desk.do("document.delete", {"ids": [scan]})
    shutil.copy(box / "0001.png", box / "0003.png")
    assert desk.look(folder_id).images == 0
    assert desk.client.get(f"/api/sync-folders/{folder_id}/intake").json()["images"] == 0


def test_restricted_pages_are_left_out_and_what_is_left_behind_is_named(desk: SyncDesk) -> None:
    page, barred, hidden = desk.page(), desk.page("Secret", "a diary"), desk.page("Hidden", "a will")
    desk.do("rights.set", {"target_kind": "document", "target_id": barred, "model_use": "none"})
    desk.do("rights.set", {"target_kind": "segment", "target_id": desk.lines[hidden], "restricted": True})
    folder_id = desk.tie()
    desk.settle(folder_id)
    assert [file["document_id"] for file in desk.entry(folder_id)["files"]] == [page]
    desk.do("rights.set", {"target_kind": "document", "target_id": page, "restricted": True})
    desk.correct(page, "Now secret")
    desk.settle(folder_id)
    file = desk.file(page)
    assert "Now secret" not in file.read_text("utf-8")
    (left,) = desk.entry(folder_id)["left_behind"]
    assert left["path"] == f"pagexml/{file.name}"
    assert "restricted" in left["why"]


def test_a_project_restricted_as_a_whole_is_not_written_until_the_record_is_withdrawn(desk: SyncDesk) -> None:
    page = desk.page()
    folder_id = desk.tie()
    desk.settle(folder_id)
    record = desk.do("rights.set", {"target_kind": "library", "target_id": "library", "restricted": True})
    desk.correct(page, "Dear Madam")
    desk.settle(folder_id)
    assert "Dear Sir" in desk.file(page).read_text("utf-8")
    desk.do("rights.withdraw", {"record_id": record["id"]})
    desk.settle(folder_id)
    assert "Dear Madam" in desk.file(page).read_text("utf-8")


def test_a_folder_that_vanished_is_neither_written_nor_made_anew(tied: tuple[SyncDesk, str, str]) -> None:
    desk, folder_id, page = tied
    away = Path(f"{desk.folder}-away")
    desk.folder.rename(away)
    desk.folder.mkdir()  # what a mount point looks like when nothing is mounted
    desk.correct(page, "Dear Doctor")
    assert not desk.look(folder_id).there
    with pytest.raises(Conflict, match="is missing, or"):
        desk.write(folder_id)
    assert list(desk.folder.iterdir()) == []
    entry = desk.entry(folder_id)
    assert entry["there"] is False
    assert entry["deleted_outside"] == []
    assert entry["pending"] == 1
    for path in ("intake", "arrangement"):
        answer = desk.client.get(f"/api/sync-folders/{folder_id}/{path}")
        assert answer.status_code == 409
        assert answer.json()["code"] == "folder_gone"
    desk.folder.rmdir()
    away.rename(desk.folder)
    desk.settle(folder_id)
    assert "Dear Doctor" in desk.file(page).read_text("utf-8")
    assert desk.passes(page) == [WRITTEN]


def test_a_file_that_another_engine_wrote_first_is_the_pages_file(desk: SyncDesk) -> None:
    """Two machines share a folder: the other's file comes before this one has written its own, and was corrected there."""
    page = desk.page()
    folder_id = desk.tie()
    desk.settle(folder_id)
    place = desk.file(page)
    desk.edit(place, "Dear Madam")
    corrected = place.read_bytes()
    # As on the other machine: this engine knows nothing of the file.
    desk.do("sync.untie", {"folder_id": folder_id})
    with desk.library.db.write() as conn:
        for table in ("sync_file", "sync_version", "sync_tied"):
            conn.exec_driver_sql(f"DELETE FROM {table}")
    again = desk.tie()
    desk.do("sync.intake", {"folder_id": again, "on": True})
    desk.settle(again)
    assert desk.entry(again)["in_the_way"] == []
    originals = {
        desk.library.objects.path(digest).read_bytes()
        for (digest,) in desk.rows("SELECT original FROM format_import")
    }
    assert corrected in originals
    desk.correct(page, "Dear all")
    desk.settle(again)
    assert b"Dear all" in place.read_bytes()


def test_more_pictures_than_one_import_takes_all_come_in(
    tied: tuple[SyncDesk, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, folder_id, _ = tied
    monkeypatch.setattr("armarium_sync.intake.MOST_AT_ONCE", 2)
    for number in range(5):
        (desk.folder / f"{number}.png").write_bytes(picture(50 + number))
    desk.do("sync.intake", {"folder_id": folder_id, "on": True})
    desk.work()
    names = {row[0] for row in desk.rows("SELECT name FROM document WHERE deleted_at IS NULL")}
    assert {f"{number}.png" for number in range(5)} <= names


def test_a_file_that_was_moved_and_changed_is_counted_by_the_preview(
    tied: tuple[SyncDesk, str, str],
) -> None:
    desk, folder_id, page = tied
    file = desk.file(page)
    desk.edit(file, "Dear Madam")
    file.rename(desk.folder / "elsewhere.xml")
    preview = desk.client.get(f"/api/sync-folders/{folder_id}/intake").json()
    assert preview["would_bring_in"] == {"pagexml": 1}
    assert desk.look(folder_id).passes == 1


def test_a_file_that_changes_while_it_is_read_waits_until_it_is_whole(
    tied: tuple[SyncDesk, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, folder_id, page = tied
    file = desk.file(page)
    desk.edit(file, "Dear Madam")
    stamps = iter(range(1000))
    with monkeypatch.context() as patch:
        patch.setattr("armarium_sync.disk.stamp_of", lambda status: str(next(stamps)))
        assert desk.look(folder_id).passes == 0
    assert desk.passes(page) == [WRITTEN]
    assert "still being written" in desk.entry(folder_id)["not_read_back"][0]["why"]
    file.touch()
    desk.edit(file, "Dear Madam and Sir")
    assert desk.look(folder_id).passes == 1
    assert desk.entry(folder_id)["not_read_back"] == []
