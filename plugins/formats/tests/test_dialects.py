"""Files in the dialects of many programs: recognised, read completely, and written in every format that can
be written.
"""

from __future__ import annotations

from collections import Counter
from importlib.metadata import entry_points

import pytest
from dialects import FILES
from driver_case import CONTEXT

from armarium_formats.api import FormatDriver, PageModel, ReadContext

DRIVERS: dict[str, FormatDriver] = {
    entry_point.name: entry_point.load()()
    for entry_point in entry_points(group="armarium.formats")
    if entry_point.module.startswith("armarium_formats")
}

EXPECTED: dict[str, tuple[str, list[tuple[int, int]], list[str]]] = {
    "transkribus-table.xml": ("pagexml", [(1000, 1400)], ["A.D. 1750", "42", ""]),
    "table-nested.xml": ("pagexml", [(500, 500)], ["inner", "outer"]),
    "escriptorium-page.xml": ("pagexml", [(800, 600)], ["ligne", "", "hors zone"]),
    "kraken-page.xml": ("pagexml", [(800, 600)], ["ab cd"]),
    "ocrd.xml": ("pagexml", [(2000, 3000)], ["in"]),
    "aletheia-2010.xml": ("pagexml", [(300, 300)], []),
    "alto2-mm10.xml": ("alto", [(2480, 3508)], ["17", "Zei-", "tung an"]),
    "alto2-inch1200.xml": ("alto", [(525, 742)], ["17", "Zei-", "tung an"]),
    "alto2-mm10-nosize.xml": ("alto", [(0, 0)], ["17", "Zei-", "tung an"]),
    "alto-two-pages.xml": ("alto", [(100, 200), (120, 220), (120, 220)], ["one", "two"]),
    "gallica.xml": ("alto", [(1000, 1500)], ["L'état <&>\u00ad"]),
    "tesseract-alto.xml": ("alto", [(640, 480)], ["Dear Sir"]),
    "escriptorium-alto.xml": ("alto", [(800, 600)], ["une ligne entière", "", "loose"]),
    "gcv.hocr": ("hocr", [(640, 480)], ["Sehr geehrter,"]),
    "azure.hocr": ("hocr", [(1700, 2200), (0, 0)], ["Café\u00a0a\u00a0b", "bold plain", "x_line"]),
    "abbyycloud.xml": ("abbyy", [(1000, 1400)], ["Do 1", "Zelle ohne Zeichen", "4006"]),
    "tei-transkribus.xml": (
        "tei",
        [(1000, 1400), (1000, 1400)],
        ["Dear Sir, etc", "John York is", "a", "b", "second page"],
    ),
    "tei-escriptorium.xml": ("tei", [(800, 600), (800, 600)], ["une ligne", ""]),
    "page-loose.xml": ("pagexml", [(500, 500)], ["on the page", "", "in a table"]),
    "page-2024.xml": ("pagexml", [(500, 500)], []),
    "kraken-alto.xml": ("alto", [(800, 600)], ["ספר x", "second"]),
    "upper.hocr": ("hocr", [(900, 1200)], ["Hy\u00adphen italic", "unclosed word"]),
    "abbyy6.xml": ("abbyy", [(600, 800), (600, 800)], ["ſo ¬"]),
    "tei-verse.xml": (
        "tei",
        [(2100, 2970), (0, 0)],
        ["Title", "line", "verse q̃", "two", "gloss", "no picture", "second"],
    ),
    "tess-page.xml": ("pagexml", [(500, 500)], ["Dear"]),
}
"""The format of each file, its page sizes in pixels, and the texts of its lines in file order."""


def read(name: str) -> list[PageModel]:
    return DRIVERS[EXPECTED[name][0]].read(FILES[name].encode(), ReadContext(name))


def test_every_file_is_tried() -> None:
    assert set(EXPECTED) == set(FILES)


