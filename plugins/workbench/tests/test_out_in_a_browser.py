"""What leaves the engine and who may see it, in a real browser: first start to export, rights, panels, markup, many files.

Every test also fails when a page asks for anything outside the engine, breaks its policy or raises an error (`context`).
"""

from __future__ import annotations

import io
import os
import re
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import MARKUP, Desk, Shot

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "panel_words"


@pytest.fixture(scope="module", autouse=True)
def example_installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The example plugin as an engine finds an installed one."""
    place = tmp_path_factory.mktemp("site")
    shutil.copytree(EXAMPLE / "src", place, dirs_exist_ok=True)
    about = place / "armarium_panel_words-0.1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: armarium-panel-words\nVersion: 0.1.0\n")
    (about / "entry_points.txt").write_text("[armarium.plugins]\npanel_words = armarium_panel_words\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (str(place), os.environ.get("PYTHONPATH")))))
        yield


@pytest.fixture
def viewer(chromium: Browser, desk: Desk) -> Iterator[Page]:
    """Another person's browser, signed in with a code for one who may look, typed on the page that asks for it."""
    context = chromium.new_context(viewport={"width": 1280, "height": 800}, locale="en-GB")
    context.set_default_timeout(60_000)
    code = desk.engine.ask("POST", "/api/pair/code", {"role": "viewer"})["code"]
    page = context.new_page()
    page.goto(desk.engine.address)
    page.get_by_label("Or type a pairing code").fill(code)
    page.get_by_label("Your name, as the history will call you").fill("Berta")
    page.keyboard.press("Enter")
    yield page
    context.close()


def show(page: Page, desk: Desk, view: str) -> None:
    page.goto(f"{desk.engine.address}/#/p/{desk.project_id}/{view}")
    page.locator("main h1").first.wait_for()
    page.wait_for_load_state("networkidle")


def save_file(page: Page, button: str) -> bytes:
    """Make an export and save it, as a person does; return the file."""
    with page.expect_download() as waiting:
        page.get_by_role("link", name=re.compile(button)).click()
    return Path(waiting.value.path()).read_bytes()


def test_exports_are_saved_by_the_browser(page: Page, desk: Desk, shot: Shot) -> None:
    from playwright.sync_api import expect

    data = desk.lines("letter.jpg")[0].split()[-1].encode()
    page.goto(desk.engine.new_link(f"/p/{desk.project_id}/export?on={desk.pages['letter.jpg']}"))
    files = page.get_by_role("region", name="Files to save")
    files.get_by_role("combobox", name="Format").select_option("word")
    files.get_by_role("button", name="See what it would be").click()
    expect(files.get_by_text("shapes of lines")).to_be_visible()
    shot(page, "out-export")
    with zipfile.ZipFile(io.BytesIO(save_file(page, r"Save .*\.docx"))) as word:
        assert data in word.read("word/document.xml")
    files.get_by_role("combobox", name="Format").select_option("Searchable PDF")
    files.get_by_role("combobox", name="Files").select_option("one for each folder")
    files.get_by_role("button", name="See what it would be").click()
    expect(files.get_by_role("table", name="What this format cannot express")).to_be_visible()
    assert save_file(page, r"Save .*\.pdf").startswith(b"%PDF")
    files.get_by_role("combobox", name="Format").select_option("hOCR")
    files.get_by_role("button", name="See what it would be").click()
    assert b"ocrx_word" in save_file(page, r"Save .*\.hocr")
    whole = page.get_by_role("region", name="The whole project")
    whole.get_by_role("button", name="See what it would be").click()
    assert data in save_file(page, r"Save .*\.jsonl")


def test_a_panel_of_a_plugin_shows_the_page_and_reaches_nothing_else(
    page: Page, context: BrowserContext, desk: Desk, shot: Shot
) -> None:
    from playwright.sync_api import expect

    page.goto(desk.engine.new_link(desk.place("letter.jpg")))
    page.get_by_role("button", name=desk.lines("letter.jpg")[3]).click()
    page.get_by_role("button", name=re.compile("Words of this page")).click()
    frame = page.frame_locator("iframe[title='Words of this page']")
    first = re.findall(r"\w+", desk.lines("letter.jpg")[0])[0]
    expect(frame.get_by_role("listitem").filter(has_text=re.compile(f"^{first} ")).first).to_be_visible()
    page.get_by_role("button", name=f"1 {desk.lines('letter.jpg')[0]}").click()
    expect(frame.locator(".chosen").first).to_be_visible()
    shot(page, "out-panel")
    assert page.locator("iframe").get_attribute("sandbox") == "allow-scripts"
    inside = next(frame for frame in page.frames if "/panels/" in frame.url)
    token = inside.evaluate("known.token") if inside.evaluate("typeof known") != "undefined" else None
    assert token is None, "the module keeps what it was told to itself"
    assert inside.evaluate("window.origin") == "null"
    with pytest.raises(Exception, match=r"(?i)sandboxed|cookie"):
        inside.evaluate("document.cookie")
    for address in (f"{desk.engine.address}/api/registry", f"{desk.engine.address}/api/tokens"):
        asked = "address => fetch(address, {credentials: 'include'}).then(answer => answer.status, () => 'refused')"
        assert inside.evaluate(asked, address) == "refused"


