"""Canvases and manifests of IIIF Presentation 3 from pages and folders, with a constant number of statements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
from sqlalchemy import Connection

from armarium.api import Library, json_text, raw_of
from armarium_documents.api import Node, documents, pages_under, require_document
from armarium_iiif.errors import MAX_CANVASES, TooManyCanvases, no_pages
from armarium_iiif.places import PRESENTATION, Places
from armarium_iiif.queries.canvases import PageCanvas, page_canvases, shown_canvas
from armarium_iiif.queries.content_search import services
from armarium_iiif.texts import language_map
from armarium_source_model.api import KEYS, PageFacts, page_facts

Json = dict[str, Any]

THUMBNAIL_SIDE = 256
_VIEWING = {
    "rtl": "right-to-left", "ltr": "left-to-right", "ttb": "top-to-bottom", "btt": "bottom-to-top",
}  # fmt: skip

_FACTS = f"""
SELECT attributes, source_metadata, date_original, date_iso, case_id, metadata
FROM {documents} WHERE id = ?
"""

_CONTAINERS = f"""
WITH RECURSIVE wanted(id) AS MATERIALIZED (SELECT DISTINCT p.parent_id FROM json_each(?) j
  JOIN {documents} p ON p.id = j.value WHERE p.parent_id IS NOT NULL),
 up(id, parent_id, name) AS (
 SELECT d.id, d.parent_id, d.name FROM wanted w JOIN {documents} d ON d.id = w.id
 UNION SELECT d.id, d.parent_id, d.name FROM up JOIN {documents} d ON d.id = up.parent_id WHERE up.id <> ?)
SELECT id, parent_id, name FROM up
"""


def canvas(library: Library, places: Places, document_id: str) -> Json:
    """Return the canvas of one page; no_canvas for other nodes."""
    with library.db.read() as conn:
        page = shown_canvas(conn, document_id)
    return {
        "@context": PRESENTATION,
        **_canvas(places, page),
        **_search_services(places, document_id, [page]),
    }


def _search_services(places: Places, document_id: str, pages: Sequence[PageCanvas]) -> Json:
    """Return how a node is searched, if there is anything to search."""
    offered = services(places, document_id) if any(page.has_lines for page in pages) else []
    return {"service": offered} if offered else {}


def manifest(library: Library, places: Places, document_id: str) -> Json:
    """Return the manifest of a page, or of all pages at and below a folder or file, in reading order.

    Folders within become ranges. no_pages if nothing has a picture or a size; TooManyCanvases beyond the
    limit.
    """
    with library.db.read() as conn:
        node = require_document(conn, document_id)
        ids = pages_under(conn, [document_id])
        if len(ids) > MAX_CANVASES:
            raise TooManyCanvases(node.name, len(ids))
        pages = [page for page in page_canvases(conn, ids or [document_id]) if page.width is not None]
        if not pages:
            raise no_pages(node.name)
        facts = raw_of(conn).execute(_FACTS, (document_id,)).fetchone()
        facts_stated = page_facts(conn, document_id)
        containers = _containers(conn, node, [page.document_id for page in pages])
    answer: Json = {
        "@context": PRESENTATION,
        "id": places.manifest(document_id),
        "type": "Manifest",
        "label": language_map(node.name),
        **_describe_document(facts, facts_stated),
        **_search_services(places, document_id, pages),
    }
    thumbnail = next((picture for page in pages if (picture := _thumbnail(places, page))), None)
    if thumbnail is not None:
        answer["thumbnail"] = thumbnail
    answer["items"] = [_canvas(places, page) for page in pages]
    structures = _ranges(places, node, pages, containers)
    if structures:
        answer["structures"] = structures
    return answer


def _describe_document(facts: Sequence[Any], facts_stated: PageFacts) -> Json:
    """Return the description of the document: metadata pairs, reading direction, a complete date."""
    attributes, source, original, iso, case_id, metadata = facts
    language, script, direction = (
        None if (fact := facts_stated.first(key)) is None else fact.value for key in KEYS
    )
    pairs: list[tuple[str, str]] = []
    named = {"Date": original or iso, "Case": case_id, "Language": language, "Script": script}
    pairs += [(name, str(value)) for name, value in named.items() if value]
    for stored in (attributes, source):
        for name, value in orjson.loads(stored).items():
            pairs += [(name, words) for words in _values(value)]
    description: Json = {}
    if pairs:
        description["metadata"] = [
            {"label": language_map(name), "value": language_map(value)} for name, value in pairs
        ]
    if viewing := _VIEWING.get(direction or ""):
        description["viewingDirection"] = viewing
    if iso and len(iso) == 10 and iso[:4].isdigit():
        description["navDate"] = f"{iso}T00:00:00Z"
    values = orjson.loads(metadata)
    if isinstance(values.get("iiif_manifest"), str):
        description["seeAlso"] = [
            {
                "id": values["iiif_manifest"],
                "type": "Dataset",
                "label": language_map("The manifest this was imported from", "en"),
                "format": "application/ld+json",
            }
        ]
    return description


def _values(value: Any) -> list[str]:
    """Return an attribute's value as words: lists item by item, objects as JSON; empty values are left out."""
    if value is None or value in ("", [], {}):
        return []
    if isinstance(value, bool):
        return ["yes" if value else "no"]
    if isinstance(value, list):
        return [words for item in value for words in _values(item)]
    return [json_text(value) if isinstance(value, dict) else str(value)]


