"""Where letters stand: the likeliest path against all paths, words against where they were drawn, and texts that cannot be there."""

from __future__ import annotations

import itertools
from pathlib import Path
from statistics import median

import numpy as np
import pytest

from armarium_reader_hand.alignment import UNKNOWN, DoesNotFit, align, classes_of, place_letters, viterbi
from armarium_reader_hand.reader import HandReader
from armarium_source_model.api import Frame, LetterPlace, LetterPlaces
from armarium_testing.drawn_lines import around, corners, draw_line, overlap, save, turn_page
from armarium_worker import LinePlaces, LineShape, graphemes

ALPHABET = ["a", "b", " ", "e", "\u0301", "é"]
WORDS = ["The", "quick", "brown", "fox", "jumps"]


@pytest.fixture(scope="module")
def reader() -> HandReader:
    """The reader with its weights loaded."""
    if why := HandReader.why_not(None):
        pytest.skip(why)
    new_reader = HandReader(threads=2)
    new_reader.load()
    return new_reader


def _output(dice: np.random.Generator, steps: int, classes: int) -> np.ndarray:
    chances = dice.random((steps, classes)) + 0.01
    return np.log(chances / chances.sum(axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize("seed", range(30))
def test_the_path_is_the_likeliest_of_all_that_become_the_text(seed: int) -> None:
    dice = np.random.default_rng(seed)
    answer = _output(dice, 6, 4)
    codes = [int(code) for code in dice.integers(1, 4, size=dice.integers(1, 4))]
    best = max(
        sum(float(answer[step, code]) for step, code in enumerate(path))
        for path in itertools.product(range(4), repeat=6)
        if [code for code, _ in itertools.groupby(path) if code] == codes
    )
    steps, likelihood = viterbi(answer, codes)
    assert likelihood == pytest.approx(best, abs=1e-4)
    assert all(step for step in steps)
    assert [step for one in steps for step in one] == sorted({step for one in steps for step in one})


def test_a_text_longer_than_its_line_is_refused_in_a_sentence() -> None:
    answer = _output(np.random.default_rng(1), 4, 7)
    with pytest.raises(DoesNotFit, match=r"5 letters.*at most 4"):
        align(answer, "ababa", ALPHABET)
    with pytest.raises(DoesNotFit):
        align(answer, "aaa", ALPHABET)  # with a blank between each two of the same


def test_letters_are_grapheme_clusters_and_unknown_ones_say_so() -> None:
    known = {letter: code for code, letter in enumerate(ALPHABET, 1)}
    assert classes_of("e\u0301", known) == [6]
    assert classes_of("a\u0301", known) == [1, 5]
    assert classes_of("א", known) == [UNKNOWN]
    assert classes_of("b\u0323", known) == [2], "its base is looked for where a mark is not known"
    answer = _output(np.random.default_rng(2), 20, 7)
    found = align(answer, "a\u0301אb\u0323", ALPHABET)
    assert list(found.letters) == ["a\u0301", "א", "b\u0323"]
    sure = [None if span is None else span.probability for span in found.spans]
    assert sure[0] is not None
    assert sure[1:] == [None, None]


def test_blanks_at_the_ends_and_repeated_ones_stand_for_nothing() -> None:
    answer = _output(np.random.default_rng(3), 20, 7)
    found = align(answer, "  a  b ", ALPHABET)
    assert [span is None for span in found.spans] == [True, True, False, False, True, False, True]
    assert align(answer, "   ", ALPHABET).spans == [None] * 3
    picture = np.zeros((64, 80), dtype=np.uint8)
    assert len(place_letters(found, picture)) == 7


def test_a_text_from_right_to_left_is_found_from_the_right() -> None:
    alphabet = ["א", "ב", " "]
    answer = np.full((12, 4), -9.0, dtype=np.float32)
    answer[:, 0] = -0.01
    for step, code in ((2, 2), (6, 3), (9, 1)):  # ב at the left, א at the right
        answer[step, :] = -9.0
        answer[step, code] = -0.01
    found = align(answer, "א ב", alphabet)
    assert [span.first for span in found.spans if span is not None] == [9, 6, 2]


def _places_of(reader: HandReader, path: Path, shape: LineShape, text: str) -> LinePlaces:
    page = reader.open_page(path, 10**9)
    (found,) = reader.align_lines(page, [shape], [text])
    assert isinstance(found, LinePlaces)
    assert len(found.letters) == len(graphemes(text))
    return found


def _boxes(found: LinePlaces, text: str) -> list[tuple[float, float, float, float]]:
    places = LetterPlaces(Frame(*found.frame), [LetterPlace(*letter) for letter in found.letters])
    return [around(list(word.corners)) for word in places.words(text)]


@pytest.mark.parametrize("degrees", [0, 9, -20])
def test_words_are_where_they_were_drawn_on_level_and_turned_pages(
    reader: HandReader, tmp_path: Path, degrees: float
) -> None:
    page, boxes = draw_line(WORDS)
    outline = corners((80, 185, boxes[-1][2] + 20, 275))
    baseline = [(80.0, 252.0), (boxes[-1][2] + 20.0, 252.0)]
    page, moved = turn_page(
        page, degrees, [*outline, *baseline, *(point for box in boxes for point in corners(box))]
    )
    rect = around(moved[:4])
    shape = LineShape((rect[0], rect[1], rect[2] - rect[0], rect[3] - rect[1]), moved[:4], moved[4:6])
    places = _places_of(reader, save(page, tmp_path), shape, " ".join(WORDS))
    truth = [around(moved[6 + 4 * at : 10 + 4 * at]) for at in range(len(WORDS))]
    scores = [overlap(box, other) for box, other in zip(_boxes(places, " ".join(WORDS)), truth, strict=True)]
    assert median(scores) > 0.85, scores
    assert min(scores) > 0.6, scores
    assert places.fit is not None
    assert places.fit > 0.2


def test_another_text_fits_worse_than_what_is_written(reader: HandReader, tmp_path: Path) -> None:
    page, boxes = draw_line(WORDS)
    path, shape = save(page, tmp_path), LineShape((80, 185, boxes[-1][2] - 60, 90))
    right = _places_of(reader, path, shape, " ".join(WORDS))
    wrong = _places_of(reader, path, shape, "cher Monsieur je vous")
    assert right.fit is not None
    assert wrong.fit is not None
    assert right.fit > 10 * wrong.fit
    places = _places_of(reader, path, shape, "The quick brewn fox jumps")
    at = "The quick br".__len__()
    letter = places.letters[at]
    assert letter[4] is not None
    assert letter[4] < 0.5
    assert "o" in {other for other, _ in places.others[at]}, "what the ink says is among the alternatives"


def test_what_is_read_says_where_its_letters_stand(reader: HandReader, tmp_path: Path) -> None:
    page, boxes = draw_line(WORDS)
    opened = reader.open_page(save(page, tmp_path), 10**9)
    (read,) = reader.read_lines(opened, [LineShape((80, 185, boxes[-1][2] - 60, 90))])
    assert read.places is not None
    assert len(read.places.letters) == len(graphemes(read.text))
    starts = [letter[0] for letter in read.places.letters]
    assert starts == sorted(starts)


def test_a_line_of_twenty_thousand_pixels_is_placed_too(reader: HandReader, tmp_path: Path) -> None:
    from PIL import Image

    page, _ = draw_line(WORDS)
    long = Image.new("L", (20_000, 500), 240)
    for start in range(0, 20_000, 1600):
        long.paste(page, (start, 0))
    text = " ".join(WORDS * (20_000 // 1600 + 1))
    path = tmp_path / "long.png"
    long.save(path)
    opened = reader.open_page(path, 10**9)
    (found,) = reader.align_lines(opened, [LineShape((0, 185, 20_000, 90))], [text])
    assert isinstance(found, str) or len(found.letters) == len(graphemes(text))
