"""Count the n-grams of letters that ship beside the model: `python -m training.spelling`.

Of the lines that the model is trained with alone: neither those held out of the training nor the test documents. `--tune`
says instead what weights of the spelling make of the held-out lines.
"""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path

import numpy as np
from rapidfuzz.distance import Levenshtein

from armarium_reader_hand import SPELLING
from armarium_reader_hand.decoding import best_path, likeliest
from armarium_reader_hand.model import LineModel
from armarium_reader_hand.spelling import Ngrams, Spelling
from training.corpus import HELD_OUT, TRAIN, PreparedCorpus
from training.settings import PACKAGE, settings

TUNED = 400
"""Held-out lines that weights are tried on."""
WEIGHTS, BONUSES = (0.2, 0.3, 0.4), (0.3, 0.5, 0.7)
TOGETHER = 16


def count(corpus: PreparedCorpus) -> Ngrams:
    """The n-grams of the training's lines, in the letters of the model."""
    coded = (corpus.encode(line.text) for line in corpus.lines_of(TRAIN))
    return Ngrams.of_texts("".join(corpus.alphabet[code - 1] for code in codes) for codes in coded if codes)


def tune(corpus: PreparedCorpus) -> None:
    """Print the error rate on held-out lines, without spelling and with each pair of weight and bonus."""
    model = LineModel.load_shipped(2)
    lines = corpus.lines_of(HELD_OUT)
    drawn = np.random.default_rng(0).permutation(len(lines))[:TUNED]
    chosen = sorted((lines[at] for at in drawn), key=lambda line: line.width)
    answers = [
        answer
        for at in range(0, len(chosen), TOGETHER)
        for answer in model.answers([corpus.picture(line) for line in chosen[at : at + TOGETHER]])
    ]
    letters = sum(len(line.text) for line in chosen)

    def rate(texts: list[str]) -> float:
        wrong = sum(Levenshtein.distance(line.text, text) for line, text in zip(chosen, texts, strict=True))
        return wrong / letters

    print(f"no spelling: {rate([model.text(best_path(answer)[0]) for answer in answers]):.4f}")
    for weight, bonus in itertools.product(WEIGHTS, BONUSES):
        spelling = Spelling.from_card({"weight": weight, "bonus": bonus}, model.alphabet)
        texts = [model.text(likeliest(answer, 1, spelling=spelling)[0][0]) for answer in answers]
        print(f"weight {weight}, bonus {bonus}: {rate(texts):.4f}", flush=True)


def main() -> None:
    """Count and write, or try weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tune", action="store_true")
    corpus = PreparedCorpus(Path(settings().training.folder) / "corpus")
    if parser.parse_args().tune:
        tune(corpus)
    else:
        count(corpus).save(PACKAGE / SPELLING)


if __name__ == "__main__":
    main()
