"""Folding one corrected line gives the same as folding the whole page, or reports that it cannot."""

from __future__ import annotations

import random

from armarium_source_model.folding import fold_again, fold_text

PIECES = (
    "de", "la", "de la", "Straße", "ſo", "fiŭ", "شَعب", "漢字", "कि", "con-", "vento", "œu", "-", "=", "\u00ad", "…", "A", "a\u0301",
    "\u0301", "\u200f", "ﬁ", "\t", "\u2028", "Σας", "1", "\u3000",
)  # fmt: skip


def test_folding_one_line_equals_folding_the_page() -> None:
    chance = random.Random(25)
    alone = 0
    for _ in range(4000):
        lines = [
            " ".join(chance.choices(PIECES, k=chance.randint(1, 4))) for _ in range(chance.randint(1, 5))
        ]
        breaks = [chance.choice(("\n", "\n", "\n\n", " ")) for _ in lines[1:]] + [""]
        at = chance.randrange(len(lines))
        new = " ".join(chance.choices(PIECES, k=chance.randint(1, 4)))
        before = "".join(line + end for line, end in zip(lines[:at], breaks[:at], strict=True))
        after = breaks[at] + "".join(
            line + end for line, end in zip(lines[at + 1 :], breaks[at + 1 :], strict=True)
        )
        found = fold_again(fold_text(before + lines[at] + after), before, lines[at], new)
        if found is not None:
            alone += 1
            assert found == fold_text(before + new + after), (before, lines[at], new, after)
    assert alone > 800


def test_the_halves_of_hyphenated_words_are_found_besides_the_words() -> None:
    folded = fold_text("una car-\nta de Gon-  \n\n za-\nlo y 12-\n30, --\nfin -\nal")
    assert folded.words == "una carta de gonzalo y 12 30 fin al"
    assert folded.halves == "car ta gon za za lo fin"


def test_a_page_without_blanks_is_folded_at_a_look() -> None:
    """Beginning anew at each letter, this would take hours, and nobody else could write meanwhile."""
    long = "x" * 500_000
    assert fold_text(f"{long}-\n{long}").halves == f"{long} {long}"
    assert fold_text(f"{long}\na-\nb").halves == "a b"
