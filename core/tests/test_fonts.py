"""Text in pictures, checked by its ink: gaps between words, accents over letters, a box for what no font has."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import files
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from armarium import fonts
from armarium.fonts import PictureFont

WHITE, BLACK = (255, 255, 255), (0, 0, 0)

OLD_LETTERS = (
    "ſ æ œ þ ð ø ł đ ß ñ ç ş ț ő ż ŷ ḥ ấ ǣ ȳ Ωμέγα ᾶ ῷ Ёжщѣ ¬ ¶ § † « » „ “ — … ½ ¹²³ ᵃ ᵒ № q̃ p̄ x̂ m̄ uͤ oͦ"
)


def ink(text: str, size: float = 40, **chosen: str) -> np.ndarray:
    """Return the darkness, from 0 to 1, of a picture of the text, which starts at (size, 2 * size)."""
    font = PictureFont(size, **chosen)
    picture = Image.new("RGB", (round(font.width(text) + 2 * size), round(3 * size)), WHITE)
    font.write(picture, (size, 2 * size), text, BLACK)
    return 1 - np.asarray(picture.convert("L"), dtype=float) / 255


def gaps(picture: np.ndarray) -> list[int]:
    """Return the widths of the gaps between the first and the last column with ink."""
    dark = picture.max(axis=0) > 0.12
    inked = np.flatnonzero(dark)
    runs = groupby(dark[inked[0] : inked[-1] + 1])
    return [len(list(run)) for has_ink, run in runs if not has_ink]


def rows_with_ink(picture: np.ndarray) -> tuple[int, int]:
    rows = np.flatnonzero(picture.max(axis=1) > 0.3)
    return int(rows[0]), int(rows[-1])


@pytest.fixture
def without_system_fonts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fonts, "_system_fonts", tuple)


@pytest.fixture
def without_bundled_fonts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fonts, "_bundled_paths", tuple)


@pytest.mark.parametrize("size", [8.0, 9.5, 11.0, 12.3])
def test_small_words_have_clear_gaps(size: float) -> None:
    text = "Not placed: four of them in all"
    wide = [gap for gap in gaps(ink(text, size)) if gap >= 0.18 * size]
    assert len(wide) == len(text.split()) - 1
    assert max(gaps(ink(text.replace(" ", ""), size))) < 0.18 * size


@pytest.mark.parametrize("size", [8, 11, 13.7, 20, 60])
def test_the_width_of_small_text_is_that_of_large_text_made_smaller(size: float) -> None:
    for text in ("illicit little lilies", "mummy maximum", "12 345.678", " "):
        assert PictureFont(size).width(text) == pytest.approx(
            PictureFont(600).width(text) * size / 600, rel=0.04
        )


@pytest.mark.parametrize(
    ("plain", "accented"), [("o", "ó"), ("n", "ñ"), ("u", "ü"), ("q", "q̃"), ("p", "p̄"), ("u", "uͤ")]
)
def test_an_accent_is_ink_above_its_letter(plain: str, accented: str, without_system_fonts: None) -> None:
    letter, marked = ink(plain), ink(accented)
    top = rows_with_ink(letter)[0]
    assert rows_with_ink(marked)[0] < top - 4
    wide = min(letter.shape[1], marked.shape[1])
    assert np.abs(letter[top + 2 :, :wide] - marked[top + 2 :, :wide]).max() < 0.1
    columns = np.flatnonzero(letter.max(axis=0) > 0.3)
    above = np.flatnonzero(marked[: top - 1].max(axis=0) > 0.3)
    assert columns[0] - 4 <= above[0] <= above[-1] <= columns[-1] + 4


def test_composed_and_decomposed_letters_are_one_picture() -> None:
    assert np.array_equal(ink("An\u0303o, cafe\u0301"), ink("Año, café"))


def test_the_letters_of_old_texts_need_no_font_of_the_machine(without_system_fonts: None) -> None:
    box = ink("\U00017000")
    for letter in OLD_LETTERS.split():
        for style in ("Regular", "Medium"):
            drawn = ink(letter, style=style)
            assert drawn.max() > 0.5, letter
            assert not np.array_equal(drawn, box), letter
    whole = ink(OLD_LETTERS)
    assert np.array_equal(whole, ink(OLD_LETTERS))


def test_fonts_of_the_machine_do_not_change_what_ours_can_draw(without_system_fonts: None) -> None:
    alone = ink(OLD_LETTERS, 11)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fonts, "_system_fonts", lambda: (str(fonts._our_fonts() / "Roboto-Black.ttf"),))
        assert np.array_equal(ink(OLD_LETTERS, 11), alone)


def test_a_letter_that_no_font_has_is_a_hollow_box(without_system_fonts: None) -> None:
    picture = ink("𗀀")
    top, bottom = rows_with_ink(picture)
    columns = np.flatnonzero(picture.max(axis=0) > 0.3)
    box = picture[top : bottom + 1, columns[0] : columns[-1] + 1] > 0.3
    assert box.shape[0] > 24
    assert box.shape[1] > 16
    assert box[0].all()
    assert box[-1].all()
    assert box[:, 0].all()
    assert box[:, -1].all()
    assert not box[6:-6, 6:-6].any()
    assert [gap for gap in gaps(ink("𗀀𗀁 más")) if gap > 12] != []
    # Each letter gets one box, its combining marks none.
    assert len(gaps(ink("𗀀\u0301𗀁"))) == len(gaps(ink("𗀀𗀁")))


def test_letters_that_ours_lacks_come_from_a_font_of_the_machine(
    monkeypatch: pytest.MonkeyPatch, without_system_fonts: None, without_bundled_fonts: None
) -> None:
    """The machine's font is our own here, behind a font that has none of these letters."""
    roboto = str(fonts._our_fonts() / "Roboto-Regular.ttf")
    real = fonts._has
    monkeypatch.setattr(
        fonts, "_has", lambda path, letter: (letter < "Ω" or "Bold" not in path) and real(path, letter)
    )
    boxes = ink("abc Ωμέγα", style="Bold")
    monkeypatch.setattr(fonts, "_system_fonts", lambda: (roboto,))
    drawn = ink("abc Ωμέγα", style="Bold")
    bold, regular = ink("abc ", style="Bold"), ink("Ωμέγα")
    start = round(PictureFont(40, "Bold").width("abc "))
    assert not np.array_equal(boxes[:, : drawn.shape[1]], drawn[:, : boxes.shape[1]])
    assert np.array_equal(drawn[:, :100], bold[:, :100])
    assert np.abs(drawn[:, 36 + start : 36 + start + 100].sum() - regular[:, 36:136].sum()) < 2


