"""The visual order of letters on a line, compared with orders written out by hand after UAX 9."""

from __future__ import annotations

from itertools import groupby

import pytest

from armarium_fonts.bidi import levels, visual_order


def display_order(text: str) -> str:
    """Return the letters from left to right as displayed."""
    runs = [
        (level, [letter for _, letter in run])
        for level, run in groupby(zip(levels(text), text, strict=True), key=lambda pair: pair[0])
    ]
    order = visual_order([level for level, _ in runs])
    return "".join("".join(reversed(runs[i][1]) if runs[i][0] % 2 else runs[i][1]) for i in order)


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        ("plain words, 12", "plain words, 12"),
        ("אבג", "גבא"),
        ("car is אבג in", "car is גבא in"),
        ("אבג lima דה", "הד lima גבא"),
        # A number keeps its own direction, and so do the signs that belong to it.
        ("אבג 12.5% דה", "הד 12.5% גבא"),
        ("אב 1,234-5", "1,234-5 בא"),
        ("אב 5$", "5$ בא"),
        # Numbers after Arabic letters do not include the signs beside them.
        ("اب 5%", "%5 با"),
        ("اب ١٢", "١٢ با"),
        # Neutral characters take the direction of their neighbours, at the edges that of the line.
        ("see (אב), end", "see (בא), end"),
        ("אב!", "!בא"),
        ("a אב. ", "a בא. "),
        ("אב ", " בא"),
        ("", ""),
        ("...", "..."),
    ],
)
def test_letters_are_in_the_order_of_the_algorithm(written: str, seen: str) -> None:
    assert display_order(written) == seen


def test_a_letter_keeps_its_marks() -> None:
    assert levels(["שׁ", "a"]) == [1, 2]