def _canvas(places: Places, page: PageCanvas) -> Json:
    address = page.address(places)
    own = places.canvas(page.document_id)
    canvas_json: Json = {
        "id": address,
        "type": "Canvas",
        "label": language_map(page.label or page.name),
        "width": page.width,
        "height": page.height,
    }
    body = _build_painting(places, page)
    if body is not None and (thumbnail := _thumbnail(places, page)):
        canvas_json["thumbnail"] = thumbnail
    painting = {
        "id": f"{own}#painting",
        "type": "Annotation",
        "motivation": "painting",
        "body": body,
        "target": address,
    }
    painted = [] if body is None else [painting]
    canvas_json["items"] = [{"id": f"{own}#page", "type": "AnnotationPage", "items": painted}]
    if page.has_lines:
        canvas_json["annotations"] = [
            {
                "id": places.lines(page.document_id),
                "type": "AnnotationPage",
                "label": language_map("Lines", "en"),
            }
        ]
    return canvas_json


def _build_painting(places: Places, page: PageCanvas) -> Json | None:
    """Return the picture on the canvas: the page's own by our image service, else the one its manifest points at."""
    if page.rendition_id is not None and page.picture is not None:
        service = places.image(page.rendition_id)
        return {
            "id": f"{service}/full/max/0/default.jpg",
            "type": "Image",
            "format": "image/jpeg",
            "width": page.picture[0],
            "height": page.picture[1],
            "service": [{"id": service, "type": "ImageService3", "profile": "level2"}],
        }
    if page.image is None:
        return None
    painting: Json = {"id": page.image, "type": "Image", "format": page.image_format or "image/jpeg"}
    if page.image_size is not None:
        painting["width"], painting["height"] = page.image_size
    if page.service is not None:
        painting["service"] = [_service(page.service, page.service_version or 2, page.service_level)]
    return painting


def _service(address: str, version: int, level: int) -> Json:
    """Return a foreign image service, as it describes itself."""
    if version == 3:
        return {"id": address, "type": "ImageService3", "profile": f"level{level}"}
    profile = (
        f"http://iiif.io/api/image/2/level{level}.json"
        if version == 2
        else f"http://library.stanford.edu/iiif/image-api/1.1/compliance.html#level{level}"
    )
    return {"@id": address, "@type": f"ImageService{version}", "profile": profile}


def _thumbnail(places: Places, page: PageCanvas) -> list[Json]:
    """Return a small picture of the page; None if only a large one is available."""
    if page.rendition_id is not None and page.picture is not None:
        width, height = _fit_within(page.picture, THUMBNAIL_SIDE)
        return [
            {
                "id": f"{places.image(page.rendition_id)}/full/{width},{height}/0/default.jpg",
                "type": "Image",
                "format": "image/jpeg",
                "width": width,
                "height": height,
            }
        ]
    if page.service is not None and page.service_level > 0:
        width = min(THUMBNAIL_SIDE, *(size[0] for size in (page.image_size, (page.width or 1, 0)) if size))
        quality = "native" if page.service_version == 1 else "default"
        return [{"id": f"{page.service}/full/{width},/0/{quality}.jpg", "type": "Image"}]
    return []


def _fit_within(size: tuple[int, int], side: int) -> tuple[int, int]:
    scale = min(1.0, side / max(size))
    return max(1, round(size[0] * scale)), max(1, round(size[1] * scale))


Containers = dict[str, tuple[str | None, str]]


def _containers(conn: Connection, node: Node, ids: list[str]) -> Containers:
    """Return the folders and files between the node and its pages: id to parent and name."""
    rows = raw_of(conn).execute(_CONTAINERS, (json_text(ids), node.id))
    return {row[0]: (row[1], row[2]) for row in rows}


def _ranges(places: Places, node: Node, pages: Sequence[PageCanvas], containers: Containers) -> list[Json]:
    """Return a range per folder, nested like the folders, ordered by first page; [] if there is only one."""
    ranges: dict[str, Json] = {}
    top: list[Json] = []
    for page in pages:
        canvas = {"id": page.address(places), "type": "Canvas"}
        at = page.parent_id
        below: Json = canvas
        while at is not None and at != node.id and at in containers:
            container = ranges.get(at)
            if container is not None:
                container["items"].append(below)
                break
            parent, name = containers[at]
            container = ranges[at] = {
                "id": places.range(node.id, at),
                "type": "Range",
                "label": language_map(name),
                "items": [below],
            }
            below, at = container, parent
        else:
            if below is not canvas and at == node.id:
                top.append(below)
    return top
