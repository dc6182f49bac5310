"""The picture of a folder's canvas, drawn from the command line."""

from __future__ import annotations

from pathlib import Path

from armarium_testing.command_line import Machine, ids


def test_canvas_draws_the_folder_into_a_file(wills: Machine) -> None:
    from PIL import Image

    sources = ids(wills)["Sources"]
    assert wills.succeed("canvas", sources).out == "Drew Sources into Sources-canvas.png.\n"
    with Image.open("Sources-canvas.png") as picture:
        assert picture.format == "PNG"
    assert "pass --overwrite" in wills.expect_refusal("canvas", sources)
    answer = wills.succeed("canvas", sources, "-o", "a/b.png", "--size", "300", "--json").json
    assert answer["size_bytes"] == Path("a/b.png").stat().st_size
    assert "is a folder" in wills.expect_refusal("canvas", sources, "--out", "a")
    assert "256" in wills.expect_refusal("canvas", sources, "--size", "10", "--out", "c.png")
    assert wills.expect_refusal("canvas", "f" * 32).endswith(".")