def test_a_right_to_left_text_is_split_into_runs_from_left_to_right() -> None:
    """Words in another font keep the blanks and signs between them; numbers run left to right."""
    runs = PictureFont(20)._runs("see אבג 12, דה: end")
    assert [(run.text, run.backward) for run in runs] == [
        ("see ", False), (", דה", True), ("12", False), ("אבג ", True), (": end", False),
    ]  # fmt: skip


def test_letters_of_many_scripts_need_no_font_of_the_machine(without_system_fonts: None) -> None:
    for word in ("בְּרֵאשִׁית", "بسم", "क्षत्रिय", "漢字かな한국어", "ไทย", "தமிழ்", "\uf161\ue8bf"):
        runs = PictureFont(20)._runs(word)
        assert all(run.path for run in runs), word
        assert sum(len(run.letters) for run in runs) == len(fonts._letters(word))


def test_a_column_runs_downward_with_east_asian_letters_upright_and_others_on_their_side() -> None:
    font = PictureFont(40)
    turned, (mask, start, middle) = font.mask("abc")[0], font.column("abc")
    lying = np.asarray(mask.transpose(Image.Transpose.ROTATE_90)) > 128
    assert lying.sum() == (np.asarray(turned) > 128).sum()
    assert font.height("ᠮᠣᠩ") == font.width("ᠮᠣᠩ")
    assert font.height("一二三") == pytest.approx(3 * 40)
    column, start, middle = font.column("一二三")
    rows = np.flatnonzero(np.asarray(column).max(axis=1) > 128)
    assert start <= rows[0] < rows[-1] <= start + 120
    columns = np.flatnonzero(np.asarray(column).max(axis=0) > 128)
    assert abs((columns[0] + columns[-1]) / 2 - middle) < 3


@pytest.mark.parametrize(
    "text",
    ["", " ", "\u200b", "\n\r\x00", "שלום", "العربية", "👩‍🚀", "\ud800", "\u0301", "ç è ô ā —", "\uffff"],
)
def test_no_text_makes_drawing_fail(text: str) -> None:
    picture = Image.new("RGB", (300, 80), WHITE)
    for size in (0.4, 1, 24, 300):
        PictureFont(size).write(picture, (10, 50), text, BLACK)


def test_a_font_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="resource"):
        PictureFont(20, path=tmp_path / "absent.ttf")


def test_the_font_comes_with_its_licence() -> None:
    licences = [file for file in files("font-roboto") or [] if file.name == "LICENSE"]
    assert any("Apache License" in file.read_text() for file in licences)
    assert any(file.name == "Roboto-Regular.ttf" for file in files("font-roboto") or [])


def test_the_picture_does_not_depend_on_raqm() -> None:
    """Pillow lays text out with Raqm where the machine has FriBiDi; our text is drawn the same with and without it."""
    program = """
import sys, hashlib
from PIL import ImageFont
if sys.argv[1] == "without":
    ImageFont.core.HAVE_RAQM = False
from armarium.fonts import PictureFont
print(hashlib.sha256(PictureFont(11).mask(sys.argv[2])[0].tobytes()).hexdigest())
"""
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program, how, OLD_LETTERS], capture_output=True, text=True, check=True
        ).stdout
        for how in ("with", "without")
    }
    assert len(outputs) == 1
