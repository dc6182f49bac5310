"""Generated pages, and a description of a page by which two of them can be compared part by part."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import strategies as st

from armarium_formats.api import PageModel, PageOrder, PageSegment, PageText
from armarium_formats.kinds import in_page_words

WIDTH, HEIGHT = 2000, 3000

TEXTS = st.one_of(
    st.sampled_from(
        [
            "Dear Sir",
            "כתב יד",
            "بسم الله",
            "縦書き",
            "a < b & \"c\" ]]> 'd'",
            "e\u0301 \U0001d510",
            "two  blanks",
            "&amp;",
            "-",
        ]
    ),
    st.text(st.characters(exclude_categories=("Cs", "Cc", "Cn", "Co", "Zl", "Zp")), min_size=1, max_size=30)
    .map(str.strip)
    .filter(bool),
)
CONFIDENCES = st.one_of(st.none(), st.integers(0, 100).map(lambda number: number / 100))
KINDS = st.sampled_from(
    [
        None,
        "TextRegion",
        "TextRegion:paragraph",
        "TextRegion:heading",
        "TextRegion:header",
        "TextRegion:marginalia",
        "TextRegion:MainZone",
    ]
)
LANGUAGES = st.sampled_from([None, None, None, "la", "es", "de", "he"])
DIRECTIONS = st.sampled_from([None, None, None, "ltr", "rtl", "ttb"])
XS, YS = st.integers(1, WIDTH - 1), st.integers(1, HEIGHT - 1)


@st.composite
def _outline(draw: Any) -> list[tuple[float, float]]:
    left, right = sorted(draw(st.tuples(st.integers(0, WIDTH // 2), st.integers(WIDTH // 2 + 9, WIDTH))))
    top = draw(st.integers(0, HEIGHT - 60))
    bottom = top + draw(st.integers(10, 50))
    if draw(st.booleans()):
        return [(left, top), (right, top), (right, bottom), (left, bottom)]
    return [(left, top), ((left + right) // 2, top + 3), (right, top), (right, bottom), (left, bottom)]


@st.composite
def pages(draw: Any) -> PageModel:
    """Generate a page of a few regions with lines and words: every part may be missing, every text may be anything."""
    number = 0

    def name(kind: str) -> str:
        nonlocal number
        number += 1
        return f"{kind}_{number}"

    def texts(most: int) -> list[PageText]:
        return [PageText(draw(TEXTS), draw(CONFIDENCES)) for _ in range(draw(st.integers(0, most)))]

    def line() -> PageSegment:
        page_segment = PageSegment(
            name("line"),
            "line",
            points=draw(_outline()),
            direction=draw(DIRECTIONS),
            language=draw(LANGUAGES),
        )
        if draw(st.booleans()):
            page_segment.baseline = draw(st.lists(st.tuples(XS, YS), min_size=2, max_size=4, unique=True))
        if draw(st.booleans()):
            page_segment.children = [
                PageSegment(
                    name("word"),
                    "word",
                    points=draw(_outline()),
                    texts=[PageText(draw(TEXTS), draw(CONFIDENCES))],
                )
                for _ in range(draw(st.integers(1, 3)))
            ]
        page_segment.texts = texts(2)
        return page_segment

    def region() -> PageSegment:
        page_segment = PageSegment(
            name("region"), "region", draw(KINDS), points=draw(_outline()), language=draw(LANGUAGES)
        )
        page_segment.children = [line() for _ in range(draw(st.integers(0, 3)))]
        page_segment.is_furniture = page_segment.kind_raw == "TextRegion:header"
        return page_segment

    regions = [region() for _ in range(draw(st.integers(0, 3)))]
    page = PageModel(WIDTH, HEIGHT, image="0001.jpg", segments=regions, language=draw(LANGUAGES))
    if regions and draw(st.booleans()):
        page.order = PageOrder(items=[PageOrder(one.id) for one in draw(st.permutations(regions))])
    return page


def describe_page(page: PageModel) -> dict[str, Any]:
    """Return everything that distinguishes a page from another, each part by its name."""
    every = list(page.walk())
    parents = {child.id: one.id for one in every for child in one.children}
    return {
        "size": (page.width, page.height),
        "image": page.image,
        "segments": Counter(one.kind for one in every),
        "ids": {one.id for one in every},
        "parents": parents,
        "sequence": [segment.id for segment in page.in_order()],
        "texts": {one.id: one.text for one in every if one.text},
        "alternatives": {one.id: [text.text for text in one.texts[1:]] for one in every if len(one.texts) > 1},
        "confidences": {one.id: [text.confidence for text in one.texts] for one in every if any(text.confidence is not None for text in one.texts)},
        "outlines": {one.id: [(round(x), round(y)) for x, y in one.points] for one in every},
        "baselines": {one.id: one.baseline for one in every if one.baseline},
        "languages": {one.id: (one.language, one.script) for one in every if one.language or one.script},
        "directions": {one.id: one.direction for one in every if one.direction},
        "kinds": {one.id: in_page_words(one.kind_raw) or "TextRegion" for one in every if one.kind == "region"},
        "furniture": {one.id for one in every if one.is_furniture},
    }  # fmt: skip


TOLD_BY = {
    "size": "size",
    "image": "image",
    "segments": "region|line|word|part|segment",
    "ids": r"\bids?\b",
    "parents": "region|line|word|part|segment",
    "sequence": "order|sequence",
    "texts": "text|character|reading",
    "alternatives": "alternative|reading",
    "confidences": "confidence",
    "outlines": "outline|shape|coordinate|decimal|polygon",
    "baselines": "baseline",
    "languages": "language",
    "directions": "direction",
    "kinds": "kind|type",
    "furniture": "kind|type|furniture",
}
"""For each part, the words of a loss that reports a difference in it."""
