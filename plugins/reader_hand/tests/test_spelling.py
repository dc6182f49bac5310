"""N-grams of letters compared with counts in plain Python, and decoding with them compared with all possible
texts.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from path_oracle import every_text, random_answer

from armarium_reader_hand.decoding import likeliest
from armarium_reader_hand.spelling import ORDER, Ngrams, Spelling

TEXTS = ["abba cab", "abc", "cab", "bacca", "a", "", "abba"]
ALPHABET = ["a", "b", "c", " "]


def _share(before: str, letter: str, classes: int) -> float:
    """Return Witten and Bell's interpolation by its definition; `<` begins a text, `>` ends it."""
    texts = [f"<{text}>" for text in TEXTS]
    share = 1 / classes
    for length in range(len(before) + 1):
        context = before[len(before) - length :]
        followers = Counter(
            text[at + length]
            for text in texts
            for at in range(len(text) - length)
            if text[at : at + length] == context and text[at + length] != "<"
        )
        if not followers:
            break
        total, kinds = followers.total(), len(followers)
        share = (followers[letter] + kinds * share) / (total + kinds)
    return share


def _context(spelling: Spelling, text: str) -> str:
    context = spelling.start
    for letter in text:
        context = spelling.after(context, ALPHABET.index(letter) + 1)
    return context


@pytest.mark.parametrize("before", ["", "a", "ab", "abb", "cab", "abba c", "bbbb", "abba ca"])
def test_probabilities_are_those_of_the_definition(before: str) -> None:
    """Of each letter and of the end; their sum is 1."""
    spelling = Spelling([(Ngrams.of_texts(TEXTS), 1.0)], ALPHABET, 1.0, 0.0)
    found = np.exp(spelling.chances(_context(spelling, before)))
    expected = [_share(f"<{before}"[1 - ORDER :], letter, 5) for letter in (">", *ALPHABET)]
    assert found.tolist() == pytest.approx(expected, rel=1e-5)
    assert found.sum() == pytest.approx(1, rel=1e-5)


def test_a_letter_that_was_never_counted_is_still_possible() -> None:
    """It gets the remaining probability, and as context it says nothing."""
    ngrams = Ngrams.of_texts(TEXTS)
    spelling = Spelling([(ngrams, 1.0)], [*ALPHABET, "þ"], 1.0, 0.0)
    behind = spelling.chances(spelling.after(_context(spelling, "ab"), 5))
    assert behind == spelling.chances("\x05")
    assert min(np.exp(behind)) > 0
    assert np.exp(spelling.chances(spelling.start)).sum() == pytest.approx(1, rel=1e-5)


def test_n_grams_are_the_same_after_saving_and_loading(tmp_path: Path) -> None:
    ngrams = Ngrams.of_texts(TEXTS)
    ngrams.save(tmp_path / "spelling.npz")
    again = Ngrams.load(tmp_path / "spelling.npz")
    for before in ("", "ab", "abba"):
        ours, theirs = (Spelling([(one, 1.0)], ALPHABET, 1.0, 0.0) for one in (ngrams, again))
        assert list(ours.chances(_context(ours, before))) == list(theirs.chances(_context(theirs, before)))


@pytest.mark.parametrize("seed", range(12))
def test_decoding_weighs_texts_with_n_grams(seed: int) -> None:
    """Compared with every text of four steps, weighted by the definition."""
    answer, weight, bonus = random_answer(seed, 4, 5, 1.0), 0.7, 0.4

    def worth(codes: tuple[int, ...], chance: float) -> float:
        text = "".join(ALPHABET[code - 1] for code in codes)
        letters = [_share(f"<{text[:at]}"[1 - ORDER :], letter, 5) for at, letter in enumerate(f"{text}>")]
        return math.log(chance) + weight * sum(map(math.log, letters)) + bonus * len(codes)

    worths = {codes: worth(codes, chance) for codes, chance in every_text(answer).items()}
    spelling = Spelling([(Ngrams.of_texts(TEXTS), 1.0)], ALPHABET, weight, bonus)
    found = likeliest(answer, 3, beam=10_000, spelling=spelling)
    assert [codes for codes, _ in found] == sorted(worths, key=lambda one: -worths[one])[:3]


def test_an_uncertain_letter_is_decided_by_n_grams() -> None:
    """The network cannot tell b from c after `a`; `abba` occurred in the text, `acba` never."""
    steps = [[0.01, 0.97, 0.01, 0.01], [0.02, 0.0, 0.48, 0.5], [0.97, 0.01, 0.01, 0.01]]
    steps += [[0.01, 0.01, 0.97, 0.01], [0.97, 0.01, 0.01, 0.01], [0.01, 0.97, 0.01, 0.01]]
    answer = np.log(np.maximum(np.array(steps, dtype=np.float32), 1e-9))
    spelling = Spelling([(Ngrams.of_texts(["abba"] * 20), 1.0)], ["a", "b", "c"], 0.3, 0.5)
    assert likeliest(answer, 1)[0][0] == (1, 3, 2, 1)
    assert likeliest(answer, 1, spelling=spelling)[0][0] == (1, 2, 2, 1)


def test_every_n_gram_is_in_the_tree() -> None:
    """Each n-gram of the texts, counted independently, and no other."""
    ngrams = Ngrams.of_texts(TEXTS)
    code_of = {letter: code for code, letter in enumerate(ngrams.letters, 1)}
    for context in map("".join, product("abc", repeat=2)):
        found_followers = ngrams.followers(bytes(code_of[letter] for letter in context))
        texts = [f"{text}>" for text in TEXTS]
        followers = {
            text[at + 2] for text in texts for at in range(len(text) - 2) if text.startswith(context, at)
        }
        nodes = [] if found_followers is None else ngrams.codes[slice(*found_followers)].tolist()
        assert {">" if code == 0 else ngrams.letters[code - 1] for code in nodes} == followers
