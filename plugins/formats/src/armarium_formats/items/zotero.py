"""Reads what Zotero exports: Zotero RDF, Better BibTeX JSON and CSL JSON. Nothing is opened or fetched."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from armarium_formats.items.parts import ItemExport, ItemNote, ItemPart, Value, require_items, text_of_html

if TYPE_CHECKING:
    from lxml.etree import _Element

ZOTERO: Final = "http://www.zotero.org/namespaces/export#"
RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_ADVICE: Final = "Export from Zotero as Zotero RDF (with files and notes), Better BibTeX JSON or CSL JSON and name that file."
MAX_DEPTH: Final = 20
_FIELDS: Final = {
    "abstract": "abstractNote",
    "alternative": "journalAbbreviation",
    "coverage": "archiveLocation",
    "dateSubmitted": "accessDate",
    "description": "extra",
}
"""Properties of Zotero RDF whose name is not that of Zotero's field."""
_NO_FIELD: Final = frozenset([
    "itemID", "itemKey", "key", "version", "citekey", "citationKey", "libraryID", "select", "uri",
    "dateAdded", "dateModified", "relations", "collections", "attachments", "notes", "tags", "creators",
    "multi", "desktop",
])  # fmt: skip
_KINDS: Final = {"Section": "section", "Part": "section", "Series": "series"}
_MARK: Final = re.compile(r"(ISBN|ISSN|DOI) (.+)")


def read_zotero_rdf(root: _Element, name: str) -> ItemExport:
    """Return the items of Zotero RDF, each with the collections it is in; Invalid naming *name* for one without."""
    return require_items(_Rdf(root).read(), name, _ADVICE)


