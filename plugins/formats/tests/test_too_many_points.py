"""A file of more points than any page has is refused before they are read."""

from __future__ import annotations

import pytest

from armarium.errors import Invalid
from armarium_formats.alto.driver import Alto
from armarium_formats.api import FormatDriver, ReadContext
from armarium_formats.markup.points import MOST_OF_A_FILE, MOST_OF_A_SHAPE
from armarium_formats.pagexml.driver import PageXml
from armarium_formats.tei.driver import Tei

FILES: list[tuple[FormatDriver, str]] = [
    (
        PageXml(),
        '<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"><Page imageFilename="a"'
        ' imageWidth="9" imageHeight="9">{}</Page></PcGts>|<TextRegion><Coords points="{}"/></TextRegion>',
    ),
    (
        Alto(),
        '<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Layout><Page WIDTH="9" HEIGHT="9"><PrintSpace>{}</PrintSpace>'
        '</Page></Layout></alto>|<TextBlock><Shape><Polygon POINTS="{}"/></Shape></TextBlock>',
    ),
    (
        Tei(),
        '<TEI xmlns="http://www.tei-c.org/ns/1.0"><text><body><p>{}</p></body></text></TEI>|<lb facs="{}"/>x',
    ),
]  # fmt: skip


@pytest.mark.parametrize(("driver", "shapes"), FILES, ids=["page", "alto", "tei"])
def test_too_many_points_are_refused(driver: FormatDriver, shapes: str) -> None:
    around, one = shapes.split("|")

    def read(shape: str, times: int) -> None:
        driver.read(around.format(one.format(shape) * times).encode(), ReadContext("a.xml"))

    with pytest.raises(Invalid, match=r"a shape of 100,00\d points \(line 1\); at most 100,000") as refusal:
        read("1,1 " * (MOST_OF_A_SHAPE + 1), 1)
    assert refusal.value.code == "too_many_points"
    read("1,1 2,3 " * 100, 10)
    with pytest.raises(Invalid, match="more than 500,000 points"):
        read("1,1 " * (MOST_OF_A_SHAPE - 1), MOST_OF_A_FILE // (MOST_OF_A_SHAPE - 1) + 1)
