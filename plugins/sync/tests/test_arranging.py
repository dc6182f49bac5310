"""Folders that keep themselves arranged: moves, their undo on the disk, files moved by hand, and kills between two moves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sync_desk import PAGE, SyncDesk, picture

from armarium.actions import bus
from armarium.principals import LOCAL_OWNER
from armarium_sync import arranging
from armarium_sync.disk import Disk


def on_disk(folder: Path) -> dict[str, bytes]:
    """Every file but our own working files."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith(".armarium-")
    }


@pytest.fixture
def kept(desk: SyncDesk) -> tuple[SyncDesk, str]:
    """Two imported scans in a folder that keeps itself arranged: (desk, folder)."""
    (desk.folder / "letters").mkdir()
    (desk.folder / "letters" / "0001.xml").write_text(PAGE.format(words="Dear Sir"), "utf-8")
    desk.scans("letters/0001.png", "letters/0002.png")
    folder_id = desk.tie("pagexml", mode="keep-arranged")
    desk.look(folder_id, thorough=True)
    return desk, folder_id


def arrange(desk: SyncDesk, folder_id: str) -> str:
    """Carry the arrangement out as its job does; the audit row."""
    plan = desk.client.get(f"/api/sync-folders/{folder_id}/arrangement").json()
    assert plan["moves"], plan
    params = {"folder_id": folder_id, "moves": plan["moves"]}
    return desk.engine.run(desk.library, "sync.arrange", params, LOCAL_OWNER).audit_id


def test_an_imported_folder_is_adopted_and_written_in_place(desk: SyncDesk) -> None:
    (desk.folder / "0001.xml").write_text(PAGE.format(words="Dear Sir"), "utf-8")
    desk.scans("0001.png")
    folder_id = desk.tie()
    before = on_disk(desk.folder)
    desk.settle(folder_id)
    entry = desk.entry(folder_id)
    assert entry["adopted"] is True
    assert entry["intake"] is True
    assert [file["path"] for file in entry["files"]] == ["0001.xml"]
    assert on_disk(desk.folder) == before
    page = desk.document_of("0001.png")
    desk.lines[page] = desk.rows("SELECT id FROM segment WHERE document_id = ? AND kind = 'line'", page)[0][0]
    desk.correct(page, "Dear Doctor")
    desk.settle(folder_id)
    after = on_disk(desk.folder)
    assert sorted(after) == ["0001.png", "0001.xml", "0001.xml.loss.json"]
    assert b"Dear Doctor" in after["0001.xml"]
    assert page.encode() in after["0001.xml"]
    desk.edit(desk.folder / "0001.xml", "Dear Madam")
    desk.settle(folder_id)
    assert desk.passes(page)[-1] == "Outside edit: 0001.xml"


def adopt(desk: SyncDesk) -> tuple[str, str]:
    """An imported picture whose page was corrected before its folder is tied: (folder, page)."""
    (desk.folder / "0001.xml").write_text(PAGE.format(words="Dear Sir"), "utf-8")
    desk.scans("0001.png")
    page = desk.document_of("0001.png")
    desk.lines[page] = desk.rows("SELECT id FROM segment WHERE document_id = ? AND kind = 'line'", page)[0][0]
    desk.correct(page, "Dear Doctor")
    return desk.tie(), page


def test_what_was_corrected_between_the_import_and_the_tie_is_written_in_place(desk: SyncDesk) -> None:
    folder_id, _ = adopt(desk)
    desk.settle(folder_id)
    assert "Dear Doctor" in (desk.folder / "0001.xml").read_text("utf-8")
    assert desk.entry(folder_id)["conflicts"] == []


