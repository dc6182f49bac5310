"""What a person does on a page in the workbench: corrects, compares, orders and draws, on pages of every direction.

Every test also fails when a page asks for anything outside the engine, breaks its policy or raises an error (`context`).
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from conftest import WEB, Desk, Shot

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, Route

Box = tuple[int, int, int, int]
SIZE = (1200, 1600)
SPACE = "http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"
WORDS = ["En", "la", "villa", "de", "Lima", "a", "veinte", "dias", "del", "mes"]
DENSE = (25, 20, 8)
"""Regions, lines in each and words in each: 4,525 segments."""


def write(folder: Path, name: str, boxes: Sequence[Box], texts: Sequence[str], more: str = "") -> None:
    """Write a page of lines with its picture: *boxes* in pixels."""
    lines = "".join(
        f'<TextLine id="l{number}"><Coords points="{points(box)}"/>'
        f"<TextEquiv><Unicode>{text}</Unicode></TextEquiv></TextLine>"
        for number, (box, text) in enumerate(zip(boxes, texts, strict=True))
    )
    around = (20, 20, SIZE[0] - 40, SIZE[1] - 40)
    write_file(
        folder, name, f'<TextRegion id="r"><Coords points="{points(around)}"/>{lines}</TextRegion>{more}'
    )


def write_file(folder: Path, name: str, regions: str) -> None:
    from PIL import Image

    folder.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", SIZE, (236, 228, 210)).save(folder / f"{name}.jpg")
    (folder / f"{name}.xml").write_text(
        f'<PcGts xmlns="{SPACE}"><Page imageFilename="{name}.jpg" imageWidth="{SIZE[0]}" imageHeight="{SIZE[1]}">'
        f"{regions}</Page></PcGts>",
        encoding="utf-8",
    )


def points(box: Box) -> str:
    x, y, w, h = box
    return f"{x},{y} {x + w},{y} {x + w},{y + h} {x},{y + h}"


def dense() -> str:
    """Return the regions of a page of 4,525 segments in five columns."""
    regions, lines, words = DENSE
    found = []
    for region in range(regions):
        left, top = 20 + region % 5 * 235, 20 + region // 5 * 315
        inside = []
        for line in range(lines):
            y = top + line * 15
            beneath = "".join(
                f'<Word id="w{region}-{line}-{word}"><Coords points="{points((left + word * 28, y, 24, 12))}"/></Word>'
                for word in range(words)
            )
            inside.append(
                f'<TextLine id="l{region}-{line}"><Coords points="{points((left, y, 225, 13))}"/>{beneath}'
                f"<TextEquiv><Unicode>{region}, {line}</Unicode></TextEquiv></TextLine>"
            )
        box = points((left, top, 228, 305))
        found.append(f'<TextRegion id="r{region}"><Coords points="{box}"/>{"".join(inside)}</TextRegion>')
    return "".join(found)


@pytest.fixture(scope="module")
def pages(desk: Desk, tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """The project with pages of many lines, of right-to-left and vertical ones, and of a table."""
    folder = tmp_path_factory.mktemp("pages")
    rows: list[Box] = [(60, 40 + 38 * number, 1080, 30) for number in range(40)]
    write(folder, "forty", rows, [f"{number} {' '.join(WORDS)}" for number in range(1, 41)])
    write(folder, "rivals", rows[:4], ["En la villa", "de Lima", "a veinte dias", "del mes"])
    hebrew = ["בראשית ברא", "אלהים את", "השמים ואת", "הארץ והארץ"]
    write(folder, "hebrew", rows[:4], hebrew)
    columns: list[Box] = [(1000 - 160 * number, 60, 90, 1200) for number in range(4)]
    write(folder, "chinese", columns, ["天地玄黃", "宇宙洪荒", "日月盈昃", "辰宿列張"])
    write(folder, "table", rows[:2], ["Pan", "3 reales"])
    write_file(folder, "dense", dense())
    desk.pages.update(desk.engine.import_folder(folder))
    return desk


def segments(desk: Desk, name: str, what: str, **query: str) -> dict[str, Any]:
    asked = "&".join(f"{key}={value}" for key, value in query.items())
    answer: dict[str, Any] = desk.engine.ask(
        "GET", f"/api/segments/document/{desk.pages[name]}/{what}?{asked}"
    )
    return answer


def in_order(desk: Desk, name: str) -> list[str]:
    """Return the lines of a page in the order as written."""
    return [line["text"] for line in segments(desk, name, "lines")["lines"]]


def wait_until(right: Callable[[], bool]) -> None:
    """Playwright's own wait evaluates strings in the page, which the Content-Security-Policy forbids at the second try."""
    deadline = time.monotonic() + 60
    while not right():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def assert_no_obstacle(page: Page) -> None:
    """What axe-core knows of WCAG 2.2 AA, in both themes."""
    page.evaluate((WEB / "node_modules" / "axe-core" / "axe.min.js").read_text())
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        answer = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        found = [
            f"{violation['id']}: {violation['nodes'][0]['html'][:200]}" for violation in answer["violations"]
        ]
        assert found == [], theme
    page.emulate_media(color_scheme=None)


