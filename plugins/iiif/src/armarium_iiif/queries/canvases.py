"""Pages as canvases: id, size in pixels, and picture. One statement for any number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Connection

from armarium.api import json_text, raw_of
from armarium_documents.api import documents, renditions, require_document
from armarium_formats.api import format_imports
from armarium_iiif.errors import no_canvas
from armarium_iiif.places import Places
from armarium_source_model.api import passes

Json = dict[str, Any]


class PageCanvas(NamedTuple):
    """A page with what its canvas states. The picture is the page's own, else the one its manifest points at."""

    document_id: str
    parent_id: str | None
    name: str
    label: str | None
    canvas_id: str | None
    """The id another's manifest gave it; None for our own."""
    width: int | None
    height: int | None
    rendition_id: str | None
    picture: tuple[int, int] | None
    """Pixels of the page's own picture."""
    has_lines: bool
    image: str | None
    image_format: str | None
    image_size: tuple[int, int] | None
    service: str | None
    service_version: int | None
    service_level: int
    """What the service claims to comply with; 0 is what every one does."""

    def address(self, places: Places) -> str:
        """Return the id of the canvas."""
        return self.canvas_id or places.canvas(self.document_id)


_SELECT = f"""
SELECT d.id, d.parent_id, d.name, d.page_label, json_extract(d.metadata, '$.iiif_canvas_id'),
 json_extract(d.metadata, '$.width'), json_extract(d.metadata, '$.height'), r.id, r.pixel_width, r.pixel_height,
 EXISTS (SELECT 1 FROM {passes} p WHERE p.document_id = d.id AND p.deleted_at IS NULL),
 c.image, c.format, c.image_width, c.image_height, c.service, c.service_version, COALESCE(c.service_level, 0),
 CASE WHEN r.id IS NULL THEN (SELECT json_array(f.page_width, f.page_height) FROM {format_imports} f
  WHERE f.document_id = d.id AND f.page_width > 0 AND f.page_height > 0 ORDER BY f.created_at DESC, f.pass_id DESC LIMIT 1) END
FROM json_each(?) j JOIN {documents} d ON d.id = j.value
LEFT JOIN {renditions} r ON r.document_id = d.id AND r.is_primary AND r.materialized
 AND r.pixel_width > 0 AND r.pixel_height > 0
LEFT JOIN iiif_canvas c ON c.document_id = d.id
ORDER BY j.key
"""


def page_canvases(conn: Connection, ids: Sequence[str]) -> list[PageCanvas]:
    """Return the pages *ids* as canvases, in that order, by one statement; unknown ids are left out."""
    return [_canvas(row) for row in raw_of(conn).execute(_SELECT, (json_text(list(ids)),))]


def page_canvas(conn: Connection, document_id: str) -> PageCanvas:
    """Return one page as a canvas, even if its size is unknown; NotFound if there is no such document."""
    require_document(conn, document_id)
    return page_canvases(conn, [document_id])[0]


def shown_canvas(conn: Connection, document_id: str) -> PageCanvas:
    """Return one page whose size is known; no_canvas with the reason for other nodes."""
    node = require_document(conn, document_id)
    page = page_canvases(conn, [document_id])[0]
    if page.width is not None:
        return page
    if node.doc_type in ("folder", "group"):
        raise no_canvas(node.name, node.id, f"it is a {node.doc_type}. Ask for its manifest.")
    raise no_canvas(node.name, node.id, "it has neither a picture nor a known size in pixels.")


def _canvas(row: Sequence[Any]) -> PageCanvas:
    canvas_id = row[4] if isinstance(row[4], str) and row[4] else None
    picture = (row[8], row[9]) if row[7] is not None else None
    own_size = _size(row[5], row[6])
    # Lines and picture of an imported canvas use that canvas's own pixels.
    size = (own_size or picture) if canvas_id is not None else (picture or own_size)
    if size is None and row[18] is not None:
        size = _size(*orjson.loads(row[18]))
    return PageCanvas(
        document_id=row[0],
        parent_id=row[1],
        name=row[2],
        label=row[3],
        canvas_id=canvas_id,
        width=size[0] if size else None,
        height=size[1] if size else None,
        rendition_id=row[7],
        picture=picture,
        has_lines=bool(row[10]),
        image=row[11],
        image_format=row[12],
        image_size=_size(row[13], row[14]),
        service=row[15],
        service_version=row[16],
        service_level=row[17],
    )


def _size(width: Any, height: Any) -> tuple[int, int] | None:
    if isinstance(width, int) and isinstance(height, int) and width > 0 and height > 0:
        return width, height
    return None