class _Rdf:
    def __init__(self, root: _Element) -> None:
        self.nodes = {node.get(f"{{{RDF}}}about", f"#{number}"): node for number, node in enumerate(root)}
        self.export = ItemExport("zotero", [])
        self.lists: dict[str, list[tuple[str, ...]]] = {}

    def read(self) -> ItemExport:
        collections = {key: node for key, node in self.nodes.items() if _local(node) == "Collection"}
        inner = {resource for node in collections.values() for resource in _resources_of(node, "hasPart")}
        for key in collections:
            if key not in inner:
                self._collect(key, (), collections)
        members = {
            resource
            for node in self.nodes.values()
            for resource in _resources_of(node, "link", "isReferencedBy")
        }
        for key, node in self.nodes.items():
            kind = _text(node, "itemType")
            if key in collections or key in members or not (kind or _local(node) in ("Attachment", "Memo")):
                continue
            item = ItemPart(own={"key": key}, lists=self.lists.get(key, []))
            if _local(node) == "Attachment":
                self._attach(item, node, key)
                item.metadata[ZOTERO + "title"] = [Value(_text(node, "title") or "Attachment")]
            elif _local(node) == "Memo":
                self._note(item, node)
                title = item.notes[0].text.partition("\n")[0] if item.notes else ""
                item.metadata[ZOTERO + "title"] = [Value(title[:100] or "Note")]
            else:
                self._describe(item, node)
            self.export.items.append(item)
        return self.export

    def _collect(self, key: str, above: tuple[str, ...], collections: Mapping[str, _Element]) -> None:
        path = (*above, _text(collections[key], "title") or "Collection")
        for member in _resources_of(collections[key], "hasPart"):
            if member not in collections:
                self.lists.setdefault(member, []).append(path)
            elif len(path) < MAX_DEPTH:
                self._collect(member, path, collections)

    def _describe(self, item: ItemPart, node: _Element) -> None:
        for child in node:
            name, resource = _local(child), child.get(f"{{{RDF}}}resource")
            if name in ("link", "isReferencedBy"):
                linked = self.nodes.get(resource or "")
                if linked is None:
                    continue
                if name == "link":
                    self._attach(item, linked, str(resource))
                else:
                    self._note(item, linked)
            elif name == "relation":
                self.export.losses["a relation of an item to another"] += 1
            elif name == "subject" and (tag := _tag(child)):
                item.tags.append(tag)
            else:
                self._field(item, child, self.nodes.get(resource) if resource else None)

    def _field(self, item: ItemPart, child: _Element, elsewhere: _Element | None, within: str = "") -> None:
        """Write a property as a field. What the item is part of says its fields in a node of its own, here or elsewhere."""
        name = _local(child)
        inner = elsewhere if elsewhere is not None else next(iter(child), None)
        if inner is None:
            text = (child.text or "").strip()
            mark = _MARK.fullmatch(text) if name == "identifier" else None
            if mark:
                name, text = mark[1], mark[2]
            elif within == "series":
                name = {"title": "series", "identifier": "seriesNumber"}.get(name, "seriesText")
            elif within:
                name = {"title": within}.get(name, name)
            _add(item, _FIELDS.get(name, name), text)
        elif _local(inner) == "Seq":
            for person in inner.iterfind(".//{*}Person"):
                parts = (_text(person, "surname"), _text(person, "givenname") or _text(person, "givenName"))
                _add(item, name.removesuffix("s"), ", ".join(filter(None, parts)))
        elif _local(inner) == "URI":
            _add(item, "url", _text(inner, "value"))
        elif _local(inner) in ("LCC", "DDC", "UDC"):
            _add(item, "callNumber", _text(inner, "value"))
        elif name == "publisher":
            _add(item, "publisher", _text(inner, "name"))
            places = inner.iterfind(".//{*}locality")
            _add(item, "place", next((place.text or "" for place in places), ""))
        elif name == "presentedAt":
            _add(item, "conferenceName", _text(inner, "title"))
        elif name == "isPartOf" and within.count("/") < MAX_DEPTH:
            for field in inner:
                self._field(item, field, None, _KINDS.get(_local(inner), "publicationTitle"))
        else:
            self.export.losses[f"a property {name}"] += 1

    def _attach(self, item: ItemPart, node: _Element, key: str) -> None:
        path = next(iter(_resources_of(node, "resource", "path")), "") or _text(node, "path")
        if not path:
            address = node.find(".//{*}URI/{*}value")
            _add(item, "links", "" if address is None else address.text or "")
            return
        title = _text(node, "title")
        part = ItemPart(own={"key": key, "path": path, "filename": title})
        _add(part, "title", title)
        item.parts.append(part)

    def _note(self, item: ItemPart, node: _Element) -> None:
        self.export.losses["a tag of a note"] += len(list(node.iterfind("{*}subject")))
        _take_note(item, _text(node, "value") or _text(node, "description"))


