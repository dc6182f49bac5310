"""The table of what survives an export, in docs/formats.md, holds for each format: every row is tried."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from armarium_formats.alto.driver import Alto
from armarium_formats.api import (
    Format,
    PageModel,
    PageOrder,
    PageSegment,
    PageText,
    Point,
    ReadContext,
    WriteContext,
)
from armarium_formats.hocr.driver import Hocr
from armarium_formats.kinds import in_page_words
from armarium_formats.pagexml.driver import PageXml
from armarium_formats.tei.driver import Tei

MANUAL = Path(__file__).resolve().parents[3] / "docs" / "formats.md"
NOW = WriteContext(created="2026-01-02T03:04:05.678Z", creator="Armarium test")
BOX: list[Point] = [(10, 10), (90, 10), (90, 40), (10, 40)]
DRIVERS: dict[str, Format] = {
    "→ PAGE XML": PageXml(),
    "→ ALTO": Alto(),
    "→ TEI": Tei(),
    "→ hOCR": Hocr(),
}


def page() -> PageModel:
    words = [
        PageSegment(f"w{n}", "word", points=BOX, texts=[PageText(text)])
        for n, text in enumerate(["two", "words"])
    ]
    line = PageSegment("l", "line", points=BOX, texts=[PageText("two words")], children=words)
    return PageModel(100, 100, "a.jpg", [PageSegment("r", "region", "TextRegion", BOX, children=[line])])


def changed_page(change: Callable[[PageModel], None]) -> PageModel:
    new_page = page()
    change(new_page)
    return new_page


def line_of(made: PageModel) -> PageSegment:
    return made.of_kind("line")[0]


def set_fields(where: str, **more: Any) -> Callable[[PageModel], None]:
    def change(made: PageModel) -> None:
        for key, value in more.items():
            setattr(made.of_kind(where)[0], key, value)  # type: ignore[arg-type]

    return change


def order(made: PageModel) -> None:
    made.segments.append(PageSegment("s", "region", "TextRegion", BOX))
    made.order = PageOrder(items=[PageOrder("s"), PageOrder("r")])


def set_confidence(made: PageModel) -> None:
    made.of_kind("word")[0].texts[0].confidence = 0.5


def add_alternative(made: PageModel) -> None:
    made.of_kind("word")[0].texts.append(PageText("too"))


ROWS: dict[str, tuple[Callable[[PageModel], None], Callable[[PageModel], Any]]] = {
    "regions, lines, words with outlines": (
        lambda made: None,
        lambda made: [segment.points for segment in made.walk()],
    ),
    "baselines": (set_fields("line", baseline=BOX[:2]), lambda made: line_of(made).baseline),
    "decimal places of coordinates": (
        set_fields("line", points=[(10.25, 10), (90, 10.75), (90, 40), (10, 40)]),
        lambda made: line_of(made).points,
    ),
    "the counting text of lines and words": (
        lambda made: None,
        lambda made: [segment.text for segment in made.walk()],
    ),
    "confidence of a text": (set_confidence, lambda made: made.of_kind("word")[0].texts[0].confidence),
    "alternatives of a text": (
        add_alternative,
        lambda made: [text.text for text in made.of_kind("word")[0].texts],
    ),
    "ids of the file": (lambda made: None, lambda made: [segment.id for segment in made.walk()]),
    "reading order": (order, lambda made: [segment.id for segment in made.in_order()]),
    "headers, folios and other furniture": (
        set_fields("region", kind_raw="TextRegion:header", is_furniture=True),
        lambda made: made.segments[0].is_furniture,
    ),
    "kinds of regions and lines": (
        set_fields("region", kind_raw="TextRegion:heading"),
        lambda made: in_page_words(made.segments[0].kind_raw),
    ),
    "language, script, direction": (
        set_fields("line", language="fr", direction="rtl", script="Latn"),
        lambda made: (line_of(made).language, line_of(made).direction, line_of(made).script),
    ),
    "cells of tables": (
        set_fields("region", cell={"row": 1, "column": 1, "row_span": 1, "column_span": 1}),
        lambda made: made.segments[0].cell,
    ),
    "what a PAGE file contains beyond the model": (
        set_fields("region", extras={"pagexml": {"attributes": {"custom": "x"}}}),
        lambda made: (made.segments[0].extras or {}).get("pagexml"),
    ),
    "what an ALTO file contains beyond the model": (
        set_fields("region", extras={"alto": {"attributes": {"ROTATION": "90"}}}),
        lambda made: (made.segments[0].extras or {}).get("alto"),
    ),
    "what a TEI file contains beyond the model": (
        set_fields("region", extras={"tei": {"zone": {"rotate": "90"}}}),
        lambda made: (made.segments[0].extras or {}).get("tei"),
    ),
}


def read_table() -> dict[str, dict[str, str]]:
    """Return the table of the manual: row, column, cell."""
    rows = [
        [cell.strip() for cell in line.strip().strip("|").split("|")]
        for line in MANUAL.read_text(encoding="utf-8")
        .split("## What survives")[1]
        .split("\n## ")[0]
        .split("\n")
        if line.startswith("|")
    ]
    head = rows[0]
    return {row[0]: dict(zip(head[1:], row[1:], strict=True)) for row in rows[2:] if len(row) == len(head)}


@pytest.mark.parametrize("column", DRIVERS)
@pytest.mark.parametrize("row", ROWS)
def test_a_row_of_the_table_is_true(row: str, column: str) -> None:
    driver = DRIVERS[column]
    change, look = ROWS[row]
    made = changed_page(change)
    written = driver.write(made, NOW)
    assert driver.validate(written.content) == []
    cell = read_table()[row][column]
    assert re.match("yes|loss", cell), f"the manual says {cell!r} of {row} {column}"
    assert bool(written.losses) == ("loss" in cell), (cell, written.losses)
    back = driver.read(written.content.encode(), ReadContext("back.xml"))[0]
    if "yes" in cell or "(2)" in cell:
        assert look(back) == look(made)


def test_every_row_of_the_table_is_tried() -> None:
    assert set(read_table()) == set(ROWS)
