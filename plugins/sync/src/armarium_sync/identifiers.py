"""What a written file states in its format's place for identifiers: its source, pass, reading order and kind
of reading.

PAGE has MetadataItem, ALTO fileIdentifier, TEI idno, hOCR meta. A lasting id is read from the bytes alone, so that files
which no reader accepts are recognised too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

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
    PLACES[format_name](root, about)
    return bytes(etree.tostring(root, encoding="UTF-8", xml_declaration=True)) + b"\n"


def lasting_id(data: bytes, name: str) -> str | None:
    """Return the id of the source stated in a file's content or else its name; None if there is none."""
    head = data[:HEAD]
    match = _AFTER.search(head) or _BEFORE.search(head)
    return match.group(1).decode() if match else lasting_id_of(name)


def _in_page(root: etree._Element, about: Mapping[str, str]) -> None:
    metadata = root.find("{*}Metadata")
    if metadata is None:
        return
    for item in metadata.findall("{*}MetadataItem"):
        if item.get("name", "").startswith(PREFIX):
            metadata.remove(item)
    for name, value in about.items():
        _add_element(
            metadata, len(metadata), "MetadataItem", {"type": "other", "name": name, "value": value}, None
        )


def _in_alto(root: etree._Element, about: Mapping[str, str]) -> None:
    source = root.find("{*}Description/{*}sourceImageInformation")
    if source is None:
        return
    for item in source.findall("{*}fileIdentifier"):
        if item.get("fileIdentifierLocation", "").startswith(PREFIX):
            source.remove(item)
    # Identifiers of the whole document follow those of the file.
    behind = source.findall("{*}documentIdentifier")
    at = source.index(behind[0]) if behind else len(source)
    for number, (name, value) in enumerate(about.items()):
        _add_element(source, at + number, "fileIdentifier", {"fileIdentifierLocation": name}, value)


def _in_tei(root: etree._Element, about: Mapping[str, str]) -> None:
    statement = root.find("{*}teiHeader/{*}fileDesc/{*}publicationStmt")
    if statement is None:
        return
    for item in statement.findall(".//{*}idno"):
        holder = item.getparent()
        if item.get("type", "").startswith(PREFIX) and holder is not None:
            holder.remove(item)
    # A statement in prose has an identifier inside its paragraph; a structured one has it after its parts.
    prose = statement.find("{*}p")
    place = statement if prose is None else prose
    for name, value in about.items():
        _add_element(place, len(place), "idno", {"type": name}, value)


def _in_hocr(root: etree._Element, about: Mapping[str, str]) -> None:
    head = root.find("{*}head")
    if head is None:
        return
    for item in head.findall("{*}meta"):
        if item.get("name", "").startswith(PREFIX):
            head.remove(item)
    for name, value in about.items():
        _add_element(head, len(head), "meta", {"name": name, "content": value}, None)


def _add_element(
    parent: etree._Element, at: int, tag: str, attributes: Mapping[str, str], text: str | None
) -> None:
    from lxml import etree

    space = etree.QName(parent).namespace
    element = etree.Element(f"{{{space}}}{tag}" if space else tag, dict(attributes))
    element.text = text
    parent.insert(at, element)


PLACES = {"pagexml": _in_page, "alto": _in_alto, "tei": _in_tei, "hocr": _in_hocr}
