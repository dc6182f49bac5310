"""What a person does in the workbench, in a real browser on a real engine.

Every test also fails when a page asks for anything outside the engine, breaks its policy or raises an error (`context`).
"""

from __future__ import annotations

import gzip
import re
from typing import TYPE_CHECKING, Literal

import pytest
from conftest import APP, MARKUP, WEB, Desk, Shot
from served_engine import SHARED

from armarium_testing.samples import one_a_day

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page


def test_a_link_signs_a_browser_in_once(context: BrowserContext, desk: Desk, shot: Shot) -> None:
    from playwright.sync_api import expect

    link = desk.engine.new_link(f"/p/{desk.project_id}")
    page = context.new_page()
    page.goto(link)
    expect(page.get_by_role("list", name="Contents")).to_be_visible()
    assert "code" not in page.url
    session = next(cookie for cookie in context.cookies() if cookie["name"] == "service_session")
    assert session["httpOnly"]
    assert session["sameSite"] == "Strict"
    context.clear_cookies()
    second_page = context.new_page()
    second_page.goto(link)
    expect(second_page.get_by_role("heading", name="Not signed in")).to_be_visible()
    expect(second_page.get_by_role("alert")).to_contain_text("used already")
    shot(second_page, "sign-in")
    # A new link in the same window is only another fragment of the same address.
    second_page.goto(desk.engine.new_link(desk.place("letter.jpg")))
    expect(second_page.get_by_role("heading", name="letter.jpg")).to_be_visible()


def test_the_library_shows_the_pages_and_opens_one(page: Page, desk: Desk, shot: Shot) -> None:
    from playwright.sync_api import expect

    page.get_by_role("link", name="Letters & <deeds>").click()
    contents = page.get_by_role("list", name="Contents")
    contents.get_by_role("link", name=re.compile("Sources")).click()
    contents.get_by_role("link", name=re.compile("^pages")).click()
    expect(contents.get_by_role("listitem")).to_have_count(3)
    shot(page, "library")
    page.get_by_role("button", name="Table", exact=True).click()
    expect(page.get_by_text("Added", exact=True)).to_be_visible()
    shot(page, "library-table")
    page.get_by_role("link", name="letter.jpg").click()
    expect(page).to_have_url(re.compile(re.escape(desk.place("letter.jpg"))))


def test_a_line_is_corrected_by_keyboard_alone_and_the_correction_undone(
    page: Page, desk: Desk, shot: Shot
) -> None:
    from playwright.sync_api import expect

    lines_before = desk.lines("letter.jpg")
    page.goto(desk.engine.new_link(desk.place("letter.jpg")))
    expect(page.get_by_role("button", name=lines_before[1])).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Alt+ArrowDown")
    expect(page.get_by_role("textbox", name="Text of line 2")).to_be_focused()
    shot(page, "page")
    page.keyboard.press("End")
    page.keyboard.type(" ¶")
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="Text of line 3")).to_be_focused()
    corrected = [*lines_before[:1], f"{lines_before[1]} ¶", *lines_before[2:]]
    desk.wait_for("letter.jpg", corrected)
    page.keyboard.press("Control+z")
    desk.wait_for("letter.jpg", lines_before)
    page.keyboard.press("Control+Shift+z")
    desk.wait_for("letter.jpg", corrected)
    expect(page.get_by_role("button", name=f"2 {lines_before[1]} ¶")).to_be_visible()


def test_what_is_typed_outlives_an_engine_that_is_killed(page: Page, desk: Desk) -> None:
    from playwright.sync_api import expect

    name = next(page for page in desk.pages if page.startswith("deed"))
    lines_before = desk.lines(name)
    page.goto(desk.engine.new_link(desk.place(name)))
    page.get_by_role("button", name=f"1 {lines_before[0]}").click()
    page.keyboard.press("End")
    page.keyboard.type(" kept")
    desk.engine.kill()
    page.keyboard.press("Enter")
    page.keyboard.press("Control+Home")
    page.keyboard.type("Also kept. ")
    desk.engine.start()
    desk.wait_for(name, [f"{lines_before[0]} kept", *lines_before[1:]])
    # What was not sent yet is there again in another window of the same browser.
    second_page = page.context.new_page()
    page.close()
    second_page.goto(f"{desk.engine.address}/#{desk.place(name)}")
    expect(second_page.get_by_text(f"Also kept. {lines_before[1]}")).to_be_visible()


