"""A built site, looked at by programs that are not ours: html-validate, axe-core and Chromium, at the width of a desk and a phone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from exports_desk import Desk
from site_desk import CHECKS, CHROMIUM, HAS_NODE, MODULES, NO_CHROMIUM, NO_NODE, build, run, serve_folder
from test_site import claim, give_verdicts, knowledge, site

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not HAS_NODE, reason=NO_NODE)]


@pytest.fixture
def built(desk: Desk, known: Any) -> tuple[Path, str]:
    """A site with everything that a site may show, and the page on which most of it stands."""
    box = desk.box('Letters & <b>bills</b> {{ 7 * 7 }} {% raw %} "quoted"')
    inner = desk.box("--- permalink: /gone.html ---", box)
    page = desk.page(box, "1 <script>alert(1)</script> {{ secret }}.png", ["Dear Sir <b>", "I am well", ""])
    desk.page(box, "2.png", ["Farewell"], size=(1800, 2600))
    desk.page(inner, "3.png", [])
    desk.page(inner, "Überlänge " + "x" * 200 + ".png", ["y" * 300])
    knowledge(known, page, desk.lines(page)[0])
    known["claim"].append(claim("c4", page, "{% include 'x' %} </p> stood here", evidence=[]))
    give_verdicts(desk)
    site(desk, target_id=box, site_title="---\ntitle: gone\n---\nLetters & {{ bills }}")
    return build(desk.folder / "site"), page


def test_html_validate_reports_nothing(built: tuple[Path, str]) -> None:
    place, _ = built
    tool = MODULES / "html-validate" / "bin" / "html-validate.mjs"
    config = str(CHECKS / "html-validate.json")
    assert (
        run(["node", str(tool), "--config", config, "--formatter", "text", str(place / "**/*.html")], place)
        == ""
    )


@pytest.mark.skipif(CHROMIUM is None, reason=NO_CHROMIUM)
def test_chromium_and_axe_report_nothing_from_a_subfolder(built: tuple[Path, str], tmp_path: Path) -> None:
    place, page = built
    host = tmp_path / "host"
    (host / "a folder").mkdir(parents=True)
    (host / "a folder" / "site").symlink_to(place, target_is_directory=True)
    bigger = next(load["id"] for load in orjson.loads((place.parent / "content/_data/pages.json").read_bytes())
                  if (load["picture"] or {}).get("width") == 1800)  # fmt: skip
    (folder,) = (entry.name for entry in (place / "folders").iterdir() if page in entry.read_text("utf-8"))
    asked = [
        {"name": "home", "path": "index.html", "word": "Farewell"},
        {"name": "folder", "path": f"folders/{folder}"},
        {"name": "page", "path": f"pages/{page}.html"},
        {"name": "large", "path": f"pages/{bigger}.html"},
        {"name": "entity", "path": "entities/e1.html"},
        {"name": "people", "path": "people.html"},
        {"name": "statements", "path": "statements.html"},
        {"name": "search", "path": "search.html"},
    ]
    checks = tmp_path / "checks"
    checks.mkdir()
    (checks / "look.mjs").symlink_to(CHECKS / "look.mjs")
    (checks / "node_modules").symlink_to(MODULES, target_is_directory=True)
    with serve_folder(host) as address:
        command = ["node", "--preserve-symlinks", "--preserve-symlinks-main", "look.mjs", f"{address}/a%20folder/site/", str(CHROMIUM),
                   str(tmp_path / "profile")]  # fmt: skip
        found = orjson.loads(run(command, checks, orjson.dumps(asked).decode()))
    assert found["problems"] == []
    assert found["looked"] == 2 * len(asked) + 4
    assert found["tiles"] > 10
