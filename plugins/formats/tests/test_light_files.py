"""Real hOCR, label and text files: each is recognised, and its contents equal an independent count by regular
expressions.
"""

from __future__ import annotations

import html
import os
import re
from collections import Counter
from pathlib import Path

import pytest

from armarium.errors import Invalid
from armarium_formats.abbyy.driver import Abbyy
from armarium_formats.api import FormatDriver, ReadContext
from armarium_formats.hocr.driver import Hocr
from armarium_formats.labels.boxes import TesseractBox
from armarium_formats.labels.points import QgisPoints
from armarium_formats.labels.yolo import Yolo
from armarium_formats.pagexml.driver import PageXml
from armarium_formats.plain_text import PlainText
from armarium_testing.formats import sound

DRIVERS: tuple[FormatDriver, ...] = (
    Hocr(),
    Abbyy(),
    Yolo(),
    TesseractBox(),
    QgisPoints(),
    PageXml(),
    PlainText(),
)
FOLDERS = ("hocr", "yolo", "odd/hocr", "odd/abbyy")
PICTURES = {".png", ".jpg", ".tif"}
SIZE = (1000, 1400)

WITHOUT_A_LINE_OR_WORD = {
    "notok-carea.html",
    "notok-par.html",
    "notok-system.html",
    "notok-typo.html",
    "test.hocr",
}
STRANGERS = {"FineReader10-schema-v1.xml"}
"""Files in these folders that are no page in any format."""
LISTS = {"classes.txt"}
"""Files next to labels that are text, not labels."""


def shared_data() -> Path | None:
    answer = os.environ.get("ARMARIUM_SHARED_DATA")
    folder = Path(answer) if answer else Path(__file__).resolve().parents[4] / "shared" / "data"
    return folder if folder.is_dir() else None


def files_in(*folders: str) -> list[Path]:
    root = shared_data()
    found = [path for folder in folders for path in sorted((root / folder).rglob("*"))] if root else []
    return [path for path in found if path.is_file() and path.suffix.lower() not in PICTURES]


def each(*folders: str) -> pytest.MarkDecorator:
    files = files_in(*folders)
    if files:
        return pytest.mark.parametrize(
            "path", files, ids=[f"{path.parent.name}/{path.name}" for path in files]
        )
    skipped = pytest.param(
        None, marks=pytest.mark.skip(reason="no shared data here (set ARMARIUM_SHARED_DATA)")
    )
    return pytest.mark.parametrize("path", [skipped])


def known_as(data: bytes) -> str | None:
    best = max(DRIVERS, key=lambda driver: driver.sniff(data))
    return best.name if best.sniff(data) > 0 else None


@each(*FOLDERS)
def test_every_file_is_recognised(path: Path) -> None:
    expected: str | None = "yolo" if "yolo" in path.parts else "hocr"
    if path.name in STRANGERS:
        expected = None
    elif path.name in LISTS:
        expected = "plain-text"
    assert known_as(path.read_bytes()) == expected


def spans(text: str, name: str) -> list[tuple[str, str]]:
    """Return the title and content of each span of a class, by regular expression; spans of one class never
    nest.
    """
    pattern = rf"<span[^>]*?\bclass=['\"]{name}['\"]([^>]*)>(.*?)</span>"
    return [(found.group(1), found.group(2)) for found in re.finditer(pattern, text, re.DOTALL)]


def bare(inside: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", inside)).replace("\xa0", "\ue000").split()).replace(
        "\ue000", "\xa0"
    )


