"""Count the n-grams of letters that ship beside the model: `python -m training.spelling`.

Of the lines that the model is trained with alone. `--tune` says instead what weights of the spelling make of lines that were
not trained on, of unseen sources and of others.
"""

from __future__ import annotations

import argparse
import itertools
from collections import Counter

from rapidfuzz.distance import Levenshtein

from armarium_reader_hand import SPELLING
from armarium_reader_hand.cards import shipped_card
from armarium_reader_hand.decoding import best_path, likeliest
from armarium_reader_hand.model import LineModel
from armarium_reader_hand.spelling import Ngrams, Spelling
from training.convention import to_convention
from training.held_out import all_lines, lines_held_out
from training.packed import HELD_OUT, TRAIN, encode
from training.reading import answers
from training.settings import PACKAGE

TUNED = 60
"""Lines of each unseen source that weights are tried on."""
WEIGHTS, BONUSES = (0.1, 0.2, 0.3), (0.2, 0.5)


def count(letters: list[str]) -> Ngrams:
    """The n-grams of the training's lines, in the *letters* of the model."""
    codes = {letter: code for code, letter in enumerate(letters, 1)}
    coded = (encode(line["reference"], codes) for line in all_lines() if line["part"] == TRAIN)
    return Ngrams.of_texts(
        "".join(letters[code - 1] for code in line_codes) for line_codes in coded if line_codes
    )


def tune() -> None:
    """Print the error rates on lines not trained on, without spelling and with each pair of weight and bonus."""
    model = LineModel.load_shipped(2)
    lines = [line for line in lines_held_out(TUNED) if line["part"] == HELD_OUT]
    groups = [f"{'unseen' if line['unseen'] else 'seen'} {line['kind']}" for line in lines]
    read = list(answers(model, lines))

    def say(name: str, spelling: Spelling | None) -> None:
        wrong: Counter[str] = Counter()
        letters: Counter[str] = Counter()
        for line, group, answer in zip(lines, groups, read, strict=True):
            codes = likeliest(answer, 1, spelling=spelling)[0][0] if spelling else best_path(answer)[0]
            wrong[group] += Levenshtein.distance(line["reference"], to_convention(model.text(codes)))
            letters[group] += len(line["reference"])
        rates = (f"{group} {wrong[group] / letters[group]:.4f}" for group in sorted(letters))
        print(name, *rates, sep="  ", flush=True)

    say("no spelling", None)
    ngrams = Ngrams.load_shipped()
    for weight, bonus in itertools.product(WEIGHTS, BONUSES):
        say(f"weight {weight}, bonus {bonus}", Spelling([(ngrams, 1.0)], model.alphabet, weight, bonus))


def main() -> None:
    """Count and write, or try weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tune", action="store_true")
    if parser.parse_args().tune:
        tune()
    else:
        count(shipped_card()["alphabet"]).save(PACKAGE / SPELLING)


if __name__ == "__main__":
    main()