def open_page(page: Page, desk: Desk, name: str) -> None:
    from playwright.sync_api import expect

    page.goto(desk.engine.new_link(desk.place(name)))
    lines = len(segments(desk, name, "lines")["lines"])
    expect(page.get_by_role("region", name="Text of the page").get_by_role("listitem")).to_have_count(lines)


def test_forty_lines_are_corrected_by_keyboard_alone(page: Page, pages: Desk) -> None:
    lines_before = pages.lines("forty.jpg")
    open_page(page, pages, "forty.jpg")
    page.keyboard.press("ArrowDown")
    page.wait_for_load_state("networkidle")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for _ in lines_before:
        page.keyboard.press("Control+End")
        page.keyboard.type(" ·")
        page.keyboard.press("Enter")
    pages.wait_for("forty.jpg", [f"{line} ·" for line in lines_before])
    # The window knows what it wrote itself: it asks for neither lines nor outlines again.
    assert [url for url in asked if re.search(r"/document/\w+/(lines|shapes|text)", url)] == []
    page.keyboard.press("Control+z")
    pages.wait_for("forty.jpg", [*(f"{line} ·" for line in lines_before[:-1]), lines_before[-1]])


def test_what_is_taken_back_at_once_waits_until_it_is_saved(page: Page, pages: Desk) -> None:
    from playwright.sync_api import expect

    lines_before = pages.lines("rivals.jpg")
    held: list[Route] = []
    open_page(page, pages, "rivals.jpg")
    page.route("**/correct*", lambda route: held.append(route))
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Control+End")
    page.keyboard.type(" in haste")
    page.keyboard.press("Enter")
    wait_until(lambda: bool(page.title() and held))
    page.keyboard.press("Control+z")
    held.pop().continue_()
    expect(page.get_by_role("status").get_by_text("Undone:")).to_be_visible()
    assert pages.lines("rivals.jpg") == lines_before

    page.keyboard.type("x")
    page.keyboard.press("Enter")
    wait_until(lambda: bool(page.title() and held))
    page.keyboard.press("Control+z")
    held.pop().fulfill(status=409, json={"detail": "Somebody else wrote this line."})
    expect(page.get_by_text("What was typed last is not saved")).to_be_visible()
    assert pages.lines("rivals.jpg") == lines_before


