"""What a killed export leaves behind goes with the next one there; what one at work holds stays."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from exports_desk import Desk
from test_kept import kept_now

from armarium_exports import places
from armarium_exports.site import building

HOLD = """
import sys, time
from pathlib import Path
from armarium_exports.places import whole_file, whole_folder
with {what}(Path(sys.argv[1])):
    print("holding", flush=True)
    sys.stdin.read()
"""


def list_unfinished(folder: Path) -> list[Path]:
    return [entry for entry in folder.iterdir() if entry.name.startswith(".")]


def begin(what: str, place: Path) -> subprocess.Popen[str]:
    """An export at work in a process of its own."""
    command = [sys.executable, "-c", HOLD.format(what=what), str(place)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "holding\n"
    return process


@pytest.mark.skipif(
    sys.platform == "win32", reason="leftovers are told from exports at work by locks of Unix"
)
@pytest.mark.parametrize("what", ["whole_file", "whole_folder"])
def test_a_leftover_goes_and_an_export_at_work_stays(tmp_path: Path, what: str) -> None:
    place = tmp_path / "out"
    process = begin(what, place)
    try:
        (held,) = list_unfinished(tmp_path)
        places.require_parent(place)
        assert list_unfinished(tmp_path) == [held]
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            pipe.close()
    assert list_unfinished(tmp_path) == [held]
    places.require_parent(place)
    assert list_unfinished(tmp_path) == []


def test_only_names_of_exports_are_cleared(tmp_path: Path) -> None:
    for name in (".mine.part", ".armarium-mine.part", f".armarium-{'0' * 16}.part.txt"):
        (tmp_path / name).write_text("mine")
    (tmp_path / f".armarium-{'1' * 16}.part").symlink_to(tmp_path / ".mine.part")
    places.clear_leavings(tmp_path)
    assert len(list_unfinished(tmp_path)) == 4


@pytest.mark.skipif(
    sys.platform == "win32", reason="leftovers are told from exports at work by locks of Unix"
)
def test_each_export_clears_where_it_writes(desk: Desk) -> None:
    page = desk.page(desk.box(), "1.png", ["Dear Sir"])
    kept = Path(kept_now(desk)["folder"])
    for folder in (desk.folder, kept):
        (folder / f".armarium-{'0' * 16}.part").mkdir()
        (folder / f".armarium-{'0' * 16}.part" / "half.json").write_text("{")
    desk.post("/api/export/jsonl", output_path=str(desk.folder / "records.jsonl"))
    assert list_unfinished(desk.folder) == []
    desk.do("representation.create", {"segment_id": desk.lines(page)[0], "text": "Dear Madam"})
    desk.work()
    assert list_unfinished(kept) == []


def test_a_site_killed_while_it_was_put_in_place_is_finished_by_the_next(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At whichever file: nothing of a page that was restricted meanwhile stays, and nothing is taken for a stranger's."""
    box = desk.box()
    first, shut = desk.page(box, "1.png", ["Dear Sir"]), desk.page(box, "2.png", ["A secret"])
    site = desk.folder / "site"
    body = {"output_path": str(site), "overwrite": True}
    real, moved = places.os.replace, 0

    def kill(source: Path, target: Path) -> None:
        nonlocal moved
        moved += 1
        if moved > most:
            raise KeyboardInterrupt
        real(source, target)

    for most in (0, 1, 2, 10, 30):
        desk.post("/api/export/eleventy-site", **body)
        assert (site / "static" / "iiif" / shut).is_dir()
        record = desk.restrict(shut)
        new = desk.page(box, f"{most + 3}.png", ["Farewell"])
        moved = 0
        with monkeypatch.context() as patch:
            patch.setattr(places.os, "replace", kill)
            with pytest.raises(KeyboardInterrupt):
                desk.do("export.eleventy", body)
        desk.post("/api/export/eleventy-site", **body)
        assert {entry.name for entry in (site / "static" / "iiif").iterdir()} >= {first, new}
        assert not (site / "static" / "iiif" / shut).exists()
        assert b"A secret" not in (site / "content" / "_data" / "pages.json").read_bytes()
        desk.do("rights.withdraw", {"record_id": record})


def test_what_could_not_be_deleted_is_named_and_tried_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = desk.box()
    desk.page(box, "1.png", ["Dear Sir"])
    shut = desk.page(box, "2.png", ["A secret"])
    body = {"output_path": str(desk.folder / "site"), "overwrite": True}
    desk.post("/api/export/eleventy-site", **body)
    desk.restrict(shut)
    real = Path.unlink

    def refuse_unlink(self: Path, missing_ok: bool = False) -> None:
        if shut in str(self):
            raise PermissionError(13, "Permission denied")
        real(self, missing_ok=missing_ok)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", refuse_unlink)
        left_behind = desk.post("/api/export/eleventy-site", **body)["left_behind"]
    assert left_behind
    assert all(shut in item for item in left_behind)
    assert desk.post("/api/export/eleventy-site", **body)["left_behind"] == []
    assert not (desk.folder / "site" / "static" / "iiif" / shut).exists()


def test_an_earlier_build_comes_back_when_a_kill_took_its_name(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a disk that cannot exchange two folders, killed between the two renames."""
    desk.page(desk.box(), "1.png", ["Dear Sir"])
    site = desk.folder / "site"
    desk.post("/api/export/eleventy-site", output_path=str(site))
    fresh = desk.folder / "fresh"
    for folder, words in ((fresh, "new"), (site, "earlier")):
        (folder / "_site").mkdir(parents=True)
        (folder / "_site" / "index.html").write_text(words)
    monkeypatch.setattr("armarium.store.swapping._renamer", lambda: None)
    real, renames = os.rename, []

    def kill(source: Path, target: Path) -> None:
        if renames:
            raise KeyboardInterrupt
        real(source, target)
        renames.append(target)

    with monkeypatch.context() as patch:
        patch.setattr(building.os, "rename", kill)
        with pytest.raises(KeyboardInterrupt):
            building.bring_built(fresh, site)
    assert not (site / "_site").exists()
    desk.post("/api/export/eleventy-site", output_path=str(site), overwrite=True)
    assert (site / "_site" / "index.html").read_text() == "earlier"
    building.bring_built(fresh, site)
    assert (site / "_site" / "index.html").read_text() == "new"
    assert [one.name for one in list_unfinished(site)] == []


def test_an_earlier_build_goes_when_a_kill_kept_both(tmp_path: Path) -> None:
    for name in ("_site", building.EARLIER):
        (tmp_path / name).mkdir()
        (tmp_path / name / "index.html").write_text(name)
    building.restore_built(tmp_path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["_site"]
