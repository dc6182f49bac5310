"""Examples of the actions and recipe jobs of iiif: parameters with which each succeeds in a new project."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy import select

from armarium.api import Example
from armarium_documents.api import documents

SAMPLE = b"""{"@context": "http://iiif.io/api/presentation/3/context.json",
 "id": "https://example.org/letters/manifest", "type": "Manifest", "label": {"en": ["Letters"]},
 "items": [{"id": "https://example.org/letters/1", "type": "Canvas", "label": {"none": ["f. 1r"]},
  "width": 3000, "height": 4000, "items": [{"id": "https://example.org/letters/1/page", "type": "AnnotationPage",
   "items": [{"id": "https://example.org/letters/1/painting", "type": "Annotation", "motivation": "painting",
    "target": "https://example.org/letters/1",
    "body": {"id": "https://example.org/i/1/full/max/0/default.jpg", "type": "Image", "format": "image/jpeg",
     "width": 3000, "height": 4000,
     "service": [{"id": "https://example.org/i/1", "type": "ImageService3", "profile": "level2"}]}}]}]}]}
"""


def iiif_import(ex: Example) -> dict[str, Any]:
    folder = ex.run("document.create", {"name": "Letters of others"})
    return {"file": SAMPLE.decode(), "filename": "letters.json", "parent_id": folder["id"]}


def iiif_fetch_images(ex: Example) -> dict[str, Any]:
    here = SAMPLE.replace(b"https://example.org/i/", b"http://localhost/i/").decode()
    result = ex.run("iiif.import", {**iiif_import(ex), "file": here})
    return {"document_ids": [result["document_id"]]}


def iiif_attach_image(ex: Example) -> dict[str, Any]:
    result = ex.run("iiif.import", iiif_import(ex))
    assert ex.library is not None
    with ex.library.db.read() as conn:
        page = conn.execute(
            select(documents.c.id).where(documents.c.parent_id == result["document_id"])
        ).scalar_one()
    return {
        "document_id": page,
        "checksum": ex.library.objects.put_bytes(b"a picture"),
        "mime_type": "image/jpeg",
        "size_bytes": 9,
        "pixel_width": 30,
        "pixel_height": 40,
        "source_url": "https://example.org/i/1/full/max/0/default.jpg",
    }


def iiif_update(ex: Example) -> dict[str, Any]:
    result = ex.run("iiif.import", iiif_import(ex))
    return {"document_id": result["document_id"], "file": SAMPLE.replace(b"f. 1r", b"f. 1 recto").decode()}


EXAMPLES: Mapping[str, Callable[[Example], Mapping[str, Any]]] = {
    "iiif.import": iiif_import,
    "iiif.fetch_manifest": lambda ex: {"url": "http://localhost/letters/manifest"},
    "iiif.check_manifests": lambda ex: {"document_ids": []},
    "iiif.fetch_images": iiif_fetch_images,
    "iiif.attach_image": iiif_attach_image,
    "iiif.update": iiif_update,
}
