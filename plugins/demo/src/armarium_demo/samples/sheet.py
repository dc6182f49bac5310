"""A page of text before it is laid out: blocks in frames, written by a hand.

Lengths are in paper units: the sheet is 1500 wide and 2160 high, whatever the scale of the picture.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

SHEET = (1500, 2160)

RegionKind = Literal["paragraph", "heading", "marginalia", "page-number", "header", "other"]
Align = Literal["left", "right", "centre"]


@dataclass(frozen=True, slots=True)
class Block:
    """One region's text; it is wrapped to the frame's width, and a newline forces a new line."""

    text: str
    kind: RegionKind = "paragraph"
    size: int = 40
    align: Align = "left"
    indent: int = 0
    gap: int = 28
    document: str | None = None


@dataclass(frozen=True, slots=True)
class Frame:
    """A column: blocks stacked from ``y`` downward, ``width`` units wide."""

    x: int
    y: int
    width: int
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Hand:
    """How a page is written: slope, letters (a style of the font) and steadiness of the pen, colours of ink and paper."""

    slope: float = 0.0
    style: str = "Regular"
    unsteady: float = 0.6
    ink: tuple[int, int, int] = (46, 34, 26)
    paper: tuple[int, int, int] = (232, 219, 190)
    leading: float = 1.62
    waver: float = 0.0
    """How far strokes deviate from the font's, as a fraction of a letter's size: no two letters are the same."""


@dataclass(frozen=True, slots=True)
class PageText:
    """One page before it is laid out: its document, its frames in reading order, its ruled lines.

    ``wear`` from 0 (fresh) to 1 says how faded the ink and how soft the picture is; ``shows_through`` names the page on
    the back of the leaf.
    """

    name: str
    document: str
    language: str
    hand: Hand
    frames: tuple[Frame, ...] = ()
    rules: tuple[tuple[int, int, int, int], ...] = ()
    shows_through: str | None = None
    wear: float = 0.0


@dataclass(frozen=True, slots=True)
class DocumentText:
    """One document among the pages: its title, kind and date, for the families that look for boundaries."""

    key: str
    title: str
    kind: str
    date: str
    language: str
