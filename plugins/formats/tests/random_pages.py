"""Random pages for the property tests of all writers."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from hypothesis import strategies as st

from armarium_formats.api import PageModel, PageOrder, PageSegment, PageText, Point, SegmentKind
from armarium_formats.pagexml.profile import REGION_TAGS
from armarium_formats.pagexml.vocabulary import language_names, script_names

WORDS = [
    "",
    " ",
    "Dear Sir",
    "a < b & \"c\" > 'd'",
    "]]>",
    "\n tab\t\n",
    "\r\n",
    "كتاب",
    "e\u0301\u0323",
    "𝔉𝔯",
    "\u2028",
    "&amp;",
]
REGIONS = [
    *REGION_TAGS,
    *["TextRegion"] * 9,
    "TextRegion:heading",
    "TextRegion:Main zone",
    "GraphicRegion:stamp",
    "ChartRegion:bar",
]
IDS = ["x{}", "_{}-é", "{}", "a b {}", "l:{}", "región.{}"]


class PageGenerator:
    """Generates pages from a seed, in which every field of the model may be set."""

    def __init__(self, seed: int, words: Sequence[str] = WORDS) -> None:
        self.dice = Random(seed)
        self.words = words
        self.made = 0

    def page(self) -> PageModel:
        dice = self.dice
        found = [self.segment("region") for _ in range(dice.randint(0, 4))]
        page = PageModel(1000, 1400, dice.choice(["0001.jpg", "a & b.tif", "día.png"]), found)
        ids = [one.id for one in page.walk() if one.kind == "region"]
        if ids and dice.random() < 0.5:
            dice.shuffle(ids)
            half = len(ids) // 2
            inner = PageOrder(
                items=[PageOrder(identity) for identity in ids[:half]], is_ordered=dice.random() < 0.5
            )
            page.order = PageOrder(
                items=[*([inner] if half else []), *(PageOrder(identity) for identity in ids[half:])],
                is_ordered=dice.random() < 0.5,
            )
        return page

    def points(self, most: int) -> list[Point]:
        return [
            (self.dice.randint(0, 1000), self.dice.randint(0, 1400))
            for _ in range(self.dice.randint(2, most))
        ]

    def segment(self, kind: SegmentKind, depth: int = 0) -> PageSegment:
        dice = self.dice
        self.made += 1
        segment = PageSegment(dice.choice(IDS).format(self.made), kind, points=self.points(8))
        segment.language = dice.choice([None, None, "fro", "qaa", *language_names()])
        segment.script = dice.choice([None, *script_names()])
        segment.direction = dice.choice([None, "ltr", "rtl", "ttb", "btt", "alternating"])
        segment.is_furniture = dice.random() < 0.2
        segment.texts = [
            PageText(dice.choice(self.words), dice.choice([None, 0.0, 1.0, dice.random()]))
            for _ in range(dice.choice([0, 1, 1, 3]))
        ]
        if kind == "region":
            segment.kind_raw = dice.choice(REGIONS)
            text = segment.kind_raw.startswith("TextRegion")
            if not text:
                segment.texts = []
            below: SegmentKind = "line" if text and dice.random() < 0.7 else "region"
            if depth < 5:
                segment.children = [self.segment(below, depth + 1) for _ in range(dice.randint(0, 3))]
            if dice.random() < 0.3:
                segment.cell = {"row": dice.randint(0, 9), "column": 1, "row_span": 1, "column_span": 2}
        elif kind == "line":
            segment.kind_raw = dice.choice([None, "heading", "Default line"])
            segment.baseline = dice.choice([[], self.points(6)])
            segment.children = [self.segment("word") for _ in range(dice.randint(0, 2))]
        return segment


seeds = st.integers(0, 2**40)
xml_texts = st.lists(
    st.text(
        st.characters(codec="utf-8", exclude_categories=("Cs", "Cc"), exclude_characters="\ufffe\uffff"),
        max_size=30,
    ),
    min_size=1,
    max_size=5,
)
