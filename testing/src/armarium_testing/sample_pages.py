"""Pages for the examples of actions and for tests, made through actions: with a picture, or with a pass, lines and readings."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from armarium.api import Example, new_id

if TYPE_CHECKING:
    from PIL.Image import Image


def sample_picture(ex: Example, image: Image, name: str = "1.png") -> str:
    """Create a page with *image* in a folder of its own; return its id."""
    assert ex.library is not None
    file = io.BytesIO()
    image.save(file, "PNG")
    picture = {
        "checksum": ex.library.objects.put_bytes(file.getvalue()),
        "mime_type": "image/png",
        "size_bytes": file.tell(),
        "pixel_width": image.width,
        "pixel_height": image.height,
    }
    folder = ex.run("document.create", {"name": "Box"})["id"]
    node = {"id": new_id(), "parent_id": folder, "doc_type": "file", "file_type": "image", "name": name}
    ex.run("document.add_files", {"nodes": [{**node, "picture": picture}]})
    return str(node["id"])


class SamplePage(NamedTuple):
    """A page with one pass: its segments, and the readings of those that have a text."""

    document_id: str
    pass_id: str
    segment_ids: list[str]
    reading_ids: list[str]


def sample_document(ex: Example, name: str = "Letter, first page") -> str:
    """Create a page to lay out; return its id."""
    return str(ex.run("document.create", {"name": name, "doc_type": "page"})["id"])


def sample_anchor(index: int = 0) -> dict[str, Any]:
    """Return the anchor of line *index* (from 0), lines running down the page."""
    return {"rect": [0.1, 0.1 + 0.08 * index, 0.8, 0.05]}


def sample_page(
    ex: Example,
    texts: Sequence[str] = (),
    *,
    lines: int = 3,
    document_id: str | None = None,
    segments: Sequence[Mapping[str, Any]] | None = None,
    reader: str | None = None,
) -> SamplePage:
    """Create a pass with a line for each of *texts*, or with so many *lines*, on a new page or on that of *document_id*.

    *segments* are created instead of the lines, as far as they state otherwise. The texts are a person's, or those of a
    *reader*.
    """
    document_id = document_id or sample_document(ex)
    pass_id = str(ex.run("segment.pass_create", {"document_id": document_id, "name": "By hand"})["id"])
    on_page = {"document_id": document_id, "pass_id": pass_id}
    segment_fields = segments or [{"anchor": sample_anchor(number)} for number in range(len(texts) or lines)]
    created = ex.run(
        "segment.create_many",
        {"segments": [{**on_page, "kind": "line", **segment} for segment in segment_fields]},
    )
    segment_ids = [str(segment["id"]) for segment in created["items"]]
    readings = [
        {"segment_id": segment_id, "text": text}
        for segment_id, text in zip(segment_ids, texts, strict=bool(texts))
    ]
    if reader is not None:
        params = {**on_page, "provider": reader, "model": "sample", "readings": readings}
        reading_ids = ex.run("reading.take", params)["representation_ids"]
    else:
        reading_ids = [str(ex.run("representation.create", reading)["id"]) for reading in readings]
    return SamplePage(document_id, pass_id, segment_ids, reading_ids)


def sample_reading(ex: Example, page: SamplePage, text: str = "Dear Sir") -> str:
    """Create a reading of the first line; return its id."""
    return str(ex.run("representation.create", {"segment_id": page.segment_ids[0], "text": text})["id"])
