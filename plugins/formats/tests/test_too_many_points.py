"""A file with more points than any page has is refused before they are read, by the same rule in every
format.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from armarium.errors import Invalid
from armarium_formats.abbyy.driver import Abbyy
from armarium_formats.alto.driver import Alto
from armarium_formats.api import FormatDriver, ReadContext
from armarium_formats.hocr.driver import Hocr
from armarium_formats.labels.points import QgisPoints
from armarium_formats.labels.yolo import Yolo
from armarium_formats.pagexml.driver import PageXml
from armarium_formats.tei.driver import Tei
from armarium_testing.samples import sample

PAGE = '<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/{}"><Page imageFilename="a" imageWidth="9" imageHeight="9">{}</Page></PcGts>'
ALTO = '<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Layout><Page WIDTH="9" HEIGHT="9"><PrintSpace>{}</PrintSpace></Page></Layout></alto>'
TEI = '<TEI xmlns="http://www.tei-c.org/ns/1.0"><text><body><p>{}</p></body></text></TEI>'
HOCR = '<html><body><div class="ocr_page" title="bbox 0 0 9 9">{}</div></body></html>'
ABBYY = '<document xmlns="http://www.abbyy.com/FineReader_xml/FineReader10-schema-v1.xml"><page width="9" height="9">{}</page></document>'

Made = Callable[[int, int], str]
"""A function that makes a file of this many shapes with this many points each."""


def shapes(around: str, one: str, point: str) -> Made:
    return lambda count, points: around.format(one.format(point * points) * count)


FILES: dict[str, tuple[FormatDriver, Made]] = {
    "page": (PageXml(), shapes(PAGE.format("2019-07-15", "{}"), '<TextRegion><Coords points="{}"/></TextRegion>', "1,1 ")),
    "page-glued": (PageXml(), shapes(PAGE.format("2019-07-15", "{}"), '<TextRegion><Coords points="1,1{}"/></TextRegion>', "-1,1")),
    "page-2010": (PageXml(), shapes(PAGE.format("2010-03-19", "{}"), "<TextRegion><Coords>{}</Coords></TextRegion>", '<Point x="1" y="1"/>')),
    "alto": (Alto(), shapes(ALTO, '<TextBlock><Shape><Polygon POINTS="{}"/></Shape></TextBlock>', "1 1 ")),
    "alto-in-lines": (Alto(), shapes(ALTO, '<TextBlock><Shape><Polygon POINTS="{}"/></Shape></TextBlock>', "1&#10;1&#10;")),
    "alto-one-comma": (Alto(), shapes(ALTO, '<TextBlock><TextLine BASELINE="1,1 {}"/></TextBlock>', "1 1 ")),
    "tei": (Tei(), shapes(TEI, '<lb facs="{}"/>x', "1,1 ")),
    "hocr": (Hocr(), shapes(HOCR, '<span class="ocr_line" title="bbox 0 0 9 9; poly {}">x</span>', "1 1 ")),
    "hocr-baseline": (Hocr(), shapes(HOCR, '<span class="ocr_line" title="baseline {}; bbox 0 0 9 9">x</span>', "1,1 ")),
    "abbyy": (Abbyy(), shapes(ABBYY, '<block blockType="Text"><region>{}</region></block>', '<rect l="1" t="1" r="2" b="2"/>')),
    "yolo": (Yolo(), shapes("{}", "0 {}\n", ".1 .1 ")),
}  # fmt: skip

CORNERS = {"abbyy": 4}
"""Points by which one part of a shape is counted."""


@pytest.mark.parametrize("kind", sample([*FILES], 6))
def test_too_many_points_are_refused(kind: str) -> None:
    driver, made = FILES[kind]
    each = CORNERS.get(kind, 1)

    def read(count: int, points: int) -> None:
        driver.read(made(count, points // each).encode(), ReadContext("a.file", page_size=(9, 9)))

    with pytest.raises(
        Invalid, match=r"^a\.file contains a shape of more than 100,000 points \(line \d+\); at most 100,000 "
    ) as refusal:
        read(1, 100_004)
    assert refusal.value.code == "too_many_points"
    # The limit on XML elements, half a million, is checked before points are counted.
    more = (
        "tags and attributes"
        if kind == "page-2010"
        else r"more than 500,000 points \(line \d+\); at most 500,000 "
    )
    with pytest.raises(Invalid, match=more):
        read(6, 99_980)
    with pytest.raises(Invalid, match=more):
        read(26_000, 20)  # each shape too small to be checked alone
    read(5, 40_000)


def test_control_points_have_the_limit_of_one_shape() -> None:
    data = b"mapX,mapY,sourceX,sourceY\n" + b"1,1,1,1\n" * 100_001
    with pytest.raises(Invalid, match="more than 100,000 points"):
        QgisPoints().read(data, ReadContext("a.points"))


def test_circles_and_ellipses_count_by_the_corners_of_their_polygons() -> None:
    ellipse = '<TextBlock><Shape><Ellipse HPOS="4" VPOS="4" HLENGTH="2" VLENGTH="2"/></Shape></TextBlock>'
    with pytest.raises(Invalid, match="more than 500,000 points"):
        Alto().read(ALTO.format(ellipse * 15_000).encode(), ReadContext("a.xml"))
    Alto().read(ALTO.format(ellipse * 100).encode(), ReadContext("a.xml"))
