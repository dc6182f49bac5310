"""Errors like a corrected one are listed, taken and left at the command line, in one step that undo takes back."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from armarium_testing.command_line import Machine, Pictures


def test_errors_like_a_corrected_one_are_taken_or_left_and_undone(desk: Machine, pictures: Pictures) -> None:
    pictures([f"{number}.png" for number in range(3)])
    desk.succeed("create", "Letters")
    desk.succeed("import", "pages")
    for command in ("lines", "read"):
        desk.succeed(command, "--reader", "pretend")
    listed = desk.succeed("disputed", "--json").json["items"]
    assert "wrong letters" in desk.succeed("disputed", "Sources", "--limit", "1").out
    first = listed[0]
    assert "No other line" in desk.succeed("proposals").out
    word = first["text"].split()[0]
    desk.succeed("correct", first["segment_id"], first["text"].replace(word, f"{word}s", 1))
    offered = desk.succeed("proposals", "--least", "0", "--json", "--out", "offered").json["items"]
    assert offered
    with Image.open(Path(offered[0]["picture"])) as picture:
        assert min(picture.size) > 1
    place = offered[0]["place"]
    assert f"[{word} → {word}s]" in desk.succeed("proposals", "--least", "0").out
    answer = desk.succeed("proposals", "--least", "0", "--accept", place, "--json").json
    assert len(answer["representation_ids"]) == 1
    assert "not among" in desk.expect_refusal("proposals", "--least", "0", "--reject", place)
    desk.succeed("undo", answer["audit_id"])
    output = desk.succeed("proposals", "--least", "0", "--reject", place).out
    assert "1 proposal not offered again" in output
    assert place not in desk.succeed("proposals", "--least", "0").out
