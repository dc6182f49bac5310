"""Reads the table that Omeka S imports and exports (CSV Import): a row an item, columns are properties, tags and media."""

from __future__ import annotations

import re
from itertools import chain
from typing import Final

from armarium_documents.api import Sheet
from armarium_formats.items.parts import ItemExport, ItemNote, ItemPart, Value, require_items, text_of_html

DCTERMS: Final = "http://purl.org/dc/terms/"
VOCABULARIES: Final = {
    "dcterms": DCTERMS,
    "dublin core": DCTERMS,
    "bibo": "http://purl.org/ontology/bibo/",
    "foaf": "http://xmlns.com/foaf/0.1/",
}
_TERMS: Final = frozenset(
    "title creator subject description publisher contributor date type format identifier source language relation coverage"
    " rights abstract alternative created issued extent medium provenance spatial temporal rightsHolder".casefold().split()
)
_HTML: Final = re.compile(r"(?:media|o:media)[ /:_]?html", re.IGNORECASE)
_MEDIA: Final = re.compile(r"(?:media|file|files|image|sideload)(?:\b|$).*|url", re.IGNORECASE)
_BETWEEN: Final = re.compile(r"\s*[|\n]\s*")
_ADDRESSES: Final = re.compile(r"\s*,\s*(?=https?://)")
"""Between addresses of a cell that a comma divides, as CSV Import may be told."""
_HEADING: Final = re.compile(r"([A-Za-z][\w ]*?)\s*:\s*([A-Za-z].*)")


def read_omeka(sheet: Sheet, name: str) -> ItemExport:
    """Return the items of a table, those of one identifier once; Invalid naming *name* for a table without."""
    export = ItemExport("omeka", [])
    parts_by_id: dict[str, ItemPart] = {}
    targets = [_target(heading) for heading in sheet.headings]
    for _, cells in sheet.rows:
        item = ItemPart()
        for target, cell in zip(targets, cells, strict=False):
            values = list(filter(None, _BETWEEN.split(str(cell or ""))))
            if target == "html":
                text = str(cell or "")
                item.notes += [ItemNote(plain, text, None)] if (plain := text_of_html(text)) else []
            elif target == "media":
                for path in chain.from_iterable(map(_ADDRESSES.split, values)):
                    filename = path.partition("?")[0].replace("\\", "/").rpartition("/")[2]
                    item.parts.append(ItemPart(own={"path": path, "filename": filename, "by_name": True}))
            elif target == "tags":
                item.tags += values
            elif target == "list":
                item.lists += [(value,) for value in values]
            elif values:
                item.metadata.setdefault(target, []).extend(map(Value, values))
        identifiers = item.metadata.get(DCTERMS + "identifier")
        key = str(identifiers[0].value) if identifiers else item.title
        if key in parts_by_id:
            parts_by_id[key].parts += item.parts
            export.losses["a further row of an item"] += 1
            continue
        if key:
            item.own["key"] = key
            parts_by_id[key] = item
        export.items.append(item)
    return require_items(export, name, "Name the table that Omeka S imports, with a column dcterms:title.")


def is_omeka(sheet: Sheet) -> bool:
    """Return whether a table has a title as Omeka S names it."""
    return any(_target(heading) == DCTERMS + "title" for heading in sheet.headings)


def _target(heading: str) -> str:
    """Return what a column is: media, html, tags, list, or the address of a property."""
    plain = heading.strip()
    low = plain.casefold()
    if low in ("tag", "tags"):
        return "tags"
    if low in ("item set", "item sets", "collection", "collections"):
        return "list"
    if match := _HEADING.fullmatch(plain):
        vocabulary = VOCABULARIES.get(match[1].strip().casefold())
        if vocabulary is not None:
            term = match[2].strip().replace(" ", "")
            return vocabulary + term[0].lower() + term[1:]
    if _HTML.fullmatch(low):
        return "html"
    if _MEDIA.fullmatch(low):
        return "media"
    return DCTERMS + low if low in _TERMS else f"urn:omeka:column:{plain}"
