"""The manual as a site: it is built whole, no link is dead, and it loads nothing from elsewhere."""

from __future__ import annotations

import re
import threading
import urllib.request
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
from typer.testing import CliRunner

import site_of_the_manual as site
from armarium_cli.program import build
from checkout import ROOT, files, text


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, as `make site` builds it, which refuses dead links."""
    return site.build(tmp_path_factory.mktemp("site"))


def test_every_page_of_the_manual_can_be_reached_from_its_navigation(built: Path) -> None:
    pages = [page.relative_to(ROOT).as_posix() for page in (ROOT / "docs").rglob("*.md")]
    entries = site.configuration(pages)
    assert [page for page in pages if f'"{page}"' not in entries] == []
    for page in pages:
        name = "index" if page.endswith("README.md") else Path(page).stem
        assert (built / page).with_name(f"{name}.html").is_file()


def test_the_search_of_an_opened_file_knows_the_text_of_pages(built: Path) -> None:
    assert "rival passes are kept side by side" in (built / "search.js").read_text(encoding="utf-8")


def test_a_dead_link_and_a_thing_loaded_from_elsewhere_are_named(tmp_path: Path) -> None:
    (tmp_path / "there.html").write_text("<a href='https://example.org'>elsewhere</a>")
    (tmp_path / "index.html").write_text(
        "<a href='gone.txt'></a><a href='there.html#part'></a><a href='#here'></a>"
        "<script src='https://cdn.example.org/x.js'></script><img src='data:image/png;base64,'>"
    )
    assert site.faults(tmp_path) == [
        "index.html links to gone.txt, which is not there",
        "index.html loads https://cdn.example.org/x.js",
    ]


def test_the_command_names_the_manual_that_comes_with_the_installation(
    built: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("armarium_workbench.cli.MANUAL", built)
    said = CliRunner().invoke(build(), ["docs", "--no-browser"])
    assert (said.exit_code, said.stdout) == (0, f"The manual: {built / 'index.html'}\n")
    monkeypatch.setattr("armarium_workbench.cli.MANUAL", tmp_path)
    said = CliRunner().invoke(build(), ["docs"])
    assert said.exit_code == 1
    assert "Run make site" in said.output


def test_the_command_serves_the_manual_to_this_machine(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a browser that may not open the files themselves."""
    answers: list[bytes] = []

    def ask_once(server: ThreadingHTTPServer) -> None:
        address = f"http://127.0.0.1:{server.server_port}/"
        asking = threading.Thread(target=lambda: answers.append(urllib.request.urlopen(address).read()))
        asking.start()
        server.handle_request()
        asking.join()

    monkeypatch.setattr("armarium_workbench.cli.MANUAL", built)
    monkeypatch.setattr(ThreadingHTTPServer, "serve_forever", ask_once)
    assert CliRunner().invoke(build(), ["docs", "--serve", "--no-browser"]).exit_code == 0
    assert answers == [(built / "index.html").read_bytes()]


def test_every_picture_of_the_manual_is_taken_by_the_test_that_makes_them() -> None:
    matches = re.findall(
        r'picture\(page, "(\w+)"\)', text(ROOT / "plugins/workbench/tests/test_manual_in_a_browser.py")
    )
    names = {path.name for path in (ROOT / "docs").glob("*.webp")}
    shown_files = {
        name
        for page in files(".md")
        for name in re.findall(r"!\[[^]]*\]\((?:docs/)?([\w-]+\.webp)", text(page))
    }
    assert {f"workbench-{name}.webp" for name in matches} == names == shown_files
