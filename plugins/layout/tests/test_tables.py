"""Cells of tables drawn here (ruled, spanning, with ruled columns only, unruled), and of real registers."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import pytest
from layout_pages import font, page_lines, paper, precision_and_recall, real_image, write
from PIL import Image, ImageDraw

from armarium_layout.finding.ink import Box, rows_of, sheet_of
from armarium_layout.finding.tables import Cell, Table, tables_of
from armarium_layout.finding.unruled import unruled_table

WORDS = ["Petrus", "item", "viginti", "xii", "domus", "anno", "libras", "Maria", "vinea"]


def grid(dice: random.Random, columns: int, rows: int) -> tuple[list[int], list[int]]:
    xs, ys = [100], [150]
    for _ in range(columns):
        xs.append(xs[-1] + dice.randrange(140, 260))
    for _ in range(rows):
        ys.append(ys[-1] + dice.randrange(50, 90))
    return xs, ys


def page_with_table(
    xs: list[int],
    ys: list[int],
    *,
    level: bool = True,
    upright: bool = True,
    seed: int = 1,
    spans: bool = False,
) -> tuple[Any, dict[tuple[int, int], Box]]:
    """Return a page with a table, a word in each cell, and its cells by row and column; *spans*: the first
    row is one cell.
    """
    dice = random.Random(seed)
    image = paper(xs[-1] + 150, ys[-1] + 200, grain=3, seed=seed)
    pen = ImageDraw.Draw(image)
    if level:
        for y in ys:
            pen.line((xs[0], y, xs[-1], y), fill=60, width=2)
    if upright:
        for number, x in enumerate(xs):
            top = ys[1] if spans and 0 < number < len(xs) - 1 else ys[0]
            pen.line((x, top, x, ys[-1]), fill=60, width=2)
    cells = {}
    for r, (top, bottom) in enumerate(pairwise(ys)):
        for c, (left, right) in enumerate(pairwise(xs)):
            if spans and r == 0:
                continue
            cells[r, c] = Box(left, top, right, bottom)
            word = dice.choice(WORDS)
            write(image, left + 14, (top + bottom) / 2 + 8, word, 20)
    if spans:
        cells[0, 0] = Box(xs[0], ys[0], xs[-1], ys[1])
        write(image, xs[0] + 60, (ys[0] + ys[1]) / 2 + 8, "Liber redituum", 22)
    return image, cells


def scale_table(table: Table, scale: float) -> list[tuple[Cell, Box]]:
    return [(cell, Box(*(value / scale for value in cell.box))) for cell in table.cells]


def ruled_on(image: Any) -> list[tuple[Cell, Box]]:
    sheet = sheet_of(image)
    tables = tables_of(sheet)
    assert len(tables) == 1
    return scale_table(tables[0], sheet.scale)


@pytest.mark.parametrize("seed", range(8))
def test_every_cell_of_a_ruled_table_is_found_in_its_place(seed: int) -> None:
    dice = random.Random(seed)
    xs, ys = grid(dice, dice.randrange(2, 6), dice.randrange(2, 9))
    image, truth = page_with_table(xs, ys, seed=seed)
    found = {(cell.row, cell.column): box for cell, box in ruled_on(image)}
    assert found.keys() == truth.keys()
    for place, box in found.items():
        assert precision_and_recall([box], [truth[place]], 0.9) == (1.0, 1.0)


def test_a_cell_not_divided_by_a_rule_spans() -> None:
    image, truth = page_with_table([100, 300, 480, 700], [150, 220, 300, 380], spans=True)
    found = ruled_on(image)
    assert (0, 0, 1, 3) in [(c.row, c.column, c.row_span, c.column_span) for c, _ in found]
    assert precision_and_recall([box for _, box in found], list(truth.values()), 0.9) == (1.0, 1.0)


@pytest.mark.parametrize("degrees", [-1.0, 0.6])
def test_a_skewed_table_is_found(degrees: float) -> None:
    image, truth = page_with_table([100, 300, 480, 700], [150, 220, 300, 380, 450])
    found = ruled_on(image.rotate(degrees, fillcolor=225, resample=3))
    assert sorted((c.row, c.column) for c, _ in found) == sorted(truth)


def test_a_table_with_ruled_columns_only_is_divided_into_rows_by_its_text() -> None:
    dice = random.Random(2)
    ys = [150 + 60 * n for n in range(9)]
    image, truth = page_with_table([100, 260, 500, 720], ys, level=False, seed=4)
    found = [box for _, box in ruled_on(image)]
    precision, recall = precision_and_recall(found, list(truth.values()), 0.5)
    assert precision > 0.9
    assert recall > 0.9
    assert dice


def test_a_table_without_rules_has_the_columns_of_its_white() -> None:
    xs, ys = [100, 320, 560, 760], [150 + 55 * n for n in range(8)]
    image, truth = page_with_table(xs, ys, level=False, upright=False, seed=5)
    sheet = sheet_of(image)
    area = Box(*(value * sheet.scale for value in (90, 145, 770, ys[-1] + 5)))
    table = unruled_table(rows_of(sheet.ink, reach=1.2), area)
    assert table is not None
    assert {(cell.row, cell.column) for cell in table.cells} == truth.keys()
    # The boundaries are somewhere in the white, so a cell counts if it contains its word and no other.
    for cell, box in scale_table(table, sheet.scale):
        middle = (
            truth[cell.row, cell.column].left + 30,
            (truth[cell.row, cell.column].top + truth[cell.row, cell.column].bottom) / 2,
        )
        assert box.left < middle[0] < box.right
        assert box.top < middle[1] < box.bottom


def test_prose_and_frames_and_squared_paper_are_no_tables() -> None:
    prose = paper(900, 900)
    for number in range(14):
        write(
            prose, 80, 100 + 50 * number, "notum sit omnibus quod ego petrus de castro vendo tibi domum", 24
        )
    assert tables_of(sheet_of(prose)) == []
    framed = prose.copy()
    ImageDraw.Draw(framed).rectangle((40, 40, 860, 860), outline=50, width=3)
    assert tables_of(sheet_of(framed)) == []
    squared = prose.copy()
    pen = ImageDraw.Draw(squared)
    for at in range(30, 900, 40):
        pen.line((at, 0, at, 900), fill=120)
        pen.line((0, at, 900, at), fill=120)
    assert tables_of(sheet_of(squared)) == []


def test_underlined_words_are_no_rules() -> None:
    image = paper(900, 700)
    pen = ImageDraw.Draw(image)
    for number in range(10):
        y = 100 + 50 * number
        write(image, 80, y, "notum sit omnibus quod ego petrus de castro vendo", 24)
        width = font(24).getlength("notum sit omnibus")
        pen.line((80, y + 5, 80 + width, y + 5), fill=60, width=2)
    assert tables_of(sheet_of(image)) == []


def test_no_table_is_found_on_a_blank_or_empty_page() -> None:
    assert tables_of(sheet_of(paper(500, 600, grain=2))) == []
    assert unruled_table([], Box(0, 0, 10, 10)) is None
    assert tables_of(sheet_of(paper(1, 1))) == []


def test_the_table_of_the_page_xml_example_is_found_cell_by_cell() -> None:
    found = ruled_on(real_image("page-pairs/prima-simple/SimplePage.png"))
    assert sorted((c.row, c.column) for c, _ in found) == [(r, c) for r in range(3) for c in range(3)]


@pytest.mark.parametrize(
    ("name", "columns", "entries"),
    [("mariages/FRAN_0187_49914_L.jpg", 7, 15), ("mariages/FRAN_0187_50521_L.jpg", 7, 15)],
)
def test_a_printed_register_has_its_columns_and_about_a_row_an_entry(
    name: str, columns: int, entries: int
) -> None:
    """The header's columns, counted by eye; a header row and one row for each numbered entry."""
    sheet = sheet_of(real_image(f"page-pairs/{name}", 2000))
    (table,) = tables_of(sheet)
    assert abs(max(cell.column for cell in table.cells) + 1 - columns) <= 1
    assert max(cell.row for cell in table.cells) + 1 == entries + 1