def test_two_browsers_on_one_line_are_both_shown(
    page: Page, pages: Desk, chromium: Browser, context: BrowserContext
) -> None:
    from playwright.sync_api import expect

    lines_before = pages.lines("rivals.jpg")
    elsewhere = chromium.new_context(viewport={"width": 1280, "height": 800}, locale="en-GB")
    other_page = elsewhere.new_page()
    try:
        for window in (page, other_page):
            open_page(window, pages, "rivals.jpg")
            window.get_by_role("button", name=f"2 {lines_before[1]}").click()
            expect(window.get_by_role("textbox", name="Text of line 2")).to_be_focused()
        other_page.keyboard.press("Control+End")
        other_page.keyboard.type(" mine")
        page.keyboard.press("Control+End")
        page.keyboard.type(" theirs")
        page.keyboard.press("Enter")
        pages.wait_for("rivals.jpg", [lines_before[0], f"{lines_before[1]} theirs", *lines_before[2:]])
        other_page.keyboard.press("Enter")
        other_page.get_by_role("button", name=re.compile("Somebody else wrote this line")).click()
        decide = other_page.get_by_role("alert")
        expect(decide).to_contain_text(f"{lines_before[1]} theirs")
        expect(decide).to_contain_text(f"{lines_before[1]} mine")
        decide.get_by_role("button", name="Keep what is there").click()
        expect(other_page.get_by_role("textbox", name="Text of line 2")).to_have_value(
            f"{lines_before[1]} theirs"
        )
    finally:
        elsewhere.close()
    assert pages.lines("rivals.jpg")[1] == f"{lines_before[1]} theirs"
    page.keyboard.press("Control+z")
    pages.wait_for("rivals.jpg", lines_before)


def test_a_page_of_4525_segments_is_shown_and_its_lines_are_chosen_on_the_picture(
    page: Page, pages: Desk, shot: Shot
) -> None:
    from playwright.sync_api import expect

    assert len(segments(pages, "dense.jpg", "shapes")["shapes"]) == 4525
    open_page(page, pages, "dense.jpg")
    wait_until(lambda: page.evaluate("performance.getEntriesByName('page.shapes').length > 0"))
    # Between two rows of columns, where the middle of the picture may fall, there is no line.
    page.get_by_role("img", name="Picture of the page").click(position={"x": 200, "y": 100})
    field = page.get_by_role("textbox", name=re.compile("Text of line"))
    expect(field).to_be_focused()
    was = field.input_value()
    page.keyboard.press("Control+End")
    page.keyboard.type(" seen")
    page.keyboard.press("Enter")
    wait_until(lambda: f"{was} seen" in pages.lines("dense.jpg"))
    page.keyboard.press("Control+z")
    wait_until(lambda: was in pages.lines("dense.jpg"))
    shot(page, "dense")


