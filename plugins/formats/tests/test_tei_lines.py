"""TEI lines and blocks: shapes in the text itself, empty lines, verses across lines, blocks without a place."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import cast

import pytest
from driver_case import CONTEXT
from lxml import etree
from test_tei_reader import DRIVER, document, pages, surface, texts

from armarium.engine import Engine
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library
from armarium_formats.api import PageModel, ReadContext
from armarium_formats.page_model import PageText
from armarium_formats.queries.exchange import export_page

PAGE = '<facsimile><surface xml:id="s1" ulx="0" uly="0" lrx="1000" lry="800"><graphic url="1.jpg"/></surface></facsimile>'
OUTLINE = [(10, 20), (300, 20), (300, 60), (10, 60)]


def one(body: str, facsimile: str = PAGE) -> PageModel:
    (page,) = pages(body, facsimile)
    return page


def count_losses(page: PageModel) -> dict[str, int]:
    return {loss.what: loss.count for loss in DRIVER.write(page, CONTEXT).losses}


@pytest.mark.parametrize(
    ("facs", "points"),
    [
        ("10,20 300,20 300,60 10,60", OUTLINE),
        ("10 20 300 20 300 60 10 60", OUTLINE),
        ("https://images.example/iiif/a%2Fb/10,20,290,40/full/0/default.jpg", OUTLINE),
        ("https://images.example/a/canvas/1#xywh=10,20,290,40", OUTLINE),
    ],
)
def test_an_outline_in_a_line_break_is_the_line_s(facs: str, points: list[tuple[int, int]]) -> None:
    page = one(f'<pb facs="#s1"/><p><lb n="1" facs="{facs}"/>Querida<lb facs="{facs}"/>hermana</p>')
    assert [(line.text, line.points) for line in page.lines()] == [("Querida", points), ("hermana", points)]
    assert not any("facs" in note for note in page.notes)
    (back,) = DRIVER.read(DRIVER.write(page, CONTEXT).content.encode(), ReadContext("b.xml"))
    assert [line.points for line in back.lines()] == [points, points]


def test_thousands_of_outlines_come_in_and_go_out() -> None:
    body = "".join(f'<lb facs="{n},10 {n + 9},10 {n + 9},30 {n},30"/>line {n}' for n in range(900))
    page = one(f'<pb facs="#s1"/><p facs="1,2 990,2 990,700">{body}</p>')
    assert [line.points[0] for line in page.lines()] == [(n, 10) for n in range(900)]
    assert page.segments[0].points == [(1, 2), (990, 2), (990, 700)]


def test_two_points_are_a_baseline() -> None:
    page = one('<pb facs="#s1"/><p><lb facs="10,60 300,62"/>Querida</p>')
    assert [(line.points, line.baseline) for line in page.lines()] == [([], [(10, 60), (300, 62)])]


def test_a_pointer_that_leads_nowhere_is_noted() -> None:
    page = one('<pb facs="#s1"/><p facs="#x"><lb facs="#gone"/>a<lb facs="#gone2"/>b<lb/>c</p>')
    assert (
        "The facs of a lb is neither a zone of the file nor points, and is left out (2 times)." in page.notes
    )
    assert "The facs of a p is neither a zone of the file nor points, and is left out." in page.notes


def test_lines_without_a_shape_get_none_on_the_way_through_a_project(
    engine: Engine, library: Library, page_document: str
) -> None:
    file = document('<pb facs="#s1"/><p><lb/>Querida<lb/>hermana</p>', PAGE)
    for _ in range(2):  # the export must read back as the same page
        given = {"document_id": page_document, "file": file, "filename": "a.xml"}
        result = engine.run(library, "format.import", given, LOCAL_OWNER).result or {}
        assert any("the file draws no outline" in note for note in result["notes"])
        out = export_page(engine, library, page_document, "tei", pass_id=result["pass_id"])
        assert "points=" not in out["content"]
        assert out["content"].count("ulx=") == 1  # only the surface has it
        page = export_page(engine, library, page_document, "pagexml", pass_id=result["pass_id"])
        assert sum(loss["count"] for loss in page["losses"] if loss["what"] == "a missing outline") == 3
        file = out["content"].encode()


def test_an_empty_line_that_says_something_stays_and_a_bare_one_is_counted() -> None:
    page = one('<pb facs="#s1"/><p><lb n="1"/>a<lb n="2"/><lb n="3"/>c<lb/><lb/>d<lb xml:id="e"/></p>')
    assert [line.text for line in page.lines()] == ["a", "", "c", "d", ""]
    assert page.lines()[-1].id == "e"
    assert count_losses(page)["element lb without text of the text"] == 1


ZONES = surface(
    '<zone xml:id="z1" ulx="1" uly="1" lrx="90" lry="20"/><zone xml:id="z2" ulx="1" uly="30" lrx="90" lry="50"/>'
)
WORD = surface(
    '<zone xml:id="z1" ulx="1" uly="1" lrx="90" lry="20"><zone xml:id="w1" ulx="1" uly="1" lrx="9" lry="20"/></zone>'
)


@pytest.mark.parametrize(
    "markup",
    [
        '<gap reason="illegible"/>',
        '<hi rend="bold"> </hi>',
        "<choice><sic/><corr>word</corr></choice>",
        '<del rend="stroke">word</del>',
        '<seg type="reading"><gap reason="torn"/></seg>',
    ],
)
def test_markup_around_a_line_without_text_is_preserved(
    engine: Engine, library: Library, page_document: str, markup: str
) -> None:
    file = document(f'<pb facs="#s"/><ab><lb facs="#z1"/>{markup}<lb facs="#z2"/>hermana</ab>', ZONES)
    (page,) = DRIVER.read(file, ReadContext("a.xml"))
    assert page.kept["markup on lines without text"] == 1
    assert [line.text for line in page.lines()] == ["", "hermana"]
    given = {"document_id": page_document, "file": file, "filename": "a.xml"}
    result = engine.run(library, "format.import", given, LOCAL_OWNER).result or {}
    assert {"what": "markup on lines without text", "count": 1} in result["kept"]
    out = export_page(engine, library, page_document, "tei", pass_id=result["pass_id"])["content"]

    def inside(xml: bytes) -> list[tuple[str, dict[str, str], str]]:
        """Return the elements between the two line breaks as lxml sees them, without the wrapper that our
        profile adds.
        """
        found = cast(
            "list[etree._Element]",
            etree.fromstring(xml).xpath(
                "//*[preceding::*[local-name()='lb'] and following::*[local-name()='lb']]"
                "[ancestor::*[local-name()='ab']][not(@type='reading')]"
            ),
        )
        return [(etree.QName(item).localname, dict(item.attrib), (item.text or "").strip()) for item in found]

    assert inside(out.encode()) == inside(file)
    assert inside(file)


def test_markup_beside_a_text_added_later_is_a_loss() -> None:
    (page,) = pages(
        '<pb facs="#s"/><ab><lb facs="#z1"/><gap reason="illegible"/><lb facs="#z2"/>b</ab>', ZONES
    )
    page.lines()[0].texts = [PageText("read after all")]
    written = DRIVER.write(page, CONTEXT)
    assert "<gap" not in written.content
    assert count_losses(page)["markup of a line that had no text"] == 1


def test_markup_of_a_bare_line_and_of_a_word_without_text_is_named() -> None:
    page = one('<pb facs="#s1"/><p><lb/><hi rend="bold"> </hi><gap reason="torn"/><lb/>b</p>')
    assert count_losses(page)["element markup on a line without text of the text"] == 2
    (page,) = pages('<pb facs="#s"/><ab><lb facs="#z1"/><w facs="#w1"><gap reason="torn"/></w></ab>', WORD)
    assert count_losses(page)["element markup on a line without text of the text"] == 1


def test_markup_that_continues_across_an_empty_line_is_not_that_lines() -> None:
    (page,) = pages('<pb facs="#s"/><ab><lb facs="#z1"/><hi rend="b"><lb facs="#z2"/>b</hi></ab>', ZONES)
    assert [line.extras for line in page.lines()] == [None, None]
    assert "markup" not in " ".join(count_losses(page))


def test_verses_across_lines_do_not_break_them() -> None:
    verses = "<lg><l>Nel mezzo <lb/>del cammin</l><l>di nostra <lb/>vita</l><lg><l>mi ritrovai</l></lg></lg>"
    page = one(f'<pb facs="#s1"/>{verses}')
    assert texts(page) == ["Nel mezzo", "del cammin di nostra", "vita", "mi ritrovai"][: len(texts(page))]
    assert [line.text for line in page.lines()][:2] == ["Nel mezzo", "del cammin di nostra"]
    assert count_losses(page)["element l of the text"] == 3


def test_verses_without_line_breaks_are_lines() -> None:
    assert texts(one('<pb facs="#s1"/><lg><l>Nel mezzo</l><l>del cammin</l></lg><p>a<lb/>b</p>')) == [
        "Nel mezzo", "del cammin", "a", "b",
    ]  # fmt: skip


BLOCKS = ("p", "ab", "head", "lg", "list", "note", "fw", "signed", "salute")


@pytest.mark.parametrize("seed", range(60))
def test_no_block_of_a_text_is_lost_without_a_loss_entry(seed: int) -> None:
    """Every block, block attribute and line break that lxml counts is in the page, or among the losses of the
    export.
    """
    dice = Random(seed)
    zones, body, number = [], [], 0
    for _ in range(dice.randint(1, 7)):
        inside = []
        for _ in range(dice.randint(0, 3)):
            number += 1
            placed = dice.random() < 0.5
            if placed:
                zones.append(f'<zone xml:id="z{number}" ulx="1" uly="{number}" lrx="90" lry="{number + 1}"/>')
            facs = f' facs="#z{number}"' if placed else ""
            inside.append(f"<lb{facs}/>{dice.choice(['', 'x', f'line {number}'])}")
        name = dice.choice(BLOCKS)
        more = dice.choice(["", ' rend="indent"', ' rend="a" n="4"'])
        body.append(f"<{name}{more}>{''.join(inside)}</{name}>")
    root = etree.fromstring(document(f'<pb facs="#s"/>{"".join(body)}', surface("".join(zones))))
    (page,) = DRIVER.read(etree.tostring(root), ReadContext("a.xml"))
    losses = {
        loss.what.removeprefix("element ").removesuffix(" of the text"): loss.count
        for loss in DRIVER.write(page, CONTEXT).losses
        if loss.what.startswith("element ")
    }
    elements = cast("list[etree._Element]", root.xpath("//*[local-name()='body']/*[not(local-name()='pb')]"))
    blocks = Counter(etree.QName(element).localname for element in elements)
    regions = page.of_kind("region")
    written = [((region.extras or {}).get("tei") or {}).get("block") or {} for region in regions]
    bare = sum(1 for element in elements if etree.QName(element).localname == "ab" and not element.attrib)
    # Every block is a region of the page or counted as a loss; one that is a region but that the profile can
    # only write as `ab` is both, and an empty `ab` may be neither.
    left = sum(losses.get(name, 0) for name in BLOCKS)
    assert len(regions) + left >= sum(blocks.values()) - bare
    stated = sum(len(element.attrib) for element in elements)
    kept = sum(sum(1 for key in block if key.startswith("@")) for block in written)
    dropped = sum(count for what, count in losses.items() if what.startswith("attributes of "))
    assert kept + dropped == stated
    breaks = cast("list[etree._Element]", root.xpath("//*[local-name()='lb']"))
    assert len(page.of_kind("line")) + losses.get("lb without text", 0) == len(breaks)
