"""What is left of a day's work, in a real browser: lines cut, joined, marked, drawn and carried; a folder narrowed down; jobs
held and taken up again; what cannot be undone said in words. Undo of each.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from conftest import Desk, Shot
from test_pages_in_a_browser import assert_no_obstacle, in_order, open_page, segments, wait_until, write
from test_the_project import show

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROWS = [(60, 60 + 200 * number, 1080, 100) for number in range(4)]
TEXTS = ["En la villa", "de Lima a veinte", "dias del mes", "de mayo"]


@pytest.fixture(scope="module")
def day(desk: Desk, tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """The project with a page of four lines, and others whose lines take a while to find."""
    folder = tmp_path_factory.mktemp("day") / "Lima"
    write(folder, "lima", ROWS, TEXTS)
    for number in range(3):
        write(folder, f"blank {number}", [], [])
    desk.pages.update(desk.engine.import_folder(folder))
    return desk


def shapes(day: Desk, kind: str = "line") -> list[dict[str, Any]]:
    return [shape for shape in segments(day, "lima.jpg", "shapes")["shapes"] if shape["kind"] == kind]


def rect_of(day: Desk, text: str) -> list[float]:
    """Where the line of that text stands."""
    (line,) = (line for line in segments(day, "lima.jpg", "lines")["lines"] if line["text"] == text)
    (rect,) = (shape["rect"] for shape in shapes(day) if shape["id"] == line["segment_id"])
    return list(rect)


def test_lines_are_cut_joined_deleted_and_marked_by_key(page: Page, day: Desk, shot: Shot) -> None:
    from playwright.sync_api import expect

    def says(lines: list[str]) -> None:
        wait_until(lambda: in_order(day, "lima.jpg") == lines)

    def undo(key: str = "Control+z") -> None:
        page.keyboard.press("Escape")
        page.keyboard.press(key)

    open_page(page, day, "lima.jpg")
    page.get_by_role("button", name=f"2 {TEXTS[1]}").click()
    field = page.get_by_role("textbox", name="Text of line 2")
    expect(field).to_be_focused()
    page.keyboard.press("Home")
    for _ in "de Lima":
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Alt+x")
    says([TEXTS[0], "de Lima", "a veinte", *TEXTS[2:]])
    first, second = rect_of(day, "de Lima"), rect_of(day, "a veinte")
    assert first[0] < second[0] == pytest.approx(first[0] + first[2])
    undo()
    says(TEXTS)
    undo("Control+Shift+z")
    says([TEXTS[0], "de Lima", "a veinte", *TEXTS[2:]])
    undo()
    says(TEXTS)

    page.get_by_role("button", name=f"2 {TEXTS[1]}").click()
    expect(field).to_be_focused()
    page.keyboard.press("Alt+c")
    says([TEXTS[0], f"{TEXTS[1]}\n{TEXTS[2]}", TEXTS[3]])
    undo()
    says(TEXTS)

    page.get_by_role("button", name=f"3 {TEXTS[2]}").click()
    expect(page.get_by_role("textbox", name="Text of line 3")).to_be_focused()
    page.keyboard.press("Alt+Delete")
    says([*TEXTS[:2], TEXTS[3]])
    undo()
    says(TEXTS)

    page.get_by_role("button", name=f"3 {TEXTS[2]}").click()
    expect(page.get_by_role("textbox", name="Text of line 3")).to_be_focused()
    page.keyboard.press("Home")
    for _ in "dias":
        page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Alt+u")
    said = page.get_by_role("list", name="What is said of the characters")
    expect(said).to_contain_text("dias unclear")
    page.keyboard.press("Escape")
    unclear = page.get_by_title("unclear")
    expect(unclear).to_have_text("dias")
    shot(page, "day-unclear")
    page.keyboard.press("Control+z")
    expect(unclear).to_have_count(0)


def test_a_baseline_is_drawn_and_a_shape_carried_and_a_region_deleted(
    page: Page, day: Desk, shot: Shot
) -> None:
    from playwright.sync_api import expect

    open_page(page, day, "lima.jpg")
    picture = page.get_by_role("img", name="Picture of the page")
    wait_until(lambda: page.evaluate("performance.getEntriesByName('page.picture').length > 0"))
    box = picture.bounding_box()
    assert box

    def at(x: float, y: float) -> tuple[float, float]:
        """Where a pixel of the page is on the screen: the page is as wide as the view."""
        assert box
        return box["x"] + x * box["width"] / 1200, box["y"] + y * box["width"] / 1200

    page.mouse.click(*at(600, 310))
    expect(page.get_by_role("textbox", name="Text of line 2")).to_be_focused()
    page.keyboard.press("Alt+e")
    rect_before = rect_of(day, TEXTS[1])
    page.mouse.move(*at(600, 310))
    page.mouse.down()
    page.mouse.move(*at(620, 340), steps=4)
    page.mouse.up()
    wait_until(lambda: rect_of(day, TEXTS[1]) != rect_before)
    assert rect_of(day, TEXTS[1]) == pytest.approx(
        [rect_before[0] + 20 / 1200, rect_before[1] + 30 / 1600, *rect_before[2:]], abs=0.004
    )
    shot(page, "day-carried")
    page.get_by_role("button", name="Undo").first.click()
    wait_until(lambda: rect_of(day, TEXTS[1]) == rect_before)
    # A click where a shape could be carried is still a click: on another line it chooses that one.
    page.mouse.click(*at(600, 510))
    expect(page.get_by_role("textbox", name="Text of line 3")).to_be_focused()

    for key in ("Escape", "Escape", "e"):
        page.keyboard.press(key)
    page.mouse.click(*at(600, 410))
    expect(page.get_by_role("form", name="Region")).to_be_visible()
    page.keyboard.press("Delete")
    wait_until(lambda: shapes(day, "region") == [])
    page.keyboard.press("Control+z")
    wait_until(lambda: len(shapes(day, "region")) == 1)
    assert in_order(day, "lima.jpg") == TEXTS

    # A line that is drawn is chosen, and brought into sight.
    page.keyboard.press("l")
    for place in ((100, 220), (600, 225)):
        page.mouse.click(*at(*place))
        page.wait_for_timeout(400)  # Two clicks, and not a double one.
    # What is stated of the new line is answered before the line is taken back.
    with page.expect_response(lambda response: "/api/editorial/segment/" in response.url):
        page.keyboard.press("Enter")
    wait_until(lambda: len(shapes(day)) == 5)
    (shape,) = (shape for shape in shapes(day) if shape["baseline"])
    assert shape["baseline"] == [
        pytest.approx([x / 1200, y / 1600], abs=0.01) for x, y in ((100, 220), (600, 225))
    ]
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+z")
    wait_until(lambda: len(shapes(day)) == 4)


def test_a_folder_is_narrowed_down_by_what_is_stated_of_its_pages(page: Page, day: Desk, shot: Shot) -> None:
    from playwright.sync_api import expect

    tagged = {"lima.jpg": ["Lima", "deed"], "blank 0.jpg": ["deed"]}
    for name, tags in tagged.items():
        body = {"attributes": {"tags": tags, "archive": "<b>AGI</b>"}}
        day.engine.ask("PATCH", f"/api/documents/{day.pages[name]}", body)
    show(page, day, "library")
    items = page.get_by_role("list", name="Contents").get_by_role("listitem")
    page.get_by_role("button", name="Filter", exact=True).click()
    narrow = page.get_by_role("region", name="Filter")
    deed = narrow.get_by_role("group", name="Tags").get_by_role("button", name="deed 2")
    deed.click()
    expect(items).to_have_count(2)
    narrow.get_by_role("group", name="Tags").get_by_role("button", name="Lima 1").click()
    expect(items).to_have_count(1)
    expect(
        narrow.get_by_role("group", name="archive").get_by_role("button", name="<b>AGI</b> 1")
    ).to_be_visible()
    shot(page, "day-narrowed")
    assert_no_obstacle(page)
    # What was found can be worked on, and is still found after coming back.
    items.get_by_role("checkbox", name="Select lima.jpg").check(force=True)
    page.get_by_role("button", name="Describe", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Date, as it is written").fill("12 de mayo de 1593")
    expect(dialog.get_by_text("That was 1593-05-12.")).to_be_visible()
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    items.get_by_role("link", name="lima.jpg").click()
    expect(page.get_by_role("heading", name="lima.jpg")).to_be_visible()
    page.go_back()
    expect(items).to_have_count(1)
    narrow.get_by_role("button", name="Show everything").click()
    expect(items).to_have_count(1)  # The folder at the top.
    page.get_by_role("button", name="Filter", exact=True).click()
    narrow.get_by_label("From").fill("1593")
    narrow.get_by_label("From").press("Tab")
    expect(items.get_by_role("link", name="lima.jpg")).to_be_visible()
    narrow.get_by_label("Until").fill("1592")
    narrow.get_by_label("Until").press("Tab")
    expect(page.get_by_role("heading", name="Nothing here fits")).to_be_visible()
    narrow.get_by_role("button", name="Show everything").click()
    page.get_by_role("button", name="Filter", exact=True).click()
    narrow.get_by_label("Part of the name").fill("blank")
    expect(items).to_have_count(3)


def test_a_job_is_paused_taken_up_cancelled_and_tried_again(page: Page, day: Desk, shot: Shot) -> None:
    from playwright.sync_api import expect

    # Nothing runs, so that a job stays as long as this takes.
    day.engine.ask("PUT", "/api/activity/jobs/mode", {"mode": "paused"})
    show(page, day, "work")
    pages = [identity for name, identity in day.pages.items() if name.startswith("blank")]
    job = day.engine.ask("POST", "/api/reading/find-lines", {"scope_ids": pages})["job_id"]

    def act(what: str, then: str) -> None:
        page.get_by_role("button", name=re.compile(f"^{what}: Find lines")).first.click()
        wait_until(lambda: day.engine.ask("GET", f"/api/activity/jobs/{job}")["state"] == then)

    act("Pause", "paused")
    shot(page, "day-paused")
    act("Resume", "waiting")
    act("Cancel", "cancelled")
    shot(page, "day-cancelled")
    act("Try again", "waiting")
    act("Cancel", "cancelled")
    day.engine.ask("PUT", "/api/activity/jobs/mode", {"mode": "automatic"})

    # What cannot be taken back says so in words.
    show(page, day, "history")
    expect(page.get_by_text("Created the project")).to_be_visible()
    expect(page.locator("main").get_by_text("cannot be undone").first).to_be_visible()
    assert not re.search(
        r"\b[a-z]+\.[a-z]+_?[a-z]*\b(?<!\.jpg)", page.locator("main .words").first.inner_text()
    )
