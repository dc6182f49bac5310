"""Examples of the actions and recipe jobs of documents: parameters with which each succeeds in a new project."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Callable, Mapping
from typing import Any

from armarium.api import Engine, Example, Library, new_id, raw_of
from armarium_documents.models import renditions


def small_png(side: int = 8, grey: int = 200) -> bytes:
    """Return a grey PNG of *side* by *side* pixels, made without an imaging library."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    rows = (b"\0" + bytes([grey]) * side) * side
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def annotation_create(ex: Example) -> dict[str, Any]:
    page = ex.run("document.create", {"name": "Page", "doc_type": "page"})
    return {
        "document_id": page["id"],
        "anchor_kind": "bbox",
        "kind": "note",
        "anchor": {"rect": [0.1, 0.2, 0.3, 0.05]},
        "text": "a second hand",
        "tags": ["hand"],
    }


def annotation_update(ex: Example) -> dict[str, Any]:
    result = ex.run("annotation.create", annotation_create(ex))
    return {"annotation_id": result["id"], "text": "a third hand", "tags": None, "color": "#aa0000"}


def annotation_delete(ex: Example) -> dict[str, Any]:
    return {"annotation_id": ex.run("annotation.create", annotation_create(ex))["id"]}


def artifact_create(ex: Example) -> dict[str, Any]:
    note = ex.run("document.create", {"name": "Page", "doc_type": "page"})
    boxes = [
        {"bbox": [0.1, 0.1, 0.2, 0.05], "text": "Muy"},
        {"bbox": [0.35, 0.1, 0.3, 0.05], "text": "señor"},
        {"bbox": [0.7, 0.1, 0.2, 0.05], "text": "mío"},
    ]
    return {
        "document_id": note["id"],
        "artifact_type": "transcription",
        "content": "Muy señor mío",
        "ocr_geometry": {"provider": "rapidocr", "boxes": boxes},
    }


def artifact_edit_regions(ex: Example) -> dict[str, Any]:
    result = ex.run("artifact.create", artifact_create(ex))
    return {"artifact_id": result["id"], "edit": {"op": "combine", "indices": [0, 1]}}


def bookmark_create(ex: Example) -> dict[str, Any]:
    letters = ex.run("document.create", {"name": "Letters"})
    shelf = ex.run("document.create", {"name": "Read next"})
    return {"target_id": letters["id"], "parent_id": shelf["id"], "name": "The letters"}


def classification_create(ex: Example) -> dict[str, Any]:
    ex.run("classification.create", {"key": "act", "label": "Act"})
    declared = {"key": "testator", "label": "Testator", "type": "text", "renderer": "person"}
    return {"key": "will", "label": "Will", "parent_key": "act", "declarations": [declared]}


def classification_update(ex: Example) -> dict[str, Any]:
    ex.run("classification.create", {"key": "will", "label": "Wil", "color": "#aabbcc"})
    return {"key": "will", "label": "Will", "parent_key": "source", "color": None}


def classification_delete(ex: Example) -> dict[str, Any]:
    ex.run("classification.create", {"key": "will", "label": "Will"})
    return {"key": "will"}


def document_propose_kind(ex: Example) -> dict[str, Any]:
    result = ex.run("document.create", {"name": "Act 12"})
    return {
        "document_id": result["id"],
        "value": "letter",
        "said": "It opens with a greeting.",
        "confidence": 0.8,
    }


def document_accept_kind(ex: Example) -> dict[str, Any]:
    params = document_propose_kind(ex)
    ex.run("document.propose_kind", params)
    return {"document_id": params["document_id"]}


def document_import_metadata(ex: Example) -> dict[str, Any]:
    result = ex.run("document.create", {"name": "Letters"})
    table = f"document.id;place;document.date_iso\r\n{result['id']};Toledo;1750-03\r\n"
    return {"table": base64.b64encode(table.encode()).decode()}


def document_create(ex: Example) -> dict[str, Any]:
    parent = ex.run("document.create", {"name": "Letters"})
    return {
        "name": "Draft of an answer",
        "parent_id": parent["id"],
        "node_kind": "note",
        "page_content": "Dear Sir",
    }


def document_update(ex: Example) -> dict[str, Any]:
    result = ex.run("document.create", {"name": "Leters"})
    return {"document_id": result["id"], "name": "Letters", "attributes": {"box": 4}, "is_starred": True}


def document_lock(ex: Example) -> dict[str, Any]:
    result = ex.run("document.create", {"name": "Finished transcriptions"})
    return {"document_id": result["id"], "locked": True}


def rendition_set_primary(ex: Example) -> dict[str, Any]:

    added = ex.run("document.add_files", document_add_files(ex))
    assert ex.library is not None
    with ex.library.db.read() as conn:
        row = conn.execute(renditions.select().where(renditions.c.document_id == added["ids"][0])).first()
    assert row is not None
    return {"document_id": row.document_id, "rendition_id": row.id}


def content_representation_create(ex: Example) -> dict[str, Any]:
    note = ex.run("document.create", {"name": "Letter", "node_kind": "note", "page_content": "Dear Sir"})
    return {"document_id": note["id"], "kind": "translation", "content": "Muy señor mío", "language": "es"}


def representation_revise(ex: Example) -> dict[str, Any]:
    result = ex.run("content_representation.create", content_representation_create(ex))
    return {"representation_id": result["id"], "content": "Estimado señor", "decision": "modernised"}


