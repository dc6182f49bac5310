"""Arranges a neutral page for PAGE: regions contain lines, lines contain words, all have an outline."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from armarium_formats.kinds import in_page_words, is_furniture
from armarium_formats.markup.lines_of_words import Lose, arrange_lines
from armarium_formats.page_model import PageModel, PageSegment, Point, kept_by, order_siblings
from armarium_formats.pagexml.profile import REGION_TAGS, schema
from armarium_formats.shapes import bounds, box_around, corners


def tag_of(segment: PageSegment) -> tuple[str, str | None, str | None]:
    """Return the element for a segment, its `type`, and the structure for its `custom`."""
    raw = in_page_words(segment.kind_raw) if segment.kind == "region" else segment.kind_raw
    if segment.kind != "region":
        return ("TextLine" if segment.kind == "line" else "Word"), None, raw or None
    name, _, kind = (raw or "TextRegion").partition(":")
    if name == "TableCell":
        name = "TextRegion"
    if name not in REGION_TAGS:
        if name.endswith("Region") and name.isascii() and not segment.children and not segment.texts:
            return "CustomRegion", name, None
        region_types = schema().elements["TextRegion"].attributes["type"]
        kind, name = raw or "", "TextRegion"
        return (name, kind, None) if schema().fits(region_types, kind) else (name, None, kind)
    types = schema().elements[name].attributes.get("type")
    if not kind:
        return name, None, None
    return (name, kind, None) if types and schema().fits(types, kind) else (name, None, kind)


def says_furniture(segment: PageSegment) -> bool:
    """Return whether the kind as written marks the segment as furniture."""
    if segment.kind != "region":
        return False
    _, kind, structure = tag_of(segment)
    return is_furniture(kind or structure or "")


def arrange(page: PageModel, lose: Lose) -> list[PageSegment]:
    """Return the page's top-level regions with everything below in its place."""
    segments: list[PageSegment] = []
    loose: list[PageSegment] = []
    for segment in _arrange_siblings(page.segments):
        if segment.kind == "region":
            segments.append(_region(segment, lose))
        else:
            loose.append(segment)
    if loose:
        lose(
            "lines without a region",
            "PAGE has lines in regions only; one region was put around them",
            len(loose),
        )
        lines, astray = arrange_lines(loose, lose, "PAGE", _arrange_siblings)
        segments.append(PageSegment("lines", "region", "TextRegion", children=lines))
        segments += [_region(segment, lose) for segment in astray]
    return segments


def _arrange_siblings(segments: Iterable[PageSegment]) -> list[PageSegment]:
    """Yield siblings in writing order: positions that no `custom` states become sequence."""
    brothers = list(segments)
    if all(not _states_position(segment) for segment in brothers):
        return [
            segment if segment.position is None else replace(segment, position=None)
            for segment in order_siblings(brothers)
        ]
    return brothers


def _states_position(segment: PageSegment) -> bool:
    attributes = kept_by("pagexml", segment).get("attributes") or {}
    return "index" in attributes or "readingOrder" in attributes.get("custom", "")


def _region(segment: PageSegment, lose: Lose) -> PageSegment:
    children = _arrange_siblings(segment.children)
    lines_and_words = [child for child in children if child.kind != "region"]
    lines, astray = arrange_lines(lines_and_words, lose, "PAGE", _arrange_siblings)
    regions = [
        _region(child, lose) for child in (*(child for child in children if child.kind == "region"), *astray)
    ]
    tag, _, _ = tag_of(segment)
    if tag != "TextRegion" and (lines or segment.texts):
        lose(f"text directly in a {tag}", "PAGE has text in TextRegions only; one was put inside", 1)
        inner = PageSegment(
            f"{segment.id}_text", "region", "TextRegion", segment.points, texts=segment.texts, children=lines
        )
        return replace(segment, children=[*regions, inner], texts=[])
    if regions or lines or segment.children:
        return replace(segment, children=[*regions, *lines])
    return segment


def outline_of(
    segment: PageSegment, parent: PageSegment | None, page: PageModel, lose: Lose, height: Callable[[], float]
) -> list[Point]:
    """Return the segment's outline, which PAGE requires; a missing one becomes the box of its contents, its
    baseline (in lines of that *height*) or its parent.
    """
    if len(segment.points) > 1:
        return segment.points
    lose("a missing outline", f"PAGE requires one on every {segment.kind}; the box of its parts was written")
    inside = [point for part in segment.walk() for point in (part.points or part.baseline)]
    if inside and segment.kind == "line" and inside == segment.baseline:
        left, top, right, bottom = box_around(segment.baseline, height())
        inside = [(max(round(left), 0), max(round(top), 0)), (round(right), round(bottom))]
    if not inside and parent is not None:
        inside = list(parent.points)
    if not inside:
        inside = [(0, 0), (page.width, page.height)]
    left, top, right, bottom = bounds(inside)
    return corners((left, top, max(right, left + 1), max(bottom, top + 1)))