@pytest.mark.parametrize("name", FILES)
def test_each_file_is_recognised_and_read_completely(name: str) -> None:
    data = FILES[name].encode()
    driver, sizes, lines = EXPECTED[name]
    assert max(DRIVERS, key=lambda one: DRIVERS[one].sniff(data)) == driver
    pages = read(name)
    assert [(page.width, page.height) for page in pages] == sizes
    assert [segment.text for page in pages for segment in page.walk() if segment.kind == "line"] == lines


@pytest.mark.parametrize("written", ["pagexml", "alto", "tei"])
@pytest.mark.parametrize("name", FILES)
def test_each_file_is_written_in_every_format_with_its_losses(name: str, written: str) -> None:
    driver = DRIVERS[written]
    for page in read(name):
        made = driver.write(page, CONTEXT)
        assert driver.validate(made.content) == []
        back = driver.read(made.content.encode(), ReadContext("b", (page.width or 1, page.height or 1)))[0]
        told = " ".join(loss.what for loss in made.losses)
        assert {segment.id for segment in page.walk()} <= {
            segment.id for segment in back.walk()
        } or "words" in told
        if texts_of(back) != texts_of(page):
            assert "words of lines" in told or "empty texts" in told
        if written == EXPECTED[name][0]:
            assert driver.write(back, CONTEXT).content == made.content


def texts_of(page: PageModel) -> Counter[str]:
    return Counter(segment.text for segment in page.walk() if segment.text)


def test_nested_cells_keep_their_positions() -> None:
    (page,) = read("table-nested.xml")
    cells = {
        segment.id: segment.cell and (segment.cell["row"], segment.cell["column"]) for segment in page.walk()
    }
    assert cells == {"t": None, "c1": (0, 0), "t2": None, "c11": (0, 0), "l11": None, "l1": None}
    (table,) = page.segments
    assert [child.id for child in table.children[0].children] == ["t2", "l1"]


def test_a_facsimile_s_id_means_the_one_surface_in_it() -> None:
    """Transkribus points its pb at the facsimile; matching by sequence alone would shift every page after a
    missing pb.
    """
    text = FILES["tei-transkribus.xml"].replace('<pb facs="#facs_1" n="1" xml:id="img_0001"/>', "")
    first, second = DRIVERS["tei"].read(text.encode(), ReadContext("t.xml"))
    assert not any("in sequence" in note for note in second.notes)
    assert [segment.text for segment in second.walk() if segment.kind == "line"] == ["second page"]
    assert first.segments[0].kind_raw == "TextRegion:paragraph"


def test_two_surfaces_of_a_facsimile_are_not_both_meant_by_its_id() -> None:
    text = FILES["tei-transkribus.xml"].replace('</facsimile>\n<facsimile xml:id="facs_2">', "")
    assert text.count("<facsimile") == 1
    pages = DRIVERS["tei"].read(text.encode(), ReadContext("t.xml"))
    lines = [[segment.text for segment in page.walk() if segment.kind == "line"] for page in pages]
    assert sum(map(len, lines)) == 5


def test_points_without_commas_are_points() -> None:
    (page,) = read("page-loose.xml")
    region = next(segment for segment in page.walk() if segment.id == "r1")
    assert region.points == [(10, 10), (400, 10), (400, 400), (10, 400)]
    assert "The points of a Coords have no commas; they were read as pairs." in page.notes
    text = FILES["tei-escriptorium.xml"].replace("10,10 700,10 700,500 10,500", "10 10 700 10 700 500 10 500")
    first = DRIVERS["tei"].read(text.encode(), ReadContext("t.xml"))[0]
    assert first.segments[0].points == [(10, 10), (700, 10), (700, 500), (10, 500)]
    assert any("have no commas" in note for note in first.notes)


def test_tei_reports_an_empty_text_before_others_as_a_loss() -> None:
    (page,) = read("page-loose.xml")
    counts_by_what = {loss.what: loss.count for loss in DRIVERS["tei"].write(page, CONTEXT).losses}
    assert counts_by_what["empty texts among readings"] == 1
