"""Lines that contain only words, for formats that have words in lines only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from armarium_formats.page_model import PageSegment, order_siblings

Lose: TypeAlias = Callable[..., None]


def arrange_lines(
    segments: list[PageSegment],
    lose: Lose,
    label: str,
    ordered: Callable[[list[PageSegment]], list[PageSegment]] | None = None,
) -> tuple[list[PageSegment], list[PageSegment]]:
    """Return lines that contain only words (loose words get a line), and the regions found inside lines.

    *ordered* puts the words of every line in the order of writing; without it, a line that is as it may be stays as it is.
    """
    lines: list[PageSegment] = []
    astray: list[PageSegment] = []
    words: list[PageSegment] = []

    def close() -> None:
        if words:
            why = f"{label} has words in lines only; one was put around them"
            lose("words without a line", why, len(words))
            lines.append(PageSegment(f"{words[0].id}_line", "line", children=list(words)))
            words.clear()

    def as_word(segment: PageSegment) -> PageSegment:
        if not segment.children:
            return segment
        why = f"{label} has no segments inside words except glyphs"
        lose("parts of a word", why, len(segment.children))
        return replace(segment, children=[])

    def take(segment: PageSegment) -> None:
        if segment.kind == "word":
            words.append(as_word(segment))
            return
        close()
        if segment.kind == "region":
            astray.append(segment)
            return
        if ordered is None and all(child.kind == "word" and not child.children for child in segment.children):
            lines.append(segment)
            return
        children = (ordered or order_siblings)(segment.children)
        lines.append(
            replace(segment, children=[as_word(child) for child in children if child.kind == "word"])
        )
        for strange in (child for child in children if child.kind != "word"):
            why = f"{label} has words in lines only; it was put next to the line"
            lose(f"a {strange.kind} inside a line", why)
            take(strange)
        close()

    for segment in segments:
        take(segment)
    close()
    return lines, astray