@pytest.mark.parametrize("name", ["0014", "0021", "0024"])
def test_the_rows_of_a_register_are_the_lines_that_people_drew(name: str) -> None:
    """A register with faint rules between columns only, on both pages: each row contains a line of the PAGE
    file, hardly ever two.
    """
    sheet = sheet_of(real_image(f"page-pairs/bronod/{name}.jpg", 2000))
    lines = page_lines(f"page-pairs/bronod/page/{name}.xml", (sheet.width, sheet.height))
    tables = tables_of(sheet)
    assert [max(cell.column for cell in table.cells) + 1 for table in tables] == [3, 3]
    for table in tables:
        held: dict[int, int] = {cell.row: 0 for cell in table.cells}
        for line in lines:
            xs, ys = zip(*line["Baseline"], strict=True)
            x, y = (min(xs) + max(xs)) / 2, sum(ys) / len(ys) - 4
            rows = [cell.row for cell in table.cells if cell.box.top < y < cell.box.bottom]
            if rows and table.box.left - 20 < x < table.box.right:
                held[rows[0]] += 1
        assert min(held.values()) == 1
        assert sum(count == 1 for count in held.values()) >= len(held) - 1


@pytest.mark.parametrize("name", ["0014", "0021", "0024"])
def test_dots_and_strokes_of_a_hand_are_no_rows_of_an_unruled_table(name: str) -> None:
    """The same register with its rules ignored, its zones as drawn by people: a row for nearly each of their
    lines.
    """
    sheet = sheet_of(real_image(f"page-pairs/bronod/{name}.jpg", 2000))
    zones: dict[str, list[Box]] = {}
    for line in page_lines(f"page-pairs/bronod/page/{name}.xml", (sheet.width, sheet.height)):
        xs, ys = zip(*line["Coords"], strict=True)
        zones.setdefault(line["region"], []).append(Box(min(xs), min(ys), max(xs), max(ys)))
    words = rows_of(sheet.ink, reach=1.2)
    tables = 0
    for lines in zones.values():
        if len(lines) < 5:
            continue
        area = Box(
            min(line.left for line in lines),
            min(line.top for line in lines),
            max(line.right for line in lines),
            max(line.bottom for line in lines),
        )
        table = unruled_table(words, area)
        assert table is not None
        assert abs(max(cell.row for cell in table.cells) + 1 - len(lines)) <= 2
        assert 3 <= max(cell.column for cell in table.cells) + 1 <= 6
        tables += 1
    assert tables == 2


