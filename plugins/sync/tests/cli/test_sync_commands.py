"""Synced folders at the command line: tied, listed, switched, untied."""

from __future__ import annotations

from pathlib import Path

from armarium_testing.command_line import Machine


def test_a_folder_is_tied_listed_and_untied(desk: Machine, tmp_path: Path) -> None:
    desk.succeed("create", "Letters")
    folder = tmp_path / "shared"
    assert "No folder is tied" in desk.succeed("sync", "list").out
    assert "is tied" in desk.succeed("sync", "add", str(folder), "--format", "alto").out
    said = desk.succeed("sync", "list").out
    assert str(folder) in said
    assert "alto, index, intake off" in said
    assert "Intake is on" in desk.succeed("sync", "intake", "shared", "on").out
    assert "Every file is where" in desk.succeed("sync", "arrange", str(folder)).out
    assert "No file belongs to several documents" in desk.succeed("sync", "duplicates", "--remove").out
    assert "its files stay" in desk.succeed("sync", "remove", "shared").out
