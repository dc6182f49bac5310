"""Combines language and script into one xml:lang where a part of the page states only one of the two.

A tag applies to everything inside its element, with both halves: a line that states only its script would, in
a region in Latin, say that its language is undetermined. So the missing half is filled in, and a private
subtag says which half is its own (`la-Hebr-x-script`); `vocabulary.language_of` takes that half alone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from armarium_formats.page_model import PageModel, PageSegment
from armarium_formats.tei.vocabulary import OWN_LANGUAGE, OWN_SCRIPT, language_tag

_Around: TypeAlias = tuple[str | None, str | None]


def complete(page: PageModel) -> PageModel:
    """Return *page* with complete tags on segments that state one half; itself if there are none."""
    segments = _complete(page.segments, (page.language, page.script))
    return page if segments is page.segments else replace(page, segments=segments)


def _complete(segments: list[PageSegment], around: _Around) -> list[PageSegment]:
    found: list[PageSegment] = []
    for segment in segments:
        own = segment.language, segment.script
        inside = (own[0] or around[0], own[1] or around[1])
        children = _complete(segment.children, inside)
        tag = language_tag(*inside) if any(own) and inside != own else None
        if tag is not None and tag != language_tag(*own) and "x" not in tag.split("-"):
            half = OWN_SCRIPT if own[0] is None else OWN_LANGUAGE
            segment = replace(segment, children=children, language=tag + half, script=None)
        elif children is not segment.children:
            segment = replace(segment, children=children)
        found.append(segment)
    return found if any(a is not b for a, b in zip(found, segments, strict=True)) else segments
