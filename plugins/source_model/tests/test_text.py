"""The assembled text of a page: lines, blocks, spans by code point, directions."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from armarium_source_model.text import Piece, assemble, first_strong_direction


def piece(n: int, text: str, block: str | None = "b", direction: str = "ltr", joiner: str = "\n") -> Piece:
    return Piece(f"s{n}", f"r{n}", text, block, direction, joiner)


def test_lines_are_parted_by_a_newline_and_regions_by_a_blank_line() -> None:
    assembled = assemble([piece(1, "one"), piece(2, "two"), piece(3, "three", "c")])
    assert assembled.text == "one\ntwo\n\nthree"
    assert [assembled.text[span.char_start : span.char_end] for span in assembled.spans] == [
        "one",
        "two",
        "three",
    ]


def test_words_of_one_line_are_parted_by_a_space() -> None:
    assert assemble([piece(1, "Dear"), piece(2, "Sir", joiner=" ")]).text == "Dear Sir"


def test_nothing_gives_an_empty_text() -> None:
    assert assemble([]).text == ""


@given(st.lists(st.tuples(st.text(min_size=1), st.sampled_from(["a", "b", None])), max_size=20))
def test_every_span_is_its_reading_exactly(rows: list[tuple[str, str | None]]) -> None:
    assembled = assemble([piece(n, text, block) for n, (text, block) in enumerate(rows)])
    assert [assembled.text[span.char_start : span.char_end] for span in assembled.spans] == [
        text for text, _ in rows
    ]


def test_the_first_letter_with_a_direction_decides_that_of_a_text() -> None:
    hebrew, latin, digits = "שלום", "pax", "1234"
    assert [first_strong_direction(text) for text in (hebrew, latin, digits, "«" + hebrew, "é")] == [
        "rtl",
        "ltr",
        None,
        "rtl",
        "ltr",
    ]


def test_a_span_runs_as_its_piece_does() -> None:
    assembled = assemble([piece(1, "1234", direction="rtl"), piece(2, "pax")])
    assert [span.direction for span in assembled.spans] == ["rtl", "ltr"]
