"""Every real TEI file: read completely (counted with XPath), written in our profile, and read back unchanged."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any, cast

import pytest
from lxml import etree

from armarium.errors import Invalid
from armarium_formats.alto.driver import Alto
from armarium_formats.api import FormatDriver, PageModel, ReadContext, WriteContext
from armarium_formats.pagexml.driver import PageXml
from armarium_formats.tei.driver import Tei

DRIVER = Tei()
CONTEXT = WriteContext(created="2026-01-02T03:04:05.678Z", creator="Armarium test")

REFUSED = {"bpt6k79040t.xml": "without any page"}
"""Real files that must be refused, with words of the refusal."""

COUNTED = {
    "aphrodisias.xml": (1, 12),
    "bpt6k54275591.xml": (14, 278),
    "bpt6k56119308.xml": (10, 439),
    "btv1b55012866w.xml": (34, 581),
    "testbasic.xml": (6, 111),
    "testchinese.xml": (15, 274),
    "testtite.xml": (1, 19),
    "testtranscr.xml": (1, 35),
    "testtranscr2.xml": (2, 31),
    "testtranscr4.xml": (1, 9),
}
"""Pages and lines of each file, counted by eye."""

SILENT = ["del", "figDesc", "fs", "fvLib", "fLib", "rdg", "interp", "span", "index", "metamark", "teiHeader"]
"""Elements whose characters are not part of a page's text."""


def strings(root: etree._Element, path: str) -> list[Any]:
    return cast("list[Any]", root.xpath(path))


def parse(path: Path) -> etree._Element:
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )
    return etree.parse(str(path), parser).getroot()


def read(path: Path) -> list[PageModel]:
    return DRIVER.read(path.read_bytes(), ReadContext(path.name))


def collapse_blanks(text: str) -> str:
    return " ".join(text.split())


def facts(page: PageModel) -> dict[str, tuple[object, ...]]:
    return {
        segment.id: (
            segment.kind,
            segment.kind_raw,
            segment.points,
            segment.baseline,
            [(text.text, text.confidence, text.kind, text.extras) for text in segment.texts],
            segment.is_furniture,
            segment.language,
            segment.script,
            segment.direction,
            segment.cell,
        )
        for segment in page.walk()
    }


def test_the_file_is_read_whole_or_refused_in_words(tei_file: Path) -> None:
    assert DRIVER.sniff(tei_file.read_bytes()) >= 0.8
    if tei_file.name in REFUSED:
        with pytest.raises(Invalid, match=REFUSED[tei_file.name]):
            read(tei_file)
        return
    root = parse(tei_file)
    pages = read(tei_file)
    lines = [line for page in pages for line in page.of_kind("line")]
    if tei_file.name in COUNTED:
        assert (len(pages), len(lines)) == COUNTED[tei_file.name]
    surfaces = strings(root, "//*[local-name()='surface']")
    breaks = strings(
        root, "//*[local-name()='pb'][not(starts-with(@facs, '#')) and not(starts-with(@corresp, '#'))]"
    )
    assert len(pages) == (len(surfaces) + len(breaks) or 1)
    source = strings(root, "//*[local-name()='sourceDoc']//*[local-name()='line']")
    if source:
        assert len(lines) == len(source)
        texts = Counter(collapse_blanks(str(one.xpath("string()"))) for one in source)
        del texts[""]
        assert Counter(line.text for line in lines if line.text) == texts
        assert sum(1 for line in lines if line.baseline) == len(
            strings(root, "//*[local-name()='path'][normalize-space(@points) != '']")
        )
        assert all(len(line.texts) < 2 for line in lines)
    else:
        silent = " or ".join(f"local-name()='{name}'" for name in SILENT)
        spoken = strings(
            root,
            f"//*[local-name()='text'][not(ancestor::*[local-name()='text'])]//text()[not(ancestor::*[{silent}])]",
        )
        said = "".join("".join(str(one).split()) for one in spoken)
        assert Counter("".join("".join(line.text.split()) for line in lines)) == Counter(said)
        if len(pages) == 1 and not surfaces:
            assert "".join("".join(line.text.split()) for line in pages[0].lines()) == said


def test_what_is_written_is_of_our_profile_and_reads_the_same(tei_file: Path) -> None:
    if tei_file.name in REFUSED:
        pytest.skip("refused, as it must be")
    for page in read(tei_file):
        written = DRIVER.write(page, CONTEXT)
        assert DRIVER.validate(written.content) == []
        back = DRIVER.read(written.content.encode(), ReadContext("back"))
        assert len(back) == 1
        assert facts(back[0]) == facts(page)
        assert [segment.id for segment in back[0].in_order()] == [segment.id for segment in page.in_order()]
        assert (back[0].width, back[0].height, back[0].image) == (page.width, page.height, page.image)
        assert (back[0].language, back[0].script) == (page.language, page.script)
        assert DRIVER.write(back[0], CONTEXT).content == written.content
        left = page.extras.get("tei", {}).get("left", {})
        assert sum(loss.count for loss in written.losses if loss.what.startswith("element ")) == sum(
            map(int, left.values())
        )


def test_the_header_is_written_back_as_it_was(tei_file: Path) -> None:
    if tei_file.name in REFUSED:
        pytest.skip("refused, as it must be")
    headers = strings(parse(tei_file), "//*[local-name()='teiHeader']")
    if not headers:
        pytest.skip("the file has no header")
    content = DRIVER.write(read(tei_file)[0], CONTEXT).content
    back = etree.fromstring(content.encode()).find("{*}teiHeader")
    assert back is not None
    assert etree.tostring(back, method="c14n", with_tail=False) == re.sub(
        b"\r", b"", etree.tostring(headers[0], method="c14n", with_tail=False)
    )


def test_what_is_written_of_a_page_file_is_published_tei(
    page_file: Path, official_tei: etree.RelaxNG
) -> None:
    assert_published(PageXml(), page_file, official_tei)


def test_what_is_written_of_an_alto_file_is_published_tei(
    alto_file: Path, official_tei: etree.RelaxNG
) -> None:
    assert_published(Alto(), alto_file, official_tei)


def assert_published(driver: FormatDriver, path: Path, schema: etree.RelaxNG) -> None:
    try:
        pages = driver.read(path.read_bytes(), ReadContext(path.name))
    except Invalid:
        pytest.skip("refused, as it must be")
    for page in pages:
        root = etree.fromstring(DRIVER.write(page, CONTEXT).content.encode())
        assert schema.validate(root), schema.error_log


def test_what_is_written_of_a_tei_file_is_published_tei(tei_file: Path, official_tei: etree.RelaxNG) -> None:
    """Without the markup inside lines, which is written as it was in whatever block contains it now."""
    if tei_file.name in REFUSED:
        pytest.skip("refused, as it must be")
    for page in read(tei_file):
        for segment in page.walk():
            for text in segment.texts:
                text.extras, text.marks = None, [mark for mark in text.marks if "tei" not in mark.source]
        root = etree.fromstring(DRIVER.write(page, CONTEXT).content.encode())
        assert official_tei.validate(root), official_tei.error_log
