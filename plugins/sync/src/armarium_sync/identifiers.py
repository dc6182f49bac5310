"""What a written file states in its format's place for identifiers: its source, pass, reading order and kind
of reading.

PAGE has MetadataItem, ALTO fileIdentifier, TEI idno, hOCR meta. A lasting id is read from the bytes alone, so that files
which no reader accepts are recognised too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from armarium.api import parse_xml
from armarium_sync.names import lasting_id_of

if TYPE_CHECKING:
    from lxml import etree

SOURCE = "service-source"
PREFIX = "service-"

HEAD = 262_144
"""How many bytes at the beginning of a file are searched for identifiers."""

_AFTER = re.compile(rb"service-source['\"][^<]{0,80}?(?<![0-9a-f])([0-9a-f]{32})(?![0-9a-f])")
_BEFORE = re.compile(rb"=\s*['\"]([0-9a-f]{32})['\"][^<]{0,80}service-source")


def stamp_content(content: str, format_name: str, about: Mapping[str, str]) -> bytes:
    """Return *content* with *about* (name to value) in its place for identifiers, replacing any previous ones
    of ours; unchanged in a format that has no such place.
    """
    from lxml import etree

    if format_name not in PLACES:
        return content.encode()
    root = parse_xml(content.encode())
    _state_identifiers(root, PLACES[format_name], about)
    return bytes(etree.tostring(root, encoding="UTF-8", xml_declaration=True)) + b"\n"


def lasting_id(data: bytes, name: str) -> str | None:
    """Return the id of the source stated in a file's content or else its name; None if there is none."""
    head = data[:HEAD]
    match = _AFTER.search(head) or _BEFORE.search(head)
    return match.group(1).decode() if match else lasting_id_of(name)


class _Place(NamedTuple):
    """Where a format states identifiers: the element that holds them, theirs, and its attributes that have their name and
    value; without the latter the value is its text.
    """

    holder: str
    item: str
    name: str
    value: str | None = None


PLACES = {
    "pagexml": _Place("{*}Metadata", "MetadataItem", "name", "value"),
    "alto": _Place("{*}Description/{*}sourceImageInformation", "fileIdentifier", "fileIdentifierLocation"),
    "tei": _Place("{*}teiHeader/{*}fileDesc/{*}publicationStmt", "idno", "type"),
    "hocr": _Place("{*}head", "meta", "name", "content"),
}


def _state_identifiers(root: etree._Element, place: _Place, about: Mapping[str, str]) -> None:
    holder = root.find(place.holder)
    if holder is None:
        return
    for item in holder.findall(f".//{{*}}{place.item}"):
        above = item.getparent()
        if item.get(place.name, "").startswith(PREFIX) and above is not None:
            above.remove(item)
    # In ALTO identifiers of the whole document follow those of the file; in TEI a statement in prose has an identifier
    # inside its paragraph, a structured one after its parts.
    behind, prose = holder.find("{*}documentIdentifier"), holder.find("{*}p")
    into = holder if prose is None else prose
    at = len(into) if behind is None else into.index(behind)
    for number, (name, value) in enumerate(about.items()):
        attributes = {"type": "other"} if place.item == "MetadataItem" else {}
        attributes |= {place.name: name} | ({place.value: value} if place.value else {})
        _add_element(into, at + number, place.item, attributes, None if place.value else value)


def _add_element(
    parent: etree._Element, at: int, tag: str, attributes: Mapping[str, str], text: str | None
) -> None:
    from lxml import etree

    space = etree.QName(parent).namespace
    element = etree.Element(f"{{{space}}}{tag}" if space else tag, dict(attributes))
    element.text = text
    parent.insert(at, element)
