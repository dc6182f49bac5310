"""Arranges a neutral page for ALTO: blocks of text contain only lines, lines contain words.

Elements that are added to achieve this are marked, so that the reader removes them again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby

from armarium_formats.kinds import in_alto_words
from armarium_formats.markup.lines_of_words import Lose, arrange_lines
from armarium_formats.page_model import PageSegment, order_siblings


@dataclass(slots=True)
class Block:
    """A region as the element it becomes, with its type and contents; `segment` is None for an added one."""

    element: str
    kind: str
    segment: PageSegment | None
    blocks: list[Block] = field(default_factory=list)
    lines: list[PageSegment] = field(default_factory=list)
    wraps: str = ""
    """Near which id the one of a block that was put around lines is made."""


def holds_text(block: Block) -> bool:
    """Return whether a block is one of text, or contains one."""
    return block.element == "TextBlock" or any(map(holds_text, block.blocks))


def arrange(segments: list[PageSegment], lose: Lose, holder: PageSegment | None = None) -> list[Block]:
    """Return segments, those of the page or of *holder*, as blocks; lines beside regions are put into added ones."""
    blocks: list[Block] = []
    for is_region, run in groupby(order_siblings(segments), lambda segment: segment.kind == "region"):
        if is_region:
            blocks += [_region(segment, lose) for segment in run]
            continue
        lines = list(run)
        wraps = f"{holder.id}_lines" if holder else f"{lines[0].id}_block"
        if holder is None:
            lose(
                "lines without a region", "ALTO has lines in blocks only; one was put around them", len(lines)
            )
        astray: list[Block] = []
        added = Block("TextBlock", "", None, lines=_lines(lines, lose, astray), wraps=wraps)
        blocks += [added, *astray] if holder else [*astray, added]
    return blocks


def _region(segment: PageSegment, lose: Lose) -> Block:
    children = order_siblings(segment.children)
    regions = any(child.kind == "region" for child in children)
    text = any(child.kind != "region" for child in children)
    element, kind = in_alto_words(segment.kind_raw, has_regions=regions, has_text=text)
    block = Block(element, kind, segment)
    if element == "TextBlock":
        block.lines = _lines(children, lose, block.blocks)
    elif children:
        block.blocks = arrange(segment.children, lose, segment)
    if block.blocks and element == "TextBlock":  # regions stood in its lines: they hold what they held
        inner = Block("TextBlock", "", None, lines=block.lines, wraps=f"{segment.id}_lines")
        block = Block("ComposedBlock", kind, segment, blocks=[inner, *block.blocks])
    return block


def _lines(segments: list[PageSegment], lose: Lose, astray: list[Block]) -> list[PageSegment]:
    """Return lines that contain only words; regions inside lines go to *astray*."""
    lines, regions = arrange_lines(segments, lose, "ALTO")
    astray += [_region(segment, lose) for segment in regions]
    return lines
