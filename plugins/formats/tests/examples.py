"""Examples of the actions and recipe jobs of formats: parameters with which each succeeds in a new project."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from armarium.api import Example, new_id
from armarium_testing.sample_files import SAMPLE_METS, SAMPLE_PAGE, SAMPLE_TROPY, sample_pdf, sample_picture


def ingest_batch(ex: Example) -> dict[str, Any]:
    return {
        "files": [
            {"filename": "letter.png", "file": sample_picture()},
            {"filename": "page/letter.xml", "file": SAMPLE_PAGE},
        ]
    }


def ingest_files(ex: Example) -> dict[str, Any]:
    picture = ex.file("scans/letter.png", sample_picture())
    layout = ex.file("scans/page/letter.xml", SAMPLE_PAGE.encode())
    return {"paths": [str(picture), str(layout)]}


def conversion_start(ex: Example) -> dict[str, Any]:
    page = ex.run("document.create", {"name": "Letter, first page", "doc_type": "page"})
    box = {"bbox": [0.1, 0.1, 0.8, 0.05], "text": "Dear Sir", "level": "line"}
    ex.run(
        "artifact.create",
        {
            "document_id": page["id"],
            "artifact_type": "transcription",
            "ocr_geometry": {"text": "Dear Sir", "provider": "reader", "boxes": [box]},
        },
    )
    return {}


def conversion_seen(ex: Example) -> dict[str, Any]:
    started = ex.run("conversion.start", conversion_start(ex))
    assert ex.library is not None
    ex.engine.jobs.run_until_idle(ex.library)
    return {"run_id": started["run_id"]}


def format_import(ex: Example) -> dict[str, Any]:
    page = ex.run("document.create", {"name": "Letter, first page", "doc_type": "page"})
    return {"document_id": page["id"], "file": SAMPLE_PAGE, "filename": "letter.xml"}


def ingest_layouts(ex: Example) -> dict[str, Any]:
    return {"files": [format_import(ex), format_import(ex)]}


def ingest_mets(ex: Example) -> dict[str, Any]:
    folder = ex.run("document.create", {"name": "Letters"})
    pages = [
        ex.run("document.create", {"name": name, "doc_type": "page", "parent_id": folder["id"]})["id"]
        for name in ("2.jpg", "1.jpg")
    ]
    return {
        "file": SAMPLE_METS,
        "pages": [
            {"number": 1, "document_ids": [pages[1]]},
            {"number": 2, "document_ids": [pages[0]]},
        ],
    }


def format_take_order(ex: Example) -> dict[str, Any]:
    page = ex.run("document.create", {"name": "Letter, first page", "doc_type": "page"})
    result = ex.run(
        "format.import", {"document_id": page["id"], "file": SAMPLE_PAGE, "filename": "letter.xml"}
    )
    return {"pass_id": result["pass_id"]}


def format_read_text_layer(ex: Example) -> dict[str, Any]:
    assert ex.library is not None
    data = sample_pdf()
    file = {
        "id": new_id(),
        "parent_id": ex.run("document.create", {"name": "Letters"})["id"],
        "doc_type": "file",
        "file_type": "pdf",
        "name": "letter.pdf",
        "picture": {
            "checksum": ex.library.objects.put_bytes(data),
            "mime_type": "application/pdf",
            "size_bytes": len(data),
        },
    }
    picture = {"mime_type": "image/jpeg", "pixel_width": 300, "pixel_height": 200}
    page = {"id": new_id(), "parent_id": file["id"], "doc_type": "page", "name": "Page 1", "sequence": 1}
    ex.run("document.add_files", {"nodes": [file, {**page, "picture": picture}]})
    return {"document_id": file["id"]}


def ingest_items(ex: Example) -> dict[str, Any]:
    ex.file("tropy/1.png", sample_picture())
    return {"path": str(ex.file("tropy/items.json", SAMPLE_TROPY.encode()))}


EXAMPLES: Mapping[str, Callable[[Example], Mapping[str, Any]]] = {
    "ingest.batch": ingest_batch,
    "ingest.files": ingest_files,
    "conversion.start": conversion_start,
    "conversion.seen": conversion_seen,
    "format.import": format_import,
    "ingest.layouts": ingest_layouts,
    "ingest.mets": ingest_mets,
    "format.take_order": format_take_order,
    "format.read_text_layer": format_read_text_layer,
    "ingest.items": ingest_items,
    "ingest.items_job": ingest_items,
}
