"""The steps that the manual shows in pictures, in a real browser; `make pictures` writes the pictures from this run."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from conftest import Desk
from served_engine import ServedEngine, write_page

from armarium_demo.samples import manuscript_page, sample_pages

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.slow
DOCS = Path(__file__).resolve().parents[3] / "docs"
MISREAD = {"carta": "carla", "nieve": "nicve", "viuda": "viude", "molino": "molyno"}
"""What a reader made of some words."""

Picture = Callable[["Page", str], None]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, program: list[str]) -> Iterator[Desk]:
    """The box of letters of the tutorial, read."""
    folder = tmp_path_factory.mktemp("manual")
    engine = ServedEngine(folder, program)
    texts: dict[str, list[str]] = {}
    for sample in [*sample_pages(scale=0.6), manuscript_page(scale=0.6)]:
        lines = [re.sub("|".join(MISREAD), lambda word: MISREAD[word[0]], line.text) for line in sample.lines]
        texts[f"{sample.name}.jpg"] = lines
        write_page(folder / "box", sample.name, sample, lines)
    try:
        engine.start()
        engine.library = str(folder / "Letters.library")
        engine.ask("POST", "/api/library", {"path": engine.library, "name": "Letters of Tomás de la Ribera"})
        pages = engine.import_folder(folder / "box")
        (library,) = engine.ask("GET", "/api/registry")["libraries"]
        yield Desk(engine, library["id"], pages, texts)
    finally:
        engine.stop()


@pytest.fixture
def picture() -> Picture:
    """`picture(page, "library")` keeps `workbench-library.webp` in the folder that ARMARIUM_PICTURES names, and fails where
    the manual shows no such picture.
    """
    folder = os.environ.get("ARMARIUM_PICTURES")

    def keep(page: Page, name: str) -> None:
        page.wait_for_load_state("networkidle")
        assert (DOCS / f"workbench-{name}.webp").exists() or folder
        if folder:
            from PIL import Image

            page.mouse.move(0, 0)
            page.wait_for_timeout(300)
            shown = Image.open(io.BytesIO(page.screenshot()))
            shown.save(Path(folder) / f"workbench-{name}.webp", quality=78, method=6)

    return keep


def show(page: Page, desk: Desk, view: str) -> None:
    page.goto(f"{desk.engine.address}/#/p/{desk.project_id}/{view}")


def act(desk: Desk, name: str, **params: Any) -> dict[str, Any]:
    answer: dict[str, Any] = desk.engine.ask("POST", "/api/actions/invoke", {"name": name, "params": params})
    return answer["result"]


def spans(desk: Desk, page: str) -> tuple[str, list[dict[str, Any]]]:
    text = desk.engine.ask("GET", f"/api/segments/document/{desk.pages[page]}/text")
    return text["text"], text["spans"]


def test_a_line_is_corrected_beside_its_picture(page: Page, desk: Desk, picture: Picture) -> None:
    from playwright.sync_api import expect

    lines_before = desk.lines("0001.jpg")
    page.goto(desk.engine.new_link(desk.place("0001.jpg")))
    page.get_by_role("button", name=lines_before[2]).click()
    expect(page.get_by_role("textbox", name="Text of line 3")).to_have_value(re.compile("carla del día"))
    picture(page, "page")
    now = lines_before[2].replace("carla", "carta")
    page.get_by_role("textbox", name="Text of line 3").fill(now)
    page.keyboard.press("Enter")
    desk.wait_for("0001.jpg", [*lines_before[:2], now, *lines_before[3:]])


def test_a_word_is_found_with_the_pictures_of_its_lines(page: Page, desk: Desk, picture: Picture) -> None:
    from playwright.sync_api import expect

    show(page, desk, "search?q=villa")
    expect(page.locator("main img").first).to_be_visible()
    expect(page.get_by_role("link", name=re.compile(r"0003\.jpg")).first).to_be_visible()
    picture(page, "search")


def test_a_person_is_shown_with_the_lines_that_name_him(page: Page, desk: Desk, picture: Picture) -> None:
    from playwright.sync_api import expect

    for name, kind in (
        ("Tomás de la Ribera", "person"),
        ("Julián Soto", "person"),
        ("Lorenzo Aguado", "person"),
        ("Valdeoro", "location"),
        ("Puerto Claro", "location"),
    ):
        entity = act(desk, "entity.create", canonical_name=name, entity_type=kind)
        for place in desk.pages:
            for found in re.finditer(name, spans(desk, place)[0]):
                mention = {"char_start": found.start(), "char_end": found.end()}
                act(desk, "mention.create", entity_id=entity["id"], document_id=desk.pages[place], **mention)
    show(page, desk, "people")
    page.get_by_role("link", name=re.compile("Julián Soto")).click()
    expect(page.get_by_role("heading", name="Julián Soto")).to_be_visible()
    picture(page, "people")


def test_what_a_hand_wrote_lies_side_by_side(page: Page, desk: Desk, picture: Picture) -> None:
    from playwright.sync_api import expect

    hand = act(desk, "hand.create", label="Hand A", date="about 1761")
    for span in spans(desk, "0013.jpg")[1][2:9]:
        act(desk, "hand.attribute", hand_id=hand["id"], segment_id=span["segment_id"], certainty=0.9)
    show(page, desk, "hands")
    page.get_by_role("link", name=re.compile("Hand A")).first.click()
    expect(page.get_by_text("7 examples")).to_be_visible()
    picture(page, "hands")


def test_an_export_says_what_it_cannot_express(page: Page, desk: Desk, picture: Picture) -> None:
    from playwright.sync_api import expect

    show(page, desk, "export")
    files = page.get_by_role("region", name="Files to save")
    files.get_by_role("combobox", name="Format").select_option("word")
    files.get_by_role("button", name="See what it would be").click()
    expect(files.get_by_role("link", name=re.compile("Save"))).to_be_visible()
    picture(page, "export")


def test_the_library_says_what_can_be_done_and_who_may_see_a_page(
    page: Page, desk: Desk, picture: Picture
) -> None:
    from playwright.sync_api import expect

    parent = desk.engine.ask("GET", f"/api/documents/{desk.pages['0001.jpg']}")["parent_id"]
    show(page, desk, f"library/{parent}")
    page.get_by_role("checkbox", name=re.compile(r"0003\.jpg")).check(force=True)
    picture(page, "library")
    page.get_by_role("button", name="Rights and locks").click()
    expect(page.get_by_role("dialog").get_by_text("Nothing is stated.", exact=True)).to_be_visible()
    picture(page, "rights")


def test_the_figures_show_how_far_every_page_is(page: Page, desk: Desk, picture: Picture) -> None:
    from playwright.sync_api import expect

    show(page, desk, "figures")
    group = page.get_by_role("group", name="Show")
    expect(group.get_by_role("button", name=re.compile(r"Read \d+"))).to_be_visible()
    picture(page, "figures")
