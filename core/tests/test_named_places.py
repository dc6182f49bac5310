"""Files and folders that a caller names are opened along the checked path, or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from armarium.errors import Invalid
from armarium.guard import names_in, open_plain


def test_an_ordinary_file_and_folder_are_opened(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "a.txt").write_bytes(b"page")
    (tmp_path / "way").symlink_to(tmp_path / "inner")
    with open_plain(tmp_path.resolve() / "a.txt", None) as file:
        assert file.read() == b"page"
    assert sorted(names_in(tmp_path.resolve())) == [("a.txt", False), ("inner", True), ("way", False)]


def test_a_link_on_any_part_of_the_way_is_not_followed(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    (root / "inner").mkdir()
    (root / "inner" / "a.txt").write_bytes(b"page")
    (root / "way").symlink_to(root / "inner")
    (root / "inner" / "b.txt").symlink_to(root / "inner" / "a.txt")
    for path in (root / "way" / "a.txt", root / "inner" / "b.txt"):
        with pytest.raises(Invalid, match="became a link"):
            open_plain(path, None)
    with pytest.raises(Invalid, match="became a link"):
        names_in(root / "way")


def test_what_is_no_ordinary_file_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    os.mkfifo(root / "pipe")
    for path in (root / "pipe", root, Path("/dev/null")):
        with pytest.raises(Invalid, match="not an ordinary file"):
            open_plain(path, None)
    with pytest.raises(FileNotFoundError):
        open_plain(root / "gone", None)
    with pytest.raises(NotADirectoryError):
        names_in(root / "pipe")
