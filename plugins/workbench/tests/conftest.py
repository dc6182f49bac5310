"""Fixtures of the tests in a browser: an engine with pages, and a real Chromium that may reach nothing else."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from armarium_demo.samples import sample_pages

sys.path.insert(0, str(Path(__file__).parent))

from served_engine import ARMARIUM, ServedEngine, write_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

WEB = Path(__file__).parent.parent / "web"
APP = Path(__file__).parent.parent / "src" / "armarium_workbench" / "app"

WRONG = (400, 404, 405, 413, 415, 422, 500, 503)
"""Answers that an application gets only by a mistake of its own, or of the engine."""

MARKUP = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
"""Names and lines of pages that must be shown as they are spelled."""


@dataclass
class Desk:
    """A served project of three pages, and what the tests know of them."""

    engine: ServedEngine
    project_id: str
    pages: dict[str, str]
    """Ids by name."""
    texts: dict[str, list[str]]

    def place(self, page: str, view: str = "page") -> str:
        """Return where the application shows a page."""
        return f"/p/{self.project_id}/{view}/{self.pages[page]}"

    def lines(self, page: str) -> list[str]:
        """Return the lines of a page as the engine has them."""
        text = self.engine.ask("GET", f"/api/segments/document/{self.pages[page]}/text")
        return [text["text"][span["char_start"] : span["char_end"]] for span in text["spans"]]

    def wait_for(self, page: str, lines: list[str]) -> None:
        """Wait until the engine has these lines of a page."""
        deadline = time.monotonic() + 60
        while self.lines(page) != lines:
            assert time.monotonic() < deadline, (self.lines(page), lines)
            time.sleep(0.1)


@pytest.fixture(scope="module")
def program() -> list[str]:
    """The command that serves; a module may give another."""
    return [str(ARMARIUM)]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, program: list[str]) -> Iterator[Desk]:
    """An engine that serves a project of sample pages with their lines."""
    folder = tmp_path_factory.mktemp("workbench")
    engine = ServedEngine(folder, program)
    letter, deed = sample_pages(count=2, scale=0.5)
    texts = {
        "letter.jpg": [line.text for line in letter.lines],
        "deed with a name so long that no column shows all of it, whatever the width of the window is.jpg": [
            line.text for line in deed.lines
        ],
        "<b>bold<b> & ‮names.jpg": [f"{MARKUP}{number}" for number, _ in enumerate(letter.lines)],
    }
    for name, page in zip(texts, (letter, deed, letter), strict=True):
        write_page(folder / "pages", name.removesuffix(".jpg"), page, texts[name])
    try:
        engine.start()
        library = str(folder / "Letters.library")
        engine.ask("POST", "/api/library", {"path": library, "name": "Letters & <deeds>"})
        engine.library = library
        pages = engine.import_folder(folder / "pages")
        (known_library,) = engine.ask("GET", "/api/registry")["libraries"]
        yield Desk(engine, known_library["id"], pages, texts)
    finally:
        engine.stop()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A real browser, Debian's where there is one; without any, these tests are skipped."""
    if not (APP / "index.html").is_file():
        pytest.skip("the workbench is not built here; make base builds it where npm reaches a registry")
    from playwright.sync_api import Error, expect, sync_playwright

    # The time-out of a context is none for what is expected, which is given up after five seconds otherwise.
    expect.set_options(timeout=60_000)
    with sync_playwright() as playwright:
        found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
        try:
            browser = playwright.chromium.launch(
                executable_path=found, args=["--no-sandbox"] if os.geteuid() == 0 else []
            )
        except Error:
            pytest.skip("there is no Chromium here; on Debian apt-get install chromium brings one")
        yield browser
        browser.close()


@pytest.fixture
def context(chromium: Browser, desk: Desk) -> Iterator[BrowserContext]:
    """A browser that has never been here. It fails the test when a page asks for anything but the engine or for what the
    engine does not have, breaks the policy under which it was sent, or raises an error.
    """
    context = chromium.new_context(viewport={"width": 1280, "height": 800}, locale="en-GB")
    context.set_default_timeout(60_000)
    strangers: list[str] = []
    faults: list[str] = []

    def watch(page: Page) -> None:
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on(
            "console",
            lambda said: faults.append(said.text) if "Content Security Policy" in said.text else None,
        )

    context.on(
        "request",
        lambda request: (
            strangers.append(request.url)
            if not request.url.startswith((desk.engine.address, "blob:", "data:"))
            else None
        ),
    )
    context.on(
        "response",
        lambda answer: (
            faults.append(f"{answer.status} {answer.request.method} {answer.url}")
            if answer.status in WRONG
            else None
        ),
    )
    context.on("page", watch)
    yield context
    context.close()
    assert strangers == []
    assert faults == []


Shot = Callable[["Page", str], None]


@pytest.fixture
def shot() -> Shot:
    """`shot(page, "library")` keeps a picture of the page in both themes, in the folder that ARMARIUM_SHOTS names."""
    folder = os.environ.get("ARMARIUM_SHOTS")

    def keep(page: Page, name: str) -> None:
        for theme in ("light", "dark") if folder else ():
            page.emulate_media(color_scheme=theme)
            page.wait_for_timeout(300)
            page.screenshot(path=Path(folder or "") / f"{name}-{theme}.png")
        page.emulate_media(color_scheme=None)

    return keep


@pytest.fixture
def page(context: BrowserContext, desk: Desk) -> Page:
    """A window that is signed in, at the list of projects."""
    page = context.new_page()
    page.goto(desk.engine.new_link())
    return page
