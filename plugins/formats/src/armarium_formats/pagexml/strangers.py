"""Non-PAGE elements of a PAGE file: names in another case or namespace, wrappers around lines."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from armarium_formats.markup.fragments import local_name
from armarium_formats.pagexml.profile import schema

if TYPE_CHECKING:
    from lxml import etree


@cache
def _by_letters() -> dict[str, str]:
    """Return PAGE's own spelling by lower-case name; cells of Transkribus tables are no element of 2019."""
    return {name.casefold(): name for name in (*schema().elements, "TableCell", "CornerPts")}


@cache
def usual_tags(ns: str) -> frozenset[str]:
    """Return the tags that PAGE has, in the namespace of a file."""
    return frozenset(ns + name for name in _by_letters().values())


def holds_segments(element: etree._Element) -> bool:
    """Return whether an element is, or contains, lines, words or regions, in any case and namespace."""
    return any(
        folded in ("textline", "word", "tablecell") or folded.endswith("region")
        for part in element.iter()
        if isinstance(part.tag, str)
        for folded in (local_name(part.tag).casefold(),)
    )


def respell(element: etree._Element, ns: str) -> None:
    """Give an element and its contents PAGE's own names where only case or namespace differ."""
    spelled = _by_letters()
    for part in element.iter():
        if isinstance(part.tag, str) and (name := spelled.get(local_name(part.tag).casefold())):
            part.tag = ns + name
