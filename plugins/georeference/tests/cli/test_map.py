"""A georeferenced page as a map, written from the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from armarium_testing.command_line import Machine, ids

PLACES = (
    (0.1, 0.1, -77.1, -12.0),
    (0.9, 0.1, -77.0, -12.0),
    (0.9, 0.9, -77.0, -12.15),
    (0.1, 0.9, -77.1, -12.15),
)


def run(machine: Machine, action: str, **params: Any) -> Any:
    options = [f"--{name.replace(chr(95), chr(45))}={value}" for name, value in params.items()]
    return machine.succeed("action", action, *options, "--json").json["result"]


def test_map_draws_a_page_into_a_file(wills: Machine) -> None:
    name, page = next(one for one in ids(wills).items() if one[0].endswith((".jpg", ".png")))
    assert "has no place on the ground" in wills.expect_refusal("map", page)
    pass_id = run(wills, "segment.pass_create", document_id=page, name="Places")["id"]
    for x, y, lon, lat in PLACES:
        run(wills, "georeference.point_create", pass_id=pass_id, x=x, y=y, lon=lon, lat=lat)
    run(wills, "georeference.set_type", pass_id=pass_id, type="polynomial1")
    answer = wills.succeed("map", page, "--out", "a/b.html", "--json").json
    assert answer["size_bytes"] == Path("a/b.html").stat().st_size
    assert "<svg" in Path("a/b.html").read_text()
    assert "pass --overwrite" in wills.expect_refusal("map", page, "--out", "a/b.html")
    assert wills.succeed("map", page, "--pass", pass_id, "--out", "c.html").out.endswith("to c.html.\n")
    wills.succeed("map", page)
    assert Path(f"{Path(name).stem}-map.html").is_file()
    assert wills.expect_refusal("map", "f" * 32).endswith(".")