def test_a_restricted_page_appears_nowhere_to_a_viewer_until_that_is_taken_back(
    page: Page, viewer: Page, desk: Desk, shot: Shot
) -> None:
    from playwright.sync_api import expect

    name = next(page for page in desk.pages if page.startswith("deed"))
    text = desk.lines(name)[0]
    row = desk.engine.ask("GET", f"/api/documents/{desk.pages[name]}")
    page.goto(f"{desk.engine.address}/#/p/{desk.project_id}/library/{row['parent_id']}")
    page.get_by_role("checkbox", name=re.compile("deed with")).check(force=True)
    page.get_by_role("button", name="Rights and locks").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("Nothing is stated.", exact=True)).to_be_visible()
    shot(page, "out-rights")
    dialog.get_by_role("button", name="State it").click()
    expect(page.get_by_text("Stated.")).to_be_visible()
    expect(viewer.get_by_role("link", name="Letters & <deeds>")).to_be_visible()
    # By now the viewer is signed in: no view names the page, shows its text, or counts it.
    for view in (
        "library",
        f"library/{row['parent_id']}",
        "work",
        "figures",
        "people",
        "history",
        "export",
        "settings/rights",
    ):
        show(viewer, desk, view)
        for word in ("deed with a name", text):
            assert word not in viewer.locator("main").inner_text(), (view, word)
    show(viewer, desk, f"library/{row['parent_id']}")
    expect(viewer.get_by_role("list", name="Contents").get_by_role("listitem")).to_have_count(2)
    assert viewer.get_by_role("button", name="Import files").count() == 0
    viewer.goto(f"{desk.engine.address}/#{desk.place(name)}")
    expect(viewer.get_by_text("It is restricted", exact=False).first).to_be_visible()
    expect(viewer.get_by_text("No lines yet")).to_have_count(0)
    show(viewer, desk, "figures")
    expect(viewer.get_by_role("group", name="Show").get_by_role("button", name="Read 2")).to_be_visible()
    viewer.goto(f"{desk.engine.address}/#/p/{desk.project_id}/search?q={text.split()[0]}")
    viewer.wait_for_load_state("networkidle")
    assert text not in viewer.locator("main").inner_text()
    show(viewer, desk, "export")
    shot(viewer, "out-viewer")
    files = viewer.get_by_role("region", name="Files to save")
    files.get_by_role("combobox", name="Format").select_option("markdown")
    files.get_by_role("button", name="See what it would be").click()
    with zipfile.ZipFile(io.BytesIO(save_file(viewer, "Save"))) as archive:
        assert len(archive.namelist()) == 2
        assert all(text not in archive.read(one).decode() for one in archive.namelist())
    page.get_by_role("button", name="Undo", exact=True).first.click()
    show(page, desk, "figures")
    expect(page.get_by_role("group", name="Show").get_by_role("button", name="Read 3")).to_be_visible()
    show(viewer, desk, f"library/{row['parent_id']}")
    expect(viewer.get_by_role("list", name="Contents").get_by_role("listitem")).to_have_count(3)


def test_who_may_only_look_is_known_by_name_and_offered_nothing_else(
    page: Page, viewer: Page, desk: Desk, shot: Shot
) -> None:
    from playwright.sync_api import expect

    expect(viewer.get_by_role("link", name="Letters & <deeds>")).to_be_visible()
    assert viewer.get_by_role("button", name="New project").count() == 0
    assert "Berta" in {item["name"] for item in desk.engine.ask("GET", "/api/tokens")["items"]}
    line = desk.lines("letter.jpg")[1]
    viewer.goto(f"{desk.engine.address}/#{desk.place('letter.jpg')}")
    viewer.get_by_role("button", name=f"2 {line}").click()
    field = viewer.get_by_role("textbox", name="Text of line 2")
    expect(field).to_have_value(line)
    expect(field).not_to_be_editable()
    for name in ("Draw a line", "Delete the line", "Split at the cursor", "Other readings"):
        assert viewer.get_by_role("button", name=name).count() == 0, name
    viewer.keyboard.press("Alt+Delete")
    for view, offered in (
        ("history", "Undo"),
        ("maps", "Set a point by numbers"),
        ("people", "New name"),
        ("hands", "New hand"),
        ("work", "Make the plan"),
        ("figures", "Start training"),
    ):
        show(viewer, desk, view)
        assert viewer.get_by_role("button", name=offered).count() == 0, view
    show(viewer, desk, "proposals")
    expect(viewer.get_by_text("is shown to those who may change the project")).to_be_visible()
    shot(viewer, "out-viewer-proposals")
    assert line in desk.lines("letter.jpg")
    expect(page.get_by_role("button", name="New project")).to_be_visible()


