"""The picture of a bake-off: the length of its bars, its words, and that it loads nothing from elsewhere."""

from __future__ import annotations

import io
from html.parser import HTMLParser
from typing import Any

import pytest
from PIL import Image

from armarium_recipes.bakeoffs.pictures import drawing, page, ticks
from armarium_recipes.bakeoffs.scene import Box, Dot


def row(card: str, cer: float | None, **more: Any) -> dict[str, Any]:
    told = {
        "card": card,
        "name": card,
        "role": "rule-rank",
        "cer": None if cer is None else {"diplomatic": cer},
        "interval": None if cer is None else [cer * 0.9, cer * 1.1],
        "wer": None,
        "pages_per_hour": 1200.0,
        "cost_usd": {"value": 0.0, "basis": "measured", "from": ""},
        "local": True,
        "tied": False,
        "not_scored": None if cer is not None else "It is not here.",
        "note": None,
        "lines_found": None,
        "lines_checked": None,
        "extra_lines": None,
    }
    return {**told, **more}


def table(*rows: dict[str, Any], **more: Any) -> dict[str, Any]:
    told = {
        "id": "b1",
        "state": "done",
        "step": "read-a-line",
        "started_at": "2026-11-23",
        "lines": 120,
        "pages": [{}, {}],
        "volume": 1000,
        "candidates": list(rows),
        "comparison": None,
        "hands": [],
    }
    return {**told, **more}


def test_bars_are_as_long_as_the_rates() -> None:
    scene = drawing(table(row("one", 0.05), row("two", 0.1), row("three", None)))
    bars = [one for one in scene.things if isinstance(one, Box)]
    assert len(bars) == 2
    assert bars[1].width == pytest.approx(2 * bars[0].width)
    picture = Image.open(io.BytesIO(scene.as_png()))
    assert picture.size == (round(scene.width * 2), round(scene.height * 2))
    assert picture.getpixel((round(bars[0].x * 2 + 4), round(bars[0].y * 2 + 2))) == bars[0].colour


def test_what_costs_more_is_drawn_further_to_the_right() -> None:
    cloud = {"cost_usd": {"value": 12.5, "basis": "estimate", "from": ""}, "local": False}
    scene = drawing(table(row("here", 0.1), row("there", 0.05, **cloud)))
    here, there = (one for one in scene.things if isinstance(one, Dot))
    assert there.x > here.x
    assert there.y > here.y
    assert not [one for one in drawing(table(row("here", 0.1))).things if isinstance(one, Dot)]


def test_the_page_is_whole_and_harmless() -> None:
    told = table(
        row("<script>alert(1)</script>", 0.05),
        row("two", 0.06, tied=True),
        row("three", None),
        comparison={"better": "two", "worse": "gone", "difference": 0.01, "interval": [0.0, 0.02], "p": 0.04},
        hands=[
            {
                "hand_id": "h",
                "label": "<b>A</b>",
                "lines": 120,
                "in_use": "two",
                "rows": [{"card": "two", "cer": 0.1, "p": None}],
            }
        ],
    )
    html = page(told)
    tags: list[tuple[str, dict[str, Any]]] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: Any) -> None:
            tags.append((tag, dict(attrs)))

    Reader().feed(html)
    assert not {tag for tag, _ in tags} & {"script", "img", "link", "b", "iframe"}
    assert not any(key in ("src", "href") or key.startswith("on") for _, attrs in tags for key in attrs)
    assert "It is not here." in html
    assert "Tied with the best." in html


def test_line_finders_and_an_empty_table_are_drawn_too() -> None:
    found = {"lines_found": 90, "lines_checked": 100, "extra_lines": 4, "interval": None}
    finders = table(row("finder", None, not_scored=None, **found), step="find-lines")
    assert "90 of 100" in page(finders)
    assert "90, 4 too many" in drawing(finders).as_svg()
    assert drawing(table(state="waiting")).as_png()
    assert "Nobody was scored" in drawing(table(row("three", None))).as_svg()


@pytest.mark.parametrize("most", [0.0004, 0.01, 0.099, 0.1, 0.37, 1.0, 1.7, 12.5, 999.0])
def test_marks_are_few_round_and_reach_over_the_highest(most: float) -> None:
    marks = ticks(most)
    assert 2 <= len(marks) <= 6
    assert marks[0] == 0
    assert marks[-1] >= most
    assert marks[-2] <= most
