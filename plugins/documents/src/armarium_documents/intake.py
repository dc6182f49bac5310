"""Turns an imported file into nodes with their pictures, ready for `document.add_files`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from armarium.api import Library, new_id
from armarium_documents.pdf import CallWorker
from armarium_documents.pictures import OpenedPages, PagePicture, SourceFile, open_source_pages, take_in
from armarium_documents.schemas.fields import clean_name


def file_node(
    node_id: str, parent_id: str, name: str, path: Path | None, source: SourceFile, *, linked: bool = False
) -> dict[str, Any]:
    """Return the node of a file; *path* is its path on this machine, None if it was uploaded."""
    metadata: dict[str, Any] = {
        "source_type": "local",
        "checksum": source.checksum,
        "file_size": source.size_bytes,
    }
    if path is not None:
        metadata["full_path"] = str(path)
    if linked:
        metadata["linked"] = True
    if source.pages:
        metadata["page_count"] = source.pages
    elif not source.is_recording:
        metadata |= {"width": source.width, "height": source.height}
    picture = {
        "checksum": source.checksum,
        "mime_type": source.mime_type,
        "size_bytes": source.size_bytes,
        "pixel_width": source.width,
        "pixel_height": source.height,
        "params": {
            **({"exif_orientation": source.orientation} if source.orientation != 1 else {}),
            **({} if source.opens_alike else {"opens_alike": False}),
        },
    }
    return {
        "id": node_id,
        "parent_id": parent_id,
        "doc_type": "file",
        "file_type": "pdf" if source.is_pdf else "audio" if source.is_recording else "image",
        "name": name,
        "path": None if path is None else str(path),
        "metadata": metadata,
        "picture": picture,
    }


def page_node(parent_id: str, index: int, page: PagePicture) -> dict[str, Any]:
    """Return the node of one page of a file, *index* from 0."""
    picture = picture_of_page(page)
    return {**_page(parent_id, index, page.label, page.width, page.height), "picture": picture}


def picture_of_page(page: PagePicture) -> dict[str, Any]:
    """Return a page's picture as `document.add_files` and `document.picture_pages` take it."""
    return {
        "checksum": page.checksum,
        "mime_type": page.mime_type,
        "size_bytes": page.size_bytes,
        "pixel_width": page.width,
        "pixel_height": page.height,
        "role": "derived",
        "made_by": page.made_by,
        "params": page.params,
    }


def _page_to_picture(parent_id: str, index: int, pages: OpenedPages, call: CallWorker) -> dict[str, Any]:
    """Return the node of a page whose picture is still to be made."""
    width, height = pages.size(index)
    picture = {"mime_type": "image/jpeg", "pixel_width": width, "pixel_height": height, "role": "derived"}
    params = {"page_index": index}
    return {
        **_page(parent_id, index, pages.label(index, call), width, height),
        "picture": {**picture, "params": params},
    }


def _page(parent_id: str, index: int, label: str | None, width: int, height: int) -> dict[str, Any]:
    return {
        "id": new_id(),
        "parent_id": parent_id,
        "doc_type": "page",
        "file_type": "image",
        "name": f"Page {index + 1}",
        "sequence": index + 1,
        "page_label": label,
        "metadata": {"width": width, "height": height, "derived_from": parent_id},
    }


def taken_in(
    library: Library,
    path: Path,
    name: str,
    *,
    shown_path: Path | None,
    max_pixels: int,
    call: CallWorker,
    link: bool = False,
    within: Path | None = None,
) -> tuple[list[dict[str, Any]], SourceFile]:
    """Store the picture file at *path* in the project; return its node, those of its pages, and the source
    file. The pictures of the pages are made by the job `page-pictures`.

    The first node's `parent_id` is still to be set. Raises what `take_in` does, ValueError for an invalid
    document name. *within*: the engine's own folder into which the file was received; *call*: `workers.call_light` of the engine.
    """
    clean = clean_name(name)
    source = take_in(library, path, max_pixels=max_pixels, link=link, within=within)
    node = file_node(new_id(), "", clean, shown_path, source, linked=link)
    if not source.pages:
        return [node], source
    with open_source_pages(library, source, max_pixels=max_pixels) as pages:
        numbers = range(source.pages)
        return [node, *(_page_to_picture(node["id"], index, pages, call) for index in numbers)], source
