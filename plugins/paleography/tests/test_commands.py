"""The commands that show hands and letters side by side."""

from __future__ import annotations

from pathlib import Path

import pytest

from armarium_testing.command_line import Machine, Pictures, desk, machine, pictures, serving, world

__all__ = ["desk", "machine", "pictures", "serving", "world"]


@pytest.mark.slow
def test_hands_and_letters_are_listed_and_drawn(desk: Machine, pictures: Pictures) -> None:
    pictures(["1.png"])
    desk.succeed("create", "Letters")
    desk.succeed("import", "pages")
    assert "No hand is described yet: armarium action hand.create --label" in desk.succeed("hands").out
    params = '{"label": "Hand A", "scribe": "Iohannes"}'
    answer = desk.succeed("action", "run", "hand.create", "-p", params, "--json").json
    assert "Hand A" in desk.succeed("hands").out
    assert desk.succeed("hands", "Hand A", "--json").json["attributions"] == []
    output = desk.succeed("hands", "Hand A", "--sheet", "a.png")
    assert "0 attributions" in output.out
    assert Path("a.png").read_bytes().startswith(b"\x89PNG")
    assert "No letterform is described yet." in desk.succeed("letters").out
    assert desk.succeed("letters", "g", "--hand", "Hand A", "--json").json["items"] == []
    assert "There is no hand called 'B'" in desk.expect_refusal("hands", "B")
    assert "Name the hand" in desk.expect_refusal("hands", "--sheet", "b.png")
    assert "Name a character" in desk.expect_refusal("letters", "--sheet", "b.png")
    assert answer["result"]["id"] in desk.succeed("hands").out
