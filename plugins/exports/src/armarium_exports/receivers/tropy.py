"""Tropy's JSON-LD: a document is an item, its pages are the photos, with notes, selections and transcriptions."""

from __future__ import annotations

import hashlib
import html
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import orjson
from sqlalchemy import Connection, select

from armarium_documents.api import annotation_table, documents

if TYPE_CHECKING:
    from pathlib import Path

    from armarium.api import Library
    from armarium_exports.receivers.writing import WritablePage

FILE = "tropy.json"
_TROPY = "https://tropy.org/v1/tropy#"
_DC = "http://purl.org/dc/elements/1.1/"
_TERMS = "title creator subject description publisher contributor date type format identifier source language relation coverage rights"
_CONTEXT = {
    "@version": 1.1,
    "@vocab": _TROPY,
    "template": {"@type": "@id"},
    **{name: {"@id": _TROPY + name, "@container": "@list"} for name in ("photo", "note", "selection")},
}


def tropy_of(library: Library, pages: Iterable[WritablePage], images: str) -> bytes:
    """Return the export of *pages*, whose pictures are in the folder *images* beside it; what it lacks is added to their
    losses.
    """
    items: dict[str, dict[str, Any]] = {}
    d = documents.c
    with library.db.read() as conn:
        for page in pages:
            own = conn.execute(select(documents).where(d.id == page.document_id)).one()._mapping
            above = conn.execute(select(documents).where(d.id == own["parent_id"])).one_or_none()
            # A page directly in a folder is a document of its own.
            whole = above._mapping if above is not None and above.doc_type in ("group", "file") else own
            item = items.get(whole["id"])
            if item is None:
                item = items[whole["id"]] = {"@type": "Item", **_metadata(whole), "photo": []}
                kept = whole["source_metadata"].get("tropy", {})
                item["template"] = kept.get("template", "https://tropy.org/v1/templates/generic")
                if kept.get("lists"):
                    item["list"] = kept["lists"]
                tags = whole["attributes"].get("tags", [])
                if tags:
                    item["tag"] = [str(tag) for tag in (tags if isinstance(tags, list) else [tags])]
            item["photo"].append(_photo(conn, page, own, images))
    found = {"@context": _CONTEXT, "@graph": list(items.values()), "version": "1.17.0"}
    return orjson.dumps(found, option=orjson.OPT_INDENT_2)


def _metadata(row: Any) -> dict[str, Any]:
    """Return attributes by the addresses of their properties: those of an import, of Dublin Core, else ones of Tropy's."""
    properties = row["source_metadata"].get("tropy", {}).get("properties", {})
    found: dict[str, Any] = {_DC + "title": row["name"]}
    for name, value in row["attributes"].items():
        if name == "tags" or value in (None, "", [], {}):
            continue
        stated = properties.get(name, {})
        base = _DC if name in _TERMS.split() else "urn:armarium:attribute:"
        text = "; ".join(map(str, value)) if isinstance(value, list) else value
        text = text if isinstance(text, str | int) and not isinstance(text, bool) else str(text)
        address = stated.get("uri", base + name.replace(" ", "-"))
        found[address] = {"@type": stated["type"], "@value": text} if stated.get("type") else text
    return found


def _photo(conn: Connection, page: WritablePage, own: Any, images: str) -> dict[str, Any]:
    from armarium.api import image_info

    width, height = image_info(page.picture).upright_size
    name = f"{page.stem}{page.ending}"
    shown = own["source_metadata"].get("tropy", {}).get("shown", {})
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
        **shown,
        **_metadata(own),
    }
    with page.picture.open("rb") as file:
        photo["checksum"] = hashlib.file_digest(file, "md5").hexdigest()
    if page.text:
        photo["transcription"] = [
            {"@type": "Transcription", "text": page.text, "alto": page.content.decode()}
        ]
    a = annotation_table.c
    without = 0
    for row in conn.execute(
        select(annotation_table).where(a.document_id == page.document_id).order_by(a.created_at, a.id)
    ):
        rect = (row.anchor or {}).get("rect")
        tropy = row.metadata.get("tropy", {})
        if rect is None and not row.text:
            without += 1
            continue
        notes = (
            [_note(row.text, tropy)]
            if row.text and row.text != tropy.get("attributes", {}).get("title")
            else []
        )
        if rect is None or rect == [0, 0, 1, 1]:
            photo.setdefault("note", []).extend(notes)
            continue
        x, y, w, h = (round(part * side) for part, side in zip(rect, (width, height) * 2, strict=True))
        said = {
            "source_metadata": row.metadata,
            "attributes": tropy.get("attributes", {}),
            "name": row.text or "",
        }
        selection = {
            "@type": "Selection",
            "x": x,
            "y": y,
            "width": w,
            "height": h,
            "angle": tropy.get("angle", 0),
        }
        selection |= _metadata(said) if said["attributes"] else {}
        photo.setdefault("selection", []).append(selection | ({"note": notes} if notes else {}))
    if without:
        why = "Tropy has notes and selections, and these have neither text nor place"
        page.losses.append({"what": "annotations", "count": without, "why": why})
    return photo


def _note(text: str, tropy: dict[str, Any]) -> dict[str, Any]:
    marked = tropy.get("html") if tropy.get("text") == text else None
    marked = marked or "".join(f"<p>{html.escape(line)}</p>" for line in text.splitlines())
    language = {"@language": tropy["language"]} if tropy.get("language") else {}
    return {"@type": "Note", "html": {"@value": marked, **language}, "text": {"@value": text, **language}}


def check_tropy(folder: Path) -> list[str]:
    """Return each photo that the export names and that is not there, or has another checksum."""
    problems = []
    for item in orjson.loads((folder / FILE).read_bytes())["@graph"]:
        for photo in item["photo"]:
            path = folder / photo["path"]
            if not path.is_file():
                problems.append(f"{FILE} names {photo['path']}, which does not exist.")
            elif hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest() != photo["checksum"]:
                problems.append(f"{photo['path']} has another checksum than {FILE} states.")
    return problems
