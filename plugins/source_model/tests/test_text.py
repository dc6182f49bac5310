"""The text of a page, assembled: lines, blocks, spans by code point, directions."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from armarium_source_model.text import Piece, assemble, first_strong_direction, majority_direction


def piece(
    n: int, text: str, block: str | None = "b", direction: str | None = None, joiner: str = "\n"
) -> Piece:
    return Piece(f"s{n}", f"r{n}", text, block, direction, joiner)


def test_lines_are_parted_by_a_newline_and_regions_by_a_blank_line() -> None:
    found = assemble([piece(1, "one"), piece(2, "two"), piece(3, "three", "c")])
    assert found.text == "one\ntwo\n\nthree"
    assert [found.text[s.char_start : s.char_end] for s in found.spans] == ["one", "two", "three"]


def test_words_of_one_line_are_parted_by_a_space() -> None:
    assert assemble([piece(1, "Dear"), piece(2, "Sir", joiner=" ")]).text == "Dear Sir"


def test_nothing_gives_an_empty_text() -> None:
    assert assemble([]).text == ""


@given(st.lists(st.tuples(st.text(min_size=1), st.sampled_from(["a", "b", None])), max_size=20))
def test_every_span_is_its_reading_exactly(rows: list[tuple[str, str | None]]) -> None:
    found = assemble([piece(n, text, block) for n, (text, block) in enumerate(rows)])
    assert [found.text[s.char_start : s.char_end] for s in found.spans] == [text for text, _ in rows]


def test_the_direction_of_a_block_is_stated_or_read_off_its_letters() -> None:
    hebrew, latin, digits = "שלום", "pax", "1234"
    assert [first_strong_direction(text) for text in (hebrew, latin, digits, "«" + hebrew, "é")] == [
        "rtl",
        "ltr",
        None,
        "rtl",
        "ltr",
    ]
    found = assemble(
        [piece(1, digits, "x"), piece(2, hebrew, "x"), piece(3, latin, "y"), piece(4, hebrew, "y", "ltr")]
    )
    assert [span.direction for span in found.spans] == ["rtl", "rtl", "ltr", "ltr"]
    assert assemble([piece(1, latin)], page_direction="ttb").spans[0].direction == "ttb"
    assert assemble([piece(1, digits)]).spans[0].direction == "ltr"


def test_the_direction_of_a_page_is_that_of_most_of_its_lines() -> None:
    assert majority_direction(["שלום", "שלום", "pax"]) == "rtl"
    assert majority_direction(["שלום", "pax"]) == "ltr"
    assert majority_direction(["12", "…"]) is None
