"""Lettering: Spanish without a Spanish font, and letters nobody can draw as hollow boxes, never as a failure."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from armarium.lettering import Lettering, lettering_for


@pytest.mark.parametrize(
    ("plain", "composed"),
    [
        ("senor", "señor"),
        ("Asi", "Así"),
        ("?Que?", "¿Que?"),
        ("linguista", "lingüista"),
        ("1o", "1º"),
        ("q", "q̃"),
    ],
)
def test_letters_the_font_lacks_are_composed_on_the_width_of_their_base(plain: str, composed: str) -> None:
    letters = Lettering(40)
    assert letters.width(plain) == pytest.approx(letters.width(composed))
    assert letters.mask(plain)[0].tobytes() != letters.mask(composed)[0].tobytes()
    assert letters.missing(composed) == 0


def test_a_letter_of_an_unknown_script_becomes_a_box() -> None:
    letters = Lettering(40)
    assert letters.missing("漢字 y más") == 2
    mask, _, _ = letters.mask("漢字 y más")
    assert mask.getextrema() == (0, 255)


@pytest.mark.parametrize(
    "text", ["", " ", "\u200b", "\n\r\x00", "שלום", "العربية", "👩‍🚀", "\ud800", "ç è ô ā —"]
)
def test_no_text_makes_lettering_fail(text: str) -> None:
    picture = Image.new("RGB", (300, 80), "white")
    Lettering(24).write(picture, (10, 50), text, (0, 0, 0))
    lettering_for(text, 24).write(picture, (10, 50), text, (0, 0, 0))


def test_a_slope_leans_the_letters_and_keeps_their_width() -> None:
    upright, leaning = Lettering(40), Lettering(40, slope=0.2)
    assert upright.mask("Ribera")[0].tobytes() != leaning.mask("Ribera")[0].tobytes()
    assert upright.width("Ribera") == leaning.width("Ribera")


def test_lettering_for_a_text_prefers_the_font_that_is_the_same_everywhere() -> None:
    assert lettering_for("año", 20)._font_path is None
    assert lettering_for("العربية", 20).missing("العربية") <= Lettering(20).missing("العربية")


def test_a_font_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="resource"):
        Lettering(20, font_path=tmp_path / "absent.ttf")
