"""Every real PAGE file: read completely (counted with XPath), written validly, and read back unchanged."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import cast

import pytest
from lxml import etree

from armarium.errors import Invalid
from armarium_formats.api import PageModel, ReadContext, WriteContext
from armarium_formats.pagexml.driver import PageXml

DRIVER = PageXml()
CONTEXT = WriteContext(created="2026-01-02T03:04:05.678Z", creator="Armarium test")

REFUSED = {
    "pagexml.xml": "not well-formed",
}
"""Real files that must be refused, with words of the refusal."""


def count(root: etree._Element, path: str) -> int:
    return int(cast(float, root.xpath(f"count({path})")))


def every(root: etree._Element, path: str) -> list[etree._Element]:
    return cast("list[etree._Element]", root.xpath(path))


def root_text(equiv: etree._Element) -> str:
    """Return the Unicode element's text, else the PlainText's."""
    return str(equiv.xpath("string(*[local-name()='Unicode'])")) or str(
        equiv.xpath("string(*[local-name()='PlainText'])")
    )


def current_names(root: etree._Element) -> etree._Element:
    """Rename the elements of a file in the dialect of 2009 to the names counted here; leave others unchanged."""
    names = {"text_equiv": "TextEquiv", "unicode": "Unicode", "text_line": "TextLine", "word": "Word"}
    for element in root.iter("{*}*"):
        tag = str(element.tag).rpartition("}")[2]
        element.tag = names.get(tag, tag.replace("_region", "Region"))
    return root


def facts(page: PageModel) -> list[tuple[object, ...]]:
    return [
        (
            segment.id,
            segment.kind,
            [(text.text, text.confidence) for text in segment.texts],
            segment.baseline if len(segment.baseline) > 1 else [],
            segment.position,
            segment.language,
            segment.script,
            segment.direction,
            segment.cell,
            segment.is_furniture,
        )
        for segment in page.walk()
    ]


def read(path: Path) -> PageModel:
    return DRIVER.read(path.read_bytes(), ReadContext(path.name))[0]


def test_the_file_is_read_whole_or_refused_in_words(page_file: Path) -> None:
    if page_file.name in REFUSED:
        with pytest.raises(Invalid, match=REFUSED[page_file.name]):
            read(page_file)
        return
    root = current_names(etree.parse(str(page_file)).getroot())
    page = read(page_file)
    assert len(page.of_kind("line")) == count(root, "//*[local-name()='TextLine']")
    assert len(page.of_kind("word")) == count(root, "//*[local-name()='Word']")
    regions = "//*[substring(local-name(), string-length(local-name()) - 5) = 'Region'] | //*[local-name()='TableCell']"
    assert len(page.of_kind("region")) == count(root, regions)
    for tag, parts in (("TextLine", page.of_kind("line")), ("Word", page.of_kind("word"))):
        stated = count(root, f"//*[local-name()='{tag}']/*[local-name()='TextEquiv']")
        assert sum(len(part.texts) for part in parts) == stated
    equivs = every(root, "//*[local-name()='TextEquiv'][not(ancestor::*[local-name()='Glyph'])]")
    texts = Counter(root_text(equiv) for equiv in equivs)
    assert Counter(text.text for segment in page.walk() for text in segment.texts) == texts
    assert sum(1 for segment in page.walk() if segment.baseline) == count(
        root, "//*[local-name()='Baseline'][normalize-space(@points) != '']"
    )
    references = {
        one.get("regionRef") for one in every(root, "//*[local-name()='ReadingOrder']//*[@regionRef]")
    }
    named = {node.segment_id for node in page.order.walk()} - {None} if page.order else set()
    assert named == references & {segment.id for segment in page.walk()}


def test_what_is_written_is_valid_and_reads_the_same(page_file: Path) -> None:
    if page_file.name in REFUSED:
        pytest.skip("refused, as it must be")
    page = read(page_file)
    written = DRIVER.write(page, CONTEXT)
    assert DRIVER.validate(written.content) == []
    back = DRIVER.read(written.content.encode(), ReadContext("back"))[0]
    assert facts(back) == facts(page)
    assert [segment.id for segment in back.in_order()] == [segment.id for segment in page.in_order()]
    assert (back.width, back.height, back.image or "unknown") == (
        page.width,
        page.height,
        page.image or "unknown",
    )
    assert DRIVER.write(back, CONTEXT).content == written.content


def test_what_the_model_has_no_field_for_is_written_back(page_file: Path) -> None:
    if page_file.name in REFUSED:
        pytest.skip("refused, as it must be")
    page = read(page_file)
    back = DRIVER.read(DRIVER.write(page, CONTEXT).content.encode(), ReadContext("back"))[0]
    back.kept.pop("element Metadata/MetadataItem", None)
    page.kept.pop("element Metadata/MetadataItem", None)
    if page.version == "2009-03-16":  # kinds of regions that later versions lack are written to `custom`
        back.kept.pop("attribute TextRegion/@custom", None)
    assert written_names(back) == written_names(page)


def written_names(page: PageModel) -> dict[str, int]:
    """Return the counts of preserved elements, with those that PAGE 2019 lacks under the names they are
    written with.
    """
    return {
        key.replace("TableCell/", "TextRegion/").replace("FrameRegion/", "CustomRegion/"): number
        for key, number in page.kept.items()
    }


def test_our_schema_and_the_published_one_agree(page_file: Path, official_schema: etree.XMLSchema) -> None:
    if page_file.name in REFUSED:
        pytest.skip("refused, as it must be")
    root = etree.fromstring(DRIVER.write(read(page_file), CONTEXT).content.encode())
    assert official_schema.validate(root), official_schema.error_log
    raw = etree.parse(str(page_file)).getroot()
    if raw.tag == root.tag:  # a file that declares 2019-07-15: both schemas must judge the original alike too
        for key in [key for key in raw.attrib if str(key).startswith("{")]:
            del raw.attrib[key]
        ours = DRIVER.validate(etree.tostring(raw, encoding="unicode"))
        assert bool(ours) != official_schema.validate(raw), (ours, official_schema.error_log)
