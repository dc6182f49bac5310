"""Where letters stand, from the signs that a reader saw."""

from __future__ import annotations

import math

import pytest

from armarium_worker import LinePlaces, Sign, places_of_signs

Box = tuple[float, float, float, float]


def sign(text: str, box: Box, sure: float | None = None) -> Sign:
    left, top, right, bottom = box
    return Sign(text, [(left, top), (right, top), (right, bottom), (left, bottom)], sure)


def spans(places: LinePlaces | None) -> list[tuple[float, float]]:
    assert places is not None
    return [(letter[0], letter[1]) for letter in places.letters]


def test_a_letter_with_its_accent_and_a_ligature_have_one_area_each() -> None:
    signs = [
        sign("e", (100, 20, 110, 40), 0.9),
        sign("\u0301", (102, 10, 108, 18), 0.4),
        sign("fi", (120, 10, 140, 50), 0.8),
    ]
    places = places_of_signs("e\u0301 fi", signs)
    assert spans(places) == [(0, 0.25), (0.25, 0.25), (0.5, 1), (0.5, 1)]
    assert places is not None
    assert [letter[4] for letter in places.letters] == [0.4, None, 0.8, 0.8]
    assert places.frame == (100, 10, 40, 0, 0, 40)
    assert next(letter[2:4] for letter in places.letters) == (0, 0.75)


def test_a_text_from_right_to_left_begins_at_the_right() -> None:
    places = places_of_signs("שא", [sign("ש", (50, 0, 100, 10)), sign("א", (0, 0, 50, 10))])
    assert spans(places) == [(0.5, 1), (0, 0.5)]


@pytest.mark.parametrize("degrees", [0, 17, -40, 90])
def test_on_a_tilted_line_letters_stand_where_they_were_drawn(degrees: float) -> None:
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))

    def turn(one: Sign) -> Sign:
        return Sign(one.text, [(cos * x - sin * y, sin * x + cos * y) for x, y in one.corners])

    drawn = [turn(sign("a", (10, 5, 20, 25))), turn(sign("b", (30, 0, 50, 25)))]
    places = places_of_signs("ab", drawn, (3 * cos, 3 * sin))
    assert places is not None
    x, y, along_x, along_y, across_x, across_y = places.frame
    for (start, end, top, bottom, _), one in zip(places.letters, drawn, strict=True):
        for (length, height), corner in zip(
            [(start, top), (end, top), (end, bottom), (start, bottom)], one.corners, strict=True
        ):
            found = (x + along_x * length + across_x * height, y + along_y * length + across_y * height)
            assert found == pytest.approx(corner)


def test_signs_of_another_text_and_signs_without_an_area_place_nothing() -> None:
    assert places_of_signs("ab", [sign("a", (0, 0, 1, 1))]) is None
    assert places_of_signs("", []) is None
    assert places_of_signs("a", [sign("a", (0, 0, 0, 1))]) is None
    assert places_of_signs("a", [Sign("a", [])]) is None
