"""Box files of tesseract: characters, words or whole lines (WordStr) with a box each, counted from the bottom of the page."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import ClassVar, Final

from armarium.api import Invalid
from armarium_formats.decoding import decode, rows_of
from armarium_formats.driver import Format, ReadContext
from armarium_formats.errors import NoPageSize
from armarium_formats.page_model import PageModel, PageSegment, PageText, Point
from armarium_formats.shapes import corners, surround

MAX_BYTES: Final = 32 * 1024 * 1024
MAX_BOXES: Final = 300_000
_ROW = re.compile(
    r"(?:([ \t])[ \t]*|(\S{1,200})[ \t]+)(-?\d{1,9})[ \t]+(-?\d{1,9})[ \t]+(-?\d{1,9})[ \t]+(-?\d{1,9})(?:[ \t]+(\d{1,9}))?[ \t]*(?:#(.*))?"
)
_LINE_MARK: Final = "WordStr"
_GAP: Final = 0.35
"""Of the height of a line: a wider gap between boxes parts words where the file marks none."""


@dataclass(slots=True)
class _Box:
    text: str
    left: int
    top: int
    right: int
    bottom: int


class TesseractBox(Format):
    """Box files as tesseract's makebox, lstmbox and wordstrbox write them, and those of its older training."""

    name = "tesseract-box"
    label = "tesseract box file"
    extensions: ClassVar[tuple[str, ...]] = (".box",)
    reads = True
    aliases: ClassVar[tuple[str, ...]] = ("box", "tesseract_box", "boxes")

    def sniff(self, data: bytes) -> float:
        """0.9 when every line is a character, four whole numbers that make a box, and a page number."""
        head = decode(data[:65_536]).text
        rows = [row for row in head.split("\n")[: -1 if len(data) > 65_536 else None] if row.strip("\r\n")]
        lengths: list[int] = []
        for row in rows:
            match = _ROW.fullmatch(row.rstrip("\r"))
            if match is None:
                return 0.0
            left, bottom, right, top = (int(match.group(number)) for number in range(3, 7))
            if left > right or bottom > top:
                return 0.0
            if match.group(2) != _LINE_MARK and match.group(7) is None:
                lengths.append(len(match.group(2) or " "))
        if not rows or (lengths and sum(lengths) > 2 * len(lengths)):
            return 0.0
        return 0.9

    def read(self, data: bytes, context: ReadContext) -> list[PageModel]:
        if context.page_size is None:
            raise NoPageSize(context.filename)
        width, height = context.page_size
        pages: dict[int, _Page] = {}
        number = 0
        for row_number, row in enumerate(rows_of(data, context.filename, MAX_BYTES), 1):
            if not row.strip() and len(row) < 3:
                continue
            match = _ROW.fullmatch(row)
            if match is None:
                raise Invalid(
                    f"Line {row_number} of {context.filename} is {row[:40]!r}; a box file has a character, the left, bottom, "
                    "right and top of its box, and a page number.",
                    code="bad_box",
                    line=row_number,
                )
            number += 1
            if number > MAX_BOXES:
                raise Invalid(
                    f"{context.filename} contains more than {MAX_BOXES:,} boxes; that is not a page.",
                    code="too_many_boxes",
                )
            left, bottom, right, top = (int(match.group(group)) for group in range(3, 7))
            left, right, bottom, top = min(left, right), max(left, right), min(bottom, top), max(bottom, top)
            page = pages.setdefault(int(match.group(7) or 0), _Page())
            text, whole = match.group(1) or match.group(2), match.group(8)
            box = _Box(text, left, height - top, right, height - bottom)
            if text == _LINE_MARK and whole is not None:
                page.whole_line(box, whole.strip())
            else:
                page.character(box)
        if not pages:
            raise Invalid(f"{context.filename} contains no box.", code="no_boxes")
        models = [pages[key].model(width, height) for key in sorted(pages)]
        if len(models) > 1:
            for model in models:
                model.notes.append(
                    f"Every page of the file was assumed to be {height} pixels high, like this page's image."
                )
        return models


class _Page:
    """The boxes of one page, a list of words of characters for each line."""

    def __init__(self) -> None:
        self.lines: list[list[list[_Box]]] = []
        self.whole: list[tuple[_Box, str]] = []
        self.loose: list[_Box] = []
        self.words: list[list[_Box]] = [[]]
        self.marked = False

    def whole_line(self, box: _Box, text: str) -> None:
        self.whole.append((box, text))

    def character(self, box: _Box) -> None:
        if box.text == "\t":
            self.marked = True
            self._end_line()
        elif box.text == " ":
            self.marked = True
            if self.words[-1]:
                self.words.append([])
        else:
            self.words[-1].append(box)

    def _end_line(self) -> None:
        line = [word for word in self.words if word]
        if line:
            self.lines.append(line)
        self.words = [[]]

    def model(self, width: int, height: int) -> PageModel:
        page = PageModel(width, height)
        self._end_line()
        if self.lines and not self.marked:
            self.lines = _found_lines([box for line in self.lines for word in line for box in word])
            page.notes.append(
                "The file marks no ends of words and lines; they were found by the gaps between its boxes."
            )
        for box, text in self.whole:
            line = PageSegment(f"line-{len(page.segments) + 1}", "line", "WordStr", _outline([box]))
            line.texts = [PageText(text)] if text else []
            page.segments.append(line)
        words = characters = 0
        for boxes in self.lines:
            outline = _outline(box for word in boxes for box in word)
            line = PageSegment(f"line-{len(page.segments) + 1}", "line", None, outline)
            texts = ["".join(box.text for box in word) for word in boxes]
            line.texts = [PageText(" ".join(texts))]
            for word, text in zip(boxes, texts, strict=True):
                words += 1
                characters += len(word)
                segment = PageSegment(f"word-{words}", "word", None, _outline(word), texts=[PageText(text)])
                if len(word) > 1:
                    rows = [f"{box.text} {box.left} {box.top} {box.right} {box.bottom}" for box in word]
                    segment.extras = {"tesseract-box": {"characters": rows}}
                line.children.append(segment)
            page.segments.append(line)
        if characters:
            page.kept["boxes of characters"] = characters
        return page


def _outline(boxes: Iterable[_Box]) -> list[Point]:
    return corners(surround((box.left, box.top, box.right, box.bottom) for box in boxes))


def _found_lines(boxes: list[_Box]) -> list[list[list[_Box]]]:
    """Characters in lines and words by where they stand: a line ends where the next box is not a neighbour to the right."""
    lines: list[list[_Box]] = []
    for box in boxes:
        if lines and _continues(lines[-1][-1], box):
            lines[-1].append(box)
        else:
            lines.append([box])
    lines_of_words: list[list[list[_Box]]] = []
    for line in lines:
        room = _GAP * median(box.bottom - box.top for box in line)
        words = [[line[0]]]
        for before, box in pairwise(line):
            if box.left - before.right > room:
                words.append([])
            words[-1].append(box)
        lines_of_words.append(words)
    return lines_of_words


def _continues(before: _Box, box: _Box) -> bool:
    shared = min(before.bottom, box.bottom) - max(before.top, box.top)
    height = max(before.bottom - before.top, box.bottom - box.top, 1)
    return shared > -0.5 * height and box.left >= before.left - 2 * height
