"""Examples of the actions and recipe jobs of exports: parameters with which each succeeds in a new project."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from armarium.api import Example, new_id
from armarium_testing.sample_pages import sample_page, sample_picture


def page(ex: Example) -> str:
    return sample_page(ex, ["Dear Sir"]).document_id


def export_jsonl(ex: Example) -> dict[str, Any]:
    return {"target_id": page(ex), "output_path": str(ex.folder / f"{new_id()}.jsonl")}


def pictured_page(ex: Example) -> str:
    from PIL import Image

    return sample_page(
        ex, ["Dear Sir"], document_id=sample_picture(ex, Image.new("L", (80, 60), 255))
    ).document_id


def export_publish(ex: Example) -> dict[str, Any]:
    return {"folder": str(ex.folder / new_id()), "page_ids": [page(ex)]}


def export_keep(ex: Example) -> dict[str, Any]:
    folder = ex.folder / new_id()
    folder.mkdir()
    return {"folder": str(folder), "format": "markdown", "per": "page"}


def export(ex: Example) -> dict[str, Any]:
    folder = ex.folder / new_id()
    folder.mkdir()
    page = ex.run("document.create", {"name": "A page", "doc_type": "page"})["id"]
    return {"page_id": page, "settings": {"folder": str(folder)}}


EXAMPLES: Mapping[str, Callable[[Example], Mapping[str, Any]]] = {
    "export.jsonl": export_jsonl,
    "export.parquet": lambda ex: {"output_path": str(ex.folder / new_id()), "target_id": page(ex)},
    "export.pdf": lambda ex: {
        "output_path": str(ex.folder / f"{new_id()}.pdf"),
        "target_id": pictured_page(ex),
    },
    "export.training": lambda ex: {"output_path": str(ex.folder / f"{new_id()}.jsonl")},
    "export.eleventy": lambda ex: {"output_path": str(ex.folder / new_id()), "target_id": page(ex)},
    "export.receiver": lambda ex: {
        "output_path": str(ex.folder / new_id()),
        "receiver": "kraken",
        "scope_ids": [pictured_page(ex)],
    },
    "export.download": lambda ex: {"what": "files", "format": "markdown", "scope_ids": [page(ex)]},
    "export.start_download": lambda ex: {"what": "files", "format": "markdown", "scope_ids": [page(ex)]},
    "export.publish": export_publish,
    "export.keep": export_keep,
    "export.unkeep": lambda ex: {"export_id": ex.run("export.keep", export_keep(ex))["id"]},
    "export.write_kept": lambda ex: {"export_id": ex.run("export.keep", export_keep(ex))["id"]},
    "export": export,
    "publish": export,
}