def test_what_was_corrected_after_the_clock_was_set_back_is_written_too(
    desk: SyncDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    correct = desk.correct

    def correct_long_ago(*args: Any) -> Any:
        with monkeypatch.context() as patched:
            patched.setattr(bus, "now", lambda: "2001-01-01T00:00:00.000Z")
            return correct(*args)

    monkeypatch.setattr(desk, "correct", correct_long_ago)
    folder_id, _ = adopt(desk)
    desk.settle(folder_id)
    assert "Dear Doctor" in (desk.folder / "0001.xml").read_text("utf-8")


def test_an_adopted_file_changed_outside_before_its_corrected_page_was_written_is_a_conflict(
    desk: SyncDesk,
) -> None:
    folder_id, page = adopt(desk)
    desk.look(folder_id, thorough=True)
    desk.edit(desk.folder / "0001.xml", "Dear Madam")
    desk.write(folder_id)
    desk.settle(folder_id)
    assert "Dear Madam" in (desk.folder / "0001.xml").read_text("utf-8")
    (conflict,) = desk.entry(folder_id)["conflicts"]
    assert conflict["document_id"] == page
    assert desk.passes(page)[-1] == "Outside edit: 0001.xml"


@pytest.mark.parametrize("name", ["..", "../../evil.png", "/etc/passwd"])
def test_a_document_of_any_name_keeps_its_file_inside_the_folder(
    kept: tuple[SyncDesk, str], name: str
) -> None:
    desk, folder_id = kept
    desk.do("document.update", {"document_id": desk.document_of("0002.png"), "name": name})
    arrange(desk, folder_id)
    assert picture(11) in on_disk(desk.folder).values()
    assert not (desk.folder.parent / "evil.png").exists()


def test_a_renamed_document_moves_its_files_and_undo_puts_every_one_back(kept: tuple[SyncDesk, str]) -> None:
    desk, folder_id = kept
    before = on_disk(desk.folder)
    page = desk.document_of("0001.png")
    letters = desk.document_of("letters")
    desk.do("document.update", {"document_id": page, "name": "First.png"})
    desk.do("document.update", {"document_id": letters, "name": "Letters: 1850"})
    plan = desk.client.get(f"/api/sync-folders/{folder_id}/arrangement").json()
    assert plan["mode"] == "keep-arranged"
    assert sorted(move["to_path"] for move in plan["moves"]) == [
        "Letters_ 1850/0002.png",
        "Letters_ 1850/First.png",
        "Letters_ 1850/First.xml",
    ]
    assert on_disk(desk.folder) == before
    audit_id = arrange(desk, folder_id)
    moved = on_disk(desk.folder)
    assert sorted(moved) == ["Letters_ 1850/0002.png", "Letters_ 1850/First.png", "Letters_ 1850/First.xml"]
    assert sorted(moved.values()) == sorted(before.values())
    (path,) = desk.rows("SELECT path FROM document WHERE id = ?", page)[0]
    assert path == str(desk.folder / "Letters_ 1850" / "First.png")
    assert "Letters_ 1850/First.xml" in [file["path"] for file in desk.entry(folder_id)["files"]]
    undo = desk.engine.undo(desk.library, [audit_id], LOCAL_OWNER)["audit_ids"]
    assert on_disk(desk.folder) == before
    assert desk.rows("SELECT path FROM document WHERE id = ?", page)[0][0] == str(
        desk.folder / "letters/0001.png"
    )
    assert [file["path"] for file in desk.entry(folder_id)["files"]] == ["letters/0001.xml"]
    desk.engine.undo(desk.library, undo, LOCAL_OWNER)
    assert on_disk(desk.folder) == moved


def test_a_document_renamed_over_http_is_arranged_in_the_background(kept: tuple[SyncDesk, str]) -> None:
    desk, _ = kept
    page = desk.document_of("0002.png")
    desk.do("document.update", {"document_id": page, "name": "Second.png"})
    desk.work()
    assert "letters/Second.png" in on_disk(desk.folder)


def test_no_file_moves_over_another_and_a_clash_takes_a_number(kept: tuple[SyncDesk, str]) -> None:
    desk, folder_id = kept
    foreign = desk.folder / "letters" / "FIRST.png"
    foreign.write_bytes(b"somebody's")
    for name in ("0001.png", "0002.png"):
        desk.do("document.update", {"document_id": desk.document_of(name), "name": "First.png"})
    arrange(desk, folder_id)
    after = on_disk(desk.folder)
    assert sorted(after) == [
        "letters/FIRST.png",
        "letters/First-2.png",
        "letters/First-2.xml",
        "letters/First-3.png",
    ]
    assert after["letters/FIRST.png"] == b"somebody's"


class Killed(BaseException):
    """The engine, killed."""


@pytest.mark.parametrize("after", [0, 1, 2])
def test_killed_between_two_moves_the_undo_goes_on_when_the_project_is_opened(
    kept: tuple[SyncDesk, str], monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    desk, folder_id = kept
    before = on_disk(desk.folder)
    desk.do("document.update", {"document_id": desk.document_of("letters"), "name": "Box"})
    audit_id = arrange(desk, folder_id)
    moves = 0
    move = Disk.move

    def kill(self: Disk, source: str, target: str) -> None:
        nonlocal moves
        moves += 1
        if moves > after:
            raise Killed
        move(self, source, target)

    with monkeypatch.context() as patch:
        patch.setattr(Disk, "move", kill)
        with pytest.raises(Killed):
            desk.engine.undo(desk.library, [audit_id], LOCAL_OWNER)
    desk.look(folder_id)
    assert on_disk(desk.folder) == before


def test_a_file_moved_by_hand_before_the_undo_stays_where_it_was_put(kept: tuple[SyncDesk, str]) -> None:
    desk, folder_id = kept
    desk.do("document.update", {"document_id": desk.document_of("letters"), "name": "Box"})
    audit_id = arrange(desk, folder_id)
    (desk.folder / "Box" / "0002.png").rename(desk.folder / "kept aside.png")
    (desk.folder / "Box" / "0002.png").write_bytes(b"somebody's")
    desk.engine.undo(desk.library, [audit_id], LOCAL_OWNER)
    after = on_disk(desk.folder)
    assert after["Box/0002.png"] == b"somebody's"
    assert after["kept aside.png"] == picture(11)
    assert "letters/0001.png" in after


def test_a_file_moved_by_hand_is_followed_by_its_document(kept: tuple[SyncDesk, str]) -> None:
    desk, folder_id = kept
    page = desk.document_of("0001.png")
    place = desk.folder / "wills" / "1850"
    place.mkdir(parents=True)
    (desk.folder / "letters" / "0001.png").rename(place / "a will.png")
    (desk.folder / "letters" / "0001.xml").rename(place / "a will.xml")
    assert desk.look(folder_id).followed == 1
    ((name, path, metadata),) = desk.rows("SELECT name, path, metadata FROM document WHERE id = ?", page)
    assert (name, path) == ("a will.png", str(place / "a will.png"))
    assert '"placed_by_hand":true' in metadata.replace(" ", "")
    above = desk.rows(
        "SELECT p.name, g.name FROM document d JOIN document p ON p.id = d.parent_id JOIN document g ON g.id = p.parent_id"
        " WHERE d.id = ?",
        page,
    )
    assert above == [("1850", "wills")]
    plan = desk.client.get(f"/api/sync-folders/{folder_id}/arrangement").json()
    assert plan["moves"] == []
    assert "wills/1850/a will.xml" in [file["path"] for file in desk.entry(folder_id)["files"]]


def test_what_cannot_be_arranged_is_refused_with_the_reason(kept: tuple[SyncDesk, str]) -> None:
    desk, folder_id = kept
    page = desk.document_of("0001.png")
    desk.do("document.move", {"ids": [page], "parent_id": None})
    (desk.folder / "letters" / "0002.png").unlink()
    desk.do("document.update", {"document_id": desk.document_of("0002.png"), "name": "gone.png"})
    plan = desk.client.get(f"/api/sync-folders/{folder_id}/arrangement").json()
    assert plan["moves"] == []
    whys = {entry["path"]: entry["why"] for entry in plan["refused"]}
    assert "outside the project folder" in whys["letters/0001.png"]
    assert "no longer exists" in whys["letters/0002.png"]


def test_refusals_of_arranging(kept: tuple[SyncDesk, str], tmp_path: Path) -> None:
    desk, folder_id = kept
    one = {"document_id": desk.document_of("0001.png"), "from_path": "letters/0001.png", "to_path": "x.png"}
    refused = desk.expect_refusal("sync.arrange", {"folder_id": folder_id, "moves": [one]})
    assert refused.code == "stale_arrangement"
    answer = desk.client.put(f"/api/sync-folders/{folder_id}/mode", json={"mode": "index"})
    assert answer.status_code == 200
    assert answer.json()["mode"] == "index"
    assert desk.expect_refusal("sync.arrange", {"folder_id": folder_id, "moves": []}).code == "not_arranged"
    assert desk.client.put("/api/sync-folders/nobody/mode", json={"mode": "index"}).status_code == 404


def test_a_move_whose_target_came_to_be_taken_is_left_and_followed(
    kept: tuple[SyncDesk, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, folder_id = kept
    page = desk.document_of("0002.png")
    desk.do("document.update", {"document_id": page, "name": "Second.png"})
    carried = arranging._carry_out

    def take_target(disk: Any, row: Any) -> str | None:
        (desk.folder / row.to_path).write_bytes(b"somebody's")
        return carried(disk, row)

    monkeypatch.setattr(arranging, "_carry_out", take_target)
    arrange(desk, folder_id)
    after = on_disk(desk.folder)
    assert after["letters/Second.png"] == b"somebody's"
    assert after["letters/0002.png"] == picture(11)


def test_a_duplicate_is_listed_removed_and_brought_back(desk: SyncDesk) -> None:
    root = desk.scans("a.png", "b.png")
    desk.do("document.import", {"folder": str(desk.folder), "again": True})
    desk.work()
    listed = desk.client.get("/api/sync-folders/duplicates").json()
    assert listed["count"] == 2
    first = listed["groups"][0]
    assert first["path"] == str(desk.folder / "a.png")
    assert first["keep"]["parent_id"] == root
    assert first["keep"]["created_at"] <= first["remove"][0]["created_at"]
    assert set(first["keep"]) == {"id", "name", "parent_id", "created_at", "passes"}
    other_document_id = desk.do("document.create", {"name": "Elsewhere"})["id"]
    moved = desk.engine.run(
        desk.library,
        "document.move",
        {"ids": [first["keep"]["id"]], "parent_id": other_document_id},
        LOCAL_OWNER,
    )
    # The one in the file's folder is kept, though another was made first.
    swapped = desk.client.get("/api/sync-folders/duplicates").json()["groups"][0]
    assert (swapped["keep"]["id"], swapped["remove"][0]["id"]) == (
        first["remove"][0]["id"],
        first["keep"]["id"],
    )
    desk.engine.undo(desk.library, [moved.audit_id], LOCAL_OWNER)
    ids = [group["remove"][0]["id"] for group in listed["groups"]]
    url = "/api/sync-folders/duplicates/remove"
    assert desk.client.post(url, json={"document_ids": [ids[0], "nobody"]}).status_code == 404
    for wrong in (first["keep"]["id"], root):
        answer = desk.client.post(url, json={"document_ids": [ids[0], wrong]})
        assert answer.status_code == 409
        assert answer.json()["code"] == "not_a_duplicate"
    assert desk.client.get("/api/sync-folders/duplicates").json() == listed
    answer = desk.client.post(url, json={"document_ids": ids}).json()
    assert answer["removed"] == ids
    assert desk.client.get("/api/sync-folders/duplicates").json() == {"groups": [], "count": 0, "withheld": 0}
    desk.engine.undo(desk.library, [answer["audit_id"]], LOCAL_OWNER)
    assert desk.client.get("/api/sync-folders/duplicates").json() == listed