def read_better_bibtex(parsed: Mapping[str, Any], name: str) -> ItemExport:
    """Return the items of Better BibTeX JSON, which states Zotero's own keys; Invalid naming *name* for one without."""
    collections = {
        key: value for key, value in _dict(parsed.get("collections")).items() if isinstance(value, dict)
    }
    lists: dict[str, list[tuple[str, ...]]] = {}
    for key, collection in collections.items():
        path: tuple[str, ...] = ()
        above = key
        while above in collections and len(path) < MAX_DEPTH:
            path = (str(collections[above].get("name") or "Collection"), *path)
            above = str(collections[above].get("parent"))
        for member in _list(collection.get("items")):
            lists.setdefault(str(member), []).append(path)
    export = ItemExport("zotero", [])
    for entry in _list(parsed.get("items")):
        if not isinstance(entry, dict) or entry.get("itemType") in ("attachment", "note", "annotation"):
            export.losses["an attachment or note without an item"] += 1
            continue
        identity = entry.get("uri") or entry.get("itemKey") or entry.get("key") or entry.get("itemID")
        item = ItemPart(own={"key": str(identity)} if identity else {})
        item.lists = lists.get(str(entry.get("itemID")), [])
        for field, value in entry.items():
            if field not in _NO_FIELD:
                _add(item, field, "\n".join(map(str, value)) if isinstance(value, list) else value)
        for person in filter(None, map(_dict, _list(entry.get("creators")))):
            parts = [person.get("name"), person.get("lastName"), person.get("firstName")]
            _add(item, str(person.get("creatorType") or "author"), ", ".join(map(str, filter(None, parts))))
        item.tags = [str(_dict(tag).get("tag") or tag) for tag in _list(entry.get("tags")) if tag]
        for note in _list(entry.get("notes")):
            _take_note(item, str(_dict(note).get("note") or "" if isinstance(note, dict) else note))
        for file in map(_dict, _list(entry.get("attachments"))):
            if not file.get("path"):
                _add(item, "links", file.get("url"))
                continue
            part = ItemPart(own={"path": str(file["path"]), "filename": str(file.get("title") or "")})
            if file_name := file.get("uri") or file.get("itemKey") or file.get("key"):
                part.own["key"] = str(file_name)
            _add(part, "title", file.get("title"))
            item.parts.append(part)
        export.losses["a relation of an item to another"] += len(_dict(entry.get("relations")))
        export.items.append(item)
    return require_items(export, name, _ADVICE)


def read_csl(entries: Iterable[Any], name: str) -> ItemExport:
    """Return the items of CSL JSON, which has neither files nor notes; Invalid naming *name* for one without."""
    export = ItemExport("zotero", [])
    for entry in filter(None, map(_dict, entries)):
        item = ItemPart(own={"key": str(entry["id"])} if entry.get("id") else {})
        for field, value in entry.items():
            if isinstance(value, dict):
                _add(item, "date" if field == "issued" else field, _csl_date(value))
            elif isinstance(value, list):
                for member in value:
                    person = _dict(member)
                    parts = [person.get("literal"), person.get("family"), person.get("given")]
                    _add(item, field, ", ".join(map(str, filter(None, parts))) if person else member)
            elif field not in ("id", "type"):
                _add(item, "extra" if field == "note" else field, value)
        _add(item, "itemType", entry.get("type"))
        export.items.append(item)
    return require_items(export, name, _ADVICE)


def _csl_date(value: Mapping[str, Any]) -> str:
    """Return a date of CSL: in its own words, else as year, month and day with / between the ends of a span."""
    if value.get("raw") or value.get("literal"):
        return str(value.get("raw") or value["literal"])
    ends = []
    for end in _list(value.get("date-parts")):
        numbers = [str(part) for part in _list(end) if str(part).lstrip("-").isdigit()]
        ends.append("-".join(number.zfill(4 if at == 0 else 2) for at, number in enumerate(numbers)))
    return "/".join(filter(None, ends))


def _add(part: ItemPart, field: str, value: Any) -> None:
    if value not in (None, "") and isinstance(value, str | int | float):
        part.metadata.setdefault(ZOTERO + field, []).append(Value(value))


def _take_note(item: ItemPart, marked: str) -> None:
    if text := text_of_html(marked):
        item.notes.append(ItemNote(text, marked, None))


def _local(node: _Element) -> str:
    return str(node.tag).rpartition("}")[2]


def _text(node: _Element, name: str) -> str:
    child = node.find(f"{{*}}{name}")
    return "" if child is None else (child.text or "").strip()


def _tag(subject: _Element) -> str:
    """Return a tag of its own, or of an automatic one; empty for a call number."""
    automatic = subject.find("{*}AutomaticTag")
    return (subject.text or "").strip() if automatic is None else _text(automatic, "value")


def _resources_of(node: _Element, *names: str) -> list[str]:
    """Return the resources that the properties *names* of a node lead to."""
    resources = (child.get(f"{{{RDF}}}resource") for child in node if _local(child) in names)
    return [resource for resource in resources if resource]


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
