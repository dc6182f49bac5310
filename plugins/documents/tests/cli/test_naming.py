"""Documents named by name, path or id; folders that are created; a page drawn into a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image

from armarium_testing.command_line import Machine, Pictures


def make(desk: Machine, name: str, *above: str) -> str:
    return str(json.loads(desk.succeed("folder", name, *above, "--json").out)["id"])


@pytest.fixture
def shelf(desk: Machine, pictures: Pictures) -> Machine:
    """Two boxes, each with a page of the same name."""
    desk.succeed("create", "Letters")
    folder = pictures(["1.png"])
    for box in ("Box 3", "Box 4"):
        make(desk, box, "--in", "Sources")
        desk.succeed("import", str(folder), "--into", box)
    return desk


def test_a_folder_is_made_where_it_is_asked_for(desk: Machine) -> None:
    desk.succeed("create", "Letters")
    answer = desk.succeed("folder", "Box 3", "--in", "Sources").out
    assert answer.startswith("Made the folder Box 3 in Sources. Take it back with: armarium undo ")
    inner = make(desk, "Inner", "--in", "Sources/Box 3")
    items_by_name = {item["name"]: item for item in desk.succeed("ls", "--json").json["items"]}
    assert items_by_name["Inner"]["id"] == inner
    assert items_by_name["Inner"]["parent_id"] == items_by_name["Box 3"]["id"]
    assert items_by_name["Box 3"]["parent_id"] == items_by_name["Sources"]["id"]
    assert "path 'Nowhere'" in desk.expect_refusal("folder", "Box", "--in", "Nowhere")


def test_a_page_is_named_by_as_much_of_its_path_as_is_needed(shelf: Machine) -> None:
    nodes = {item["id"]: item for item in shelf.succeed("ls", "--json").json["items"]}

    def path(one: str) -> str:
        above = nodes[one]["parent_id"]
        return (path(above) + "/" if above else "") + nodes[one]["name"]

    by_path = {path(node): node for node in nodes}
    third = next(one for at, one in by_path.items() if "Box 3/" in at and at.endswith(".png"))
    whole = path(third)
    for text in (whole, f"/{whole}", whole.removeprefix("Sources/"), whole.replace("/", " / ")):
        assert shelf.succeed("show", text).out.splitlines()[0] == whole
    refusal = shelf.expect_refusal("text", nodes[third]["name"])
    assert f"/{whole} ({third})" in refusal
    assert "Sources/Box 4/" in refusal
    assert "name or path" in shelf.expect_refusal("show", f"/Box 3/{nodes[third]['name']}")
    make(shelf, "a/b", "--in", "Box 4")
    assert shelf.succeed("show", "Box 4/a/b").out.startswith("Sources/Box 4/a/b")


def test_a_page_is_drawn_with_its_lines(read_pages: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(read_pages.home)
    out = read_pages.home / "drawn.png"
    assert read_pages.succeed("draw", "1.png", "--out", str(out)).out == f"Wrote {out}.\n"
    with Image.open(out) as drawn:
        assert drawn.format == "PNG"
    before = out.read_bytes()
    assert "already exists" in read_pages.expect_refusal("draw", "1.png", "--out", str(out))
    read_pages.succeed("draw", "1.png", "--size", "256")
    # The file is written beside the page's own picture, never over it.
    assert Path(read_pages.home / "1-lines.png").is_file()
    assert out.read_bytes() == before
