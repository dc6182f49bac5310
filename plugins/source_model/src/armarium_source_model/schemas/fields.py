"""Validated field types of the source model: ids, shapes, anchors, codes."""

from __future__ import annotations

import unicodedata
from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field

from armarium.api import ScriptCode, Sent, SourceText, proper_name
from armarium_source_model.scripts import LANGUAGE_PATTERN

Id = Annotated[str, Field(min_length=1, max_length=128)]
Ids = Annotated[list[Id], Field(min_length=1, max_length=10_000)]
SegmentKind = Literal["region", "line", "word"]
Direction = Literal["ltr", "rtl", "ttb", "btt", "alternating", "follows-baseline"]
Language = Annotated[str, Field(max_length=64, json_schema_extra={"pattern": LANGUAGE_PATTERN})]
"""A BCP 47 tag; the action checks it (`check_fact`), whose sentence says more than a pattern does."""
Script = ScriptCode
Name = Annotated[str, Field(min_length=1, max_length=500), AfterValidator(proper_name)]
Word = Annotated[str, Field(min_length=1, max_length=200)]
Count = Annotated[int, Field(ge=0, le=2**31 - 1)]
"""An index or an offset."""
Version = Annotated[int, Field(ge=0, le=2**53)]
"""A version as the caller read it; larger numbers are no JSON integers everywhere."""
Fraction = Annotated[float, Field(ge=0, le=1)]
Rect = tuple[float, float, float, float]
"""[x, y, w, h] in fractions of the frame, origin top left; checked further by `geometry`."""
Points = list[tuple[float, float]]
"""[[x, y], …] in fractions of the frame."""


def _some_words(words: SourceText) -> SourceText:
    # Characters of category Cf leave no ink, a zero-width space, say; those of Cc are not writing at all.
    if all(letter.isspace() or unicodedata.category(letter) in ("Cf", "Cc") for letter in words):
        raise ValueError(
            "a reading needs words; to say that a line holds none, retract its readings or withdraw it"
        )
    return words


def _words_or_nothing(words: SourceText) -> SourceText:
    return _some_words(words) if words else words


ReadingText = Annotated[SourceText, Field(min_length=1, max_length=1_000_000), AfterValidator(_some_words)]
"""The words of a reading, kept exactly as sent; blanks alone are none."""
PartText = Annotated[SourceText, Field(max_length=1_000_000), AfterValidator(_words_or_nothing)]
"""The words of a part, or nothing where they are not known."""


class Frozen(Sent):
    """Base of a value inside a request: an unknown field is refused."""

    model_config = ConfigDict(extra="forbid")


class Refinement(Frozen):
    """A narrower place inside an anchor."""

    rect: Rect | None = None
    polygon: Points | None = None
    char_start: Count | None = None
    char_end: Count | None = None
    granularity: Word | None = None


class SourceAnchor(Frozen):
    """Where something is on a page: always a rect, and a polygon if the source has one."""

    document_id: Id | None = None
    page_id: Id | None = None
    page_index: Count | None = None
    rendition_id: Id | None = None
    space: Literal["normalized"] = "normalized"
    rect: Rect
    polygon: Points | None = None
    rotation: float = Field(0, ge=-360, le=360, allow_inf_nan=False)
    char_start: Count | None = None
    char_end: Count | None = None
    granularity: Word | None = None
    refines: Refinement | None = None
    segment_id: Id | None = None
    representation_id: Id | None = None


class Cell(Frozen):
    """A segment's place in a table, counted from 0."""

    row: Annotated[int, Field(ge=0, le=100_000)]
    column: Annotated[int, Field(ge=0, le=100_000)]
    row_span: Annotated[int, Field(ge=1, le=100_000)] = 1
    column_span: Annotated[int, Field(ge=1, le=100_000)] = 1
