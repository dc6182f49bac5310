"""Helpers for the tests of IIIF: pages with pictures, lines and readings, and recognisable pictures."""

from __future__ import annotations

import io
import runpy
from pathlib import Path
from typing import Any

from PIL import Image

from armarium.api import Engine, Library, Principal, new_id, raw_of
from armarium.principals import LOCAL_OWNER

SAMPLE: bytes = runpy.run_path(str(Path(__file__).with_name("examples.py")))["SAMPLE"]
"""A manifest of one page."""
OWNER: Principal = LOCAL_OWNER

QUARTERS = ((220, 30, 30), (30, 200, 30), (30, 30, 220), (230, 230, 40))
"""Red and green above blue and yellow, so that the corners show how a picture was rotated or cropped."""


def draw_quarters(width: int = 400, height: int = 300, mode: str = "RGB") -> Image.Image:
    """Return a picture of four coloured quarters."""
    image = Image.new("RGB", (width, height))
    for number, colour in enumerate(QUARTERS):
        left, top = (number % 2) * (width // 2), (number // 2) * (height // 2)
        image.paste(colour, (left, top, left + (width + 1) // 2, top + (height + 1) // 2))
    return image if mode == "RGB" else image.convert(mode)


def encode_image(image: Image.Image, form: str = "PNG", **how: Any) -> bytes:
    """Return *image* as an encoded file."""
    file = io.BytesIO()
    image.save(file, form, **how)
    return file.getvalue()


def open_answer(data: bytes) -> Image.Image:
    """Return the picture in an answer, decoded."""
    image = Image.open(io.BytesIO(data))
    image.load()
    return image


def sources(library: Library) -> str:
    """Return the id of the folder Sources."""
    with library.db.read() as conn:
        raw = raw_of(conn)
        return str(raw.execute("SELECT id FROM document WHERE system_key = 'sources'").fetchone()[0])


def add_page(
    engine: Engine,
    library: Library,
    parent_id: str | None = None,
    *,
    data: bytes | None = None,
    name: str = "1.png",
    size: tuple[int, int] = (400, 300),
    mime_type: str = "image/png",
    orientation: int = 1,
    **fields: Any,
) -> str:
    """Add an image with its picture; return its id."""
    data = encode_image(draw_quarters(*size)) if data is None else data
    identity = new_id()
    node = {
        "id": identity,
        "parent_id": parent_id or sources(library),
        "doc_type": "file",
        "file_type": "image",
        "name": name,
        "picture": {
            "checksum": library.objects.put_bytes(data),
            "mime_type": mime_type,
            "size_bytes": len(data),
            "pixel_width": size[0],
            "pixel_height": size[1],
            "params": {"exif_orientation": orientation} if orientation != 1 else {},
        },
        **fields,
    }
    engine.run(library, "document.add_files", {"nodes": [node]}, OWNER)
    return identity


PAGE = """<?xml version="1.0" encoding="UTF-8"?>
<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15">
  <Metadata><Creator>x</Creator><Created>2026-01-01T00:00:00</Created><LastChange>2026-01-01T00:00:00</LastChange></Metadata>
  <Page imageFilename="1.png" imageWidth="400" imageHeight="300">
    <TextRegion id="r1"><Coords points="20,20 380,20 380,280 20,280"/>
      <TextLine id="l1"><Coords points="40,40 360,40 360,60 40,60"/>
        <TextEquiv conf="0.9"><Unicode>Dear Sir</Unicode></TextEquiv></TextLine>
      <TextLine id="l2"><Coords points="40,80 300,80 300,101 40,101"/></TextLine>
    </TextRegion>
  </Page>
</PcGts>
"""


def add_lines(engine: Engine, library: Library, document_id: str, page: str = PAGE) -> dict[str, Any]:
    """Import PAGE XML with two lines, the first of them read; return the import's result."""
    outcome = engine.run(
        library, "format.import", {"document_id": document_id, "file": page, "filename": "1.xml"}, OWNER
    )
    assert outcome.result is not None
    return outcome.result
