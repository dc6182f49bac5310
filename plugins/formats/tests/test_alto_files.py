"""Every real ALTO file: read completely (counted with XPath), written validly, read back unchanged, and
imported and exported.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from conftest import alto_files
from lxml import etree

from armarium.errors import Invalid
from armarium.principals import LOCAL_OWNER
from armarium_formats.alto.driver import Alto
from armarium_formats.api import PageModel, ReadContext, WriteContext
from armarium_formats.pagexml.driver import PageXml
from armarium_formats.queries.exchange import export_page

if TYPE_CHECKING:
    from armarium.api import Engine
    from armarium.projects.libraries import Library

DRIVER = Alto()
CONTEXT = WriteContext(created="2026-01-02T03:04:05.678Z", creator="Armarium test")

REFUSED = {"alto.xml": "not well-formed"}
"""Real files that must be refused, with words of the refusal."""

WHOLE_LINES = (
    "[count(*[local-name()='String'])=1 and not(*[local-name()='HYP']) and not(*[local-name()='String']/@ID)]"
)


def strings(root: etree._Element, path: str) -> list[str]:
    return [str(one) for one in cast("list[Any]", root.xpath(path))]


def count(root: etree._Element, path: str) -> int:
    return int(cast(float, root.xpath(f"count({path})")))


def line_texts(root: etree._Element) -> list[str]:
    """Return the texts of the lines by XPath alone: the contents joined by blanks where there is an SP; where
    the line has no SP, everywhere, except between touching Strings in a file that uses SP.
    """
    found: list[str] = []
    with_sp = count(root, "//*[local-name()='TextLine'][count(*[local-name()='String'])>1][*[local-name()='SP'][preceding-sibling::*[local-name()='String']][following-sibling::*[local-name()='String']]]")  # fmt: skip
    says = 2 * with_sp > count(root, "//*[local-name()='TextLine'][count(*[local-name()='String'])>1]")
    for line in cast("list[etree._Element]", root.xpath("//*[local-name()='TextLine']")):
        between = (
            "" if line.xpath("*[local-name()='SP'][following-sibling::*[local-name()='String']]") else " "
        )
        apart = [
            float(after) - float(before) - float(width)
            for before, width, after in zip(
                strings(line, "*[local-name()='String']/@HPOS"),
                strings(line, "*[local-name()='String']/@WIDTH"),
                strings(line, "*[local-name()='String']/@HPOS")[1:],
                strict=False,
            )
        ]
        if says and max(apart, default=9) <= 0:
            between = ""
        parts = "*[local-name()='String'] | *[local-name()='SP'][following-sibling::*[local-name()='String']]"
        pieces = [
            " " if str(part.tag).endswith("}SP") else str(part.get("CONTENT"))
            for part in cast("list[etree._Element]", line.xpath(parts))
        ]
        text = between.join(pieces)
        text += "".join(strings(line, "*[local-name()='HYP']/@CONTENT"))
        found.append(text)
    return found


def facts(page: PageModel) -> list[tuple[object, ...]]:
    return [
        (
            segment.id, segment.kind, segment.kind_raw, segment.points, segment.baseline, [(text.text, text.confidence, text.extras) for text in segment.texts],
            segment.language, segment.direction, segment.is_furniture, segment.extras,
        )
        for segment in page.walk()
    ]  # fmt: skip


def read(path: Path) -> PageModel:
    return DRIVER.read(path.read_bytes(), ReadContext(path.name))[0]


def test_the_file_is_read_whole_or_refused_in_words(alto_file: Path) -> None:
    assert DRIVER.sniff(alto_file.read_bytes()) == 1.0
    if alto_file.name in REFUSED:
        with pytest.raises(Invalid, match=REFUSED[alto_file.name]):
            read(alto_file)
        return
    root = etree.parse(str(alto_file)).getroot()
    page = read(alto_file)
    assert len(page.of_kind("line")) == count(root, "//*[local-name()='TextLine']")
    blocks = ("TextBlock", "Illustration", "GraphicalElement", "ComposedBlock")
    assert len(page.of_kind("region")) == sum(count(root, f"//*[local-name()='{name}']") for name in blocks)
    all_strings = count(root, "//*[local-name()='String']")
    several = count(root, "//*[local-name()='TextLine'][count(*[local-name()='String'][not(@ID)])>1]")
    whole = 0 if several else count(root, f"//*[local-name()='TextLine']{WHOLE_LINES}")
    assert len(page.of_kind("word")) == all_strings - whole
    texts = [text for text in line_texts(root) if text]
    assert [line.text for line in page.of_kind("line") if line.text] == texts
    alternatives = count(root, "//*[local-name()='ALTERNATIVE']")
    assert sum(len(segment.texts) - 1 for segment in page.of_kind("word") if segment.texts) == alternatives
    contents = Counter(strings(root, "//*[local-name()='String']/@CONTENT"))
    assert not Counter(word.text for word in page.of_kind("word") if word.text) - contents
    assert sum(1 for segment in page.walk() if segment.baseline) == count(root, "//*[@BASELINE]")
    references = set(" ".join(strings(root, "//*[local-name()='ElementRef']/@REF")).split())
    named = {node.segment_id for node in page.order.walk()} - {None} if page.order else set()
    assert named == references & {segment.id for segment in page.walk()}


def test_what_is_written_is_valid_and_reads_the_same(alto_file: Path) -> None:
    if alto_file.name in REFUSED:
        pytest.skip("refused, as it must be")
    page = read(alto_file)
    written = DRIVER.write(page, CONTEXT)
    assert DRIVER.validate(written.content) == []
    # What ALTO 4.4 does not allow as it is comes back, but only here.
    assert {loss.what for loss in written.losses if "only Armarium" not in loss.why} <= {"the image's name"}
    back = DRIVER.read(written.content.encode(), ReadContext("back"))[0]
    assert facts(back) == facts(page)
    assert [segment.id for segment in back.in_order()] == [segment.id for segment in page.in_order()]
    assert (back.width, back.height, back.image, back.language) == (
        page.width,
        page.height,
        page.image,
        page.language,
    )
    for key in ("styles", "tags", "description", "source"):
        assert back.extras.get("alto", {}).get(key) == page.extras.get("alto", {}).get(key)
    assert DRIVER.write(back, CONTEXT).content == written.content


def test_converted_to_page_xml_and_back_texts_ids_order_and_baselines_are_the_same(alto_file: Path) -> None:
    if alto_file.name in REFUSED:
        pytest.skip("refused, as it must be")
    page = read(alto_file)
    other_page_xml = PageXml()
    content = other_page_xml.write(page, CONTEXT).content
    assert other_page_xml.validate(content) == []
    back = other_page_xml.read(content.encode(), ReadContext("back"))[0]
    again = DRIVER.read(DRIVER.write(back, CONTEXT).content.encode(), ReadContext("again"))[0]
    kept = [
        [
            (segment.id, segment.kind, segment.text, segment.baseline if len(segment.baseline) > 1 else [])
            for segment in each.in_order()
        ]
        for each in (page, back, again)
    ]
    assert kept[0] == kept[1] == kept[2]


def test_exports_are_valid_by_the_published_schema(alto_file: Path, official_alto: etree.XMLSchema) -> None:
    if alto_file.name in REFUSED:
        pytest.skip("refused, as it must be")
    root = etree.fromstring(DRIVER.write(read(alto_file), CONTEXT).content.encode())
    assert official_alto.validate(root), official_alto.error_log
    raw = etree.parse(str(alto_file)).getroot()
    if raw.tag == root.tag:  # a file that declares ALTO 4: both schemas must judge the original alike too
        ours = DRIVER.validate(etree.tostring(raw, encoding="unicode"))
        dangling = [problem for problem in ours if "does not exist" in problem]
        assert bool(ours) == (not official_alto.validate(raw) or bool(dangling)), (
            ours,
            official_alto.error_log,
        )


NOT_IMPORTED = {
    "alto.xml": "not well-formed",
    "invalid_dims.xml": "does not declare the size of its page",
    "zero_dims.xml": "does not declare the size of its page",
    "invalid_zero_dims_missing_image.xml": "does not declare the size of its page",
}
"""Files that cannot be imported into a page without a picture, with words of the refusal."""

DIALECTS = (
    "odd/alto/",
    "kraken-tiny",
    "caroline",
    "wills/0016",
    "wills/0025",
    "3-4_0016",
    "bronod/alto/0041",
)


def test_project_to_alto_and_back_is_the_same(engine: Engine, library: Library) -> None:
    files = [path for path in alto_files() if any(dialect in path.as_posix() for dialect in DIALECTS)]
    if not files:
        pytest.skip("no shared data here (set ARMARIUM_SHARED_DATA)")
    for path in files:
        if path.stat().st_size > 200_000:
            continue  # the large ones are only converted between files, in the tests above
        result = engine.run(library, "document.create", {"name": path.name, "doc_type": "page"}, LOCAL_OWNER)
        document = str((result.result or {})["id"])
        given = {"document_id": document, "file": path.read_bytes(), "filename": path.name}
        if path.name in NOT_IMPORTED:
            with pytest.raises(Invalid, match=NOT_IMPORTED[path.name]):
                engine.run(library, "format.import", given, LOCAL_OWNER)
            continue
        first = read(path)
        one = through(engine, library, given)
        back = DRIVER.read(one.encode(), ReadContext("one"))[0]
        assert texts_of(back) == texts_of(first), path.name
        assert [segment.id for segment in back.in_order()] == [segment.id for segment in first.in_order()], (
            path.name
        )
        assert [segment.kind_raw for segment in back.walk()] == [
            segment.kind_raw for segment in first.walk()
        ], path.name
        assert [segment.extras for segment in back.walk()] == [segment.extras for segment in first.walk()], (
            path.name
        )
        baselines = [[(round(x), round(y)) for x, y in segment.baseline] for segment in first.walk()]
        assert [segment.baseline for segment in back.walk()] == baselines, path.name
        two = through(engine, library, given | {"file": one.encode(), "filename": "again.xml"})
        assert strip_date(two) == strip_date(one), path.name


def through(engine: Engine, library: Library, given: dict[str, Any]) -> str:
    result = engine.run(library, "format.import", given, LOCAL_OWNER).result or {}
    assert result["format"] == "alto"
    return str(
        export_page(engine, library, given["document_id"], "alto", pass_id=result["pass_id"])["content"]
    )


def strip_date(content: str) -> str:
    return "\n".join(line for line in content.split("\n") if '<Processing ID="armarium_' not in line)


def texts_of(page: PageModel) -> list[tuple[str, list[tuple[str, float | None]]]]:
    return [
        (segment.id, [(text.text, text.confidence) for text in segment.texts if text.text.strip()])
        for segment in page.walk()
    ]
