"""A page without a picture takes its proportions from its layout file; text, direction and exports agree on it."""

from __future__ import annotations

from typing import Any

import pytest

from armarium.api import Engine, Library
from armarium.principals import LOCAL_OWNER
from armarium_formats.api import ReadContext
from armarium_formats.pagexml.driver import PageXml
from armarium_formats.queries.exchange import export_page
from armarium_formats.tei.driver import Tei
from armarium_source_model.api import page_text, resolve_settings

COLUMNS = ("一の行", "二の行", "三の行")
"""Lines of a Japanese page in reading order: from right to left."""


def page_xml(lines: str, size: str = 'imageWidth="1000" imageHeight="1760"') -> str:
    return (
        '<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"><Metadata><Creator>c</Creator>'
        "<Created>2024-01-01T00:00:00</Created><LastChange>2024-01-01T00:00:00</LastChange></Metadata>"
        f'<Page imageFilename="a.jpg" {size}><TextRegion id="r1"><Coords points="50,50 950,50 950,1700 50,1700"/>'
        f"{lines}</TextRegion></Page></PcGts>"
    )


def line(number: int, text: str, box: tuple[int, int, int, int], baseline: str = "") -> str:
    left, top, right, bottom = box
    under = f'<Baseline points="{baseline}"/>' if baseline else ""
    return (
        f'<TextLine id="l{number}"><Coords points="{left},{top} {right},{top} {right},{bottom} {left},{bottom}"/>'
        f"{under}<TextEquiv><Unicode>{text}</Unicode></TextEquiv></TextLine>"
    )


class Pages:
    """Imports files into one page without a picture, and reads it."""

    def __init__(self, engine: Engine, library: Library, page: str) -> None:
        self.engine, self.library, self.page = engine, library, page

    def run(self, name: str, **params: Any) -> dict[str, Any]:
        return self.engine.run(self.library, name, params, LOCAL_OWNER).result or {}

    def import_file(self, content: str) -> str:
        return str(
            self.run("format.import", document_id=self.page, file=content, filename="a.xml")["pass_id"]
        )

    def text(self) -> str:
        with self.library.db.read() as conn:
            return page_text(conn, self.page).text

    def direction(self) -> tuple[str, str]:
        with self.library.db.read() as conn:
            settings = resolve_settings(self.library, conn, document_id=self.page)["settings"]
        return next((item["value"], item["basis"]) for item in settings if item["key"] == "direction")

    def export(self, name: str) -> str:
        return str(export_page(self.engine, self.library, self.page, name)["content"])


@pytest.fixture
def pages(engine: Engine, library: Library, page_document: str) -> Pages:
    return Pages(engine, library, page_document)


def vertical_lines(height: int) -> str:
    """Return three lines, left ones first, as tall as *height* and 120 wide in pixels."""
    return "".join(
        line(number, text, (700 - 200 * at, 100, 820 - 200 * at, 100 + height))
        for number, (at, text) in enumerate(reversed(list(enumerate(COLUMNS))))
    )


def test_a_vertical_page_is_recognised_by_the_size_that_its_file_gives(pages: Pages) -> None:
    """In fractions of a page that is higher than wide, lines look wider than they are."""
    pages.import_file(page_xml(vertical_lines(300)))
    assert pages.direction()[0] == "ttb"
    assert pages.text() == "\n".join(COLUMNS)


def test_baselines_that_run_downward_make_a_page_vertical_however_short_its_lines(pages: Pages) -> None:
    """Short titles in columns are hardly taller than wide: their baselines say in which direction they are written."""
    lines = "".join(
        line(
            number,
            text,
            (700 - 200 * at, 100, 820 - 200 * at, 220),
            f"{760 - 200 * at},100 {760 - 200 * at},220",
        )
        for number, (at, text) in enumerate(reversed(list(enumerate(COLUMNS))))
    )
    pages.import_file(page_xml(lines))
    assert pages.direction() == ("ttb", "most baselines run downward")
    assert pages.text() == "\n".join(COLUMNS)


def test_level_baselines_make_a_page_of_tall_lines_horizontal(pages: Pages) -> None:
    lines = "".join(
        line(
            number,
            str(number),
            (100 + 200 * number, 100, 160 + 200 * number, 300),
            f"{100 + 200 * number},280 {160 + 200 * number},280",
        )
        for number in range(3)
    )
    pages.import_file(page_xml(lines))
    assert pages.direction()[0] == "ltr"
    assert pages.text() == "0\n1\n2"


def test_exports_follow_the_columns_that_somebody_states(pages: Pages) -> None:
    lines = "".join(
        line(
            2 * row + half,
            f"{half}{row}",
            (100 + 400 * half, 100 + 40 * row, 490 + 400 * half, 130 + 40 * row),
        )
        for row in range(6)
        for half in (0, 1)
    )
    pages.import_file(page_xml(lines, 'imageWidth="1000" imageHeight="1000"'))
    down = [f"{half}{row}" for half in (0, 1) for row in range(6)]
    for wanted in ([f"{half}{row}" for row in range(6) for half in (0, 1)], down):
        assert pages.text().split("\n") == wanted
        for name, driver in (("pagexml", PageXml()), ("tei", Tei())):
            page = driver.read(pages.export(name).encode(), ReadContext("a.xml"))[0]
            assert [segment.texts[0].text for segment in page.in_order() if segment.kind == "line"] == wanted
        pages.run("reading_order.columns", document_id=pages.page, columns=2)