def test_a_page_from_right_to_left_is_corrected_and_put_in_another_order_by_keyboard(
    page: Page, pages: Desk, shot: Shot
) -> None:
    from playwright.sync_api import expect

    lines_before = pages.lines("hebrew.jpg")
    open_page(page, pages, "hebrew.jpg")
    expect(page.get_by_role("region", name="Text of the page").get_by_role("list")).to_have_css(
        "direction", "rtl"
    )
    page.keyboard.press("ArrowDown")
    field = page.get_by_role("textbox", name="Text of line 1")
    expect(field).to_have_value(lines_before[0])
    expect(field).to_have_css("direction", "rtl")
    page.keyboard.press("Control+End")
    page.keyboard.type(" ה")
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="Text of line 2")).to_have_value(lines_before[1])
    corrected = [f"{lines_before[0]} ה", *lines_before[1:]]
    pages.wait_for("hebrew.jpg", corrected)
    second = page.get_by_role("textbox", name="Text of line 2")
    page.keyboard.press("Alt+l")
    expect(
        page.get_by_role("group", name="On this page").get_by_role("button", name="Insert ה")
    ).to_be_visible()
    expect(page.get_by_role("group", name="In this project").get_by_role("button").first).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("Control+a")
    page.keyboard.press("Alt+m")
    naming = page.get_by_role("dialog", name="Name a person or place")
    naming.get_by_role("button", name="Save").click()
    expect(page.get_by_text(f"{lines_before[1]} is named here now.")).to_be_visible()
    (mention,) = pages.engine.ask("GET", f"/api/documents/{pages.pages['hebrew.jpg']}/mentions")["items"]
    assert (mention["text"], mention["canonical_name"]) == (lines_before[1], lines_before[1])
    page.keyboard.press("Alt+w")
    writing = page.get_by_role("dialog", name="Language, script and direction")
    expect(writing.get_by_role("option", name="From right to left (as the text shows)")).to_be_attached()
    language = writing.get_by_label("Language")
    language.fill("no such tongue")
    expect(writing.locator("input:invalid")).to_have_count(1)
    # What is no language is not sent: the browser of these tests fails them for a refused request.
    writing.get_by_role("button", name="Save").click()
    expect(writing).to_be_visible()
    language.fill("Ladino")
    expect(writing.locator("datalist option[value=lad]")).to_be_attached()
    writing.get_by_label("Direction").focus()
    expect(language).to_have_value("lad")
    expect(writing.locator("input:invalid")).to_have_count(0)
    writing.get_by_label("Direction").select_option("From left to right")
    shot(page, "written-in")
    page.keyboard.press("Tab")
    writing.get_by_role("button", name="Save").press("Enter")
    expect(second).to_have_css("direction", "ltr")
    expect(second).to_be_focused()
    page.keyboard.press("Control+z")
    expect(second).to_have_css("direction", "rtl")
    page.keyboard.press("Alt+Shift+ArrowDown")
    expect(page.get_by_role("textbox", name="Text of line 3")).to_have_value(lines_before[1])
    wait_until(
        lambda: (
            in_order(pages, "hebrew.jpg") == [corrected[0], lines_before[2], lines_before[1], lines_before[3]]
        )
    )
    shot(page, "right-to-left")
    page.keyboard.press("Control+z")
    expect(page.get_by_role("textbox", name="Text of line 2")).to_have_value(lines_before[1])
    wait_until(lambda: in_order(pages, "hebrew.jpg") == corrected)
    # However fast the keys are pressed, one move waits for the other.
    for _ in range(3):
        page.keyboard.press("Alt+Shift+ArrowDown")
    wait_until(
        lambda: (
            in_order(pages, "hebrew.jpg") == [corrected[0], lines_before[2], lines_before[3], lines_before[1]]
        )
    )
    for _ in range(3):
        page.keyboard.press("Alt+Shift+ArrowUp")
    wait_until(lambda: in_order(pages, "hebrew.jpg") == [lines_before[1], corrected[0], *lines_before[2:]])


def test_a_vertical_page_runs_in_columns_from_the_right_and_a_column_is_dragged(
    page: Page, pages: Desk, shot: Shot
) -> None:
    from playwright.sync_api import expect

    lines_before = pages.lines("chinese.jpg")
    open_page(page, pages, "chinese.jpg")
    text = page.get_by_role("region", name="Text of the page")
    expect(text.get_by_role("list")).to_have_css("writing-mode", "vertical-rl")
    rows = text.get_by_role("listitem")
    first, second, third = (rows.nth(number).bounding_box() for number in range(3))
    assert first is not None
    assert second is not None
    assert third is not None
    assert first["x"] > second["x"] > third["x"]
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("textbox", name="Text of line 1")).to_have_css("writing-mode", "vertical-rl")
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="Text of line 2")).to_have_value(lines_before[1])
    shot(page, "vertical")
    assert_no_obstacle(page)
    page.keyboard.press("Escape")
    # The first column is read after the third: dropped on that one's far side.
    third = rows.nth(2).bounding_box()
    assert third
    rows.nth(0).get_by_text("1", exact=True).hover()
    page.mouse.down()
    page.mouse.move(third["x"] + 4, third["y"] + 60, steps=4)
    page.mouse.up()
    wait_until(
        lambda: (
            in_order(pages, "chinese.jpg")
            == [lines_before[1], lines_before[2], lines_before[0], lines_before[3]]
        )
    )
    expect(rows.nth(2)).to_contain_text(lines_before[0])
    page.keyboard.press("Control+z")
    wait_until(lambda: in_order(pages, "chinese.jpg") == lines_before)


