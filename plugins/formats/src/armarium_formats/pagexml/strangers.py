"""Elements of a PAGE file that PAGE does not have: a name in other letters or another namespace, a holder around lines."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from armarium_formats.markup.fragments import local_name
from armarium_formats.pagexml.profile import elements

if TYPE_CHECKING:
    from lxml import etree


@cache
def _by_letters() -> dict[str, str]:
    """PAGE's own spelling by the name in small letters; cells of Transkribus tables are no element of 2019."""
    return {name.casefold(): name for name in (*elements(), "TableCell", "CornerPts")}


@cache
def usual_tags(ns: str) -> frozenset[str]:
    """The tags that PAGE has, in the namespace of a file."""
    return frozenset(ns + name for name in _by_letters().values())


def holds_segments(element: etree._Element) -> bool:
    """Whether lines, words or regions are what an element is or holds, whatever letters and namespace they are in."""
    return any(
        folded in ("textline", "word", "tablecell") or folded.endswith("region")
        for part in element.iter()
        if isinstance(part.tag, str)
        for folded in (local_name(part.tag).casefold(),)
    )


def respell(element: etree._Element, ns: str) -> None:
    """Give it and all in it PAGE's own names where they differ in letters or namespace alone."""
    spelled = _by_letters()
    for part in element.iter():
        if isinstance(part.tag, str) and (name := spelled.get(local_name(part.tag).casefold())):
            part.tag = ns + name