def test_two_windows_on_one_line_let_the_person_decide(page: Page, desk: Desk, shot: Shot) -> None:
    from playwright.sync_api import expect

    lines_before = desk.lines("letter.jpg")
    page.goto(desk.engine.new_link(desk.place("letter.jpg")))
    expect(page.get_by_role("button", name=lines_before[4])).to_be_visible()
    other_page = page.context.new_page()
    other_page.goto(f"{desk.engine.address}/#{desk.place('letter.jpg')}")
    for window in (page, other_page):
        window.get_by_role("button", name=f"5 {lines_before[4]}").click()
        expect(window.get_by_role("textbox", name="Text of line 5")).to_be_focused()
    for window, word in ((page, "one"), (other_page, "two")):
        window.keyboard.press("Control+End")
        window.keyboard.type(f" {word}")
    page.keyboard.press("Enter")
    desk.wait_for("letter.jpg", [*lines_before[:4], f"{lines_before[4]} one", *lines_before[5:]])
    other_page.keyboard.press("Enter")
    other_page.get_by_role("button", name=re.compile("Somebody else wrote this line")).click()
    decide = other_page.get_by_role("alert")
    expect(decide).to_contain_text(f"{lines_before[4]} one")
    expect(decide).to_contain_text(f"{lines_before[4]} two")
    shot(other_page, "conflict")
    decide.get_by_role("button", name="Save mine").click()
    desk.wait_for("letter.jpg", [*lines_before[:4], f"{lines_before[4]} two", *lines_before[5:]])


def test_markup_in_names_and_lines_is_shown_as_it_is_spelled(page: Page, desk: Desk, shot: Shot) -> None:
    from playwright.sync_api import expect

    name = next(page for page in desk.pages if page.startswith("<b>"))
    page.goto(desk.engine.new_link(desk.place(name)))
    first = desk.lines(name)[0]
    assert first.startswith(MARKUP)
    expect(page.get_by_text(first, exact=True)).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("textbox", name="Text of line 1")).to_have_value(first)
    page.keyboard.type("<u>")
    page.keyboard.press("Enter")
    for view in ("library", "history", "trash", "work"):
        page.goto(f"{desk.engine.address}/#/p/{desk.project_id}/{view}")
        page.wait_for_load_state("networkidle")
    assert page.locator("img[src='x'], b, u, script:not([src])").count() == 0
    assert page.title() != "owned"


def test_real_pages_are_shown_with_all_their_lines(page: Page, desk: Desk, shot: Shot) -> None:
    from playwright.sync_api import expect

    real = SHARED / "data" / "page-pairs" / "mariages"
    if not real.is_dir():
        pytest.skip("the real pages of ../shared/data are not beside this checkout")
    pages = desk.engine.import_folder(real)
    desk.pages.update(pages)
    name = next(page for page in pages if page.startswith("FRAN_0187_49914"))
    with page.expect_response(lambda answer: answer.ok and "default.jpg" in answer.url):
        page.goto(desk.engine.new_link(desk.place(name)))
    lines = page.get_by_role("region", name="Text of the page").get_by_role("listitem")
    expect(lines).to_have_count(len(desk.lines(name)))
    expect(page.get_by_role("img", name="Picture of the page")).to_be_visible()
    page.wait_for_load_state("networkidle")
    shot(page, "real-page")


LISTED = (WEB / "src" / "views" / "index.ts").read_text().partition("OUTSIDE")[0]
VIEWS = re.findall(r"(?m)^  (\w+): \(\) => import", LISTED)


@pytest.mark.parametrize("theme", one_a_day(["light", "dark"]))
def test_no_view_has_a_serious_obstacle(
    page: Page, desk: Desk, theme: Literal["light", "dark"], shot: Shot
) -> None:
    """What axe-core knows of WCAG 2.2 AA; what only a person sees is looked at in the pictures."""
    from playwright.sync_api import expect

    axe = (WEB / "node_modules" / "axe-core" / "axe.min.js").read_text()
    page.emulate_media(color_scheme=theme)
    places = [
        desk.place("letter.jpg") if view == "page" else f"/p/{desk.project_id}/{view}" for view in VIEWS
    ]
    found = []
    for place in ["/", *places]:
        page.goto(f"{desk.engine.address}/#{place}")
        page.reload()
        expect(page.locator("main h1")).to_be_visible()
        page.wait_for_load_state("networkidle")
        shot(page, f"view-{place.split('/')[3] if place != '/' else 'projects'}")
        page.emulate_media(color_scheme=theme)
        page.evaluate(axe)
        answer = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        found += [
            f"{place}: {violation['id']}: {violation['nodes'][0]['html'][:200]}"
            for violation in answer["violations"]
            if violation["impact"] in ("serious", "critical")
        ]
    assert found == []


def test_what_comes_before_the_page_view_is_small() -> None:
    if not (APP / "index.html").is_file():
        pytest.skip("the workbench is not built here; make base builds it where npm reaches a registry")
    first = re.findall(r'(?:src|href)="\./(assets/[^"]+\.js)"', (APP / "index.html").read_text())
    assert first
    assert sum(len(gzip.compress((APP / name).read_bytes())) for name in first) <= 350_000