def test_two_passes_are_compared_word_by_word_and_one_is_chosen(page: Page, pages: Desk, shot: Shot) -> None:
    from playwright.sync_api import expect

    name = "rivals.jpg"
    lines_before = pages.lines(name)
    first = segments(pages, name, "lines")["pass_id"]
    shapes = [shape for shape in segments(pages, name, "shapes")["shapes"] if shape["kind"] == "line"]
    read = ["En la uilla", "de Lima", "a veynte dias"]
    lines = [
        {"key": str(at), "rect": shape["rect"], "text": text}
        for at, (shape, text) in enumerate(zip(shapes, read, strict=False))
    ]
    about = {"document_id": pages.pages[name], "name": "Read again", "provider": "reader"}
    body = {"name": "segment.take_lines", "params": {**about, "lines": lines}}
    pages.engine.ask("POST", "/api/actions/invoke", body)
    path = f"/api/segments/passes/{first}/working"
    pages.engine.ask("PUT", path, {"working": True})

    page.goto(pages.engine.new_link(pages.place(name)))
    page.get_by_role("combobox", name="Beside it").select_option("Beside it: Read again")
    rows = page.get_by_role("list", name="Beside it").get_by_role("listitem")
    expect(rows).to_have_count(4)
    expect(page.get_by_text("3 lines differ")).to_be_visible()
    expect(rows.nth(0).locator("mark")).to_have_text(["villa", "uilla"])
    expect(rows.nth(1).locator("mark")).to_have_count(0)
    expect(rows.nth(3)).to_contain_text("no line here")
    shot(page, "beside")
    assert_no_obstacle(page)
    rows.nth(2).get_by_role("button", name="Use this one").click()
    pages.wait_for(name, [*lines_before[:2], "a veynte dias", lines_before[3]])
    page.keyboard.press("Control+z")
    pages.wait_for(name, lines_before)
    page.get_by_role("button", name="Use this pass").click()
    pages.wait_for(name, read)
    expect(page.get_by_role("heading", name="Read again")).to_be_visible()
    page.keyboard.press("Control+z")
    pages.wait_for(name, lines_before)


def test_a_region_is_drawn_made_a_cell_of_a_table_and_taken_back(page: Page, pages: Desk, shot: Shot) -> None:
    from playwright.sync_api import expect

    def cells() -> list[dict[str, int]]:
        shapes = segments(pages, "table.jpg", "shapes")["shapes"]
        return [item["cell"] for item in shapes if item["cell"]]

    open_page(page, pages, "table.jpg")
    picture = page.get_by_role("img", name="Picture of the page")
    wait_until(lambda: page.evaluate("performance.getEntriesByName('page.picture').length > 0"))
    page.get_by_role("button", name="Draw a region").click()
    box = picture.bounding_box()
    assert box
    page.mouse.move(box["x"] + 100, box["y"] + 300)
    page.mouse.down()
    page.mouse.move(box["x"] + 260, box["y"] + 380, steps=3)
    page.mouse.up()
    tools = page.get_by_role("form", name="Region")
    tools.get_by_label("Cell of a table").check()
    tools.get_by_label("Column", exact=True).fill("2")
    tools.get_by_label("Column", exact=True).press("Tab")
    wait_until(lambda: cells() == [{"row": 0, "column": 1, "row_span": 1, "column_span": 1}])
    shot(page, "cell")
    assert_no_obstacle(page)
    page.get_by_role("button", name="Undo").first.click()
    wait_until(lambda: cells() == [{"row": 0, "column": 0, "row_span": 1, "column_span": 1}])
    expect(tools.get_by_label("Column", exact=True)).to_have_value("1")
    tools.get_by_role("button", name="Take the region away").click()
    wait_until(lambda: cells() == [])
