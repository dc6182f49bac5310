"""Finds lines as rows of ink: suitable for a straight page of print, and for showing how a reader is written."""

from collections.abc import Iterator
from itertools import groupby

from armarium_worker import FoundLine, Page, Reader


class InkRows(Reader):
    """A row of the page belongs to a line when enough of it is darker than the paper around it."""

    name, label, can = "ink-rows", "Rows of ink", frozenset({"find_lines"})

    def find_lines(self, page: Page) -> Iterator[FoundLine]:
        from PIL import Image, ImageChops, ImageFilter

        grey = page.image.convert("L")
        paper = grey.filter(ImageFilter.BoxBlur(page.width / 40))
        ink = ImageChops.subtract(paper, grey).point(lambda darker: 255 * (darker > 25))
        rows = ink.resize((1, page.height), Image.Resampling.BOX).tobytes()
        for is_line, numbered in groupby(enumerate(rows), lambda row: row[1] > 6):
            top, *below = (number for number, _ in numbered)
            height = len(below) + 1
            if not is_line or height < page.height / 200:
                continue
            left, _, right, _ = ink.crop((0, top, page.width, top + height)).getbbox()
            feet = top + height * 0.8
            yield FoundLine(rect=(left, top, right - left, height), baseline=((left, feet), (right, feet)))
