"""What a project's corrected text says of its spelling: the choice of what a trained model is weighed with.

A trained model is weighed with n-grams only if lines that it was not taught are read better so: with the shipped ones, or with these
and what the taught lines say. Pages that are held out are in neither.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

from armarium_reader_hand.decoding import best_path, likeliest
from armarium_reader_hand.spelling import WEIGHED, Ngrams, Spelling

FEWEST = 10
"""Lines for the choice; by fewer nothing is chosen."""
SMALLEST_GAIN = 0.005
"""Of the characters: what helps less is chance."""


def fit(
    model: Any, taught: Sequence[str], checked: Sequence[tuple[Any, str]]
) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """The spelling, as a card states it, with which the lines *checked* (picture, text) are read best; None where none helps.

    *model* is a `LineModel`. The second value says what was measured: the share of characters wrong without, with the shipped
    n-grams, with these and those of the lines *taught*, and which was chosen.
    """
    measured: dict[str, Any] = {"lines": len(checked), "cer_without": None, "cer_with": {}, "chosen": None}
    if len(checked) < FEWEST:
        return None, measured
    answers = [answer for picture, _ in checked for answer in model.answers([picture])]
    texts = [unicodedata.normalize("NFC", " ".join(text.split())) for _, text in checked]
    letters = max(1, sum(map(len, texts)))

    def rate(spelling: Spelling | None) -> float:
        wrong = 0
        for answer, text in zip(answers, texts, strict=True):
            codes = (
                best_path(answer)[0] if spelling is None else likeliest(answer, 1, spelling=spelling)[0][0]
            )
            wrong += distance(text, model.text(codes))
        return round(wrong / letters, 5)

    measured["cer_without"] = without = rate(None)
    best, chosen = without - SMALLEST_GAIN, None
    known = set(model.alphabet)
    project = Ngrams.of_texts(_in_letters(text, known) for text in taught)
    for name, stated in (("shipped", WEIGHED), ("project", {**WEIGHED, "project": project.pack()})):
        found = measured["cer_with"][name] = rate(Spelling.from_card(stated, model.alphabet))
        if found < best:
            best, chosen = found, stated
            measured["chosen"] = name
    return chosen, measured


def _in_letters(text: str, known: set[str]) -> str:
    """A text in the letters of a model, which may know a letter and its marks apart only."""
    whole = unicodedata.normalize("NFC", " ".join(text.split()))
    return "".join(one if one in known else unicodedata.normalize("NFD", one) for one in whole)


def distance(one: str, other: str) -> int:
    """Levenshtein's distance; the engine's own measure is not importable in a worker."""
    before = list(range(len(other) + 1))
    for row, left in enumerate(one, 1):
        now = [row]
        for at, right in enumerate(other, 1):
            now.append(min(before[at] + 1, now[-1] + 1, before[at - 1] + (left != right)))
        before = now
    return before[-1]
