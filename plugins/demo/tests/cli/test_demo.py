"""Folders that a demonstration refuses."""

from __future__ import annotations

from armarium_testing.command_line import Machine


def test_a_demonstration_touches_no_folder_that_is_not_its_own(machine: Machine) -> None:
    (machine.home / "mine").mkdir()
    (machine.home / "mine" / "letter.txt").write_text("keep")
    assert "is not from a demonstration" in machine.expect_refusal("demo", "--out", "mine")
    assert "is not a folder" in machine.expect_refusal("demo", "--folder", "mine/letter.txt", "--out", "new")
    assert "is not empty" in machine.expect_refusal("demo", "--draw", "mine")
    assert (machine.home / "mine" / "letter.txt").read_text() == "keep"