def test_strokes_in_one_column_part_no_rows_of_the_others() -> None:
    """The frame of a signature is in the last column of a table whose rows are separated only by their text."""
    image = ruled_table_with_open_rows()
    pen = ImageDraw.Draw(image)
    plain = [(cell.row, cell.column) for table in tables_of(sheet_of(image)) for cell in table.cells]
    for y in (560, 600):
        pen.line((600, y, 800, y), fill=60, width=2)
    pen.line((700, 560, 704, 600), fill=60, width=3)
    signed = [(cell.row, cell.column) for table in tables_of(sheet_of(image)) for cell in table.cells]
    assert signed == plain == [(row, column) for row in range(10) for column in range(3)]


def ruled_table_with_open_rows() -> Image.Image:
    """Return a frame with a header, columns ruled from top to bottom, and nine rows of words that no rule
    separates.
    """
    image = paper(900, 900)
    pen = ImageDraw.Draw(image)
    for y in (80, 140, 800):
        pen.line((100, y, 800, y), fill=60, width=2)
    for x in (100, 350, 600, 800):
        pen.line((x, 80, x, 800), fill=60, width=2)
    for y in (120, *range(190, 800, 70)):
        for x in (120, 370, 620):
            write(image, x, y, "Petrus", 22)
    return image
