"""A line of a TEI text while it is collected: the counting text, the editor's text, and the markup."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from armarium_formats.page_model import PageText, Point
from armarium_formats.tei.facts import marks_in
from armarium_formats.tei.vocabulary import EDITED_KIND

if TYPE_CHECKING:
    from lxml import etree

    from armarium_formats.tei.surfaces import Page, Zone

_BLANKS = re.compile(r"[ \t\r\n]+")
_HELD = str.maketrans({" ": "\ufdd0", "\t": "\ufdd1", "\r": "\ufdd2", "\n": "\ufdd3"})
_GIVEN = str.maketrans({"\ufdd0": " ", "\ufdd1": "\t", "\ufdd2": "\r", "\ufdd3": "\n"})


def preserve_blanks(text: str) -> str:
    """Protect the spaces of text under xml:space="preserve" with characters that no text uses."""
    return text.translate(_HELD)


def join_pieces(pieces: list[str]) -> str:
    """Join pieces of text into one line: spaces collapsed and stripped, protected ones unchanged."""
    return _BLANKS.sub(" ", "".join(pieces)).strip(" ").translate(_GIVEN)


@dataclass(slots=True, eq=False)
class Word:
    """A word of a line that has a position of its own."""

    zone: Zone
    texts: list[PageText]
    is_furniture: bool = False


@dataclass(slots=True, eq=False)
class Line:
    """One line. `detached` ones are collected separately (a word, another reading) and do not end at a
    milestone.
    """

    page: Page | None = None
    zone: Zone | None = None
    rank: int = 0
    attributes: dict[str, str] = field(default_factory=dict)
    identity: str | None = None
    drawn: list[Point] = field(default_factory=list)
    """A shape that the line break states itself: an outline, or a baseline where it is of two points."""
    language: str | None = None
    detached: bool = False
    is_broken: bool = False
    """Whether a line break began it."""
    is_in_word: bool = False
    """Whether it began within an element of a word (w)."""
    plain: list[str] = field(default_factory=list)
    edited: list[str] = field(default_factory=list)
    markup: list[str] = field(default_factory=list)
    is_marked: bool = False
    elements: int = 0
    """Inline elements that stand in it as a whole."""
    is_stated: bool = False
    confidence: float | None = None
    kind: str = "transcription"
    readings: list[PageText] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)
    hand: str | None = None
    """The key of the hand that is named last before its text."""
    unplaced: int = 0
    """Editorial elements that say nothing of the characters of its text."""

    def texts(self) -> list[PageText]:
        """Return the counting text with its markup, the other readings, and the edited text if it differs."""
        plain = join_pieces(self.plain)
        edited = join_pieces(self.edited)
        page_texts: list[PageText] = []
        if plain or self.is_stated:
            page_texts.append(PageText(plain, self.confidence, self.kind))
            if self.is_marked and plain:
                page_texts[0].extras = {"tei": {"xml": self.to_markup()}}
            if self.is_marked:
                page_texts[0].marks, _, self.unplaced = marks_in(self.to_markup(), plain)
            page_texts += self.readings
            if edited and edited != plain and not any(text.kind == EDITED_KIND for text in page_texts):
                page_texts.append(PageText(edited, kind=EDITED_KIND))
        return page_texts

    def to_markup(self) -> str:
        """Return its text and markup as in the file."""
        return _BLANKS.sub(" ", "".join(self.markup)).strip(" ")


@dataclass(slots=True)
class OpenElement:
    """An inline element that has not ended, and the line that contains its start, if any."""

    element: etree._Element
    tag: str
    line: Line | None = None

    @property
    def is_written(self) -> bool:
        """Return whether its start is already in some line."""
        return self.line is not None
