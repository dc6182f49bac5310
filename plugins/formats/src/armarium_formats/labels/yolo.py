"""Detection labels of YOLO: a class and a box or polygon a line, in fractions of the image; read, not written. Labels of
other collections are known by their lines and refused by name.
"""

from __future__ import annotations

import re
from typing import ClassVar, Final

from armarium.api import Invalid
from armarium_formats.decoding import decode, rows_of
from armarium_formats.driver import Format, ReadContext
from armarium_formats.errors import NoPageSize
from armarium_formats.kinds import is_furniture
from armarium_formats.labels.names import class_names
from armarium_formats.page_model import PageModel, PageSegment, Point, SegmentKind
from armarium_formats.points import as_pairs, require_countable
from armarium_formats.shapes import corners

_WHOLE = r"-?\d{1,7}"
_DECIMAL = r"-?\d{1,7}(?:\.\d{1,12})?"
_OTHERS: Final = (
    (
        "labels of ICDAR (the corners of a box in pixels, and its text)",
        re.compile(
            rf"\s*{_WHOLE}(?:\s*,\s*{_WHOLE}){{7}}\s*,.*|\s*{_WHOLE}(?:\s*,\s*{_WHOLE}){{3}}\s*,\s*\".*"
        ),
    ),
    (
        "labels of DOTA (the corners of a box in pixels, a class and its difficulty)",
        re.compile(rf"\s*{_DECIMAL}(?:\s+{_DECIMAL}){{7}}\s+[^\s\d]\S*(?:\s+\d)?\s*|(?:imagesource|gsd):.*"),
    ),
    (
        "YOLO labels with names instead of class numbers",
        re.compile(r"\s*[^\W\d][\w.:-]{0,60}(?:\s+[01]?\.\d{1,20}){4,5}\s*"),
    ),
)

MAX_BYTES: Final = 32 * 1024 * 1024
MAX_SHAPES: Final = 100_000
_NUMBER = re.compile(
    r"[-+]?+(?:\d++\.?+\d*+|\.\d++)(?:e[-+]?+\d++)?|[-+]?(?:nan|inf(?:inity)?)", re.IGNORECASE
)
_KEYPOINTS = re.compile(rb"^kpt_shape[ \t]*:", re.MULTILINE)
"""In a data.yaml: the labels have key points behind their boxes, which look like the corners of a polygon."""

_HEAD = 65_536
_ROOM = 0.5
"""How far beyond the image a fraction may lie before it is none; the page's own check names what is outside."""

_WORDS: Final = """
    text title list table figure caption footnote formula listitem pagefooter pageheader picture sectionheader header
    footer heading paragraph image graphic separator marginalia dropcapital catchword pagenumber signature stamp seal
    mainzone marginzone numberingzone runningtitlezone dropcapitalzone graphiczone tablezone musiczone stampzone sealzone
    quiremarkszone titlepagezone damagezone digitizationartefactzone customzone figurezone textregion textblock region
    imageregion tableregion graphicregion separatorregion advertregion mathsregion noiseregion musicregion
    """
_KNOWN: Final = frozenset(_WORDS.split())
"""Kinds of regions that the usual collections of layout labels name: lower case, letters only."""


def foreign_labels(text: str) -> str | None:
    """What labels every line of a text is of, in words for a sentence; None where it is none that is known."""
    rows = [row for row in text.splitlines() if row.strip()]
    if not rows:
        return None
    return next((words for words, pattern in _OTHERS if all(map(pattern.fullmatch, rows))), None)


class Yolo(Format):
    """Label files of YOLO: boxes, segmentation polygons and turned boxes, with or without a confidence."""

    name = "yolo"
    label = "YOLO labels"
    extensions: ClassVar[tuple[str, ...]] = (".txt",)
    reads = True
    aliases: ClassVar[tuple[str, ...]] = ("yolo-labels", "darknet", "labels")

    def sniff(self, data: bytes) -> float:
        """0.95 when every line is a class number and four numbers or more, and not all of them are whole; 0.6 for labels
        of other collections, which are refused in words."""
        text = decode(data[:_HEAD]).text
        rows = text.splitlines()[: -1 if len(data) > _HEAD else None]
        if certainty := self._rows(rows):
            return certainty
        return 0.6 if foreign_labels("\n".join(rows)) else 0.0

    def _rows(self, rows: list[str]) -> float:
        has_label = fractions = False
        for at, row in enumerate(rows):
            parts = _parts(row)
            if not parts:
                continue
            if not all(map(_NUMBER.fullmatch, parts)) or _class_of(parts[0]) is None:
                return 0.0
            if ("," in row or not parts[0].isdecimal()) and not all(
                -_ROOM <= float(part) <= 1 + _ROOM for part in parts[1:]
            ):
                return 0.0
            if len(parts) < 5:
                if has_label and at == len(rows) - 1:
                    break  # cut short: a sentence about it is better than text of numbers
                return 0.0
            has_label = True
            fractions = fractions or any(not part.lstrip("-+").isdecimal() for part in parts[1:])
        return 0.95 if has_label and fractions else 0.0

    def read(self, data: bytes, context: ReadContext) -> list[PageModel]:
        rows = rows_of(data, context.filename, MAX_BYTES)
        if strange := foreign_labels("\n".join(rows[:1000])):
            raise Invalid(
                f"{context.filename} contains {strange}; the only labels read are those of YOLO: a class "
                "number and fractions of the image. Convert them; if the file is text, import it as "
                "plain-text.",
                code="other_labels",
            )
        if context.page_size is None:
            raise NoPageSize(context.filename)
        return [_Reading(context, context.page_size).page(rows)]


