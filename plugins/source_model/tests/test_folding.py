"""Folding letter by letter equals folding the whole text, in any script, and each word is where its position says."""

from __future__ import annotations

import random
import re
import unicodedata

from armarium.api import fold_letters, words_of
from armarium_source_model.folding import places_of_words

SIGNS = (
    "abcXYZ éÉ e\u0301 ß ſ æ ﬁ İ ı Σσς - = \u00ad \t\u2028 1 ² ½ ᾳ\u0301 α\u0345\u0301 한글 \u1100\u1161 か゛が ｶﾞ 中文 "
    "שָׁלוֹם اَلْكِتَاب क्षि न\u093c\u094d ไทย ที่ \u0e38\u0e48 བོད \u0f71\u0f72 a\u0327\u0301\u094d \ud800 \x00 \U0001d51e 🂡 ꝑ ꝛ \ufb03"
)
"""Letters with marks that are dropped, marks that are kept, and marks that normalisation reorders."""


def fold_whole_text(text: str) -> list[str]:
    """Return the words of the text normalised as a whole; of the engine only the table of letters is used."""
    from armarium.names.folding import _FOLDING

    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return plain.translate(_FOLDING).split()


def texts() -> list[str]:
    chance = random.Random(8)
    return [SIGNS, *("".join(chance.choices(SIGNS, k=chance.randint(1, 30))) for _ in range(4_000))]


def test_folding_letter_by_letter_equals_folding_the_whole() -> None:
    for text in texts():
        assert words_of(text) == fold_whole_text(text), ascii(text)
        assert fold_letters(text).split() == fold_whole_text(text)


def test_lines_folded_together_are_the_lines_folded() -> None:
    for text in texts()[:500]:
        assert words_of(f"{text}\n{text}") == [*words_of(text), *words_of(text)], ascii(text)


def test_words_are_at_their_positions() -> None:
    for text in texts():
        places = places_of_words(text)
        assert all(0 <= place.start < place.end <= len(text) for place in places)
        assert places == sorted(places, key=lambda one: (one.start, one.end))
    for line in ("Señor, el REY   de-la plata", "œuvre ﬁn ß.", "año 1832"):
        assert [place.word for place in places_of_words(line)] == words_of(line)
        for one in places_of_words(line):
            assert words_of(line[one.start : one.end]) == [one.word]


def test_a_line_of_plain_letters_has_its_words_between_blanks() -> None:
    line = "Dió a el Rey, que Dios guarde; á 3 de mayo"
    assert [(place.start, place.end) for place in places_of_words(line)] == [
        one.span() for one in re.finditer(r"\w+", line)
    ]
