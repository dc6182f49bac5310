"""A whole round by keyboard alone, in a real browser: whatever acts is reached with Tab, shows that it has the focus, and is
pressed with Enter or Space.
"""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from conftest import WEB, Desk, Shot

from armarium_demo.samples import sample_pages

if TYPE_CHECKING:
    from playwright.sync_api import Page

FOCUSED = """() => {
  const at = document.activeElement;
  const labelled = at.getAttribute('aria-labelledby');
  const name = at.getAttribute('aria-label')
    ?? (labelled && document.getElementById(labelled.split(' ')[0])?.textContent)
    ?? at.labels?.[0]?.textContent ?? at.textContent ?? '';
  const rings = [at, at.parentElement].filter(Boolean).map((one) => getComputedStyle(one));
  const seen = rings.some((ring) => ring.outlineStyle !== 'none' || ring.boxShadow !== 'none');
  return [name.replace(/\\s+/g, ' ').trim(), seen];
}"""
MOST_TABS = 90


def tab_to(page: Page, name: str) -> None:
    """Press Tab until what has the focus is called *name* (a pattern)."""
    passed: list[str] = []
    for _ in range(MOST_TABS):
        called, seen = page.evaluate(FOCUSED)
        if re.search(name, called):
            assert seen, f"{called} has the focus and does not show it"
            return
        passed.append(called[:40])
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not reach {name}; it passes {passed}")


def press(page: Page, name: str, key: str = "Enter") -> None:
    tab_to(page, name)
    page.keyboard.press(key)


def save(page: Page, name: str) -> bytes:
    """Save a file with the link of that name."""
    page.get_by_role("link", name=re.compile(name)).wait_for()
    tab_to(page, name)
    with page.expect_download() as saving:
        page.keyboard.press("Enter")
    with zipfile.ZipFile(saving.value.path()) as word:
        return word.read("word/document.xml")


def test_a_whole_round_is_done_by_keyboard_alone(page: Page, desk: Desk, tmp_path: Path, shot: Shot) -> None:
    """First start, import, find lines and read, correct, search, save; only the dialog of files is the system's."""
    from playwright.sync_api import expect

    (sample,) = sample_pages(count=1, scale=0.6)
    (tmp_path / "Brief 1.jpg").write_bytes(sample.jpeg)
    # Listened for from the start: the browser is told only then to hand the dialog over, which a key outruns.
    page.on("filechooser", lambda dialog: dialog.set_files(tmp_path / "Brief 1.jpg"))
    page.get_by_role("link", name="Letters & <deeds>").wait_for()
    page.evaluate(
        "for (const kind of ['mousedown', 'pointerdown'])"
        "addEventListener(kind, () => { document.title = 'a mouse' }, true)"
    )
    press(page, "^New project")
    page.get_by_role("dialog").wait_for()
    page.keyboard.type("By keyboard")
    page.keyboard.press("Enter")
    contents = page.get_by_role("list", name="Contents")
    contents.get_by_role("link", name=re.compile("^Sources")).wait_for()
    press(page, "^Import files")
    expect(page.get_by_text("1 page imported")).to_be_visible()

    press(page, "^Work$")
    page.get_by_role("button", name="Make the plan").wait_for()
    press(page, "^Print", "Space")
    tab_to(page, "^In which languages")
    page.keyboard.type("German")
    page.get_by_role("option", name=re.compile("^German")).first.wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    press(page, "^Make the plan")
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_enabled()
    press(page, "^Start$")
    expect(page.get_by_text("Work on 1 page has begun.")).to_be_visible()

    press(page, "^Library$")
    contents.get_by_role("link", name=re.compile("^Sources")).wait_for()
    press(page, "^Sources")
    contents.get_by_role("link", name=re.compile(r"Brief 1\.jpg")).wait_for()
    press(page, r"^Brief 1\.jpg")
    # The lines come while the page is open.
    expect(page.get_by_role("button", name=re.compile(r"^1 \S")).first).to_be_visible()
    press(page, r"^1 \S")
    field = page.get_by_role("textbox", name="Text of line 1")
    expect(field).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type("Sehr geehrter Herr Zeidler")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="1 Sehr geehrter Herr Zeidler")).to_be_visible()
    page.keyboard.press("Escape")

    press(page, "^Search$")
    words = page.get_by_role("searchbox", name="What to look for")
    expect(words).to_be_focused()
    page.keyboard.type("Zeidler")
    hit = page.get_by_role("link", name=re.compile("Sehr geehrter Herr Zeidler"))
    hit.wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(hit).to_be_focused()
    press(page, "^Save these pages as one file")
    page.get_by_role("dialog").wait_for()
    page.evaluate((WEB / "node_modules" / "axe-core" / "axe.min.js").read_text())
    assert page.evaluate("axe.run('dialog[open]', {resultTypes: ['violations']})")["violations"] == []
    shot(page, "search-save")
    press(page, "^See what it would be")
    assert "Zeidler" in save(page, r"^Save .*\.docx").decode()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Save these pages as one file")).to_be_focused()

    press(page, "^Export$")
    page.get_by_role("region", name="Files to save").wait_for()
    tab_to(page, "^Format")
    page.keyboard.type("Word")
    press(page, "^See what it would be")
    assert "Zeidler" in save(page, r"^Save Brief 1\.docx").decode()
    assert page.title() != "a mouse"
