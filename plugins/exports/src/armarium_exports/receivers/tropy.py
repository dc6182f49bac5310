"""Tropy's JSON-LD: a document is an item, its pages are the photos, with notes, selections and transcriptions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import orjson

from armarium_exports.receivers.items import Item, Row, marked_text, md5_of

if TYPE_CHECKING:
    from armarium_exports.receivers.writing import WritablePage

_TROPY = "https://tropy.org/v1/tropy#"
_DC = "http://purl.org/dc/elements/1.1/"
TERMS = frozenset([
    "title", "creator", "subject", "description", "publisher", "contributor", "date", "type", "format",
    "identifier", "source", "language", "relation", "coverage", "rights",
])  # fmt: skip
_CONTEXT = {
    "@version": 1.1,
    "@vocab": _TROPY,
    "template": {"@type": "@id"},
    **{name: {"@id": _TROPY + name, "@container": "@list"} for name in ("photo", "note", "selection")},
}


def tropy_of(items: Iterable[Item], images: str) -> bytes:
    """Return the export of *items*, whose pictures are in the folder *images* beside it; what it lacks is added to the
    losses of their pages.
    """
    graph = []
    for item in items:
        whole = item.whole
        entry: dict[str, Any] = {"@type": "Item", **_metadata(whole), "photo": []}
        metadata = whole["source_metadata"].get("tropy", {})
        entry["template"] = metadata.get("template", "https://tropy.org/v1/templates/generic")
        if metadata.get("lists"):
            entry["list"] = metadata["lists"]
        if item.tags:
            entry["tag"] = item.tags
        entry["photo"] = [_photo(page, own, notes, images) for page, own, notes in item.pages]
        graph.append(entry)
    export = {"@context": _CONTEXT, "@graph": graph, "version": "1.17.0"}
    return orjson.dumps(export, option=orjson.OPT_INDENT_2)


def _metadata(row: Row) -> dict[str, Any]:
    """Return attributes by the addresses of their properties: those of an import, of Dublin Core, else ones of Tropy's."""
    properties = row["source_metadata"].get("tropy", {}).get("properties", {})
    fields: dict[str, Any] = {_DC + "title": row["name"]}
    for name, value in row["attributes"].items():
        if name == "tags" or value in (None, "", [], {}):
            continue
        term = properties.get(name, {})
        base = _DC if name in TERMS else "urn:armarium:attribute:"
        text = "; ".join(map(str, value)) if isinstance(value, list) else value
        text = text if isinstance(text, str | int) and not isinstance(text, bool) else str(text)
        address = term.get("uri", base + name.replace(" ", "-"))
        fields[address] = {"@type": term["type"], "@value": text} if term.get("type") else text
    return fields


def _photo(page: WritablePage, own: Row, annotations: list[Row], images: str) -> dict[str, Any]:
    from armarium.api import image_info

    width, height = image_info(page.picture).upright_size
    name = f"{page.stem}{page.ending}"
    looks = own["source_metadata"].get("tropy", {}).get("shown", {})
    photo: dict[str, Any] = {
        "@type": "Photo",
        "template": "https://tropy.org/v1/templates/photo",
        "path": f"{images}/{name}",
        "protocol": "file",
        "filename": name,
        "mimetype": page.mime_type,
        "page": 0,
        "size": page.picture.stat().st_size,
        "width": width,
        "height": height,
        **looks,
        **_metadata(own),
    }
    photo["checksum"] = md5_of(page.picture)
    if page.text:
        photo["transcription"] = [
            {"@type": "Transcription", "text": page.text, "alto": page.content.decode()}
        ]
    without = 0
    for row in annotations:
        rect, text = (row["anchor"] or {}).get("rect"), row["text"]
        tropy = row["metadata"].get("tropy", {})
        if rect is None and not text:
            without += 1
            continue
        notes = [_note(text, tropy)] if text and text != tropy.get("attributes", {}).get("title") else []
        if rect is None or rect == [0, 0, 1, 1]:
            photo.setdefault("note", []).extend(notes)
            continue
        x, y, w, h = (round(part * side) for part, side in zip(rect, (width, height) * 2, strict=True))
        record = {
            "source_metadata": row["metadata"],
            "attributes": tropy.get("attributes", {}),
            "name": text or "",
        }
        selection = {
            "@type": "Selection",
            "x": x,
            "y": y,
            "width": w,
            "height": h,
            "angle": tropy.get("angle", 0),
        }
        selection |= _metadata(record) if record["attributes"] else {}
        photo.setdefault("selection", []).append(selection | ({"note": notes} if notes else {}))
    if without:
        why = "Tropy has notes and selections, and these have neither text nor place"
        page.losses.append({"what": "annotations", "count": without, "why": why})
    return photo


def _note(text: str, tropy: dict[str, Any]) -> dict[str, Any]:
    marked = marked_text(text, tropy)
    language = {"@language": tropy["language"]} if tropy.get("language") else {}
    return {"@type": "Note", "html": {"@value": marked, **language}, "text": {"@value": text, **language}}
