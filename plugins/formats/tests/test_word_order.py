"""A line whose words are listed against the direction of their letters is noted; its order is the file's."""

from __future__ import annotations

import pytest

from armarium_formats.api import PageModel, PageSegment, PageText
from armarium_formats.placing import place

HEBREW = ("שלום", "לך", "אחי")
ENGLISH = ("Dear", "Sir", "I")


def line(words: tuple[str, ...], places: tuple[int, ...]) -> PageSegment:
    made = [
        PageSegment(
            f"w{x}", "word", points=[(x, 10), (x + 50, 10), (x + 50, 30), (x, 30)], texts=[PageText(word)]
        )
        for word, x in zip(words, places, strict=True)
    ]
    return PageSegment("l", "line", points=[(0, 0), (900, 0), (900, 40), (0, 40)], children=made)


@pytest.mark.parametrize(
    ("words", "places", "noted"),
    [
        (HEBREW, (500, 300, 100), False),
        (HEBREW, (100, 300, 500), True),
        (ENGLISH, (100, 300, 500), False),
        (ENGLISH, (500, 300, 100), True),
        (ENGLISH, (100, 500, 300), False),
        (ENGLISH[:2], (300, 100), False),
    ],
)
def test_words_against_the_direction_of_their_letters_are_noted(
    words: tuple[str, ...], places: tuple[int, ...], noted: bool
) -> None:
    page = PageModel(1000, 100, segments=[line(words, places)])
    placed = place(page, (1000, 100), "a.xml", "alto")
    assert [note.startswith("1 line lists its words against") for note in placed.notes] == [True] * noted
    assert [text.text for _, text in placed.texts] == list(words)
