"""Assembles the text of a page from the readings that count: lines, blocks, spans, direction; pure."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

LINE_BREAK = "\n"
BLOCK_BREAK = "\n\n"
RTL_CLASSES = frozenset({"R", "AL"})


class Span(NamedTuple):
    """The segment and reading of the characters from `char_start` up to `char_end` (code points)."""

    char_start: int
    char_end: int
    segment_id: str
    representation_id: str
    direction: str


class SegmentLeftOut(NamedTuple):
    """A segment that the order names and the text lacks; reason deleted, furniture, other_pass or unknown."""

    segment_id: str
    reason: str
    pass_id: str | None = None


@dataclass
class AssembledText:
    """A text, the source of each stretch, in order, and what it lacks."""

    text: str
    spans: list[Span] = field(default_factory=list)
    omitted: list[SegmentLeftOut] = field(default_factory=list)


class Piece(NamedTuple):
    """One stretch of text in reading order: a line, or its substitute."""

    segment_id: str
    representation_id: str
    text: str
    block: str | None
    """What it stands in (its region); a change of block is a blank line, a piece without one is a line of its own."""
    direction: str
    """Which way it runs."""
    joiner: str = LINE_BREAK
    """What parts it from the piece before in the same block: words of one line are parted by a space."""


def text_fingerprint(text: str) -> str:
    """Return the sha256 of a text, which a derived row stores to detect that its source has changed."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


_LETTER = re.compile("[A-Za-z]")


def first_strong_direction(text: str) -> str | None:
    """Return ltr or rtl by the first strongly directed character of *text*; None if it has none."""
    if text.isascii():
        return "ltr" if _LETTER.search(text) else None
    for letter in text:
        kind = unicodedata.bidirectional(letter)
        if kind == "L":
            return "ltr"
        if kind in RTL_CLASSES:
            return "rtl"
    return None


def assemble(pieces: Sequence[Piece]) -> AssembledText:
    """Join *pieces*: lines by newline, blocks by a blank line. Readings are inserted exactly as stored."""
    parts: list[str] = []
    spans: list[Span] = []
    at = 0
    before: object = _NOTHING
    for segment_id, representation_id, text, block, direction, joiner in pieces:
        if before is not _NOTHING:
            between = joiner if block == before else BLOCK_BREAK
            parts.append(between)
            at += len(between)
        parts.append(text)
        end = at + len(text)
        spans.append(Span(at, end, segment_id, representation_id, direction))
        at = end
        before = block
    return AssembledText("".join(parts), spans)


_NOTHING = object()
"""Before the first piece; a block may well be None."""
