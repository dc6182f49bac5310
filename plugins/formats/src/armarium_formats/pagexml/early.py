"""The first dialect of PAGE, of 2009: `text_region` with `txt_type="Page_Number"` and the like."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from armarium_formats.markup.fragments import local_name

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
_WORDS: Final = frozenset(
    {
        "type",
        "readingDirection",
        "textColour",
        "colour",
        "bgColour",
        "penColour",
        "lineColour",
        "colourDepth",
        "colourType",
    }
)
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
        stated = [(str(key), str(value)) for key, value in element.attrib.items()]
        element.attrib.clear()
        for key, value in stated:
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