def document_import(ex: Example) -> dict[str, Any]:
    return {"folder": str(ex.file("pages/1.png", small_png()).parent)}


def document_add_files(ex: Example) -> dict[str, Any]:
    data = small_png()
    assert ex.library is not None
    checksum = ex.library.objects.put_bytes(data)
    folder = ex.run("document.create", {"name": "Letters"})
    picture = {
        "checksum": checksum,
        "mime_type": "image/png",
        "size_bytes": len(data),
        "pixel_width": 8,
        "pixel_height": 8,
    }
    node = {
        "id": new_id(),
        "parent_id": folder["id"],
        "doc_type": "file",
        "file_type": "image",
        "name": "1.png",
        "picture": picture,
    }
    return {"nodes": [node]}


def document_picture_pages(ex: Example) -> dict[str, Any]:
    data = small_png()
    assert ex.library is not None
    page = {
        "id": new_id(),
        "parent_id": ex.run("document.create", {"name": "Letters"})["id"],
        "doc_type": "page",
        "name": "Page 1",
        "picture": {"mime_type": "image/png", "pixel_width": 8, "pixel_height": 8},
    }
    ex.run("document.add_files", {"nodes": [page]})
    picture = {"mime_type": "image/png", "pixel_width": 8, "pixel_height": 8, "size_bytes": len(data)}
    checksum = ex.library.objects.put_bytes(data)
    return {"pictures": [{**picture, "document_id": page["id"], "checksum": checksum}]}


def document_move(ex: Example) -> dict[str, Any]:
    box = ex.run("document.create", {"name": "Box 1"})
    first = ex.run("document.create", {"name": "Letters", "parent_id": box["id"]})
    second = ex.run("document.create", {"name": "Wills"})
    return {"ids": [second["id"]], "parent_id": box["id"], "after_id": first["id"]}


def document_empty_trash(ex: Example) -> dict[str, Any]:
    note = ex.run("document.create", {"name": "Scrap", "node_kind": "note", "page_content": "nothing"})
    ex.run("document.delete", {"ids": [note["id"]]})
    return {}


def other_project(ex: Example) -> Library:
    place = ex.folder / "Elsewhere.library"
    ex.engine.run(None, "library.create", {"path": str(place)}, ex.principal)
    return ex.engine.libraries.get(place)


def box_of_letters(engine: Engine, library: Library, ex: Example) -> str:
    def run(**params: Any) -> str:
        result = engine.run(library, "document.create", params, ex.principal).result or {}
        return str(result["id"])

    box = run(name="Box of letters")
    run(name="A letter", parent_id=box, node_kind="note", page_content="Dear Sir")
    return box


def document_transfer(ex: Example) -> dict[str, Any]:
    source = other_project(ex)
    return {
        "source_library": str(source.path),
        "items": [box_of_letters(ex.engine, source, ex)],
        "mode": "copy",
    }


def document_transfer_out(ex: Example) -> dict[str, Any]:
    """Prepare a move whose second half is pending: a copy whose journals both say that it is a move."""
    assert ex.library is not None
    target = other_project(ex)
    box = box_of_letters(ex.engine, ex.library, ex)
    params = {"source_library": str(ex.library.path), "items": [box], "mode": "copy"}
    begun = ex.engine.run(target, "document.transfer", params, ex.principal).result or {}
    for library, state in ((target, "moving"), (ex.library, "planned")):
        with library.db.write() as conn:
            raw_of(conn).execute("UPDATE document_transfer SET mode = 'move', state = ?", (state,))
    return {"transfer_id": begun["transfer_id"]}


def document_delete(ex: Example) -> dict[str, Any]:
    folder = ex.run("document.create", {"name": "Duplicates"})
    ex.run("document.create", {"name": "Letter", "parent_id": folder["id"], "node_kind": "note"})
    return {"ids": [folder["id"]]}


def document_restore(ex: Example) -> dict[str, Any]:
    note = ex.run("document.create", {"name": "Letter", "node_kind": "note", "page_content": "Dear Sir"})
    ex.run("document.delete", {"ids": [note["id"]]})
    return {"document_id": note["id"]}


EXAMPLES: Mapping[str, Callable[[Example], Mapping[str, Any]]] = {
    "annotation.create": annotation_create,
    "annotation.update": annotation_update,
    "annotation.delete": annotation_delete,
    "artifact.create": artifact_create,
    "artifact.edit_regions": artifact_edit_regions,
    "bookmark.create": bookmark_create,
    "classification.create": classification_create,
    "classification.update": classification_update,
    "classification.delete": classification_delete,
    "document.propose_kind": document_propose_kind,
    "document.accept_kind": document_accept_kind,
    "document.reject_kind": document_accept_kind,
    "document.import_metadata": document_import_metadata,
    "document.create": document_create,
    "document.update": document_update,
    "document.lock": document_lock,
    "rendition.set_primary": rendition_set_primary,
    "content_representation.create": content_representation_create,
    "representation.revise": representation_revise,
    "document.import": document_import,
    "document.add_files": document_add_files,
    "document.picture_pages": document_picture_pages,
    "document.move": document_move,
    "document.empty_trash": document_empty_trash,
    "document.transfer": document_transfer,
    "document.transfer_out": document_transfer_out,
    "document.delete": document_delete,
    "document.restore": document_restore,
}
