"""The character error rate between two texts: the only definition, and its normalisation policies; pure.

Levenshtein distance (insert, delete, replace = 1) over code points of the normalised texts, divided by the
code points of the normalised reference; never clamped at 1. Over many pages: total distance by total
reference characters.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

from armarium.api import Invalid

DEFAULT_POLICY = "layout-insensitive"
LONGEST = 100_000
"""Characters a side; beyond it the answer would take minutes and say little."""
BATCH = 500
"""Pairs looked at together when many are compared."""
MOST_RATIO = 5
"""Texts whose lengths differ by more than this many times are not two readings of one thing."""

_STEPS: dict[str, tuple[str, ...]] = {
    "diplomatic": (),
    "layout-insensitive": ("whitespace",),
    "lenient": ("case", "punctuation", "whitespace"),
    "accent-blind": ("case", "accents", "punctuation", "whitespace"),
}

POLICIES: dict[str, str] = {
    "diplomatic": "Composed characters (NFC); line endings as newlines.",
    "layout-insensitive": "As diplomatic, and runs of whitespace count as one space; the ends are trimmed.",
    "lenient": "As layout-insensitive, and neither case nor punctuation counts.",
    "accent-blind": "As lenient, and combining marks do not count.",
}

DEFINITION = (
    "Levenshtein distance (insertion, deletion, replacement 1 each) over Unicode code points of the normalised texts, "
    "divided by the code points of the normalised reference; not clamped at 1."
)


class Score(NamedTuple):
    """One comparison under one policy; `rate` = distance / reference_chars."""

    policy: str
    policy_description: str
    distance: int
    reference_chars: int
    hypothesis_chars: int
    rate: float


class CannotScore(Invalid):
    """No meaningful number can be given; the sentence says why."""


def normalise(text: str, policy: str = DEFAULT_POLICY, expansions: Mapping[str, str] | None = None) -> str:
    """Return *text* under *policy*: NFC, line endings, expansions, case, accents, punctuation, whitespace, in
    turn.

    Raises Invalid for an unknown policy.
    """
    steps = _STEPS.get(policy)
    if steps is None:
        raise Invalid(
            f"There is no policy {policy!r}; there are {', '.join(POLICIES)}.", code="unknown_policy"
        )
    text = unicodedata.normalize("NFC", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if expansions:
        text = _expand(text, expansions)
    if "case" in steps:
        text = text.casefold()
    if "accents" in steps and not text.isascii():
        bare = (
            letter
            for letter in unicodedata.normalize("NFD", text)
            if not unicodedata.category(letter).startswith("M")
        )
        text = unicodedata.normalize("NFC", "".join(bare))
    if "punctuation" in steps:
        text = "".join(letter for letter in text if not unicodedata.category(letter).startswith("P"))
    if "whitespace" in steps:
        text = " ".join(text.split())
    return text


def _expand(text: str, expansions: Mapping[str, str]) -> str:
    """Replace each abbreviation by its full form, longest first, in one pass.

    A full form that is already in the text is left as it is: the M of Monsieur is not an abbreviation of it.
    """
    full = {
        unicodedata.normalize("NFC", short): unicodedata.normalize("NFC", long)
        for short, long in expansions.items()
        if short
    }
    if not full:
        return text
    full = {long: long for long in full.values() if long} | full
    lengths: dict[str, list[int]] = {}
    for length, first in sorted({(len(short), short[0]) for short in full}, reverse=True):
        lengths.setdefault(first, []).append(length)
    most = max(LONGEST, MOST_RATIO * len(text))
    parts: list[str] = []
    at = start = grown = 0
    while at < len(text):
        # Looked up by length: a pattern of ten thousand alternatives would try each of them at every letter.
        for length in lengths.get(text[at], ()):
            short = text[at : at + length]
            if short not in full:
                continue
            grown += len(full[short]) - len(short)
            if len(text) + grown > most:
                raise CannotScore(
                    f"With its abbreviations written out, a text has more than {most:,} characters; "
                    "shorten what they stand for.",
                    code="too_long",
                )
            parts += (text[start:at], full[short])
            at += len(short)
            start = at
            break
        else:
            at += 1
    return "".join((*parts, text[start:]))


def policy_name(policy: str, expansions: Mapping[str, str] | None = None) -> str:
    """Return `policy`, or `policy+expansions(n)` if the caller supplies expansions."""
    return f"{policy}+expansions({len(expansions)})" if expansions else policy


def score(
    reference: str, hypothesis: str, policy: str = DEFAULT_POLICY, expansions: Mapping[str, str] | None = None
) -> Score:
    """Return the distance of *hypothesis* from *reference*; CannotScore if the number would be
    meaningless.
    """
    from rapidfuzz.distance import Levenshtein

    for side, text in (("reference", reference), ("hypothesis", hypothesis)):
        if len(text) > LONGEST:
            raise CannotScore(
                f"The {side} has {len(text):,} characters; at most {LONGEST:,} are compared at once.",
                code="too_long",
            )
    right, read = normalise(reference, policy, expansions), normalise(hypothesis, policy, expansions)
    name = policy_name(policy, expansions)
    for side, text in (("reference", right), ("hypothesis", read)):
        if len(text) > LONGEST:
            raise CannotScore(
                f"The {side} has {len(text):,} characters under the policy {name}; at most {LONGEST:,} are compared "
                "at once.",
                code="too_long",
            )
    if not right:
        raise CannotScore(
            f"The reference is empty under the policy {name}, and nothing can be divided by its length.",
            code="empty_reference",
        )
    if len(read) > MOST_RATIO * len(right) or len(right) > MOST_RATIO * max(len(read), 1):
        raise CannotScore(
            f"One side has {len(right)} characters, the other {len(read)}: more than {MOST_RATIO} times as many. "
            "They are hardly two readings of one page; compare the passes you mean.",
            code="lengths_differ",
        )
    distance = Levenshtein.distance(right, read)
    words = POLICIES[policy]
    if expansions:
        words += f" {len(expansions)} abbreviations are expanded first."
    return Score(name, words, distance, len(right), len(read), distance / len(right))


def total_rate(pairs: Iterable[tuple[str, str]], policy: str = "diplomatic") -> tuple[int, int, float]:
    """Return (total distance, total reference characters, rate) over (reference, hypothesis) pairs.

    Empty references count with their insertions; CannotScore if all are empty.
    """
    from rapidfuzz.distance import Levenshtein

    distance = length = 0
    for batch in batch_pairs(pairs, BATCH):
        references = _normalise_all(list(map(itemgetter(0), batch)), policy)
        hypotheses = _normalise_all(list(map(itemgetter(1), batch)), policy)
        distance += sum(map(Levenshtein.distance, references, hypotheses))
        length += sum(map(len, references))
    if not length:
        raise CannotScore("Every reference is empty; there is nothing to divide by.", code="empty_reference")
    return distance, length, distance / length


def batch_pairs(pairs: Iterable[tuple[str, str]], size: int) -> Iterator[list[tuple[str, str]]]:
    """Yield *pairs* in lists of at most *size*."""
    waiting = iter(pairs)
    while batch := list(islice(waiting, size)):
        yield batch


def _normalise_all(texts: Sequence[str], policy: str) -> Sequence[str]:
    """Normalise each of *texts*. Most lines are in NFC already, so all are checked at once."""
    if policy == "diplomatic":
        # A newline composes with nothing, so the joined lines are in NFC only if each of them is.
        together = "\n".join(texts)
        if "\r" not in together and (together.isascii() or unicodedata.is_normalized("NFC", together)):
            return texts
    return [normalise(text, policy) for text in texts]


class LineErrors(NamedTuple):
    """The errors of one line in characters and in words, each with what the reference has of them."""

    distance: int
    characters: int
    word_distance: int
    words: int


def line_errors(reference: str, hypothesis: str, policy: str = DEFAULT_POLICY) -> LineErrors:
    """Return the errors of a line, to be added up over many; where nothing should stand, all that was read is an error."""
    from rapidfuzz.distance import Levenshtein

    right, read = normalise(reference, policy), normalise(hypothesis, policy)
    right_words, read_words = right.split(), read.split()
    distance = Levenshtein.distance(right, read)
    return LineErrors(distance, len(right), Levenshtein.distance(right_words, read_words), len(right_words))


def word_rate(reference: str, hypothesis: str, policy: str = DEFAULT_POLICY) -> tuple[int, int, float]:
    """Return (distance, reference words, rate) over whitespace-separated words."""
    from rapidfuzz.distance import Levenshtein

    right_words, read_words = normalise(reference, policy).split(), normalise(hypothesis, policy).split()
    if not right_words:
        raise CannotScore(
            "The reference has no words; there is nothing to divide by.", code="empty_reference"
        )
    distance = Levenshtein.distance(right_words, read_words)
    return distance, len(right_words), distance / len(right_words)
