"""The commands that show hands and letters side by side."""

from __future__ import annotations

from pathlib import Path

import pytest

from armarium_testing.command_line import Machine, Pictures, desk, machine, pictures, serving, world

__all__ = ["desk", "machine", "pictures", "serving", "world"]


@pytest.mark.slow
def test_hands_and_letters_are_listed_and_drawn(desk: Machine, pictures: Pictures) -> None:
    pictures(["1.png"])
    desk.done("create", "Letters")
    desk.done("import", "pages")
    params = '{"label": "Hand A", "scribe": "Iohannes"}'
    made = desk.done("action", "run", "hand.create", "-p", params, "--json").json
    assert "Hand A" in desk.done("hands").out
    assert desk.done("hands", "Hand A", "--json").json["attributions"] == []
    drawn = desk.done("hands", "Hand A", "--sheet", "a.png")
    assert "0 attributions" in drawn.out
    assert Path("a.png").read_bytes().startswith(b"\x89PNG")
    assert "No letterform is described yet." in desk.done("letters").out
    assert desk.done("letters", "g", "--hand", "Hand A", "--json").json["items"] == []
    assert "There is no hand 'B'" in desk.refused("hands", "B")
    assert "Name the hand" in desk.refused("hands", "--sheet", "b.png")
    assert "Name a character" in desk.refused("letters", "--sheet", "b.png")
    assert made["result"]["id"] in desk.done("hands").out
