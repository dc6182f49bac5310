"""Blocks of text from white space: headings, columns, margins, single notes; on made pages and on real ones."""

from __future__ import annotations

from itertools import combinations

from layout_pages import around, page_lines, paper, precision_and_recall, real_image, write, write_block

from armarium_layout.finding.ink import Box, rows_of, sheet_of
from armarium_layout.finding.regions import hull_of, regions_of


def found_on(image: object, longest: int = 2000) -> list[Box]:
    sheet = sheet_of(image, longest)  # type: ignore[arg-type]
    rows = rows_of(sheet.ink)
    boxes = [hull_of([rows[at] for at in block]) for block in regions_of(rows)]
    return [Box(*(value / sheet.scale for value in box)) for box in boxes]


def test_a_heading_over_two_columns_joins_neither() -> None:
    image = paper(1200, 1500, grain=3)
    heading = write(image, 380, 140, "Liber venditionum", 48)
    block = write_block(image, 100, 220, 460, 24, seed=2)
    right = write_block(image, 660, 220, 460, 24, seed=3)
    truth = [heading, around(block), around(right)]
    assert precision_and_recall(found_on(image), truth, 0.8) == (1.0, 1.0)


def test_a_note_in_the_margin_and_a_page_number_stand_alone() -> None:
    image = paper(1200, 1500, grain=3)
    number = write(image, 600, 100, "42")
    block = write_block(image, 320, 180, 760, 28, seed=5)
    note = write_block(image, 60, 500, 160, 3, seed=6, size=16, pitch=26)
    found = found_on(image)
    truth = [number, around(block), around(note)]
    assert precision_and_recall(found, truth, 0.7)[1] == 1.0
    assert len(found) <= 4


def test_known_lines_are_grouped_without_any_picture() -> None:
    lines = [Box(100, 100 + 40 * n, 500, 125 + 40 * n) for n in range(5)]
    lines += [Box(600, 100 + 40 * n, 1000, 125 + 40 * n) for n in range(5)]
    lines.append(Box(100, 700, 500, 725))
    assert sorted(map(sorted, regions_of(lines))) == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9], [10]]


def test_no_lines_make_no_regions() -> None:
    assert regions_of([]) == []
    assert found_on(paper(400, 500)) == []


def test_a_blank_page_and_a_black_one_hold_nothing() -> None:
    assert found_on(paper(800, 1000, grain=2)) == []
    assert len(found_on(paper(800, 1000).point(lambda _: 0))) <= 1


def test_lines_of_real_print_fall_into_the_blocks_that_people_drew() -> None:
    """Of all pairs of lines, those in one block in both divisions (the Rand measures of a clustering)."""
    name = "page-pairs/kraken-notarial/170025120000003,0074"
    image = real_image(f"{name}.jpg")
    lines = page_lines(f"{name}.xml", image.size)
    boxes = [
        Box(
            min(x for x, _ in line["Coords"]),
            min(y for _, y in line["Coords"]),
            max(x for x, _ in line["Coords"]),
            max(y for _, y in line["Coords"]),
        )
        for line in lines
    ]
    ours = {at: number for number, block in enumerate(regions_of(boxes)) for at in block}
    pairs = list(combinations(range(len(lines)), 2))
    together = [(ours[a] == ours[b], lines[a]["region"] == lines[b]["region"]) for a, b in pairs]
    both = sum(a and b for a, b in together)
    assert both / max(1, sum(a for a, _ in together)) > 0.9
    assert both / max(1, sum(b for _, b in together)) > 0.75


def test_the_columns_of_a_printed_spread_are_two_blocks() -> None:
    found = found_on(real_image("hocr/litver.png"))
    tall = [box for box in found if box.height > 1000]
    assert len(tall) == 2
    assert tall[0].right < tall[1].left or tall[1].right < tall[0].left