@each("hocr", "odd/hocr")
def test_hocr_is_read_completely(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    pages = Hocr().read(path.read_bytes(), ReadContext(path.name, SIZE))
    for page in pages:
        sound(page, path.name)
    assert len(pages) == len(re.findall(r"class=['\"]ocr_page['\"]", text))
    words = [word for page in pages for word in page.of_kind("word")]
    stated_spans = spans(text, "ocrx_word")
    assert Counter(word.text for word in words) == Counter(bare(inside) for _, inside in stated_spans)
    lines = [line for page in pages for line in page.of_kind("line")]
    assert len(lines) == len(re.findall(r"class=['\"]ocr_line['\"]", text))
    if not stated_spans:
        assert Counter(line.text for line in lines) == Counter(
            bare(inside) for _, inside in spans(text, "ocr_line")
        )
    for line in lines:
        if line.children:
            assert line.text == " ".join(word.text for word in line.children if word.text)
    regions = sum(len(re.findall(rf"class=['\"]{name}['\"]", text)) for name in ("ocr_carea", "ocr_par"))
    found_pages = [
        segment for page in pages for segment in page.of_kind("region") if segment.kind_raw != "ocr_page"
    ]
    assert len(found_pages) == regions
    boxes = Counter(
        tuple(map(int, numbers))
        for attributes, _ in stated_spans
        for numbers in re.findall(r"bbox (\d+) (\d+) (\d+) (\d+)", attributes)
    )
    assert Counter((*word.points[0], *word.points[2]) for word in words) == boxes
    sure = [
        float(number)
        for attributes, inside in stated_spans
        if bare(inside)
        for number in re.findall(r"x_wconf (\d+)", attributes)
    ]
    assert sorted(word.texts[0].confidence or 0 for word in words if word.texts) == pytest.approx(
        sorted(number / 100 for number in sure)
    )
    if path.name in WITHOUT_A_LINE_OR_WORD:
        assert not lines
    elif path.name != "notok-line.html":
        assert lines


@each("yolo")
def test_labels_are_read_completely(path: Path) -> None:
    if path.name in LISTS:
        return
    companions = (
        {"classes.txt": (path.parents[1] / "classes.txt").read_bytes()}
        if (path.parents[1] / "classes.txt").is_file()
        else {}
    )
    page = Yolo().read(path.read_bytes(), ReadContext(path.name, SIZE, companions))[0]
    sound(page, path.name)
    rows = [row.split() for row in path.read_text().splitlines() if row.strip()]
    assert len(page.segments) == len(rows)
    names = companions["classes.txt"].decode().split() if companions else []
    for segment, (number, *values) in zip(page.segments, rows, strict=True):
        assert segment.kind_raw == (names[int(number)] if names else f"class {number}")
        if len(values) == 4:
            x, y, width, height = map(float, values)
            assert segment.points[0] == pytest.approx(
                ((x - width / 2) * 1000, (y - height / 2) * 1400), abs=0.01
            )
            assert segment.points[2] == pytest.approx(
                ((x + width / 2) * 1000, (y + height / 2) * 1400), abs=0.01
            )
        else:
            assert len(segment.points) == len(values) // 2
            assert segment.points[-1] == pytest.approx(
                (float(values[-2]) * 1000, float(values[-1]) * 1400), abs=0.01
            )
    assert page.unknown_classes == (sorted({names[int(row[0])] for row in rows}) if names else ["0"])
    with pytest.raises(Invalid, match="does not declare the size of its page"):
        Yolo().read(path.read_bytes(), ReadContext(path.name))


def test_transcriptions_are_read_line_by_line() -> None:
    files = [path for path in files_in("lines-toebler") if path.name.endswith(".txt")]
    if not files:
        pytest.skip("no shared data here (set ARMARIUM_SHARED_DATA)")
    for path in files:
        data = path.read_bytes()
        assert known_as(data) == "plain-text", path.name
        rows = [row.rstrip() for row in re.split(r"\r\n|\r|\n", data.decode("utf-8-sig")) if row.strip()]
        assert [line.text for line in PlainText().read(data, ReadContext(path.name, SIZE))[0].lines()] == rows


@each("odd/abbyy")
def test_the_schema_of_a_format_is_no_page_of_it(path: Path) -> None:
    with pytest.raises(Invalid, match="its root element is schema, not document"):
        Abbyy().read(path.read_bytes(), ReadContext(path.name))
