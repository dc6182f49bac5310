"""Zotero RDF: a document is an item, its pictures are attachments, its texts and annotations are notes."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import Any, Final

from armarium_exports.receivers.items import Item, marked_text

LONGEST_NOTE: Final = 200_000
"""Characters of a note; Zotero does not synchronize longer ones."""

_SPACES: Final = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "z": "http://www.zotero.org/namespaces/export#",
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "bib": "http://purl.org/net/biblio#",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "link": "http://purl.org/rss/1.0/modules/link/",
}
_PEOPLE: Final = {
    "author": "bib:authors",
    "creator": "bib:authors",
    "editor": "bib:editors",
    "recipient": "z:recipients",
}
_FIELDS: Final = frozenset([
    "abstractNote", "accessDate", "archive", "archiveLocation", "callNumber", "conferenceName", "date",
    "DOI", "edition", "extra", "ISBN", "ISSN", "issue", "itemType", "journalAbbreviation", "language",
    "libraryCatalog", "manuscriptType", "number", "numPages", "pages", "place", "publicationTitle",
    "publisher", "rights", "section", "series", "seriesNumber", "shortTitle", "type", "url", "volume",
])  # fmt: skip
"""Fields of Zotero that its import takes in its own namespace; other attributes are lines of `extra`."""
_LIST_STEP: Final = re.compile(r"(?<!\\)/")
_UNWRITABLE: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def zotero_of(items: Iterable[Item], images: str) -> bytes:
    """Return the export of *items*, whose pictures are in the folder *images* beside it; what it lacks is added to the
    losses of their pages.
    """
    from lxml import etree

    root = etree.Element(_name("rdf:RDF"), nsmap=_SPACES)
    collections: dict[str, list[str]] = {}
    for item in items:
        metadata = item.whole["source_metadata"].get("zotero", {})
        about = str(metadata.get("key") or f"#item_{item.whole['id']}")
        for listed in metadata.get("lists", []):
            collections.setdefault(listed, []).append(about)
        _write_item(root, item, about, images)
    nodes: dict[tuple[str, ...], Any] = {}
    for path, members in collections.items():
        node = _collection(root, nodes, tuple(_LIST_STEP.split(path)))
        for about in members:
            _point(node, "dcterms:hasPart", about)
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)


def _collection(root: Any, nodes: dict[tuple[str, ...], Any], path: tuple[str, ...]) -> Any:
    """Return the collection at *path*, made with those that it is in."""
    if path not in nodes:
        about = f"#collection_{len(nodes) + 1}"
        nodes[path] = _node(root, "z:Collection", about)
        _add(nodes[path], "dc:title", path[-1].replace("\\/", "/"))
        if path[:-1]:
            _point(_collection(root, nodes, path[:-1]), "dcterms:hasPart", about)
    return nodes[path]


def _write_item(root: Any, item: Item, about: str, images: str) -> None:
    attributes = {name: value for name, value in item.whole["attributes"].items() if name != "tags"}
    node = _node(root, "rdf:Description", about)
    _add(node, "z:itemType", attributes.pop("itemType", "manuscript"))
    _add(node, "dc:title", attributes.pop("title", item.whole["name"]))
    extra = [str(attributes.pop("extra", ""))]
    attributes.pop("links", None)
    for name, value in attributes.items():
        values = [
            str(member)
            for member in (value if isinstance(value, list) else [value])
            if member not in (None, "")
        ]
        if name in _PEOPLE:
            people = _add(_add(node, _PEOPLE[name]), "rdf:Seq")
            for full_name in values:
                person = _add(_add(people, "rdf:li"), "foaf:Person")
                surname, _, given_name = full_name.partition(", ")
                _add(person, "foaf:surname", surname)
                if given_name:
                    _add(person, "foaf:givenname", given_name)
        elif name in _FIELDS:
            _add(node, f"z:{name}", "; ".join(values))
        else:
            extra += [f"{name}: {text}" for text in values]
    _add(node, "dc:description", "\n".join(filter(None, extra)))
    for tag in item.tags:
        _add(node, "dc:subject", tag)
    notes = [note for note in item.notes if note["text"]]
    for page, own, placed_notes in item.pages:
        key = own["source_metadata"].get("zotero", {}).get("key") or f"#file_{page.document_id}"
        _point(node, "link:link", key)
        attached = _node(root, "z:Attachment", key)
        _add(attached, "z:itemType", "attachment")
        _point(attached, "rdf:resource", f"{images}/{page.stem}{page.ending}")
        _add(attached, "dc:title", own["attributes"].get("title") or page.label)
        _add(attached, "link:type", page.mime_type)
        notes += [note for note in placed_notes if note["text"]]
        placed = sum((note["anchor"] or {}).get("rect") not in (None, [0, 0, 1, 1]) for note in placed_notes)
        if placed:
            why = "a note of Zotero belongs to an item, not to a place of a picture"
            page.losses.append({"what": "places of annotations", "count": placed, "why": why})
    notes_with_marks = [marked_text(note["text"], note["metadata"].get("zotero", {})) for note in notes]
    for number, marked in enumerate([*_transcriptions(item), *notes_with_marks], 1):
        memo = f"#note_{item.whole['id']}_{number}"
        _point(node, "dcterms:isReferencedBy", memo)
        _add(_node(root, "bib:Memo", memo), "rdf:value", marked)


def _transcriptions(item: Item) -> Iterable[str]:
    """Yield notes with the texts of the pages, each under its label."""
    note = ""
    for page, _, _ in item.pages:
        if not page.text.strip():
            continue
        lines = "<br/>".join(html.escape(line) for line in page.text.strip().splitlines())
        text = f"<h2>{html.escape(page.label)}</h2><p>{lines}</p>"
        if note and len(note) + len(text) > LONGEST_NOTE:
            yield note
            note = ""
        note = (note or "<h1>Transcription</h1>") + text
    if note:
        yield note


def _name(name: str) -> str:
    prefix, _, local = name.partition(":")
    return f"{{{_SPACES[prefix]}}}{local}"


def _add(parent: Any, name: str, text: Any = None) -> Any:
    from lxml import etree

    if text == "":
        return None
    element = etree.SubElement(parent, _name(name))
    element.text = None if text is None else _UNWRITABLE.sub("\ufffd", str(text))
    return element


def _node(root: Any, name: str, about: str) -> Any:
    element = _add(root, name)
    element.set(_name("rdf:about"), about)
    return element


def _point(node: Any, name: str, about: str) -> None:
    _add(node, name).set(_name("rdf:resource"), about)
