"""The answers about a page as somebody works on it: its lines, and the outlines of its segments."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from armarium.api import Message
from armarium_source_model.counting import PassBasis
from armarium_source_model.schemas.fields import SegmentKind
from armarium_source_model.schemas.orders import OrderBasis
from armarium_source_model.schemas.readings import MadeBy, PassRead
from armarium_source_model.schemas.segments import PassOut


class LineMade(Message):
    """Whose reading it is; name as in MadeLines."""

    by: MadeBy
    name: str | None


class LineWord(Message):
    """A word segment whose text is that of the characters from `char_start` up to `char_end` of its line."""

    segment_id: str
    char_start: int
    char_end: int
    confidence: float | None


class LineEntry(Message):
    """The entry of the line in the order that is followed."""

    id: str
    parent_entry_id: str | None
    version: int


class PageLine(Message):
    """text: null where nobody has read it. representation_id: the reading that counts; null where the text is that of its
    words. confidence: of that reading, or of its least certain word.
    """

    segment_id: str
    kind: SegmentKind
    parent_segment_id: str | None
    is_furniture: bool
    direction: str
    text: str | None
    representation_id: str | None
    confidence: float | None
    made: LineMade | None
    words: list[LineWord]
    entry: LineEntry | None


class PageLines(Message):
    """passes: all live ones of the page. order_id: null where the lines are in the order of their boxes. read_elsewhere,
    notice: as in the page's text.
    """

    document_id: str
    pass_id: str | None
    pass_basis: PassBasis | str
    order_id: str | None
    order_basis: OrderBasis
    passes: list[PassOut]
    lines: list[PageLine]
    read_elsewhere: list[PassRead]
    notice: str | None


class PageShape(Message):
    """In fractions of the picture; polygon: null where the rect [x, y, width, height] is the outline."""

    id: str
    kind: SegmentKind
    parent_segment_id: str | None
    rect: list[float]
    polygon: list[list[float]] | None
    baseline: list[list[float]] | None
    rendition_id: str | None
    cell: dict[str, int] | None
    version: int | None


class PageShapes(Message):
    """In the order in which they were made."""

    document_id: str
    pass_id: str | None
    shapes: list[PageShape]


class PageWord(Message):
    """A word of a line's text, in fractions of the picture. segment_id: null where the line's reader placed it. probability:
    of that reader, or the confidence of its segment.
    """

    line_id: str
    segment_id: str | None
    text: str
    char_start: int
    char_end: int
    corners: Annotated[
        list[tuple[float, float]],
        Field(description="Four; of what a reader placed, along the line and then across it"),
    ]
    probability: float | None
    rendition_id: str | None


class PageWords(Message):
    """Line by line, each line's in the order of its text. A line whose words nobody placed has none."""

    document_id: str
    pass_id: str | None
    words: list[PageWord]
