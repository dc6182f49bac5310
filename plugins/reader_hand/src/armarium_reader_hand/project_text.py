"""Chooses the spelling weights of a trained model from a project's corrected text.

A trained model gets n-grams only if lines it was not trained on are read better with them: the shipped ones,
or these plus those of the training lines. Pages that are held out are in neither.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

from armarium_reader_hand.decoding import best_path, likeliest
from armarium_reader_hand.spelling import WEIGHED, Ngrams, Spelling
from armarium_worker import distance

FEWEST = 10
"""Lines for the choice; by fewer nothing is chosen."""
SMALLEST_GAIN = 0.005
"""Of the characters: what helps less is chance."""


def fit(
    model: Any, taught: Sequence[str], checked: Sequence[tuple[Any, str]]
) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """Return the spelling, in card form, with which *checked* (picture, text) is read best; None if none
    helps.

    *model* is a `LineModel`. The second value reports the measurement: the share of wrong characters without
    n-grams, with the shipped ones, with these and those of the lines *taught*, and the choice.
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
    model_letters = set(model.alphabet)
    project = Ngrams.of_texts(_in_letters(text, model_letters) for text in taught)
    for name, card in (("shipped", WEIGHED), ("project", {**WEIGHED, "project": project.pack()})):
        share = measured["cer_with"][name] = rate(Spelling.from_card(card, model.alphabet))
        if share < best:
            best, chosen = share, card
            measured["chosen"] = name
    return chosen, measured


def _in_letters(text: str, letters: set[str]) -> str:
    """Return a text in a model's letters, which may contain a letter and its marks only separately."""
    whole = unicodedata.normalize("NFC", " ".join(text.split()))
    return "".join(letter if letter in letters else unicodedata.normalize("NFD", letter) for letter in whole)
