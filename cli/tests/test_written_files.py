"""Files that commands write are complete or not there at all, never written through a link, never inside a project."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from armarium_cli.refusals import Refused
from armarium_cli.work import place_for, write_file


def test_an_existing_file_is_kept_without_overwrite(tmp_path: Path) -> None:
    place = tmp_path / "new" / "1.png"
    write_file(place, b"one", overwrite=False)
    with pytest.raises(Refused, match="--overwrite"):
        write_file(place, b"two", overwrite=False)
    write_file(place, b"two", overwrite=True)
    assert place.read_bytes() == b"two"
    assert [entry.name for entry in place.parent.iterdir()] == ["1.png"]


@pytest.mark.parametrize(
    "name", ["library.sqlite", "objects/ab/cd.png", "snapshots/x/library.sqlite", "new.png"]
)
def test_nothing_is_written_into_a_project(tmp_path: Path, name: str) -> None:
    place = tmp_path / "A.library" / name
    place.parent.mkdir(parents=True)
    place.write_bytes(b"the project's own")
    (tmp_path / "way").symlink_to(tmp_path / "A.library")
    for path in (place, tmp_path / "way" / name, tmp_path / "x" / ".." / "A.library" / name):
        with pytest.raises(Refused, match="inside a project"):
            write_file(path, b"x", overwrite=True)
    (tmp_path / "out.png").symlink_to(place)
    with pytest.raises(Refused, match="inside a project"):
        write_file(tmp_path / "out.png", b"x", overwrite=True)
    assert place.read_bytes() == b"the project's own"


def test_a_link_is_replaced_and_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"another's")
    place = tmp_path / "out.png"
    place.symlink_to(tmp_path / "other")
    with pytest.raises(Refused, match="already exists"):
        write_file(place, b"x", overwrite=False)
    write_file(place, b"x", overwrite=True)
    assert (place.is_symlink(), place.read_bytes()) == (False, b"x")
    assert (tmp_path / "other").read_bytes() == b"another's"
    dangling = tmp_path / "dangling.png"
    dangling.symlink_to(tmp_path / "nowhere")
    with pytest.raises(Refused, match="already exists"):
        place_for(dangling, overwrite=False)


def test_folders_and_devices_are_no_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, words in (
        (tmp_path, "is a folder"),
        (tmp_path / "pipe", "not an ordinary file"),
        (Path("/dev/null"), "not an ordinary file"),
    ):
        with pytest.raises(Refused, match=words):
            write_file(path, b"x", overwrite=True)


def test_a_place_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(Refused, match="cannot be written"):
        write_file(tmp_path / "file" / "x.png", b"x", overwrite=True)
