"""Plain text: reading order, blank lines between regions, and what is lost said."""

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


def test_regions_are_parted_by_a_blank_line() -> None:
    assert write(region("a", line("one"), line("two")), region("b", line("three"))) == "one\ntwo\n\nthree\n"


def test_the_order_is_followed() -> None:
    assert write(region("a", line("one")), region("b", line("two")), order=["b", "a"]) == "two\n\none\n"


def test_words_speak_for_a_line_without_text_and_a_region_for_itself() -> None:
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
    found = {loss.what: loss.count for loss in PlainText().write(page, WriteContext()).losses}
    assert found == {"shapes": 1}


def test_it_is_not_read() -> None:
    with pytest.raises(Invalid, match="written here, not read"):
        PlainText().read(b"Dear Sir", ReadContext())
    with pytest.raises(Conflict, match="read here, not written"):
        Format().write(PageModel(1, 1), WriteContext())
