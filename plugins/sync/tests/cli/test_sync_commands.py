"""Synced folders at the command line: tied, listed, switched, untied."""

from __future__ import annotations

from pathlib import Path

from armarium_testing.command_line import Machine


def test_a_folder_is_tied_listed_and_untied(desk: Machine, tmp_path: Path) -> None:
    desk.succeed("create", "Letters")
    folder = tmp_path / "shared"
    assert "No folder is tied" in desk.succeed("sync", "list").out
    assert "is tied" in desk.succeed("sync", "add", str(folder), "--format", "alto").out
    answer = desk.succeed("sync", "list").out
    assert str(folder) in answer
    assert "alto, index, intake off" in answer
    assert "Intake is on" in desk.succeed("sync", "intake", "shared", "on").out
    assert "Every file is where" in desk.succeed("sync", "arrange", str(folder)).out
    assert "No file belongs to several documents" in desk.succeed("sync", "duplicates", "--remove").out
    assert "its files stay" in desk.succeed("sync", "remove", "shared").out


def test_a_folder_is_known_by_a_path_with_dots_and_through_links(desk: Machine, tmp_path: Path) -> None:
    desk.succeed("create", "Letters")
    (tmp_path / "Shared" / "letters").mkdir(parents=True)
    (tmp_path / "box").mkdir()
    desk.succeed("sync", "add", "box/../Shared/letters")
    assert "Intake is on" in desk.succeed("sync", "intake", "box/../Shared/letters", "on").out
    assert "Intake is off" in desk.succeed("sync", "intake", str(tmp_path / "Shared" / "letters"), "off").out
    (tmp_path / "link").symlink_to(tmp_path / "Shared" / "letters")
    assert "Intake is on" in desk.succeed("sync", "intake", "link/../letters", "on").out
