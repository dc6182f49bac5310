"""Every real file is recognised and read, or refused with a sentence; its lines and texts are counted with
XPath.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import shared_data
from lxml import etree

from armarium.api import Engine
from armarium_formats.trial import Row, trial, write_table

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Row]:
    """The table of all real files, written to CSV and read again."""
    folder = shared_data()
    if folder is None:
        pytest.skip("no shared data here (set ARMARIUM_SHARED_DATA)")
    target = tmp_path_factory.mktemp("table") / "real files.csv"
    rows = {row.file: row for row in trial(Engine(), folder)}
    assert write_table(iter(rows.values()), target) == len(rows)
    with target.open(encoding="utf-8", newline="") as file:
        assert [row["file"] for row in csv.DictReader(file)] == list(rows)
    return rows


def test_each_file_is_recognised_or_refused_in_words(table: dict[str, Row]) -> None:
    assert len(table) > 1000
    silent = [row.file for row in table.values() if not row.recognised_as and not row.refused_why]
    assert silent == []
    rude = [
        row.file for row in table.values() if row.refused_why and not row.refused_why.rstrip().endswith(".")
    ]
    assert rude == []
    broken = [row.file for row in table.values() if "the driver failed" in row.refused_why]
    assert broken == []


def test_exactly_the_faulty_files_are_refused(table: dict[str, Row]) -> None:
    """The refused files are listed by name, so that any change is examined by a person."""
    others = ("yolo/", "schemas/", "hand-lines/")
    refused = {row.file for row in table.values() if row.refused_why and not row.file.startswith(others)}
    assert refused == {
        # CSV tables are no plain text.
        "MANIFEST.csv",
        "series-wills/boundaries.csv",
        # No page in the file, or no format at all.
        "LICENSES/michaelscho+bdd-segmentation-data.txt",
        "odd/abbyy/FineReader10-schema-v1.xml",
        "odd/tei/bpt6k79040t.xml",
        # Not well-formed.
        "odd/alto/alto.xml",
        "odd/page/pagexml.xml",
        # An invalid size, and no picture.
        "odd/alto/invalid_dims.xml",
        "odd/alto/invalid_zero_dims_missing_image.xml",
        "odd/hocr/notok-system.html",
        "odd/hocr/notok-typo.html",
        "odd/page/invalid_dims.xml",
        "odd/page/invalid_zero_dims_missing_image.xml",
    }
    # Boxes in fractions of pictures whose licence does not let them be passed on.
    assert all("no picture" in row.refused_why for row in table.values() if "/labels/" in row.file)


def test_shapes_beyond_the_page_are_clipped_with_a_note(table: dict[str, Row]) -> None:
    told = {
        row.file: int(found[1])
        for row in table.values()
        if (
            found := re.search(
                r"beyond the page, (?:the farthest )?by (\d+) pixels; what lies on the", row.notes
            )
        )
    }
    assert told == {
        "odd/alto/PPN720183197-PHYS_0004.xml": 10,
        "odd/page/bdd_kraken_B_0573.xml": 36,
        "odd/page/bdd_transkribus_B_0293.xml": 50,
        "odd/page/bdd_transkribus_B_0573.xml": 36,
    }
    assert [name for name in told if table[name].refused_why] == []


def test_what_is_written_of_each_file_is_valid(table: dict[str, Row]) -> None:
    assert [(row.file, row.losses) for row in table.values() if "INVALID" in row.losses] == []


def _find_file(name: str) -> str:
    return f"*[local-name()='{name}']"


def _xml(data: bytes) -> etree._Element:
    return etree.fromstring(data, etree.XMLParser(resolve_entities=False, huge_tree=True))


def _page(data: bytes) -> tuple[int, int]:
    root = _xml(data)
    texts = 0
    for part in root.xpath(
        "//*[local-name()='TextLine' or local-name()='Word'"
        " or substring(local-name(), string-length(local-name()) - 5) = 'Region']"
    ):
        # Each of several non-empty alternatives is a reading, but repeated ones only once.
        said = {
            one.xpath(f"string({_find_file('Unicode')})") or one.xpath(f"string({_find_file('PlainText')})")
            for one in part.xpath(_find_file("TextEquiv"))
        }
        texts += sum(bool(words.strip()) for words in said)
    return len(root.xpath(f"//{_find_file('TextLine')}")), texts


def _alto(data: bytes) -> tuple[int, None]:
    return len(_xml(data).xpath(f"//{_find_file('TextLine')}")), None


def _hocr(data: bytes) -> tuple[int, None]:
    return len(re.findall(rb"""class=['"](?:ocr_line|ocrx_line)['"]""", data)), None


def _text(data: bytes) -> tuple[int, int]:
    lines = [
        one
        for one in re.split("\r\n|[\r\n\f\x85\u2028\u2029]", data.decode("utf-8-sig", "replace"))
        if one.strip()
    ]
    return len(lines), len(lines)


def _tei(data: bytes) -> tuple[int, None] | None:
    """Count the lines of a file that draws them; in a running text, what a line is is for the reader to
    decide.
    """
    drawn = len(_xml(data).xpath(f"//{_find_file('line')}"))
    return (drawn, None) if drawn else None


COUNTS: dict[str, Callable[[bytes], tuple[int, int | None] | None]] = {
    "pagexml": _page,
    "alto": _alto,
    "hocr": _hocr,
    "plain-text": _text,
    "tei": _tei,
}


def test_lines_and_texts_are_as_many_as_an_independent_count(table: dict[str, Row]) -> None:
    folder = shared_data()
    assert folder is not None
    differ = []
    counted: Counter[str] = Counter()
    for row in table.values():
        count = COUNTS.get(row.recognised_as)
        found = count((folder / row.file).read_bytes()) if count is not None else None
        if found is None:
            continue
        counted[row.recognised_as] += 1
        lines, texts = found
        if lines != row.lines or (texts is not None and texts != row.texts):
            differ.append((row.file, row.lines, row.texts, found))
    assert differ == []
    assert counted["pagexml"] > 60
    assert counted["alto"] > 60


STRICT = frozenset(
    {
        "a missing outline",
        "an outline of fewer than three points",
        "a baseline of one point",
        "coordinates left of or above the page",
        "the element TableCell",
        "ids",
    }
)
"""Losses because PAGE itself does not allow what files contain: the export repairs and reports it."""


def test_nothing_is_lost_where_a_file_is_written_in_its_own_format(table: dict[str, Row]) -> None:
    lost = {}
    for row in table.values():
        if row.recognised_as in ("pagexml", "alto"):
            (own,) = [one for one in row.losses.split("; ") if one.startswith(f"{row.recognised_as}: ")]
            words = {re.sub(r"^[0-9]+ ", "", one) for one in own.split(": ", 1)[1].split(", ")}
            if words - STRICT - {"none"}:
                lost[row.file] = words - STRICT
    assert lost == {}


def test_the_tool_writes_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from armarium_formats.trial import main

    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "words.txt").write_text("one\ntwo\n")
    assert main([str(tmp_path / "in"), str(tmp_path / "table.csv")]) == 0
    assert "1 files looked at" in capsys.readouterr().out
    assert main(["nowhere"]) == 2
