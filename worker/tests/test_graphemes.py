"""What counts as one letter."""

from __future__ import annotations

import pytest

from armarium_worker import graphemes


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("", []),
        ("abc", ["a", "b", "c"]),
        ("e\u0301a\u0308\u0323", ["e\u0301", "a\u0308\u0323"]),
        ("क्षि", ["क्षि"]),
        ("한\u1112\u1161\u11ab", ["한", "\u1112\u1161\u11ab"]),
        ("👩\u200d🔬x", ["👩\u200d🔬", "x"]),
        ("🇵🇪🇪🇸", ["🇵🇪", "🇪🇸"]),
        ("\r\n", ["\r\n"]),
    ],
)
def test_letters_keep_their_marks(text: str, letters: list[str]) -> None:
    assert graphemes(text) == letters
    assert "".join(graphemes(text)) == text
