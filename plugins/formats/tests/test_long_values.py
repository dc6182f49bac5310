"""Values hundreds of thousands of characters long are read or refused in linear time.

A regular expression that can split a value in many ways backtracks through all of them; such a file could
block the engine for hours. These tests measure no time: a pattern that backtracks would not return before the
test run ends.
"""

from __future__ import annotations

import pytest
from driver_case import CONTEXT

from armarium.api import Invalid
from armarium_formats.alto.driver import Alto
from armarium_formats.api import Format, ReadContext
from armarium_formats.hocr.driver import Hocr
from armarium_formats.labels.boxes import TesseractBox
from armarium_formats.labels.names import class_names
from armarium_formats.labels.yolo import Yolo
from armarium_formats.pagexml.driver import PageXml
from armarium_formats.tei.driver import Tei
from armarium_testing.samples import sample

MANY = 200_000
VALUES = {
    "digits": "1" * MANY + "x",
    "letters": "a" * MANY,
    "blanks": "1" + " " * MANY + "x",
    "braces": "a{" * (MANY // 2),
    "signs": "-1" * (MANY // 2),
    "dots": "1." * (MANY // 2),
    "pairs": "1,1 " * (MANY // 4) + "x",
    "words": "structure {" * (MANY // 20),
    "boxes": "bbox 1 2 3 4 " * (MANY // 20),
    "comments": "&lt;!--" * (MANY // 8),
}

PAGE = """<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"><Page imageFilename="a" imageWidth="9" imageHeight="9">
<TextRegion id="r" custom="{0}" orientation="{0}" primaryLanguage="{0}"><Coords points="{0}" conf="{0}"/>
<TextLine id="{0}" index="{0}"><Coords points="1,1 2,1 2,2"/><TextEquiv conf="{0}"><Unicode>{0}</Unicode></TextEquiv></TextLine></TextRegion></Page></PcGts>"""
ALTO = """<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Layout><Page ID="p" WIDTH="9" HEIGHT="9" ACCURACY="{0}"><PrintSpace>
<TextBlock ID="b" HPOS="{0}" ROTATION="{0}" LANG="{0}"><Shape><Polygon POINTS="{0}"/></Shape><TextLine BASELINE="{0}">
<String ID="{0}" CONTENT="{0}" WC="{0}"/></TextLine></TextBlock></PrintSpace></Page></Layout></alto>"""
TEI = """<TEI xmlns="http://www.tei-c.org/ns/1.0"><facsimile><surface ulx="{0}" uly="0" lrx="9" lry="9"><graphic url="{0}" width="{0}" height="9px"/>
<zone xml:id="z" points="{0}" style="{0}" cert="{0}" xml:lang="{0}" type="{0}"><path points="{0}"/></zone></surface></facsimile>
<text><body><p facs="#z" rend="{0}"><lb facs="{0}"/>{0}</p></body></text></TEI>"""
HOCR = """<div class="ocr_page" title="bbox 0 0 9 9; image {0}"><span class="ocr_line" lang="{0}" title="bbox {0}; poly {0}; baseline {0}; {0}">
<span class="ocrx_word" title="x_wconf {0}; bbox 1 1 2 2">{0}</span></span></div>"""

FILES: dict[str, tuple[Format, str]] = {
    "pagexml": (PageXml(), PAGE),
    "alto": (Alto(), ALTO),
    "tei": (Tei(), TEI),
    "hocr": (Hocr(), HOCR),
    "yolo": (Yolo(), "0 {0} 0.5 0.5 0.5\n"),
    "tesseract-box": (TesseractBox(), "a 1 2 {0} 4 0\n"),
}


@pytest.mark.parametrize("value", sample([*VALUES], 5))
@pytest.mark.parametrize("name", FILES)
def test_values_are_read_or_refused_without_backtracking(name: str, value: str) -> None:
    driver, file = FILES[name]
    data = file.replace("{0}", VALUES[value]).encode()
    driver.sniff(data)
    try:
        pages = driver.read(data, ReadContext("long", (9, 9)))
    except Invalid:
        return
    for writer in (PageXml(), Alto(), Tei()):
        for page in pages:
            writer.write(page, CONTEXT)


@pytest.mark.parametrize("value", VALUES)
def test_names_and_labels_are_parsed_without_backtracking(value: str) -> None:
    stated = VALUES[value]
    class_names({"data.yaml": f"names:{stated}\n- {stated}\n 1{stated}: a\n".encode()})
