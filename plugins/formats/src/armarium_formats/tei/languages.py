"""xml:lang as one tag of a language and a script: made whole before it is written, parted again where it was read.

A tag holds for all that stands in its element, both halves of it. A line that states its script alone would, within a
region in Latin, say that its language is undetermined: so it states both, and the reader takes the half away again that
only repeats what stands around it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeAlias

from armarium_formats.page_model import PageModel, PageSegment
from armarium_formats.tei.vocabulary import language_tag

_Around: TypeAlias = tuple[str | None, str | None]


def complete(page: PageModel) -> PageModel:
    """*page*, its segments that state one half with the other that holds for them; itself where there are none."""
    segments = _complete(page.segments, (page.language, page.script))
    return page if segments is page.segments else replace(page, segments=segments)


def _complete(segments: list[PageSegment], around: _Around) -> list[PageSegment]:
    found: list[PageSegment] = []
    for segment in segments:
        inside = (segment.language or around[0], segment.script or around[1])
        children = _complete(segment.children, inside)
        both = segment.language, segment.script
        if (both[0] is None) != (both[1] is None) and inside != both and language_tag(*inside):
            both = inside
        if children is not segment.children or both != (segment.language, segment.script):
            segment = replace(segment, children=children, language=both[0], script=both[1])
        found.append(segment)
    return found if any(a is not b for a, b in zip(found, segments, strict=True)) else segments


def part(segments: Iterable[PageSegment], around: _Around) -> None:
    """Take from each segment the half of its tag that stands around it already; `und` within a language stays said."""
    for segment in segments:
        language, script = segment.language, segment.script
        if language is None and script is not None and around[0] is not None:
            language = "und"
        inside = (language or around[0], script or around[1])
        if language is not None and script is not None:
            if language == around[0] and script != around[1]:
                language = None
            elif script == around[1] and language != around[0]:
                script = None
        segment.language, segment.script = language, script
        part(segment.children, inside)
