"""The table of the transcription convention, row by row; a text that follows it is unchanged."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

TRAINING = Path(__file__).parents[1]
if str(TRAINING) not in sys.path:
    sys.path.append(str(TRAINING))

from training.convention import LETTERS, RAISED, to_convention  # noqa: E402


@pytest.mark.parametrize(
    ("source", "written"),
    [
        ("deſſus", "dessus"),
        ("Mᵈˢ y algᵒˢ", "M^ds y alg^os"),
        ("Mons^s le Doïen", "Mons^s le Doïen"),
        ("dem^ᵗ", "dem^t"),
        ("ho ͤ et pͬ", "hoͤ et pͬ"),
        ("prin¬", "prin-"),
        ("prin =", "prin-"),
        ("a = b", "a = b"),
        ("l’an “premier”", 'l\'an "premier"'),
        ("1870 — 1871", "1870 - 1871"),
        ("\u0113 b\u0304", "\u1ebd b\u0303"),
        ("q\u0336 qd\u0335 h\u0335", "q\u0335 qđ ħ"),
        ("q\uf1ac quo\ue8bf", "qꝫ quoqꝫ"),
        ("ȩccłia", "ęccłia"),
        ("ẏsaac", "ysaac"),
        ("FᗅNNIE ᗞ", "FANNIE D"),
        ("uiuit iam, v & j", "uiuit iam, v & j"),
        ("  deux\u00a0  mots ", "deux mots"),
        ("e\u0301", "é"),
        ("⁊ ꝑ ꝓ ꝰ ꝯ ÷ ¶", "⁊ ꝑ ꝓ ꝰ ꝯ ÷ ¶"),
    ],
)
def test_each_row_of_the_table(source: str, written: str) -> None:
    assert to_convention(source) == written


LETTER = st.sampled_from(
    sorted({*LETTERS, *map(ord, RAISED), *map(ord, "abdhlqvy =-¬^ \u0303\u0335\u0364é")})
)


@given(st.lists(LETTER, max_size=12))
def test_a_text_in_the_convention_is_unchanged(letters: list[int]) -> None:
    once = to_convention("".join(map(chr, letters)))
    assert to_convention(once) == once
