"""A page written as TEI is read back with the same texts, ids, order, shapes, kinds and languages; the rest
is a loss.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from armarium_formats.api import PageModel, PageOrder, PageSegment, PageText, ReadContext, WriteContext
from armarium_formats.tei.driver import Tei

DRIVER = Tei()
NOW = WriteContext(created="2026-01-02T03:04:05.678Z", creator="Armarium test")

CHARACTERS = st.characters(exclude_categories=("Cs",), exclude_characters="\ufdd0\ufdd1\ufdd2\ufdd3")
TEXTS = st.one_of(
    st.text(CHARACTERS, max_size=12), st.sampled_from(["two words", " blank ", "a\n b", "<&>\"'", "כתב"])
)
KINDS = st.one_of(
    st.none(),
    st.sampled_from(
        [
            "paragraph",
            "marginalia",
            "header",
            "GraphicRegion:logo",
            "line",
            "Word",
            "a b%",
            ":x",
            "a:b:c",
            "none",
        ]
    ),
    st.text(st.characters(min_codepoint=33, max_codepoint=0x2FF), min_size=1, max_size=5),
)
NUMBERS = st.one_of(st.integers(-50, 2000), st.floats(-50, 2000).map(lambda one: round(one, 2)))
POINTS = st.lists(st.tuples(NUMBERS, NUMBERS), min_size=3, max_size=6)
IDS = st.one_of(st.text(st.sampled_from("abc12_-é "), min_size=1, max_size=4), st.none())
SURE = st.one_of(st.none(), st.floats(0, 1))


@st.composite
def readings(draw: st.DrawFn) -> list[PageText]:
    texts = draw(st.lists(st.tuples(TEXTS, SURE), max_size=3))
    found = [PageText(text, sure) for text, sure in texts]
    for one in found[1:]:
        one.kind = draw(st.sampled_from(["transcription", "normalized_text", "translation"]))
    return found


@st.composite
def segments(draw: st.DrawFn, kind: str, depth: int = 0) -> PageSegment:
    page_segment = PageSegment("", kind)  # type: ignore[arg-type]
    page_segment.kind_raw = draw(KINDS)
    page_segment.points = draw(st.one_of(st.just([]), POINTS))
    page_segment.texts = draw(readings())
    page_segment.is_furniture = draw(st.booleans())
    page_segment.language, page_segment.script = draw(
        st.sampled_from(
            [(None, None), ("la", None), ("de", "Latf"), (None, "Arab"), ("zh-TW", "Hant"), ("fr-x-a", None)]
        )
    )
    page_segment.direction = draw(
        st.sampled_from([None, "rtl", "ltr", "ttb", "btt", "alternating", "follows-baseline"])
    )
    page_segment.confidence = draw(SURE)
    if kind != "word":
        page_segment.baseline = draw(st.one_of(st.just([]), POINTS))
    below = {"region": ("region", "line", "line", "word"), "line": ("word", "word", "line"), "word": ()}[kind]
    if depth < 3 and below:
        page_segment.children = draw(
            st.lists(st.sampled_from(below).flatmap(lambda one: segments(one, depth + 1)), max_size=3)
        )
    if kind == "line" and any(child.kind == "line" for child in page_segment.children):
        page_segment.children = [child for child in page_segment.children if child.kind == "line"]
    page_segment.children = cells_by_row(page_segment.children)
    if kind == "region" and draw(st.integers(0, 3)) == 0:
        page_segment.cell = {
            "row": draw(st.integers(0, 3)),
            "column": draw(st.integers(0, 3)),
            "row_span": 1,
            "column_span": 2,
        }
    return page_segment


def cells_by_row(siblings: list[PageSegment]) -> list[PageSegment]:
    """Put the cells among *siblings* into the order of a table, in which TEI writes them."""
    cells = iter(
        sorted(
            (sibling for sibling in siblings if sibling.cell),
            key=lambda one: (one.cell["row"], one.cell["column"]),
        )
    )
    return [next(cells) if sibling.cell else sibling for sibling in siblings]


@st.composite
def pages(draw: st.DrawFn) -> PageModel:
    page = PageModel(draw(st.integers(1, 9000)), draw(st.integers(1, 9000)), draw(TEXTS).strip())
    page.segments = draw(
        st.lists(st.sampled_from(["region", "region", "line", "word"]).flatmap(segments), max_size=4)
    )
    page.segments = cells_by_row(page.segments)
    page.language, page.direction = draw(st.sampled_from([None, "es"])), draw(st.sampled_from([None, "rtl"]))
    seen: set[str] = set()
    for number, segment in enumerate(page.walk()):
        wish = draw(IDS) or f"s{number}"
        segment.id = wish if wish not in seen else f"{wish}{number}n"
        while segment.id in seen:
            segment.id += "x"
        seen.add(segment.id)
    names = sorted(seen)
    if names and draw(st.booleans()):
        page.order = PageOrder(items=[PageOrder(one) for one in draw(st.permutations(names))])
    return page


_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def clean(text: str) -> str:
    return _ILLEGAL.sub("", text)


def facts(page: PageModel) -> dict[str, Any]:
    """Return what the profile carries of a page, by id."""
    found: dict[str, Any] = {}
    for segment in page.walk():
        texts = [
            (clean(text.text), text.confidence, text.kind)
            for text in segment.texts
            if clean(text.text) or text.confidence is not None
        ]
        found[clean(segment.id)] = (
            segment.kind,
            clean(segment.kind_raw) if segment.kind_raw else None,
            segment.points,
            segment.baseline,
            texts,
            segment.is_furniture and segment.cell is None,
            segment.language,
            segment.script,
            segment.direction,
            segment.confidence,
            segment.cell,
            sorted(clean(child.id) for child in segment.children),
        )
    return found


def order(page: PageModel) -> list[str]:
    return [clean(segment.id) for segment in page.in_order()]


def comes_back(page: PageModel) -> None:
    before = repr(page)
    written = DRIVER.write(page, NOW)
    assert repr(page) == before
    assert DRIVER.validate(written.content) == []
    back = DRIVER.read(written.content.encode(), ReadContext("back.xml"))
    assert len(back) == 1
    one = back[0]
    assert (one.width, one.height, one.image) == (page.width, page.height, clean(page.image).strip())
    assert (one.language, one.direction) == (page.language, page.direction)
    assert facts(one) == facts(page)
    assert order(one) == order(page)
    assert DRIVER.write(one, NOW).content == written.content


def test_a_word_with_an_empty_first_reading_uses_the_next_one() -> None:
    word = PageSegment("w", "word", texts=[PageText(""), PageText("0")])
    line = PageSegment("l", "line", texts=[PageText("0")], children=[word])
    comes_back(PageModel(9, 9, "a.jpg", [line]))


@settings(max_examples=25, deadline=None)
@given(pages())
def test_a_page_is_read_back_unchanged(page: PageModel) -> None:
    comes_back(page)


@pytest.mark.soak
@settings(max_examples=5000, deadline=None)
@given(pages())
def test_thousands_of_pages_are_read_back_unchanged(page: PageModel) -> None:
    comes_back(page)
