"""Where the letters of a text stand in the picture of its line: forced alignment with the network's output (CTC).

The likeliest path through the output among those that become the text (Viterbi over the text's classes with a blank
around each: Graves and others, "Connectionist Temporal Classification", ICML 2006) says at which steps each letter is
seen. The ink between two letters says where one ends and the other begins.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarium_reader_hand.crops import Cut
from armarium_reader_hand.decoding import Answer
from armarium_reader_hand.picture import Grey
from armarium_worker import LinePlaces, graphemes

UNKNOWN = -1
"""In place of a class: a letter that the network does not know, for which any letter it sees is taken."""
OTHERS, LEAST = 3, 0.01
"""Further letters that are told of each, and the least probability of one."""
INK = 80
"""Of 255: darker is ink."""
STROKE = 2
"""Pixels of ink in a column or row: fewer are specks."""
REACH = 1.2
"""Heights of the line: ink this far before the first letter, or after the last, still belongs to it."""
PIXELS_A_STEP = 4.0


class Span(NamedTuple):
    """The steps at which a letter is seen (from, to, both included), its probability, and others at its clearest step."""

    first: int
    last: int
    probability: float | None
    others: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Alignment:
    """The letters of a text with the steps of each; None for one that stands for nothing (a second blank)."""

    letters: Sequence[str]
    spans: Sequence[Span | None]
    likelihood: float
    """Logarithm of the probability of the path."""


class DoesNotFit(Exception):
    """A text that has more letters than its line has room for; the message says so."""


def classes_of(letter: str, known: Mapping[str, int]) -> list[int]:
    """Return the classes that make up a letter, one if the alphabet has it whole; UNKNOWN for what it lacks."""
    if letter.isspace():
        letter = " "
    whole = unicodedata.normalize("NFC", letter)
    if whole in known:
        return [known[whole]]
    signs = [known.get(sign, UNKNOWN) for sign in whole]
    if UNKNOWN in signs:
        apart = [known.get(sign, UNKNOWN) for sign in unicodedata.normalize("NFD", letter)]
        if UNKNOWN not in apart:
            return apart
        # Its base is seen where its marks are not known, and one stroke where even that is not.
        return [next((code for code in apart if code != UNKNOWN), UNKNOWN)]
    return signs


def is_spelled(letter: str, known: Mapping[str, int]) -> bool:
    """Return whether the alphabet has all of a letter, whole or in parts."""
    if letter.isspace():
        return True
    forms = (unicodedata.normalize(form, letter) for form in ("NFC", "NFD"))
    return any(form in known or all(sign in known for sign in form) for form in forms)


def align(answer: Answer, text: str, alphabet: Sequence[str]) -> Alignment:
    """Return where the letters of *text* (in logical order) are seen; DoesNotFit if they cannot be.

    A text from right to left is tried from either side, and the likelier taken: a network reads from the left.
    """
    codes_by_letter = {letter: code for code, letter in enumerate(alphabet, 1)}
    letters = graphemes(text)
    parts = [classes_of(letter, codes_by_letter) for letter in letters]
    # Blanks at the ends, and all but the first of several, are not on the page.
    inked = [place for place, letter in enumerate(letters) if not letter.isspace()]
    visible = [
        place
        for place in (range(inked[0], inked[-1] + 1) if inked else ())
        if not letters[place].isspace() or not letters[place - 1].isspace()
    ]
    ways = [visible]
    if any(unicodedata.bidirectional(sign) in ("R", "AL") for sign in text):
        ways.append(visible[::-1])
    return max(
        (_align(answer, letters, parts, way, alphabet) for way in ways),
        key=lambda alignment: alignment.likelihood,
    )


def _align(
    answer: Answer,
    letters: Sequence[str],
    parts: Sequence[list[int]],
    way: Sequence[int],
    alphabet: Sequence[str],
) -> Alignment:
    codes_by_letter = {letter: code for code, letter in enumerate(alphabet, 1)}
    spans: list[Span | None] = [None] * len(letters)
    codes = [code for place in way for code in parts[place]]
    if not codes:
        return Alignment(letters, spans, 0.0)
    steps, likelihood = viterbi(answer, codes)
    at = 0
    for place in way:
        own = range(at, at + len(parts[place]))
        at += len(parts[place])
        own_steps = [step for number in own for step in steps[number]]
        sure = [_probability(answer, steps[number], codes[number]) for number in own]
        is_known = is_spelled(letters[place], codes_by_letter)
        clearest = max(steps[own[0]], key=lambda step: float(answer[step, max(codes[own[0]], 0)]))
        spans[place] = Span(
            min(own_steps),
            max(own_steps),
            min(sure) if is_known else None,
            _list_others(answer[clearest], codes[own[0]], alphabet),
        )
    return Alignment(letters, spans, likelihood)


def viterbi(answer: Answer, codes: Sequence[int]) -> tuple[list[list[int]], float]:
    """Return the steps at which each of *codes* is seen on the likeliest path that becomes them, and its likelihood."""
    count, steps = len(codes), len(answer)
    least = count + sum(code == other for code, other in pairwise(codes))
    if least > steps:
        raise DoesNotFit(
            f"The text has {count:,} letters, and the line has room for at most {steps:,}: either the text is of another line, "
            "or the line's shape is cut off."
        )
    wild = answer[:, 1:].max(axis=1)
    targets = np.array(codes)
    chances = np.where(targets == UNKNOWN, wild[:, None], answer[:, np.maximum(targets, 0)])
    # States: a blank, a letter, a blank, …; before them two that no path can be in, so that every state has two before it.
    emitted = np.empty((steps, 2 * count + 1))
    emitted[:, 0::2], emitted[:, 1::2] = answer[:, :1], chances
    skip = np.full(2 * count + 1, -np.inf)
    skip[3::2] = np.where((targets[1:] != targets[:-1]) | (targets[1:] == UNKNOWN), 0.0, -np.inf)
    best = np.full((steps, 2 * count + 3), -np.inf)
    best[0, 2:4] = emitted[0, :2]
    skipped = np.empty_like(skip)
    for before, current, here in zip(best, best[1:, 2:], emitted[1:], strict=False):
        np.maximum(before[2:], before[1:-1], out=current)
        np.add(before[:-2], skip, out=skipped)
        np.maximum(current, skipped, out=current)
        np.add(current, here, out=current)
    state = 2 * count if best[-1, -1] >= best[-1, -2] else 2 * count - 1
    likelihood = float(best[-1, state + 2])
    steps_by_code: list[list[int]] = [[] for _ in codes]
    for step in range(steps - 1, -1, -1):
        if state % 2:
            steps_by_code[state // 2].append(step)
        if step:
            two_back, one_back, same_state = best[step - 1, state : state + 3].tolist()
            two_back += float(skip[state])
            state -= 2 if two_back > max(one_back, same_state) else int(one_back > same_state)
    return [sorted(own) for own in steps_by_code], likelihood


def _probability(answer: Answer, steps: Sequence[int], code: int) -> float:
    return math.exp(max(float(answer[step, max(code, 0)]) for step in steps))


def _list_others(
    step: NDArray[np.float32], code: int, alphabet: Sequence[str]
) -> tuple[tuple[str, float], ...]:
    """Return the likeliest letters of a step beside the one that is meant."""
    order = np.argsort(step[1:])[::-1][: OTHERS + 1] + 1
    others = [
        (alphabet[other - 1], math.exp(float(step[other]))) for other in order.tolist() if other != code
    ]
    return tuple((letter, sure) for letter, sure in others[:OTHERS] if sure >= LEAST)


class Spots(NamedTuple):
    """Where the letters of a text stand in the picture of its line, in parts of its sides, each with its probability; and
    further letters that the network sees, by number.
    """

    letters: list[tuple[float, float, float, float, float | None]]
    others: dict[int, tuple[tuple[str, float], ...]]
    fit: float
    """Geometric mean of the probability of the whole, over its letters and one more: what the text and the ink have in common."""


def spots_of(answer: Answer, picture: Grey, text: str, alphabet: Sequence[str]) -> Spots:
    """Return where the letters of *text* stand in a picture; DoesNotFit if it has no room for them."""
    alignment = align(answer, text, alphabet)
    sure = [None if span is None else span.probability for span in alignment.spans]
    letters = [
        (*place, probability)
        for place, probability in zip(place_letters(alignment, picture), sure, strict=True)
    ]
    others = {at: span.others for at, span in enumerate(alignment.spans) if span is not None and span.others}
    count = sum(not letter.isspace() for letter in alignment.letters)
    return Spots(letters, others, math.exp(min(0.0, alignment.likelihood) / (count + 1)))


def on_page(spots: Spots, cut: Cut) -> LinePlaces:
    """Return the places of letters on the page whose line was cut out so."""
    letters = []
    for start, end, top, bottom, sure in spots.letters:
        down = 0.0
        if cut.moved is not None:
            down = float(cut.moved[min(len(cut.moved) - 1, int((start + end) / 2 * len(cut.moved)))])
        letters.append((start, end, min(1.0, max(0.0, top + down)), min(1.0, max(0.0, bottom + down)), sure))
    return LinePlaces(cut.frame, letters, spots.others, spots.fit)


def place_letters(alignment: Alignment, picture: Grey) -> list[tuple[float, float, float, float]]:
    """Return for each letter where it stands in the line's picture: start, end, top and bottom as parts of its sides.

    Letters share the borders between them, which lie where there is least ink; a word ends with its last stroke.
    """
    height, width = picture.shape
    dark = picture > INK
    columns = dark.sum(axis=0)
    placed = [(place, span) for place, span in enumerate(alignment.spans) if span is not None]
    placed.sort(key=lambda pair: pair[1].first)
    edges: dict[int, tuple[float, float]] = {}
    blank = [alignment.letters[place].isspace() for place, _ in placed]
    middles = [PIXELS_A_STEP * (span.first + span.last + 1) / 2 for _, span in placed]
    borders: list[tuple[float, float]] = []
    inked = [number for number in range(len(placed)) if not blank[number]]
    for ink_end, other in pairwise(inked):
        # Between words the emptiest stretch, between letters of a word the thinnest place.
        borders.append(_gap(columns, middles[ink_end], middles[other], apart=other > ink_end + 1))
    reach = REACH * height
    for at, number in enumerate(inked):
        start = borders[at - 1][1] if at else _first_ink(columns, middles[number], reach, -1)
        end = borders[at][0] if at < len(borders) else _first_ink(columns, middles[number], reach, 1)
        edges[placed[number][0]] = start, max(start + 1.0, end)
    boxes: list[tuple[float, float, float, float]] = []
    last = 0.0
    for place in range(len(alignment.letters)):
        if place in edges:
            start, end = edges[place]
            top, bottom = _rows(dark[:, int(start) : math.ceil(end)], height)
            last = end
        else:
            # A blank: what lies between its neighbours.
            later = [edges[number][0] for number in range(place, len(alignment.letters)) if number in edges]
            start, end, top, bottom = last, max(last, later[0] if later else last), 0.0, 1.0
        boxes.append((min(1.0, start / width), min(1.0, end / width), top, bottom))
    return boxes


def _gap(columns: NDArray[np.int64], left: float, right: float, *, apart: bool) -> tuple[float, float]:
    """Return where what is left of a border ends, and where what is right of it begins."""
    start, end = int(left), max(int(left) + 1, math.ceil(right))
    between = columns[start:end]
    if not len(between):
        return left, right
    empty = between < STROKE
    if apart and empty.any():
        first, last = _find_longest_run(empty)
        return float(start + first), float(start + last)
    # The thinnest place, of several the one nearest the middle.
    middle = (len(between) - 1) / 2
    thin = int(np.argmin(between * len(between) + np.abs(np.arange(len(between)) - middle)))
    return float(start + thin), float(start + thin)


def _find_longest_run(empty: NDArray[np.bool_]) -> tuple[int, int]:
    """Return the longest run of true values: its start and its end."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], empty.astype(np.int8), [0]])))
    starts, ends = edges[0::2], edges[1::2]
    longest = int(np.argmax(ends - starts))
    return int(starts[longest]), int(ends[longest])


def _first_ink(columns: NDArray[np.int64], middle: float, reach: float, way: int) -> float:
    """Return where the ink of the first (*way* -1) or last letter of a line ends, no farther than *reach*."""
    if way < 0:
        start = max(0, int(middle - reach))
        inked = np.flatnonzero(columns[start : int(middle) + 1] >= STROKE)
        return float(start + inked[0]) if len(inked) else max(0.0, middle - PIXELS_A_STEP)
    stop = min(len(columns), math.ceil(middle + reach))
    inked = np.flatnonzero(columns[int(middle) : stop] >= STROKE)
    return (
        float(int(middle) + inked[-1] + 1) if len(inked) else min(float(len(columns)), middle + PIXELS_A_STEP)
    )


def _rows(dark: NDArray[np.bool_], height: int) -> tuple[float, float]:
    """Return the part of the height in which there is ink; all of it where there is none."""
    inked = np.flatnonzero(dark.sum(axis=1) >= 1)
    if not len(inked):
        return 0.0, 1.0
    return int(inked[0]) / height, (int(inked[-1]) + 1) / height
