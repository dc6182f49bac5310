"""Where RapidOCR's letters stand, checked against words that were drawn at known places."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from armarium_reader_rapidocr.reader import RapidOcrReader
from armarium_reading.api import LinePlaces, LineReading, LineShape
from armarium_testing.drawn_lines import around, corners, draw_line, overlap, save, turn_page

WORDS = ["Letters", "stand", "upon", "the", "page"]


@pytest.fixture(scope="module")
def reader() -> RapidOcrReader:
    new_reader = RapidOcrReader(threads=1)
    new_reader.load()
    return new_reader


def words_on_page(reading: LineReading) -> list[list[tuple[float, float]]]:
    """The corners of the letters of each word, on the page."""
    places = reading.places
    assert isinstance(places, LinePlaces), reading
    x, y, along_x, along_y, across_x, across_y = places.frame
    words: list[list[tuple[float, float]]] = [[]]
    for letter, (start, end, top, bottom, _) in zip(reading.text, places.letters, strict=True):
        if letter.isspace():
            words.append([])
        for length, height in ((start, top), (end, bottom)) if not letter.isspace() else ():
            words[-1].append(
                (x + along_x * length + across_x * height, y + along_y * length + across_y * height)
            )
    return words


def test_given_lines_keep_where_their_letters_stand_level_tilted_and_upside_down(
    reader: RapidOcrReader, tmp_path: Path
) -> None:
    picture, boxes = draw_line(WORDS)
    outline = corners((boxes[0][0] - 8, 190, boxes[-1][2] + 8, 265))
    for degrees in (0, 8, 180):
        turned, polygon = turn_page(picture, degrees, outline)
        page = reader.open_page(save(turned, tmp_path), 10**9)
        base = (polygon[3], polygon[2])
        left, top, right, bottom = around(polygon)
        shape = LineShape((left, top, right - left, bottom - top), polygon, base)
        (reading,) = reader.read_lines(page, [shape])
        assert reading.text.split() == WORDS, degrees
        for number, (found, box) in enumerate(zip(words_on_page(reading), boxes, strict=True)):
            drawn = turn_page(picture, degrees, corners(box))[1]
            middle = [sum(axis) / len(axis) for axis in zip(*found, strict=True)]
            wanted = [sum(axis) / len(axis) for axis in zip(*drawn, strict=True)]
            assert middle == pytest.approx(wanted, abs=25), (degrees, number)
        assert reading.places is not None
        assert all(letter[4] is None or letter[4] > 0.3 for letter in reading.places.letters)


def test_a_page_read_in_one_go_says_it_of_every_line(reader: RapidOcrReader, tmp_path: Path) -> None:
    picture, boxes = draw_line(WORDS)
    page = Image.new("L", (2600, 2400), 240)  # larger than what RapidOCR looks at
    page.paste(picture, (300, 200))
    tilted, _ = turn_page(picture, 4, [])
    page.paste(tilted, (300, 1500))
    read = list(reader.read_page(reader.open_page(save(page, tmp_path), 10**9)))
    assert [item.reading.text.split() for item in read] == [WORDS, WORDS]
    for (dx, dy, degrees), line in zip([(300, 200, 0), (300, 1500, 4)], read, strict=True):
        for word, box in zip(words_on_page(line.reading), boxes, strict=True):
            drawn = turn_page(picture, degrees, corners(box))[1]
            left, _, right, _ = around([(x + dx, y + dy) for x, y in drawn])
            # Its areas are as high as its lines: how far they reach along the line is compared.
            assert overlap((left, 0, right, 1), (around(word)[0], 0, around(word)[2], 1)) > 0.7


def test_vertical_writing_is_placed_from_the_top(reader: RapidOcrReader, tmp_path: Path) -> None:
    picture, boxes = draw_line(WORDS)
    page = reader.open_page(save(picture.rotate(-90, expand=True), tmp_path), 10**9)
    # A clockwise quarter turn: x becomes the way down, y runs to the left.
    line = LineShape((500 - 265, boxes[0][0] - 8, 75, boxes[-1][2] - boxes[0][0] + 16))
    (reading,) = reader.read_lines(page, [line])
    assert reading.text.split() == WORDS
    for word, box in zip(words_on_page(reading), boxes, strict=True):
        _, top, _, bottom = around(word)
        assert (top, bottom) == pytest.approx((box[0], box[2]), abs=25)
