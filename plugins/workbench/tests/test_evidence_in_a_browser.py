"""Evidence in the workbench: an error rate stated by keyboard alone, and words shown where they stand, in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conftest import Desk, Shot
from test_pages_in_a_browser import wait_until
from test_the_project import check, show

if TYPE_CHECKING:
    from playwright.sync_api import Page


def test_an_error_rate_is_stated_by_keyboard_alone_without_seeing_what_was_read(
    page: Page, desk: Desk, shot: Shot
) -> None:
    from playwright.sync_api import expect

    show(page, desk, "figures")
    panel = page.get_by_role("region", name="Error rate of a selection")
    panel.get_by_role("button", name="State the error rate").focus()
    page.keyboard.press("Enter")
    form = page.get_by_role("dialog", name="State the error rate")
    expect(form.get_by_role("combobox", name="The error rate of")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.type("12")
    check(page, "quality-draw", shot)
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="What stands in this line?")
    field = dialog.get_by_role("textbox", name="What stands there")
    expect(dialog.get_by_text("12 lines left")).to_be_visible()
    expect(field).to_be_focused()
    sample = desk.engine.ask("GET", "/api/quality/samples")["items"][0]["id"]
    check(page, "quality-line", shot)
    for left in range(12, 0, -1):
        expect(dialog.get_by_text(f"{left} line")).to_be_visible()
        expect(field).to_have_value("")
        line = desk.engine.ask("GET", f"/api/quality/samples/{sample}/next")["line"]
        page_id = line["document_id"]
        text = desk.engine.ask("GET", f"/api/segments/document/{page_id}/lines")["lines"]
        (read,) = [one["text"] for one in text if one["segment_id"] == line["segment_id"]]
        assert line["read_text"] is None
        assert read not in dialog.inner_text()
        if left == 12:
            page.keyboard.press("Alt+i")
            continue
        page.keyboard.insert_text(read if left > 4 else read[:-3] + "qqq")
        page.keyboard.press("Enter")
    expect(dialog.get_by_text("Every line that was drawn is answered.")).to_be_visible()
    expect(dialog.get_by_role("button", name="See the error rate")).to_be_focused()
    page.keyboard.press("Enter")
    expect(panel.locator("details[open] summary")).to_be_focused()
    answer = desk.engine.ask("GET", f"/api/quality/samples/{sample}")
    assert (answer["answered"], answer["illegible"]) == (11, 1)
    assert answer["cer"] is not None
    assert answer["cer"]["rate"] > 0
    expect(panel.get_by_text(f"{100 * answer['cer']['high']:.1f}"[:3])).to_be_visible()
    expect(panel.get_by_text("Characters wrong")).to_be_visible()
    expect(panel.get_by_text("It holds: nothing of what it covers was changed since.")).to_be_visible()
    expect(panel.get_by_text("1 line that nobody can read does not count.")).to_be_visible()
    check(page, "quality-rate", shot)
    path = f"/api/segments/{line['segment_id']}/correct"
    desk.engine.ask("POST", path, {"text": "something else"})
    expect(panel.get_by_text("It no longer holds.")).to_be_visible()
    shot(page, "quality-no-longer")


def test_the_word_at_the_cursor_is_asked_for_where_it_stands(page: Page, desk: Desk, shot: Shot) -> None:
    """Which word that is, and what is tinted, vitest proves (`words.test.ts`); here that the page draws them."""
    from playwright.sync_api import expect

    answer = desk.engine.ask("GET", f"/api/segments/document/{desk.pages['letter.jpg']}/lines")
    line = next(line for line in answer["lines"] if line["text"])
    x, y, w, h = next(
        shape["rect"]
        for shape in desk.engine.ask("GET", f"/api/segments/document/{desk.pages['letter.jpg']}/shapes")[
            "shapes"
        ]
        if shape["id"] == line["segment_id"]
    )
    letters = [
        n
        for at in range(len(line["text"]))
        for n in (at * 10000 // len(line["text"]), (at + 1) * 10000 // len(line["text"]), 0, 10000, 3000)
    ]
    reading = {"segment_id": line["segment_id"], "text": line["text"], "confidence": 0.5}
    reading["places"] = {"frame": [x, y, w, 0, 0, h], "letters": letters}
    params = {
        "document_id": desk.pages["letter.jpg"],
        "pass_id": answer["pass_id"],
        "provider": "sample",
        "readings": [reading],
    }
    desk.engine.ask("POST", "/api/actions/invoke", {"name": "reading.take", "params": params})
    with page.expect_response(lambda one: one.url.endswith("/words")) as answered:
        page.goto(desk.engine.new_link(f"{desk.place('letter.jpg')}?line={line['segment_id']}"))
    words = answered.value.json()["words"]
    assert [word["text"] for word in words] == line["text"].split()
    field = page.locator("main textarea")
    expect(field).to_be_focused()
    marks = "() => { const c = document.querySelector('canvas.shapes'); return c.toDataURL(); }"
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(500)
    page.keyboard.press("Home")
    first = page.evaluate(marks)
    shot(page, "words-first")
    page.keyboard.press("End")
    wait_until(lambda: page.evaluate(marks) != first)
    shot(page, "words-last")
