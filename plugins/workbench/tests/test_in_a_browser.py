"""What a person does in the workbench, in a real browser on a real engine.

Every test also fails when a page asks for anything outside the engine, breaks its policy or raises an error (`context`).
"""

from __future__ import annotations

import gzip
import re
from typing import TYPE_CHECKING

import pytest
from conftest import APP, Desk, Shot

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page


def test_a_link_signs_a_browser_in_once(context: BrowserContext, desk: Desk, shot: Shot) -> None:
    from playwright.sync_api import expect

    link = desk.engine.new_link(f"/p/{desk.project_id}")
    page = context.new_page()
    page.goto(link)
    expect(page.get_by_role("list", name="Contents")).to_be_visible()
    assert "code" not in page.url
    session = next(one for one in context.cookies() if one["name"] == "service_session")
    assert session["httpOnly"]
    assert session["sameSite"] == "Strict"
    context.clear_cookies()
    again = context.new_page()
    again.goto(link)
    expect(again.get_by_role("heading", name="Not signed in")).to_be_visible()
    expect(again.get_by_role("alert")).to_contain_text("used already")
    shot(again, "sign-in")


def test_the_library_shows_the_pages_and_opens_one(page: Page, desk: Desk, shot: Shot) -> None:
    from playwright.sync_api import expect

    page.get_by_role("link", name="Letters & <deeds>").click()
    contents = page.get_by_role("list", name="Contents")
    contents.get_by_role("link", name=re.compile("Sources")).click()
    contents.get_by_role("link", name=re.compile("^pages")).click()
    expect(contents.get_by_role("listitem")).to_have_count(3)
    shot(page, "library")
    page.get_by_role("button", name="Table").click()
    expect(page.get_by_text("Added", exact=True)).to_be_visible()
    shot(page, "library-table")
    page.get_by_role("link", name="letter.jpg").click()
    expect(page).to_have_url(re.compile(re.escape(desk.place("letter.jpg"))))


def test_what_comes_before_the_page_view_is_small() -> None:
    if not (APP / "index.html").is_file():
        pytest.skip("the workbench is not built here; make base builds it where npm reaches a registry")
    first = re.findall(r'(?:src|href)="\./(assets/[^"]+\.js)"', (APP / "index.html").read_text())
    assert first
    assert sum(len(gzip.compress((APP / name).read_bytes())) for name in first) <= 350_000