def _parts(row: str) -> list[str]:
    """The numbers of a line, parted by blanks; by commas where there are no blanks but behind these."""
    parts = row.split()
    if len(parts) == 1 or (parts and all(part.endswith(",") for part in parts[:-1])):
        return [part for piece in parts for part in piece.split(",") if part]
    return parts


def _class_of(part: str) -> int | None:
    """The number of a class; some programs write it as 0.0."""
    whole, _, decimals = part.partition(".")
    return int(whole) if whole.isdecimal() and len(whole) <= 6 and not decimals.strip("0") else None


class _Reading:
    """One label file while it is read."""

    def __init__(self, context: ReadContext, size: tuple[int, int]) -> None:
        self.name = context.filename
        self.size = size
        self.names = class_names(context.companions)
        self.has_keypoints = any(_KEYPOINTS.search(data) for data in context.companions.values())
        self.unnamed: set[int] = set()
        self.strange: set[str] = set()

    def page(self, rows: list[str]) -> PageModel:
        page = PageModel(*self.size)
        require_countable(self.name, lambda: ((row, number) for number, row in enumerate(rows, 1)))
        for row_number, row in enumerate(rows, 1):
            parts = _parts(row)
            if not parts:
                continue
            if self.has_keypoints:
                del parts[5:]
            if len(page.segments) >= MAX_SHAPES:
                raise Invalid(
                    f"{self.name} contains more than {MAX_SHAPES:,} shapes; that is not a page.",
                    code="too_many_shapes",
                )
            page.segments.append(self._segment(parts, row_number, len(page.segments) + 1))
        if not page.segments:
            raise Invalid(
                f"{self.name} contains no label; an image without any has no layout to read.",
                code="no_labels",
            )
        page.unknown_classes = [str(number) for number in sorted(self.unnamed)] + sorted(self.strange)
        page.notes.append("Labels state no reading order; that of the file was kept.")
        if self.has_keypoints:
            page.notes.append(
                "The labels have key points (kpt_shape in their data.yaml); only their boxes were read."
            )
        if any("," in row for row in rows):
            page.notes.append("The numbers of the labels are separated by commas, not by blanks.")
        if self.unnamed and not self.names:
            page.notes.append(
                "No file next to the labels names their classes (classes.txt, obj.names, data.yaml); they "
                "are regions."
            )
        elif self.unnamed:
            page.notes.append(
                f"The classes {', '.join(map(str, sorted(self.unnamed)))} have no name in the file next to "
                "the labels."
            )
        return page

    def _segment(self, parts: list[str], row: int, number: int) -> PageSegment:
        class_number = _class_of(parts[0])
        if class_number is None:
            raise self._refusal(row, f"begins with {parts[0][:20]!r}, which is not a class number")
        if len(parts) < 5:
            raise self._refusal(
                row, f"contains {len(parts)} numbers; a class and a box are five, so it may be truncated"
            )
        values = [self._value(part, row) for part in parts[1:]]
        confidence: float | None = None
        if len(values) % 2:
            confidence = values.pop()
            if not 0 <= confidence <= 1:
                raise self._refusal(row, f"ends in {confidence:g}, a confidence outside 0 to 1")
        if len(values) == 4:
            x, y, width, height = values
            if width < 0 or height < 0:
                raise self._refusal(row, "states a width or height below 0")
            box_corners = corners((x - width / 2, y - height / 2, x + width / 2, y + height / 2))
        else:
            box_corners = as_pairs(values)
        if not all(-_ROOM <= value <= 1 + _ROOM for point in box_corners for value in point):
            raise self._refusal(row, "is outside the image; labels use fractions of it, from 0 to 1")
        kind, word = self._kind(class_number)
        width, height = self.size
        points: list[Point] = [(round(x * width, 2), round(y * height, 2)) for x, y in box_corners]
        return PageSegment(
            f"label-{number}",
            kind,
            word,
            points,
            confidence=confidence,
            is_furniture=kind == "region" and is_furniture(word),
        )

    def _value(self, part: str, row: int) -> float:
        if not _NUMBER.fullmatch(part) or part.lstrip("-+")[:1].lower() in ("n", "i"):
            raise self._refusal(row, f"contains {part[:20]!r}, which is not a number from 0 to 1")
        return float(part)

    def _kind(self, number: int) -> tuple[SegmentKind, str]:
        """What a class is here, and the word for it: the name's own, or the number where it has none."""
        name = self.names.get(number)
        if name is None:
            self.unnamed.add(number)
            return "region", f"class {number}"
        bare = re.sub(r"[\W_]", "", name.partition(":")[0]).casefold()
        if bare.endswith("line") and not bare.startswith(("separator", "table", "ruling")):
            return "line", name
        if bare in ("word", "words", "textword"):
            return "word", name
        if bare not in _KNOWN:
            self.strange.add(name)
        return "region", name

    def _refusal(self, row: int, what: str) -> Invalid:
        return Invalid(
            f"Line {row} of {self.name} {what}. Correct the labels; if the file is text, import it as plain-text.",
            code="bad_label",
            line=row,
        )
