"""Plain text: reading order, blank lines between regions, and losses."""

from __future__ import annotations

import pytest

from armarium.errors import Conflict, Invalid
from armarium_formats.api import (
    Format,
    PageModel,
    PageOrder,
    PageSegment,
    PageText,
    ReadContext,
    WriteContext,
)
from armarium_formats.plain_text import PlainText
from armarium_testing.formats import Sample, exercise_format


def line(text: str) -> PageSegment:
    return PageSegment(
        f"l-{text}", "line", points=[(1, 1), (2, 1), (2, 2)], texts=[PageText(text)] if text else []
    )


def region(name: str, *lines: PageSegment, text: str = "") -> PageSegment:
    return PageSegment(name, "region", children=list(lines), texts=[PageText(text)] if text else [])


def write(*segments: PageSegment, order: list[str] | None = None) -> str:
    page = PageModel(9, 9, segments=list(segments))
    if order:
        page.order = PageOrder(items=[PageOrder(one) for one in order])
    return PlainText().write(page, WriteContext()).content


def test_regions_are_separated_by_a_blank_line() -> None:
    assert write(region("a", line("one"), line("two")), region("b", line("three"))) == "one\ntwo\n\nthree\n"


def test_the_order_is_followed() -> None:
    assert write(region("a", line("one")), region("b", line("two")), order=["b", "a"]) == "two\n\none\n"


def test_a_line_without_text_is_written_by_its_words_and_a_region_by_its_own_text() -> None:
    words = line("")
    words.children = [PageSegment(w, "word", texts=[PageText(w)]) for w in ("Dear", "Sir")]
    assert write(
        region("a", words), region("b", text="whole\nregion"), region("c", line("x"), text="ignored")
    ) == ("Dear Sir\n\nwhole\nregion\n\nx\n")


def test_a_page_without_text_is_an_empty_file() -> None:
    assert write(region("a", line(""))) == ""
    assert write() == ""


def test_losses_are_counted() -> None:
    page = PageModel(9, 9, segments=[region("a", line("x"))])
    counts_by_what = {loss.what: loss.count for loss in PlainText().write(page, WriteContext()).losses}
    assert counts_by_what == {"shapes": 1}


def read(text: str) -> list[PageModel]:
    return PlainText().read(text.encode(), ReadContext("a.txt"))


def test_the_driver_passes_the_suite() -> None:
    sample = Sample("a.txt", b"Dear Sir,\nI write\n\nto you.\n", lines=3, words=0, text="to you.")
    exercise_format(PlainText, [sample], text_only=True)


def test_lines_are_read_in_paragraphs_and_pages() -> None:
    one, two = read("\ufeffone  \r\n  two\rthree\n\n\nfour\n\fnext page\n\f")
    assert [[line.text for line in region.children] for region in one.segments] == [
        ["one", "  two", "three"],
        ["four"],
    ]
    assert [line.text for line in two.lines()] == ["next page"]
    assert all(not segment.points for segment in one.walk())


def test_it_is_the_format_of_last_resort() -> None:
    sniff = PlainText().sniff
    assert sniff(b"Querida hermana, [1r] te escribo < hoy") == 0.2
    assert sniff(b"[1r] Incipit") == 0.2
    assert sniff("été".encode("latin-1")) == 0.2
    for other in (
        b"",
        b" \n",
        b"<html>",
        b"<?xml version='1.0'?><a/>",
        b"<!-- a -->",
        b'{"a": 1}',
        b"[1, 2]",
        bytes(range(256)),
    ):
        assert sniff(other) == 0.0


def test_another_encoding_is_noted() -> None:
    page = PlainText().read("caf\u00e9".encode("latin-1"), ReadContext("a.txt"))[0]
    assert page.lines()[0].text == "café"
    assert page.notes == ["The file is not in UTF-8; it was read as Windows-1252."]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b" \n ", "contains no text"),
        (bytes(range(256)), "contains no text"),
        pytest.param(b"a\n" * 100_001, "more than 100,000 lines", marks=pytest.mark.slow),
        (b"\n" * 1_000_001 + b"a", "more than 100,000 lines"),
        (b"\f" * 1_000_001 + b"a", "more than 100,000 lines"),
    ],
)
def test_what_is_no_page_of_text_is_refused(data: bytes, words: str) -> None:
    with pytest.raises(Invalid, match=words):
        PlainText().read(data, ReadContext("a.txt"))


def test_a_format_that_says_nothing_reads_and_writes_nothing() -> None:
    with pytest.raises(Invalid, match="can be written here, but not read"):
        Format().read(b"Dear Sir", ReadContext())
    with pytest.raises(Conflict, match="can be read here, but not written"):
        Format().write(PageModel(1, 1), WriteContext())