def test_a_stolen_link_is_worthless_after_use(chromium: Browser, page: Page, desk: Desk) -> None:
    from playwright.sync_api import expect

    link = desk.engine.new_link()
    page.goto(link)
    expect(page.get_by_role("link", name="Letters & <deeds>")).to_be_visible()
    thief = chromium.new_context()
    window = thief.new_page()
    window.goto(link)
    expect(window.get_by_role("heading", name="Not signed in")).to_be_visible()
    assert thief.cookies() == []
    thief.close()


def test_markup_is_text_in_every_view(page: Page, desk: Desk) -> None:
    """In names, lines, attributes, labels, entities, rights, searches and what a model or a token is called."""
    ask = desk.engine.ask
    name = next(page for page in desk.pages if page.startswith("<b>"))
    document = desk.pages[name]
    body = {"page_label": MARKUP, "date_original": MARKUP, "attributes": {"tags": [MARKUP], MARKUP: MARKUP}}
    ask("PATCH", f"/api/documents/{document}", body)
    entity = ask("POST", "/api/entities", {"canonical_name": MARKUP, "entity_type": "person"})
    ask("POST", "/api/tokens", {"name": MARKUP[:60], "role": "viewer"})
    record = {
        "target_kind": "document",
        "target_id": document,
        "labels": [MARKUP],
        "conditions": MARKUP,
        "holders": [MARKUP],
    }
    ask("POST", "/api/rights", record)
    parent = ask("GET", f"/api/documents/{document}")["parent_id"]
    places = [
        "library", f"library/{parent}", f"page/{document}", "work", "search?q=owned", "people", f"people/{entity['id']}",
        "figures", "export", "history", "trash", "settings/devices", "settings/rights", "settings/plugins",
    ]  # fmt: skip
    for place in places:
        page.goto(f"{desk.engine.address}/#/p/{desk.project_id}/{place}")
        page.wait_for_load_state("networkidle")
        assert page.locator("img[src='x'], main b, script:not([src])").count() == 0, place
        assert page.title() != "owned", place
        if place.startswith("page/"):
            opened = page.get_by_role("button", name=re.compile("Words of this page"))
            if opened.get_attribute("aria-expanded") == "false":
                opened.click()
            frame = page.frame_locator("iframe[title='Words of this page']")
            frame.get_by_role("listitem").first.wait_for()
            assert frame.locator("img, b, script:not([src])").count() == 0


def test_three_hundred_dropped_files_are_there_and_go_back_in_one_step(
    page: Page, desk: Desk, shot: Shot
) -> None:
    from PIL import Image
    from playwright.sync_api import expect

    desk.engine.ask("POST", "/api/documents", {"name": "Dropped", "doc_type": "folder"})
    picture = io.BytesIO()
    Image.new("L", (40, 60), 230).save(picture, "PNG")
    page.goto(desk.engine.new_link(f"/p/{desk.project_id}"))
    page.get_by_role("list", name="Contents").get_by_role("link", name=re.compile("Dropped")).click()
    page.get_by_text("Nothing here yet", exact=False).or_(
        page.get_by_role("heading", level=2)
    ).first.wait_for()
    drop = """([bytes, number]) => {
      const files = new DataTransfer();
      for (let at = 0; at < number; at++)
        files.items.add(new File([new Uint8Array(bytes), String(at)], `${String(at).padStart(3, '0')}.png`, {type: 'image/png'}));
      const target = document.querySelector('.library');
      for (const type of ['dragenter', 'dragover', 'drop'])
        target.dispatchEvent(new DragEvent(type, {dataTransfer: files, bubbles: true, cancelable: true}));
    }"""
    page.evaluate(drop, [list(picture.getvalue()), 300])
    expect(page.locator("p[role=status]").filter(has_text="300 pages imported")).to_be_attached()
    shot(page, "out-dropped")
    # Also those that were never in sight.
    page.get_by_role("checkbox", name="Select 000.png").click(force=True)
    page.get_by_role("button", name="Select all").click()
    expect(page.get_by_role("toolbar", name="Selected").get_by_text("300 selected")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("region", name="Import files").get_by_role("button", name="Undo").click()
    expect(page.locator("p[role=status]").filter(has_text="0 items")).to_be_attached()
