"""Files that are not quite PAGE: the first dialect, of 2009 (`text_region` with `txt_type="Page_Number"`), names in another
case or namespace, wrappers around lines.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from armarium_formats.markup.fragments import local_name
from armarium_formats.pagexml.profile import schema

if TYPE_CHECKING:
    from lxml import etree


_ELEMENTS: Final = {
    "pcGts": "PcGts",
    "pcMetadata": "Metadata",
    "pcCreator": "Creator",
    "pcCreated": "Created",
    "pcLastChange": "LastChange",
    "pcComments": "Comments",
}
_OF_REGION = re.compile(r"[a-z]{2,4}_(?=\w)")
_WORDS: Final = frozenset({
    "type", "readingDirection", "textColour", "colour", "bgColour", "penColour", "lineColour", "colourDepth",
    "colourType",
})  # fmt: skip
_TRUTH: Final = {"Yes": "true", "No": "false"}
_COLOURS: Final = {"bgcolour": "bgColour", "colour": "textColour"}


def modernise(root: etree._Element) -> bool:
    """Rename elements, attributes and values of the 2009 dialect in place; return whether it was one."""
    if local_name(str(root.tag)) != "pcGts":
        return False
    for element in root.iter():
        if not isinstance(element.tag, str):
            continue
        name = local_name(element.tag)
        element.tag = element.tag[: len(element.tag) - len(name)] + _ELEMENTS.get(
            name, _join_name(name, upper=True)
        )
        region = name.endswith("_region")
        attributes = [(str(key), str(value)) for key, value in element.attrib.items()]
        element.attrib.clear()
        for key, value in attributes:
            if key.startswith("{"):
                element.set(key, value)
                continue
            bare = _OF_REGION.sub("", key, count=1) if region else key
            ours = _COLOURS.get(bare, "") if region else ""
            ours = ours or _join_name(bare, upper=False)
            element.set(ours, value.lower().replace("_", "-") if ours in _WORDS else _TRUTH.get(value, value))
    return True


def _join_name(name: str, *, upper: bool) -> str:
    """Return `text_line` as TextLine or textLine; a name with capitals is unchanged."""
    if name != name.lower():
        return name
    first, *others = name.split("_")
    return (first.capitalize() if upper else first) + "".join(part.capitalize() for part in others)


@cache
def _by_letters() -> dict[str, str]:
    """Return PAGE's own spelling by lower-case name; cells of Transkribus tables are not an element of 2019."""
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
