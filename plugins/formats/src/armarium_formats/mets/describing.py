"""What a METS file states beyond its pages: about the work (MODS, Dublin Core) and its logical parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from armarium_formats.markup.fragments import attributes_in, local_name

if TYPE_CHECKING:
    from lxml import etree

MAX_PARTS = 20_000
"""Parts of a logical structure that are kept as such; those of a file with more stay in the original."""

MAX_LEVELS = 12
"""Levels of a logical structure that are kept as such."""

MAX_VALUES = 50
MAX_LENGTH = 2000
"""Names under which something is said of the work, values under each, and characters of one."""

_MODS = {
    "date": ("originInfo/dateIssued", "originInfo/dateCreated"), "place": ("originInfo/place/placeTerm",),
    "publisher": ("originInfo/publisher",), "language": ("language/languageTerm",),
    "shelfmark": ("location/shelfLocator",), "repository": ("location/physicalLocation",),
    "identifier": ("identifier", "recordInfo/recordIdentifier"), "genre": ("genre",),
    "extent": ("physicalDescription/extent",), "description": ("abstract", "note"),
}  # fmt: skip
"""What is taken of a MODS record, under the names that Dublin Core has for it where it has one."""


@dataclass(slots=True)
class Description:
    """What a METS file states about the whole. `fields` are values by name, `parts` the logical structure as
    nested records {type, label, order_label, pages, parts} with page numbers, `beyond` counts what stays in
    the original.
    """

    label: str = ""
    kind: str = ""
    identifier: str = ""
    fields: dict[str, list[str]] = field(default_factory=dict)
    parts: list[dict[str, Any]] = field(default_factory=list)
    parts_count: int = 0
    beyond: Counter[str] = field(default_factory=Counter)

    @property
    def title(self) -> str:
        """Return the title of the work, empty if the file does not state one."""
        return next(iter(self.fields.get("title", ())), self.label)

    def as_metadata(self) -> dict[str, Any]:
        """Return the fields as a document's `source_metadata`: one value, or a list of several."""
        return {name: values[0] if len(values) == 1 else values for name, values in self.fields.items()}


def describe(root: etree._Element, pages: Mapping[str, int], of_file: Mapping[str, int]) -> Description:
    """Return what *root* states about the whole; *pages* are page numbers by the ID of their div, *of_file*
    by that of a file.
    """
    description = Description(_text(root.get("LABEL")), _text(root.get("TYPE")), _text(root.get("OBJID")))
    records = {element.get("ID") or "": element for element in root.iterchildren("{*}dmdSec")}
    logical = [
        element
        for element in root.iterchildren("{*}structMap")
        if (element.get("TYPE") or "").casefold().startswith("log")
    ]
    main = _main_record(logical, records)
    if main is not None:
        description.fields = _fields_of(main)
        if not description.fields:
            description.beyond["descriptions that are neither MODS nor Dublin Core"] += 1
    description.beyond["descriptions of parts"] = max(0, len(records) - (main is not None))
    description.beyond["administrative sections"] = sum(1 for _ in root.iterchildren("{*}amdSec"))
    linked = _links(root)
    for element in logical:
        parts = _parts(element, pages, of_file, linked)
        if parts is None:
            description.beyond["logical structures of too many parts"] += 1
        else:
            description.parts += parts[0]
            description.parts_count += parts[1]
    description.beyond = +description.beyond
    return description


def _main_record(
    logical: list[etree._Element], records: Mapping[str, etree._Element]
) -> etree._Element | None:
    """Return the record of the topmost logical part that has one, else the first of all."""
    for structure in logical:
        for div in structure.iter("{*}div"):
            for identity in (div.get("DMDID") or "").split():
                if identity in records:
                    return records[identity]
    return next(iter(records.values()), None)


def _fields_of(record: etree._Element) -> dict[str, list[str]]:
    mods = next(record.iter("{http://www.loc.gov/mods/v3}mods"), None)
    fields: dict[str, list[str]] = {}
    if mods is not None:
        for title in mods.iterchildren("{*}titleInfo"):
            if not title.get("type"):
                words = [_text_of(title, name) for name in ("nonSort", "title", "subTitle")]
                main_title = " ".join(words[:2]).strip()
                _add(fields, "title", ". ".join(filter(None, (main_title, words[2]))))
        for person in mods.iterchildren("{*}name"):
            creator = _text_of(person, "displayForm") or ", ".join(
                _whole_text(element)
                for element in person.iterchildren("{*}namePart")
                if element.get("type") not in ("date", "termsOfAddress")
            )
            _add(fields, "creator", creator)
        for name, paths in _MODS.items():
            for path in paths:
                for element in mods.iterfind("/".join(f"{{*}}{step}" for step in path.split("/"))):
                    _add(fields, name, _whole_text(element))
        return fields
    for element in record.iter("{http://purl.org/dc/elements/1.1/}*", "{http://purl.org/dc/terms/}*"):
        if not len(element):
            _add(fields, local_name(str(element.tag)), _whole_text(element))
    return fields


def _add(fields: dict[str, list[str]], name: str, value: str) -> None:
    if value and (name in fields or len(fields) < MAX_VALUES):
        values = fields.setdefault(name, [])
        if value not in values and len(values) < MAX_VALUES:
            values.append(value)


def _links(root: etree._Element) -> dict[str, list[str]]:
    """Return the IDs of physical parts by that of the logical part linked to them by a structLink."""
    linked: dict[str, list[str]] = {}
    for section in root.iterchildren("{*}structLink"):
        for link in section.iter("{*}smLink"):
            ends = attributes_in(link)
            if "from" in ends and "to" in ends:
                linked.setdefault(ends["from"], []).append(ends["to"])
    return linked


def _parts(
    structure: etree._Element,
    pages: Mapping[str, int],
    of_file: Mapping[str, int],
    linked: Mapping[str, list[str]],
) -> tuple[list[dict[str, Any]], int] | None:
    """Return the divs of a structure as records, and their number; None if they are too many or too deep."""
    top: list[dict[str, Any]] = []
    count = 0
    stack = [(div, top, 1) for div in reversed(list(structure.iterchildren("{*}div")))]
    while stack:
        div, brothers, level = stack.pop()
        count += 1
        if count > MAX_PARTS or level > MAX_LEVELS:
            return None
        identities = linked.get(div.get("ID") or "", ())
        numbers = {pages[identity] for identity in identities if identity in pages}
        for pointer in div.iterchildren("{*}fptr"):
            for element in pointer.iter("{*}fptr", "{*}area"):
                if (number := of_file.get(element.get("FILEID") or "")) is not None:
                    numbers.add(number)
        part: dict[str, Any] = {
            "type": _text(div.get("TYPE")),
            "label": _text(div.get("LABEL")),
            "order_label": _text(div.get("ORDERLABEL")),
            "pages": sorted(numbers),
            "parts": [],
        }
        brothers.append(part)
        stack += [(child, part["parts"], level + 1) for child in reversed(list(div.iterchildren("{*}div")))]
    return top, count


def _text_of(element: etree._Element, name: str) -> str:
    return next((_whole_text(child) for child in element.iterchildren(f"{{*}}{name}")), "")


def _whole_text(element: etree._Element) -> str:
    return _text("".join(str(part) for part in element.itertext()))


def _text(value: str | None) -> str:
    return " ".join((value or "").split())[:MAX_LENGTH]
